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
        error_log | last_boot_info | touched_functions | buffer_total_size_kb | kprobe_profile | uprobe_profile | printk_formats | trace_stat) ;;
        *) return 1 ;;
        esac
}

# Names of what to read in one directory, each on a line.
list_directory() { # DIR
        local f

        for f in "$1"/* "$1"/options/* "$1"/per_cpu/*/buffer_size_kb "$1"/osnoise/* "$1"/events/enable; do
                [[ -f $f && -r $f ]] || continue
                is_data "$f" || echo "$f"
        done
}

# What cannot be read has no heading.  One process for all files: on an emulated CPU a process each
# would take most of the time of many stories.
dump_directory() { # DIR, below $tracefs
        local files

        mapfile -t files < <(list_directory "$1")
        { tail -n +1 "${files[@]}" 2>/dev/null || true; } | awk -v top="$(<buffer_size_kb)" '
                function expand(text) { # "7 (expanded: 1408)"
                        sub(/.*: /, "", text)
                        return int(int((int(text) * 1024 + 4079) / 4080) * 4080 / 1024)
                }
                BEGIN {
                        unexpanded = top
                        if (!sub(/ \(expanded: .*/, "", unexpanded))
                                unexpanded = "none"
                }
                /^==> .* <==$/ { sub(/^==> (\.\/)?/, "== "); sub(/ <==$/, ""); name = $2 }
                name ~ /(^|\/)buffer_size_kb$/ && !/^==/ && /\(expanded: / { $0 = expand($0) }
                name ~ /(^|\/)buffer_size_kb$/ && !/^==/ && $0 == unexpanded { $0 = expand(top) } # of one CPU
                { print }'
}

[[ -e $tracefs/current_tracer ]] || {
        echo "dump-tracefs.sh: $tracefs is not tracefs" >&2
        exit 1
}
cd "$tracefs"
dump_directory .
for i in instances/*/; do
        [[ -d $i ]] || continue
        echo "== instance $i"
        dump_directory "${i%/}"
done
echo "== kernel.ftrace_enabled"
cat /proc/sys/kernel/ftrace_enabled
