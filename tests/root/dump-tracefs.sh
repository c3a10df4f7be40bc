#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: dump-tracefs.sh [DIR] > FILE
#
# Prints names and contents of all control files of tracefs, of the top level and of each instance,
# so that two dumps are equal exactly when nothing was left changed.  Reads no data: neither the
# trace itself, nor what the kernel counts or learns by itself while nobody configures anything.
#
# One thing is normalised: "7 (expanded: 1408)" in buffer_size_kb, a state that no write brings back
# once something was traced, is shown as the size that the kernel itself expands to: 1408 KiB rounded
# up to whole pages of 4080 bytes.
set -euo pipefail

tracefs=${1:-/sys/kernel/tracing}

# Opening free_buffer would free it; the others are data, or endless, or the same for ever.
is_data() {
        case ${1##*/} in
        free_buffer | trace | trace_pipe | snapshot | trace_marker | trace_marker_raw) ;;
        available_filter_functions | available_filter_functions_addrs | available_events) ;;
        saved_cmdlines | saved_tgids | dyn_ftrace_total_info | stack_trace | stack_max_size | README) ;;
        error_log | touched_functions | buffer_total_size_kb | kprobe_profile | uprobe_profile | printk_formats | trace_stat) ;;
        *) return 1 ;;
        esac
}

# The size that the kernel expands "7 (expanded: 1408)" to, from the number behind the colon.
expand() {
        local kib=${1##*: }
        echo $(((${kib%?} * 1024 + 4079) / 4080 * 4080 / 1024))
}

# FILE TEXT
normalise() {
        local top
        top=$(<"$tracefs/buffer_size_kb")
        case ${1##*/}/$2 in
        buffer_size_kb/*"(expanded: "*) expand "$2" ;;
        "buffer_size_kb/${top% (expanded: *}") # of one CPU
                case $top in
                *" (expanded: "*) expand "$top" ;;
                *) echo "$2" ;;
                esac
                ;;
        *) echo "$2" ;;
        esac
}

dump_directory() {
        local f text

        for f in "$1"/* "$1"/options/* "$1"/per_cpu/*/buffer_size_kb "$1"/osnoise/* "$1"/events/enable; do
                [[ -f $f && -r $f ]] || continue
                if is_data "$f"; then continue; fi
                { text=$(<"$f"); } 2>/dev/null || text='(cannot be read)'
                printf '== %s\n%s\n' "${f#"$tracefs"/}" "$(normalise "$f" "$text")"
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
