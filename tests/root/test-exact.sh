#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# N datagrams there and N back are 2N trees: no more, no fewer, whole, and nothing is lost.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=${EXACT_PAIRS:-5000}

ok 'the daemon starts' start_ftraced
# Since 6.12 function_graph leaves interrupts on, and the ring buffer drops an event that two
# interrupts nest into another (linux 6.12 kernel/trace/ring_buffer.c, trace_recursive_lock()).  No
# counter tells, verify does.  Seen once in 1.8 million events on 7.2 in a slow guest; twice running
# would be another matter.
dropped_by_recursion() {
        has_instances && ! ftracectl verify --json=short exact >"$work/verify.json" 2>/dev/null &&
                jq -e '.entries != .exits and (.entries - .exits | fabs) <= 2 and .events_lost == 0 and
                        (.problems | length) == 1' "$work/verify.json" >/dev/null
}

exits "a run of $pairs pairs succeeds" 0 ftracectl run --no-report -n exact udp_sendmsg -- "$udp_pairs" "$pairs"
if dropped_by_recursion; then
        note "the kernel dropped an event: $(jq -c .problems "$work/verify.json"); once more"
        exits 'it is removed' 0 ftracectl remove exact
        exits 'the second run succeeds' 0 ftracectl run --no-report -n exact udp_sendmsg -- "$udp_pairs" "$pairs"
fi
is_as_before 'the kernel is as it was'
exits 'verify is content' 0 ftracectl verify --json exact
cp "$out" "$work/verify.json"
is 'entries equal exits' "$(jq .entries "$work/verify.json")" "$(jq .exits "$work/verify.json")"
ok 'there are entries' test "$(jq .entries "$work/verify.json")" -gt $((2 * pairs))
is 'verify counts 2N trees' "$(jq .trees "$work/verify.json")" $((2 * pairs))
for counter in overrun commit_overrun dropped_events pages_lost; do
        is "$counter is stored, for each CPU" \
                "$(session exact "[.cpus[].$counter | numbers] | length")" "$(session exact '.cpus | length')"
        is "$counter is 0" "$(sum_of exact $counter)" 0
done
exits 'report succeeds' 0 ftracectl report exact
is 'the text has 2N roots' "$(count_roots udp_sendmsg "$out")" $((2 * pairs))
# An interrupt may come between the end of a function and the record of it, and is drawn before that.
ok 'hardly anything but udp_sendmsg is drawn at depth 0' \
        test "$(grep -cE '\|  [a-zA-Z_]' "$out")" -lt $((2 * pairs + 100))
ok 'nothing is said on standard error' not test -s "$err"
done_testing
