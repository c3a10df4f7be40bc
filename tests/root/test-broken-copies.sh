#!/bin/bash
# Touches: function_graph, perf events, the network (loopback), CPU 1's online file, mounts a disk; needs root and two CPUs.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
# long: deaths, a full disk and a CPU that goes take seconds each
#
# While stacks are copied, or are to be, the daemon is killed, a unit starts anew, the disk fills up, a CPU goes: copies go on when they can, calls without one
# are counted, the recording lacks nothing, and nothing is left in the kernel.
# Only here: events of perf, of which no fake kernel has any.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires taskset

send=$top_builddir/tests/workload/unstacked
word=swordfish-$RANDOM-$RANDOM
n_perf_events() {
        find /proc/[0-9]*/fd -lname 'anon_inode:\[perf_event\]' 2>/dev/null | wc -l
}
n_whole() { # of the last report
        grep -cE '/\* stack: _start .*main \[unstacked\] < (even|odd) < send_one' "$out"
}
copied_since() { # FILE
        find "$store/sessions/killed/stacks" -type f -newer "$1" -exec grep -la "$word" {} + | grep -q .
}

# --- a daemon that is killed ------------------------------------------------------------------------

mkfifo "$work/go"
WORD=$word bash -c "read -r go <'$work/go'; (while :; do '$send' 2; sleep 0.2; done) & echo \$! >'$work/child'; wait" &
parent=$!
cleanup_fn eval 'kill $parent $(<"$work/child") 2>/dev/null'
ok 'the daemon starts' start_ftraced
exits 'a process is recorded' 0 ftracectl start -n killed --pid="$parent" --flat --user-stack=copy:48K udp_sendmsg
touch "$work/begun"
echo >"$work/go"
ok 'what it forks is copied' wait_until 60 copied_since "$work/begun"
kill_ftraced
is 'nobody has events of perf any more' "$(n_perf_events)" 0
sleep 1
touch "$work/killed"
ok 'another daemon starts' start_ftraced
ok 'which goes on with what was forked before' wait_until 60 copied_since "$work/killed"
stops 'it stops' killed
is 'no events are left' "$(n_perf_events)" 0
is_as_before 'the kernel is as it was'
exits 'it is drawn' 6 ftracectl report killed
says 'calls without a copy are counted' '^For [0-9,]+ of [0-9,]+ stacks of programs no copy was found' "$err"
kill "$parent" "$(<"$work/child")"
stop_ftraced

# --- one that waits for its trigger ------------------------------------------------------------------

groups=/sys/fs/cgroup
[[ -e $groups/cgroup.procs ]] || mount -t cgroup2 none $groups
echo +pids >$groups/cgroup.subtree_control # before anybody wrote there, groups have no perf_event (linux 6.12 kernel/cgroup/cgroup.c)
cleanup_fn rmdir "$groups/ftraced-sender"
begin_unit() { # WORD
        [[ ! -d $groups/ftraced-sender ]] || rmdir "$groups/ftraced-sender"
        mkdir "$groups/ftraced-sender"
        WORD=$1 bash -c 'echo $$ >"$0/cgroup.procs"; while :; do "$1" 2; sleep 0.2; done' "$groups/ftraced-sender" "$send" &
        unit=$!
}
end_unit() {
        kill $unit
        wait $unit 2>/dev/null
        ok 'the unit ends' wait_until 20 grep -q 'populated 0' "$groups/ftraced-sender/cgroup.events"
}
has_copies_of() { # WORD
        grep -qa "WORD=$1" "$store"/sessions/armed/stacks/* 2>/dev/null
}
ok 'the daemon starts' start_ftraced
begin_unit first
exits 'a session waits' 0 ftracectl arm -n armed --on command --do start --cgroup=/ftraced-sender --flat --user-stack=copy:48K udp_sendmsg
end_unit
begin_unit second
sleep 3
exits 'it begins when its unit has been started again' 0 ftracectl trigger armed
ok 'and copies' wait_until 60 has_copies_of second
end_unit
stops 'it stops' armed
exits 'it goes' 0 ftracectl remove armed
begin_unit third
exits 'another one waits' 0 ftracectl arm -n armed --on command --do start --cgroup=/ftraced-sender --flat --user-stack=copy:48K udp_sendmsg
kill_ftraced
ok 'another daemon starts' start_ftraced
end_unit
begin_unit fourth
exits 'the session begins' 0 ftracectl trigger armed
ok 'it records who joined its group meanwhile, and copies' wait_until 60 has_copies_of fourth
is_drawn_without() { # as far as it is stored, in which there are no calls at first
        ftracectl report armed >"$out" 2>"$err" && grep -q '^Copies of stacks are not read before the recording has ended' "$err"
}
ok 'it is drawn without copies while it records, which is said' wait_until 60 is_drawn_without
ok 'and where there are none nobody speaks of unwind tables' not grep -q 'without unwind tables' "$err"
end_unit
stops 'it stops' armed
is_as_before 'the kernel is as it was'
stop_ftraced

# --- a full disk --------------------------------------------------------------------------------------

disk=$work/disk
mkdir "$disk"
ok 'there is a small disk' mount -t tmpfs -o size=24M tmpfs "$disk"
cleanup_fn umount -l "$disk"
store=$disk/store
ok 'the daemon starts on it' start_ftraced
exits 'a session starts' 0 ftracectl start -n full --flat --user-stack=copy:48K udp_sendmsg
ok 'what is mapped has been looked at' wait_until 60 test -s "$store/sessions/full/tracing/maps"
"$send" 10
sleep 1
dd if=/dev/zero of="$disk/filler" bs=4k status=none 2>/dev/null
# The environment is on the stack: 60 times what the rings have no room for.
BALLAST=$(head -c 40000 /dev/zero | tr '\0' x) "$send" 60
sleep 1
rm "$disk/filler"
sleep 1
# What a CPU lost it tells with its next one.
taskset -c 0 "$send" 5
taskset -c 1 "$send" 5
stops 'it stops' full
is 'nothing is said of copies' "$(session full '[.warnings[]? | select(test("copied"))] | length')" 0
exits 'it is whole' 0 ftracectl verify --json full
is 'with all its calls' "$(jq .trees "$out")" 80
exits 'it is drawn' 0 ftracectl report full
says 'what there was no room for is told' 'stacks were not copied: the kernel had no room' "$err"
says 'and calls without a copy' 'For [0-9]+ of 80 stacks of programs no copy was found' "$err"
is 'before and after there are copies' "$(($(n_whole) >= 20 && $(n_whole) < 80))" 1

# --- a CPU that goes ----------------------------------------------------------------------------------

cpu1=/sys/devices/system/cpu/cpu1/online
if [[ -w $cpu1 ]]; then
        cleanup_fn eval "echo 1 >$cpu1"
        exits 'a session starts' 0 ftracectl start -n plug --flat --user-stack=copy udp_sendmsg
        taskset -c 1 "$send" 10
        echo 0 >"$cpu1"
        taskset -c 0 "$send" 10
        echo 1 >"$cpu1"
        taskset -c 1 "$send" 10
        taskset -c 0 "$send" 10
        stops 'it stops' plug
        exits 'it is whole' 0 ftracectl verify --json plug
        is 'with all its calls' "$(jq .trees "$out")" 40
        exits 'it is drawn' 0 ftracectl report plug
        is 'of another one each has its copy' "$(($(n_whole) >= 30))" 1
        says 'and what has none is counted' 'For [0-9]+ of 40 stacks of programs no copy was found' "$err"
else
        skip_one 'a CPU goes' 'this machine has one'
fi
is_as_before 'the kernel is as it was'
done_testing
