#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
#
# N datagrams there and N back are 2N trees: no more, no fewer, whole, and nothing is lost.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=${EXACT_PAIRS:-${FTRACED_LONG:+5000}}
pairs=${pairs:-2000}

ok 'the daemon starts' start_ftraced

exits "a run of $pairs pairs succeeds" 0 ftracectl run --format=none -n exact udp_sendmsg -- "$udp_pairs" "$pairs"
is_as_before 'the kernel is as it was'
exits 'verify is content' 0 ftracectl verify --json exact
read -r entries ends trees < <(jq -r '"\(.entries) \(.exits) \(.trees)"' "$out")
is 'entries equal exits' "$entries" "$ends"
ok 'there are entries' test "$entries" -gt $((2 * pairs))
is 'verify counts 2N trees' "$trees" $((2 * pairs))
# Each is a number of each CPU.
is 'nothing is lost, which is stored for each CPU' \
        "$(session exact '[.cpus[] | .overrun, .commit_overrun, .dropped_events, .pages_lost] | unique | @json')" '[0]'
exits 'report succeeds' 0 ftracectl report exact
is 'the text has 2N roots' "$(count_roots udp_sendmsg "$out")" $((2 * pairs))
# An interrupt may come between the end of a function and the record of it, and is drawn before that.
ok 'hardly anything but udp_sendmsg is drawn at depth 0' \
        test "$(grep -cE '\|  [a-zA-Z_]' "$out")" -lt $((2 * pairs + 100))
ok 'nothing is said on standard error' not test -s "$err"

note "armed in $(session exact .arm_ns) ns"
exits 'top succeeds' 0 ftracectl top exact
# On an emulated CPU that is nearly all of it, now and then more than can be told from the rest.
says 'it says what tracing costs' '( % less\)|too short to tell what tracing costs)\.$' "$out"
note "$(head -1 "$out")"
done_testing
