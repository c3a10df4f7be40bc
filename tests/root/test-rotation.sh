#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: cuts are the system story's, too, on two CPUs
#
# Nothing is lost or doubled where segments are cut, and a ring keeps the newest.
# Only here: calls over cuts: none is lost, doubled or torn, however many CPUs are cut at once.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=${ROTATION_PAIRS:-250} # a dozen cuts

verifies() { # NAME TREES
        exits "$1: verify is content" 0 ftracectl verify --json "$1"
        is "$1: 2N trees over all cuts" "$(jq .trees "$out")" "$2"
        is "$1: entries equal exits" "$(jq .entries "$out")" "$(jq .exits "$out")"
        is "$1: nothing is lost" "$(jq '.events_lost + .pages_lost + .pages_dropped' "$out")" 0
}
last_cut() { # NAME
        tail -n 1 "$store/sessions/$1/cuts" | cut -d' ' -f1
}

ok 'the daemon starts' start_ftraced

exits 'a run with small segments succeeds' 0 \
        ftracectl run --format=none -n sized --segment-size=64K udp_sendmsg -- "$udp_pairs" "$pairs"
ok "it was cut ($(last_cut sized) times)" test "$(last_cut sized)" -ge 3
verifies sized $((2 * pairs))

exits 'a session that is cut by time starts' 0 ftracectl start -n timed --set=SegmentTime=1s udp_sendmsg
for ((i = 0; i < 5; i++)); do
        "$udp_pairs" $((pairs / 5)) >/dev/null || fail 'datagrams are sent'
        sleep 0.7
done
exits 'it is stopped' 0 ftracectl stop timed
ok "it was cut ($(last_cut timed) times)" test "$(last_cut timed)" -ge 2
verifies timed $((2 * (pairs / 5) * 5))

exits 'a ring starts' 0 ftracectl start -n ring --ring --max-size=1M udp_sendmsg
"$udp_pairs" $((2 * pairs)) >/dev/null || fail 'datagrams are sent'
"$udp_pairs" 2 >/dev/null &
last=$!
wait $last || fail 'the last are sent'
exits 'it is stopped' 0 ftracectl stop ring
ok 'it dropped something' test "$(session ring .bytes_dropped)" -gt 0
ok 'it is not larger than it may be' \
        test "$(find "$store/sessions/ring" -name '*.seg' -printf '%b\n' | awk '{ n += $1 * 512 } END { print n + 0 }')" -le $((1 << 20))
ok 'nor much larger with what is beside its segments' \
        test "$(ftracectl list --json | jq '.[] | select(.name == "ring") | .disk_bytes')" -le $(((1 << 20) + 65536))
exits 'verify is content with what it kept' 0 ftracectl verify --json ring
ok 'that is a part' test "$(jq .trees "$out")" -lt $((4 * pairs))
exits 'it is drawn' 0 ftracectl report -O funcgraph-proc ring
ok 'the newest is there' grep -qE -- "-$last +\|.* udp_sendmsg" "$out"
is 'only that it is a ring is said on standard error' "$(grep -vc 'dropped by the ring' "$err")" 0

ok 'the daemon ends in peace' stop_ftraced
is_as_before 'the kernel is as it was'
done_testing
