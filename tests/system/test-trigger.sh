#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Armed sessions that wait for commands, signals and times, the flight recorder, snapshots and caps.
# What the kernel tells of is tested on real kernels.
# Only here: commands, signals and times; captures, caps, and what is told of them.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$work/tracefs"

feed() { # FIRST N: pages without events, whose times go on from FIRST
        timeout 60 python3 - "$1" "$2" >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw" <<'END' || fail "the kernel takes no pages"
import os, struct, sys
first, n = int(sys.argv[1]), int(sys.argv[2])
for i in range(first, first + n):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 0) + os.urandom(4080))
    sys.stdout.buffer.flush()
END
}
stored() { # SESSION: pages
        sum_of "$1" n_pages
}
tracing_on() {
        cat "$work/tracefs/tracing_on"
}

exits 'a session is armed' 0 ftracectl arm -n waits --on command --do start --do stop:60s --max-captures=1 udp_sendmsg
is 'its name is printed' "$(<"$out")" waits
is 'it says that it is armed' "$(session waits .state)" armed
is 'recording is off' "$(tracing_on)" 0
is 'the tracer is on' "$(<"$work/tracefs/current_tracer")" function_graph
is 'nothing but its root is hooked' "$(<"$work/tracefs/set_ftrace_filter")" udp_sendmsg
exits 'show tells what it waits for' 0 ftracectl show waits
says 'with what is done then' 'Waits for: command: start,stop:1min; fired 0 times|Waits for: command: start,stop:60s; fired 0 times' "$out"
exits 'list shows it' 0 ftracectl list
says 'and that it has no length yet' '^waits +armed +udp_sendmsg +- +- +0 ' "$out"
exits 'status shows it' 0 ftracectl status
says 'and what it waits for' 'waits +armed .*waits for command, fired 0 times' "$out"
exits 'its trigger is fired' 0 ftracectl trigger waits
is 'it records' "$(session waits .state)" recording
is 'recording is on' "$(tracing_on)" 1
is 'everything is hooked' "$(<"$work/tracefs/set_ftrace_filter")" ''
feed 0 3
ok 'its pages arrive' wait_until 10 eval '[[ $(stored waits) == 3 ]]'
exits 'a second time there is nothing to do' 1 ftracectl trigger waits
says 'which is said' 'has nothing to do now'
is 'it fired once' "$(session waits '.captures.triggers[0].fired')" 1
exits 'it is stopped' 0 ftracectl stop waits
exits 'what ended waits for nothing' 1 ftracectl trigger waits
says 'which is said, with the way out' 'waits for no trigger; "ftracectl arm"'

exits 'one that never fires can be stopped' 0 ftracectl arm -n never udp_sendmsg
exits 'while it is armed' 0 ftracectl stop never
is 'it is over' "$(session never .state)" sealed
is 'the tracer is off' "$(<"$work/tracefs/current_tracer")" nop

exits 'a signal' 0 ftracectl arm -n signalled --on signal --do start udp_sendmsg
kill -USR2 "$ftraced_pid"
ok 'is a trigger' wait_until 5 eval '[[ $(session signalled .state) == recording ]]'
exits 'it is stopped' 0 ftracectl stop signalled

exits 'a time' 0 ftracectl arm -n timed --on in:5s --do start --do stop:1s --max-captures=1 udp_sendmsg
ok 'is a trigger, and so is what ends it' wait_until 10 eval '[[ $(session timed .state) == sealed ]]'
ok 'it waited so long' test "$(session timed '.start.boottime_ns - .armed.boottime_ns')" -ge 4900000000

exits 'each recording' 0 ftracectl arm -n again --on command --do start --on signal --do stop --max-captures=2 --set=MinGap=1ms udp_sendmsg
for i in 1 2; do
        exits "begins with a command ($i)" 0 ftracectl trigger again
        feed $((10 * i)) $((2 * i))
        kill -USR2 "$ftraced_pid"
        ok "and becomes a session of its own ($i)" wait_until 10 eval "[[ \$(session again-snap-$i .state) == sealed ]]"
        is "with its pages ($i)" "$(stored again-snap-$i)" $((2 * i))
done
ok 'after the last it ends' wait_until 10 eval '[[ $(session again .state) == sealed ]]'
is 'it says why' "$(session again .reason)" 'as many captures were made as --max-captures allows'
is 'and has nothing of them itself' "$(stored again)" 0
is 'they say whose they are' "$(session again-snap-1 .origin)" again
exits 'they are complete' 0 ftracectl verify again-snap-2

cpu_ticks() { # of the daemon
        awk '{ print $14 + $15 }' "/proc/$ftraced_pid/stat"
}
exits 'one that will not be narrowed' 0 \
        ftracectl arm -n stuck --on command --do start --on signal --do stop --set=MinGap=1ms udp_sendmsg
exits 'records' 0 ftracectl trigger stuck
mv "$work/tracefs/set_ftrace_filter" "$work/filter"
mkdir "$work/tracefs/set_ftrace_filter"
kill -USR2 "$ftraced_pid"
ok 'and says so when it waits again' \
        wait_until 10 eval '[[ $(session stuck "[.warnings[] | select(test(\"stays hooked while it waits\"))] | length") == 1 ]]'
before=$(cpu_ticks)
sleep 1
ok 'it is not tried again and again' test $(($(cpu_ticks) - before)) -lt 50
rmdir "$work/tracefs/set_ftrace_filter"
mv "$work/filter" "$work/tracefs/set_ftrace_filter"
exits 'it is stopped' 0 ftracectl stop stuck

exits 'a flight recorder starts' 0 ftracectl start -n flight --in-kernel udp_sendmsg
exits 'what only the kernel has cannot be followed' 7 ftracectl follow flight
says 'and what can be done instead' 'ftracectl snapshot flight' "$err"
feed 100 5
sleep 0.5
is 'nothing of it is written' "$(stored flight)" 0
exits 'a snapshot is taken' 0 ftracectl snapshot flight
is 'its name is printed' "$(<"$out")" flight-snap-1
is 'it has what there was' "$(stored flight-snap-1)" 5
is 'the recorder has none of it' "$(stored flight)" 0
is 'which goes on' "$(session flight .state) $(tracing_on)" 'recording 1'
exits 'there is nothing since' 1 ftracectl snapshot flight
says 'which is said' 'has nothing yet'
feed 200 4
exits 'another' 0 ftracectl snapshot flight
is 'has what came since' "$(stored flight-snap-2)" 4
exits 'it is complete' 0 ftracectl verify flight-snap-2
exits 'and can be removed' 0 ftracectl remove flight-snap-2
kill_ftraced
meta=$work/store/sessions/flight/session.json
jq '.cpus[0].in_memory = 9' "$meta" >"$work/meta" && cat "$work/meta" >"$meta"
ok 'what a black box has in memory is known to the next daemon' start_ftraced --tracefs "$work/tracefs"
feed 250 2
exits 'who keeps it' 0 ftracectl snapshot flight
is 'after which a crash has nothing to leave there' "$(jq '.cpus[0].in_memory // 0' "$meta")" 0
exits 'the recorder is stopped' 0 ftracectl stop flight

exits 'a recorder with a trigger' 0 ftracectl arm -n watch --in-kernel --on signal --set=MinGap=1h udp_sendmsg
is 'records at once' "$(session watch .state)" recording
feed 300 3
kill -USR2 "$ftraced_pid"
ok 'and keeps what led up to it' wait_until 10 eval '[[ $(session watch-snap-1 .state) == sealed ]]'
feed 310 3
kill -USR2 "$ftraced_pid"
ok 'what comes too soon is counted' wait_until 10 eval '[[ $(session watch ".captures.triggers[0].suppressed") == 1 ]]'
is 'and not kept' "$(session watch .n_snapshots)" 1
exits 'show says so' 0 ftracectl show watch
says 'with the cap' 'fired 1 time, suppressed 1 times' "$out"
exits 'it is stopped' 0 ftracectl stop watch

exits 'a ring on disk' 0 ftracectl start -n ring --ring --max-size=1M udp_sendmsg
feed 400 6
ok 'stores' wait_until 10 eval '[[ $(stored ring) == 6 ]]'
exits 'and keeps a snapshot' 0 ftracectl snapshot ring
is 'of what it has' "$(stored ring-snap-1)" 6
is 'which it has still' "$(stored ring)" 6
feed 406 2
ok 'it goes on' wait_until 10 eval '[[ $(stored ring) == 8 ]]'
exits 'it is stopped' 0 ftracectl stop ring
is 'the snapshot is as it was' "$(stored ring-snap-1)" 6
exits 'the ring is complete' 0 ftracectl verify ring
exits 'and so is the snapshot' 0 ftracectl verify ring-snap-1
exits 'the ring is removed' 0 ftracectl remove ring
exits 'the snapshot is there still' 0 ftracectl verify ring-snap-1

exits 'an unknown trigger' 2 ftracectl arm --on sunrise udp_sendmsg
says 'is named, with those there are' '"sunrise" is not a trigger: function:NAME'
exits 'an unknown action' 2 ftracectl arm --on signal --do dance udp_sendmsg
says 'is named' '"dance" is not one of start'
exits 'an unknown function' 3 ftracectl arm --on function:udp_sendmess udp_sendmsg
says 'is named' 'no function "udp_sendmess"'
exits 'an unknown event' 3 ftracectl arm --on event:no:such udp_sendmsg
says 'is named' 'no event "no:such"'
exits 'a snapshot of no ring' 2 ftracectl arm --on signal --do snapshot udp_sendmsg
says 'is refused, with the way out' 'add --in-kernel'
exits 'so is one of a session' 0 ftracectl start -n plain udp_sendmsg
exits 'that is no ring' 1 ftracectl snapshot plain
says 'with a sentence' 'and it is not a ring'
exits 'a session that was not armed' 1 ftracectl trigger plain
says 'has no trigger' 'waits for no trigger'
exits 'it is stopped' 0 ftracectl stop plain
is 'the kernel is as it was' "$(<"$work/tracefs/current_tracer") $(tracing_on)" 'nop 1'

exits 'an armed session' 0 ftracectl arm -n left --on signal udp_sendmsg
kill_ftraced
ok 'outlives its daemon' start_ftraced --tracefs "$work/tracefs"
is 'it waits still' "$(session left .state)" armed
kill -USR2 "$ftraced_pid"
ok 'and records when its trigger fires' wait_until 5 eval '[[ $(session left .state) == recording ]]'
exits 'it is stopped' 0 ftracectl stop left

ok 'the daemon ends in peace' stop_ftraced
done_testing
