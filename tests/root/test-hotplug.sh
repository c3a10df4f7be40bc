#!/bin/bash
# Touches: function_graph, the network (loopback), CPU 1's online file; needs root and two CPUs.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: CPUs come and go in seconds each, for what seldom changes
#
# CPUs come and go while a session records: nothing is lost, nothing is counted twice.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires taskset
cpu1=/sys/devices/system/cpu/cpu1/online
[[ -w $cpu1 && $(cat "$cpu1") == 1 ]] || skip "CPU 1 cannot be taken offline"
cleanup_fn eval "echo 1 >$cpu1"

is_switched() { # STATE
        echo "$1" >"$cpu1" && [[ $(cat "$cpu1") == "$1" ]]
}

ok 'the daemon starts' start_ftraced
ok 'CPU 1 goes' is_switched 0
exits 'a session starts without it' 0 ftracectl start -n plug udp_sendmsg
ok 'the workload runs without it' "$udp_pairs" 100
ok 'CPU 1 comes' is_switched 1
ok 'the workload runs on it' taskset -c 1 "$udp_pairs" 200
for i in 1 2 3; do
        "$udp_pairs" 100 >/dev/null &
        ok "CPU 1 goes under load, time $i" is_switched 0
        ok "CPU 1 comes under load, time $i" is_switched 1
        ok "the workload ends, time $i" wait $!
done
stops 'stop works' plug
is_as_before 'the kernel is as it was'
exits 'verify is content' 0 ftracectl verify --json plug
is 'every datagram has its tree' "$(jq .trees "$out")" $((2 * (100 + 200 + 3 * 100)))
is 'entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
ok 'CPU 1 recorded' test "$(session plug '.cpus[] | select(.cpu == 1) | .n_pages')" -gt 0
is 'no page is missing' "$(sum_of plug pages_lost)" 0
exits 'report draws it without a complaint' 0 ftracectl report plug
ok 'nothing is said on standard error' not test -s "$err"
done_testing
