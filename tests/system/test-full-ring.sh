#!/bin/bash
# Touches: a fake tracefs, and a store on a small tmpfs in a mount namespace of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for a disk to fill
#
# A ring on a disk that is smaller than the ring drops its oldest, and goes on.
. "$(dirname "$0")/../functions.sh"
requires jq python3 unshare
if [[ -z ${FTRACED_TEST_NAMESPACE:-} ]]; then
        unshare -m mount -t tmpfs -o size=1M tmpfs "$work" 2>/dev/null || skip 'no tmpfs can be mounted here'
        rm -rf "$work"
        FTRACED_TEST_NAMESPACE=1 exec unshare -m bash "$0"
fi

mkdir -m 750 "$store"
mount -t tmpfs -o size=4M,mode=750 tmpfs "$store"
cleanup_fn umount "$store"
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts on a small disk' start_ftraced --tracefs "$work/tracefs"

stored() {
        echo $(($(sum_of ring n_pages) + $(sum_of ring pages_dropped)))
}
exits 'a ring that is larger than the disk starts' 0 \
        ftracectl start -n ring --ring --max-size=1G --segment-size=512K udp_sendmsg
for ((i = 0; i < 1600; i += 200)); do
        timeout 60 python3 - $i 200 >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw" <<'EOF' || fail 'pages are not taken'
import os, struct, sys
for i in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 0) + os.urandom(4080))
    sys.stdout.buffer.flush()
EOF
        ok "$((i + 200)) pages go through it" wait_until 30 eval "[[ \$(stored) == $((i + 200)) ]]"
done
is 'it still records' "$(session ring .state)" recording
exits 'it is stopped' 0 ftracectl stop ring
is 'it ended well' "$(session ring .state)" sealed
is 'no page is lost' "$(sum_of ring pages_lost)" 0
ok 'the oldest went' test "$(session ring .bytes_dropped)" -gt $((2 << 20))
set -- "$store/sessions/ring/cpu0"/*.seg
oldest=$1
[[ $(segment_version "$oldest") == 1 ]] && at=4096 || at=$((80 + 64)) # in the first block's header
first=$(($(od -A n -t u8 -j "$at" -N 8 "$oldest") / 1000 - 1))
is 'the newest are there, without a gap' $((first + $(sum_of ring n_pages))) 1600
exits 'it is drawn without a word of damage' 0 ftracectl report ring
is 'only that it is a ring is said' "$(grep -vc 'dropped by the ring' "$err")" 0
ok 'the daemon ends in peace' stop_ftraced
done_testing
