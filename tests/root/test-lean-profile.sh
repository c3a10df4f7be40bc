#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits until something was learned, as lean does
# kernels: 6.12
#
# A shipped profile begins with what its roots called elsewhere, and goes on with what is learned here.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

lean_by_default
mkdir -p "$work/root/usr/lib/ftraced/profiles.d"
cp "$top_srcdir/systemd/profiles.d/udp-send.conf" "$work/root/usr/lib/ftraced/profiles.d"
ok 'the daemon starts' start_ftraced --config-root="$work/root"
exits 'start succeeds' 0 ftracectl start -q -n guess --profile udp-send
filter=$(filter_of guess)
ok 'what it called elsewhere is hooked' grep -qx udp_send_skb "$filter"
is 'which is said' "$(session guess '.warnings | map(select(test("called elsewhere are hooked"))) | length')" 1
is_learned_here() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && [[ $(session guess '.hook_changes // [] | map(.reason) | join(" ")') == 'widened narrowed'* ]]
}
ok 'then nearly everything, until it is learned' wait_until 120 is_learned_here
ok 'which is kept' learned
stops 'stop succeeds' guess
is_as_before 'the kernel is as it was'
exits 'verify is content' 0 ftracectl verify --json guess
is 'entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
done_testing
