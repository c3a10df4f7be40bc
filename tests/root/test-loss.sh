#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 new
#
# What the kernel had to overwrite is counted for each CPU, and said wherever the recording is shown.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

ok 'the daemon starts' start_ftraced
exits 'a session with a small buffer starts' 0 ftracectl start -n small --buffer-size=64K udp_sendmsg
buffer=$(buffer_of small)
# A daemon that is not scheduled: nothing is drained, the buffers overflow.
kill -STOP "$ftraced_pid"
"$udp_pairs" 500 >/dev/null
echo 0 >"$buffer/tracing_on"
cpus=$(cd "$tracefs/per_cpu" && echo cpu*)
declare -A lost
for cpu in $cpus; do
        lost[$cpu]=$(kernel_lost "$buffer" "${cpu#cpu}")
        note "the kernel lost ${lost[$cpu]} events on $cpu"
done
kill -CONT "$ftraced_pid"
exits 'stop says so in its exit status' 6 ftracectl stop small
says 'stop says that events were lost' 'lost' "$out"
is_as_before 'the kernel is as it was'

total=0
for cpu in $cpus; do
        is "show --json tells the kernel's own count for $cpu" \
                "$(session small ".cpus[] | select(.cpu == ${cpu#cpu}) | .overrun + .commit_overrun + .dropped_events")" \
                "${lost[$cpu]}"
        total=$((total + lost[$cpu]))
done
ok 'events were lost at all' test "$total" -gt 0
exits 'verify says so with status 6' 6 ftracectl verify small
exits 'report says so with status 6' 6 ftracectl report small
tr -d , <"$err" >"$work/report.err"
for cpu in $cpus; do
        [[ ${lost[$cpu]} != 0 ]] || continue
        says "report tells the count of $cpu on standard error" "CPU ${cpu#cpu}: ${lost[$cpu]} events lost" \
                "$work/report.err"
        says "the drawing tells that $cpu lost events" "^CPU:${cpu#cpu} \[LOST( [0-9]+)? EVENTS\]" "$out"
done
exits 'show works' 0 ftracectl show small
says 'show tells that events were lost' 'lost' "$out"
exits 'list works' 0 ftracectl list --no-legend
says 'list tells the loss' "small.*($total|[0-9.,]+[kM]?)" "$out"
exits 'the exit status of run says so too' 6 ftracectl run --format=none --lean=off --buffer-size=8K -n run udp_sendmsg -- \
        bash -c 'kill -STOP "$1"; "$2" 300 >/dev/null; kill -CONT "$1"' - "$ftraced_pid" "$udp_pairs"
is_as_before 'the kernel is as it was at the end'
done_testing
