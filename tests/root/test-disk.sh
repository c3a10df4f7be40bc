#!/bin/bash
# Touches: function_graph, loopback, mounts disks, makes all read-only if they are its own; needs root and function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: waits for disks; kill-faults has one that does not write, and the system story the rest
#
# A disk that is full, or becomes read-only: what is recorded waits, and is there when there is room again.
# What the kernel's buffer cannot hold meanwhile is counted and placed.  A disk that dies: the daemon answers,
# and ends.
# Only here: the kernel's buffer that fills up meanwhile, and disks that really are full, die, or take pages
# that they do not write.
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

# --- full where nobody but the sealer writes ------------------------------------------------------

has_no_temporaries() {
        [[ -z $(find "$store" -name '*.sealing') ]]
}
exits 'a session that is to be sealed starts' 0 ftracectl start -n seals --buffer-size=16M udp_sendmsg
"$udp_pairs" 500 >/dev/null # which takes the worker a moment
catch_worker seals &
catcher=$!
exits 'it stops' 0 ftracectl stop seals
wait "$catcher"
worker=$(<"$work/worker")
ok 'a worker is caught at its work' test -n "$worker"
fill
kill -CONT "$worker"
ok 'the journal says it' wait_until 60 grep -qE \
        "Cannot seal segment cpu.* of session \"seals\": (no space is left|No space left).*; it stays as it is and is tried again every minute" "$work/ftraced.log"
ok 'nothing half sealed is left' has_no_temporaries
exits 'the recording is whole' 0 ftracectl verify --json seals
is 'with all its trees' "$(jq .trees "$out")" 1000
make_room
ok 'with room again it is sealed' wait_until 180 segments_are 2 seals
is 'the journal has said it once' "$(grep -c "Cannot seal segment .*\"seals\"" "$work/ftraced.log")" 1
exits 'and whole' 0 ftracectl verify --deep --json seals
is 'still with all its trees' "$(jq .trees "$out")" 1000

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
exits 'it stops, and says that it is incomplete' 6 ftracectl stop small
lost=$(sum_of small overrun)
note "the kernel's buffers overran by $lost events"
ok 'events were lost' test "$lost" -gt 0
is 'each of them is in a gap' "$(session small '[.gaps[] | .events // 0] | add')" \
        "$(session small '[.cpus[] | .overrun + .commit_overrun + .dropped_events] | add')"
ok 'the gaps are the disk'"'"'s fault' eval '[[ $(session small ".gaps[].cause") == *no_space* ]]'
exits 'verify says that it is incomplete' 6 ftracectl verify small
says 'verify says where, and why' 'CPU [0-9]+: [0-9,]+ events lost from .*disk was full' "$out"

exits 'a session that ends where the disk is full starts' 0 \
        ftracectl start -n ends --set=OnFull=stop udp_sendmsg
"$udp_pairs" 2 >/dev/null
fill
"$udp_pairs" 20 >/dev/null
ok 'it ends' wait_until 40 eval '[[ $(session ends .state) == sealed ]]'
session ends .reason >"$out"
says 'and says why' 'OnFull=stop' "$out"
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

sectors=131072
make_disk() { # NAME [MKFS-OPTION...]
        local name=$1 options=commit=1

        shift
        [[ $# -eq 0 ]] || options=noatime # nothing to commit
        truncate -s $((sectors * 512)) "$disk-$name.img" || return
        loop=$(losetup -f --show "$disk-$name.img") || return
        cleanup_fn losetup -d "$loop"
        dmsetup create "ftraced-$name" --noudevsync --table "0 $sectors linear $loop 0" || return
        cleanup_fn dmsetup remove --noudevsync --force "ftraced-$name"
        [[ -e /dev/mapper/ftraced-$name ]] || dmsetup mknodes "ftraced-$name"
        mkfs.ext4 -q "$@" "/dev/mapper/ftraced-$name" || return
        mkdir "$work/$name" && mount -t ext4 -o "$options" "/dev/mapper/ftraced-$name" "$work/$name" || return
        cleanup_fn umount -l "$work/$name"
}
become() { # NAME TABLE
        dmsetup suspend --nolockfs "ftraced-$1" &&
                dmsetup load "ftraced-$1" --table "0 $sectors $2" &&
                dmsetup resume --noudevsync "ftraced-$1"
}
dead_disk() {
        command -v dmsetup mkfs.ext4 losetup >/dev/null || return
        modprobe -a loop dm_mod dm_flakey ext4 2>/dev/null
        make_disk dead
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
become dead error
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
exits 'it stops, and says that it is incomplete' 6 timeout 60 "$top_builddir/ftracectl" stop dead
note "the stop took $SECONDS s"
ok 'in bounded time' test "$SECONDS" -lt 45
ok 'what is lost is counted' test "$(sum_of dead pages_lost)" -gt 0
session dead '.gaps[] | "\(.cause) \(.pages)"' >"$out"
says 'and placed' 'disk_failed [0-9]+' "$out"
accounts_agree dead
is_as_before 'the kernel is as it was'
ok 'the daemon ends' stop_ftraced

# --- read-only, and then not ----------------------------------------------------------------------

# What has files open for writing cannot be remounted (EBUSY), but by whoever does not ask: the file system after an
# error, or sysrq, which takes all disks.
is_read_only() { # DIR
        findmnt -no OPTIONS "$1" | grep -q '^ro'
}
has_disk() { # besides this one
        findmnt -rno SOURCE,OPTIONS | grep -v '^/dev/mapper/ftraced-' | grep -q '^/dev/.* rw'
}
read_only_disk() {
        ! has_disk && command -v findmnt >/dev/null && make_disk turns
}
if read_only_disk >"$work/dead.log" 2>&1; then
        store=$work/turns/store
        ok 'a daemon starts on a disk that will be read-only' start_ftraced
        exits 'a session starts' 0 ftracectl start -n turns --buffer-size=16M udp_sendmsg
        "$udp_pairs" 50 >/dev/null
        ok 'the kernel refuses a remount that asks' eval '! mount -o remount,ro "$work/turns"'
        echo u >/proc/sysrq-trigger
        ok 'it is read-only without being asked' wait_until 20 is_read_only "$work/turns"
        until_turned=$((SECONDS + 60))
        until is_degraded turns disk_failed || ((SECONDS > until_turned)); do
                "$udp_pairs" 20 >/dev/null
        done
        ok 'the session is degraded' is_degraded turns disk_failed
        exits 'the daemon answers' 0 ftracectl status
        says 'and says why' 'turns is degraded: .*Read-only file system' "$out"
        says 'and what to do' "mount it read-write" "$out"
        exits 'another session is refused' 1 ftracectl start -n no udp_recvmsg
        says 'for that' 'Read-only file system.*mount it read-write'
        is 'nothing is lost' "$(session turns '[.cpus[] | .overrun + .pages_lost] | add')" 0
        ok 'it becomes writable' mount -o remount,rw "$work/turns"
        ok 'and the session well' wait_until 30 is_degraded turns ''
        before=$(sum_of turns n_bytes)
        "$udp_pairs" 20 >/dev/null
        exits 'it stops' 0 ftracectl stop turns
        ok 'it has recorded since' test "$(sum_of turns n_bytes)" -gt "$before"
        exits 'nothing is lost' 0 ftracectl verify --json turns
        is 'entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
        accounts_agree turns
        is_as_before 'the kernel is as it was'

        exits 'a session that ends on a read-only disk starts' 0 ftracectl start -n ends-so udp_sendmsg
        "$udp_pairs" 20 >/dev/null
        echo u >/proc/sysrq-trigger
        ok 'which it is' wait_until 20 is_read_only "$work/turns"
        "$udp_pairs" 20 >/dev/null
        exits 'its stop says that it is incomplete' 6 timeout 60 "$top_builddir/ftracectl" stop ends-so
        is_as_before 'the kernel is as it was'
        ok 'the disk becomes writable' mount -o remount,rw "$work/turns"
        ok 'session.json says so when it can' wait_until 20 \
                eval '[[ $(jq -r .state "$store/sessions/ends-so/session.json") == sealed ]]'
        accounts_agree ends-so
        exits 'verify says what is missing' 6 ftracectl verify ends-so
        ok 'the daemon ends' stop_ftraced
else
        show_file "$work/dead.log"
        skip_one 'a disk that becomes read-only' 'there is another disk, or no room for one'
fi

# --- takes everything, and does not write it ------------------------------------------------------

if ! make_disk heals -O ^has_journal >"$work/dead.log" 2>&1 || ! make_disk stays >>"$work/dead.log" 2>&1; then
        show_file "$work/dead.log"
        skip_one 'a disk that fails to write' 'there is no room for it'
        done_testing
fi
heals_loop=$(losetup -j "$disk-heals.img" -O NAME -n) stays_loop=$loop
store=$work/heals/store
ok 'a daemon starts on a disk that will fail for a while' start_ftraced
# The file system's own blocks are on the disk before it fails, and nothing but data is written while it does: what ext4
# cannot write of its own it forgets, and then files may be unreadable whatever becomes of the disk.
exits 'a session starts' 0 ftracectl start -n heals --set=SegmentTime=1s udp_sendmsg
sync -f "$work/heals"
become heals "flakey $heals_loop 0 0 600 1 error_writes"
"$udp_pairs" 100 >/dev/null
ok 'it is degraded' wait_until 40 is_degraded heals not_written
ok 'and has a gap at once' test "$(session heals '[.gaps[] | select(.cause == "not_written")] | length')" -gt 0
become heals "linear $heals_loop 0"
"$udp_pairs" 100 >/dev/null
ok 'with a good disk it is well again' wait_until 40 is_degraded heals ''
SECONDS=0
exits 'its stop says that it is incomplete' 6 ftracectl stop heals
note "the stop took $SECONDS s"
says 'and what is lost' 'heals: .* pages? lost' "$out"
ok 'what came later is there' test "$(sum_of heals n_pages)" -gt 0
accounts_agree heals
ok 'the daemon ends' stop_ftraced
[[ $n_failed == 0 ]] || tail -n 20 "$work/ftraced.log" | sed 's/^/# ftraced.log: /'

store=$work/stays/store
ok 'a daemon starts on a disk that will fail for good' start_ftraced
exits 'a session starts' 0 ftracectl start -n stays udp_sendmsg
"$udp_pairs" 100 >/dev/null
become stays "flakey $stays_loop 0 0 600 1 error_writes"
SECONDS=0
exits 'its stop says that it is incomplete' 6 timeout 60 "$top_builddir/ftracectl" stop stays
note "the stop took $SECONDS s"
says 'and what is lost' 'stays: .* pages? lost' "$out"
session stays '.gaps[] | "\(.cause) \(.pages)"' >"$out"
# Its file system makes itself read-only when it cannot write its journal, which may be before the stop: then there
# are pages that could not even be stored.
says 'a gap says why' '(not_written|disk_failed) [0-9]+' "$out"
accounts_agree stays
echo 3 >/proc/sys/vm/drop_caches
exits 'verify says it' 6 ftracectl verify stays
says 'with the cause' 'failed to write pages' "$out"
ok 'and that what is there is what the account says' eval '! grep -q "account says" "$out"'
is_as_before 'the kernel is as it was'
ok 'the daemon ends' stop_ftraced
done_testing
