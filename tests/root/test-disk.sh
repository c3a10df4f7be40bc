#!/bin/bash
# Touches: function_graph, the network (loopback), mounts disks of its own; needs root and function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# A disk that is full: what is recorded waits, and is there when there is room again.  What the kernel's
# buffer cannot hold meanwhile is counted and placed.  A disk that dies: the daemon answers, and ends.
. "$(dirname "$0")/../functions.sh"
require_kernel

disk=$work/disk
mkdir "$disk"
mount -t tmpfs -o size=24M tmpfs "$disk" || skip 'a tmpfs cannot be mounted'
cleanup_fn umount -l "$disk"
store=$disk/store

fill() { # the disk, to the last byte
        dd if=/dev/zero of="$disk/filler" bs=64k status=none 2>/dev/null
        dd if=/dev/zero of="$disk/filler-too" bs=1k status=none 2>/dev/null
        return 0
}
make_room() {
        rm -f "$disk/filler" "$disk/filler-too"
}
is_degraded() { # NAME CAUSE
        [[ $(session "$1" '[.degraded[].cause] | join(" ")') == "$2" ]]
}

# Nothing goes but by what is tried here.
printf '[Store]\nMaxUse=0\nKeepFree=0\n' >"$work/ftraced.conf"
export FTRACED_CONFIG=$work/ftraced.conf

# --- full, and then not ---------------------------------------------------------------------------

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n full --buffer-size=16M udp_sendmsg
"$udp_pairs" 50 >/dev/null
fill
"$udp_pairs" 100 >/dev/null
ok 'on a full disk it is degraded' wait_until 20 is_degraded full no_space
exits 'the daemon answers' 0 ftracectl status
says 'and says why' 'full is degraded: storing pages failed: No space left on device' "$out"
is 'nothing is lost' "$(session full '[.cpus[] | .overrun + .pages_lost] | add')" 0
make_room
ok 'with room again it is well' wait_until 20 is_degraded full ''
"$udp_pairs" 50 >/dev/null
exits 'it stops' 0 ftracectl stop full
is_as_before 'the kernel is as it was'
exits 'it is complete' 0 ftracectl verify --json full
is 'not one tree is missing' "$(jq .trees "$out")" 400
is 'entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
exits 'it is drawn' 0 ftracectl report full
is 'with each of its roots' "$(count_roots udp_sendmsg "$out")" 400

# --- full for too long ----------------------------------------------------------------------------

exits 'a session with a small buffer starts' 0 ftracectl start -n small --buffer-size=64K udp_sendmsg
"$udp_pairs" 2 >/dev/null
fill
"$udp_pairs" 200 >/dev/null
ok 'it is degraded' wait_until 20 is_degraded small no_space
ok 'that the buffer overran is noticed while the disk is full' \
        wait_until 10 eval '[[ $(session small ".gaps | length") -gt 0 ]]'
make_room
ok 'with room again it is well' wait_until 20 is_degraded small ''
"$udp_pairs" 2 >/dev/null
exits 'it stops' 0 ftracectl stop small
lost=$(sum_of small overrun)
note "the kernel's buffers overran by $lost events"
ok 'events were lost' test "$lost" -gt 0
is 'each of them is in a gap' "$(session small '[.gaps[] | .events // 0] | add')" \
        "$(session small '[.cpus[] | .overrun + .commit_overrun + .dropped_events] | add')"
ok 'the gaps are the disk'"'"'s fault' eval '[[ $(session small ".gaps[].cause") == *no_space* ]]'
exits 'verify says that it is incomplete' 6 ftracectl verify small
says 'verify says where, and why' 'CPU [0-9]+: [0-9,]+ events lost from .*disk was full' "$out"

exits 'a session that ends where the disk is full starts' 0 \
        ftracectl start -n ends --on-full=stop udp_sendmsg
"$udp_pairs" 2 >/dev/null
fill
"$udp_pairs" 20 >/dev/null
ok 'it ends' wait_until 40 eval '[[ $(session ends .state) == sealed ]]'
session ends .reason >"$out"
says 'and says why' 'on-full=stop' "$out"
make_room
is_as_before 'the kernel is as it was'
exits 'it is drawn as far as it came' 6 ftracectl report ends

# A store on a full disk can still be read, and made smaller.
ok 'the daemon ends' stop_ftraced
fill
if start_ftraced; then
        pass 'a daemon starts on a full disk'
        exits 'it lists what there is' 0 ftracectl list
        exits 'it refuses to record' 1 ftracectl start -n no udp_sendmsg
        says 'and says why' 'No space left'
        is_as_before 'having changed nothing'
        exits 'it removes what is asked for' 0 ftracectl remove small
        make_room
        ok 'it ends' stop_ftraced
else
        fail 'a daemon starts on a full disk'
fi
make_room

# --- dead -----------------------------------------------------------------------------------------

dead_disk() {
        local sectors=131072

        command -v dmsetup mkfs.ext4 losetup >/dev/null || return
        modprobe -a loop dm_mod ext4 2>/dev/null
        truncate -s $((sectors * 512)) "$disk.img" || return
        loop=$(losetup -f --show "$disk.img") || return
        cleanup_fn losetup -d "$loop"
        dmsetup create ftraced-test --noudevsync --table "0 $sectors linear $loop 0" || return
        cleanup_fn dmsetup remove --noudevsync --force ftraced-test
        [[ -e /dev/mapper/ftraced-test ]] || dmsetup mknodes ftraced-test
        mkfs.ext4 -q /dev/mapper/ftraced-test || return
        mkdir "$work/dead" && mount -t ext4 -o commit=1 /dev/mapper/ftraced-test "$work/dead" || return
        cleanup_fn umount -l "$work/dead"
}
if ! dead_disk >"$work/dead.log" 2>&1; then
        show_file "$work/dead.log"
        skip_one 'a dead disk' 'this kernel has no device mapper, loop device or ext4'
        done_testing
fi
store=$work/dead/store
ok 'a daemon starts on a disk that will die' start_ftraced
exits 'a session starts' 0 ftracectl start -n dead udp_sendmsg
"$udp_pairs" 5 >/dev/null
dmsetup suspend --nolockfs ftraced-test &&
        dmsetup load ftraced-test --table '0 131072 error' &&
        dmsetup resume --noudevsync ftraced-test
until_dead=$((SECONDS + 60))
until is_degraded dead disk_failed || ((SECONDS > until_dead)); do
        "$udp_pairs" 5 >/dev/null
        sync -f "$work/dead" 2>/dev/null
        sleep 0.5
done
ok 'it is degraded' is_degraded dead disk_failed
exits 'the daemon answers' 0 ftracectl status
says 'and says why' 'dead is degraded: storing pages failed' "$out"
SECONDS=0
exits 'it stops' 0 timeout 60 "$top_builddir/ftracectl" stop dead
note "the stop took $SECONDS s"
ok 'in bounded time' test "$SECONDS" -lt 45
ok 'what is lost is counted' test "$(sum_of dead pages_lost)" -gt 0
session dead '.gaps[] | "\(.cause) \(.pages)"' >"$out"
says 'and placed' 'disk_failed [0-9]+' "$out"
is_as_before 'the kernel is as it was'
ok 'the daemon ends' stop_ftraced
done_testing
