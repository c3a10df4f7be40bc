#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: dump-tracefs.sh [DIR] > FILE
#
# Prints names and contents of all control files of tracefs, of the top level and of each instance,
# so that two dumps are equal exactly when nothing was left changed.  Reads no data: neither the
# trace itself, nor what the kernel counts or learns by itself while nobody configures anything.
set -euo pipefail

tracefs=${1:-/sys/kernel/tracing}

# Opening free_buffer would free it; the others are data, or endless, or the same for ever.
is_data() {
        case ${1##*/} in
        free_buffer | trace | trace_pipe | snapshot | trace_marker | trace_marker_raw) ;;
        available_filter_functions | available_filter_functions_addrs | available_events) ;;
        saved_cmdlines | saved_tgids | dyn_ftrace_total_info | stack_trace | README) ;;
        touched_functions | kprobe_profile | uprobe_profile | printk_formats | trace_stat) ;;
        *) return 1 ;;
        esac
}

dump_directory() {
        local f text

        for f in "$1"/* "$1"/options/* "$1"/per_cpu/*/buffer_size_kb "$1"/osnoise/* "$1"/events/enable; do
                [[ -f $f && -r $f ]] || continue
                if is_data "$f"; then continue; fi
                { text=$(<"$f"); } 2>/dev/null || text='(cannot be read)'
                printf '== %s\n%s\n' "${f#"$tracefs"/}" "$text"
        done
}

[[ -e $tracefs/current_tracer ]] || {
        echo "dump-tracefs.sh: $tracefs is not tracefs" >&2
        exit 1
}
dump_directory "$tracefs"
for i in "$tracefs"/instances/*/; do
        [[ -d $i ]] || continue
        echo "== instance ${i#"$tracefs"/}"
        dump_directory "${i%/}"
done
echo "== kernel.ftrace_enabled"
cat /proc/sys/kernel/ftrace_enabled
