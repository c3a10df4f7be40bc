#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for a kernel that takes its time
#
# While the kernel takes its time over arming, disarming and hooking what a trigger begins, the daemon
# answers others, and who leaves, stops the session or the daemon, or comes with another session or
# trigger meanwhile gets what is due.
. "$(dirname "$0")/../functions.sh"
requires jq python3
preload=$top_builddir/tests/system/slow.so
[[ -e $preload ]] || skip "$preload is not built"
export SLOW_DIR=$work/tracefs SLOW_FILE=$work/slow

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
controls() {
        (cd "$work/tracefs" && grep -r -D skip . . | grep -v -e set_graph_ -e ':####' | sed 's/\[\(local\)\] .*/\1/' | sort)
}
hold() { # FILE [all]: whoever writes to it waits, and who opens what shows the hooks, or anything
        rm -f "$SLOW_FILE.reached"
        printf '%s\n' "$@" >"$SLOW_FILE.new"
        mv "$SLOW_FILE.new" "$SLOW_FILE"
}
is_held() {
        wait_until 30 test -e "$SLOW_FILE.reached"
}
let_go() {
        rm -f "$SLOW_FILE"
}
begin() { # NAME COMMAND [WORD...]: in the background
        local name=$1

        shift
        "$top_builddir/ftracectl" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
        begun_pid=$!
}
# With the clock: an answer that comes when the kernel is through is none.
answers() { # VERB [WORD...]
        timeout 100 "$top_builddir/ftracectl" "$@"
}
all_are_answered() { # NAME: while it is live, three clients at once, for longer than the daemon is between two looks
        local client pids=() status=0

        for client in 1 2 3; do
                for verb in status list "show $1" functions; do
                        # shellcheck disable=SC2086  # words
                        answers $verb >/dev/null || exit 1
                        sleep 1
                done &
                pids+=($!)
        done
        for client in "${pids[@]}"; do wait "$client" || status=1; done
        return "$status"
}
state_is() { # NAME STATE
        [[ $(session "$1" .state) == "$2" ]]
}

controls >"$work/before"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"

# --- more words than it can compare -----------------------------------------------------------------

hold set_graph_function
timeout 100 python3 "$top_srcdir/tests/varlink-client.py" "$FTRACED_SOCKET" org.ftraced.Start \
        '{"name":"many","spec":{"functions":["udp_sendmsg","udp_recvmsg","udpv6_sendmsg","udp_cmsg_send","nf_conntrack_in","tcp_sendmsg","ip_make_skb"]}}' \
        --more >"$work/many.out" 2>&1 &
many=$!
ok 'the kernel compares for long' is_held
sleep 10
exits 'others are answered' 0 answers status
let_go
not wait "$many"
says 'who starts is told how far it is' '"progress": ?\{"done": ?0, ?"total": ?7\}' "$work/many.out"
says 'and refused as soon as it is known that it takes too long' 'TooManyFunctions' "$work/many.out"
says 'with what was seen' 'each of the 7 words that name these: 1 of them took 1[0-9]' "$work/many.out"
exits 'it is no session' 3 answers show many
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

# --- arming -------------------------------------------------------------------------------------

hold set_graph_function
begin armed start -n armed udp_sendmsg
armed=$begun_pid
ok 'arming waits for the kernel' is_held
exits 'status is answered meanwhile' 0 answers status
exits 'so is list' 0 answers list
exits 'so are the functions' 0 answers functions 'udp_*'
exits 'and a session that there is not' 3 answers show nothing
begin second start -n second udp_sendmsg
second=$begun_pid
exits 'the daemon answers with two that begin' 0 answers status
rss() { # kB of the daemon
        awk '/^VmRSS:/ { print $2 }' "/proc/$ftraced_pid/status"
}
before=$(rss)
timeout 100 python3 - "$FTRACED_SOCKET" <<'END'
import json, socket, sys
spec = {"functions": ["%0200i" % i for i in range(4000)]}
call = json.dumps({"method": "org.ftraced.Start", "parameters": {"spec": spec}}).encode() + b"\0"
for i in range(30):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.sendall(call)
END
exits 'and when many have asked to begin and left' 0 answers status
if is_sanitized ftraced; then
        skip_one 'who hold no memory' 'the sanitizer keeps what was freed'
else
        ok 'who hold no memory' test "$(rss)" -lt $((before + 16000))
fi
ok 'the first is not there yet' kill -0 "$armed"
let_go
ok 'the first begins' wait "$armed"
not wait "$second"
says 'the second is told who was first' 'session armed' "$work/second.err"
ok 'the first records' state_is armed recording

# --- disarming ----------------------------------------------------------------------------------

hold current_tracer
begin stop stop armed
stop=$begun_pid
ok 'disarming waits for the kernel' is_held
exits 'status is answered then, too' 0 answers status
is 'the session has not ended' "$(session armed .state)" draining
exits 'it cannot be removed yet' 1 answers remove armed
begin third start -n third tcp_sendmsg
third=$begun_pid
exits 'the daemon answers with one that waits for its turn' 0 answers status
let_go
ok 'the session ends' wait "$stop"
ok 'the third begins' wait "$third"
ok 'the third records' state_is third recording
exits 'the third stops' 0 ftracectl stop third
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

# --- a trigger, after which everything is hooked ----------------------------------------------------

filter_is() { # TEXT
        [[ $(<"$work/tracefs/set_ftrace_filter") == "$1" ]]
}
feed() { # N: pages without events
        timeout 60 python3 - "$1" >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw" <<'END' || fail 'the kernel takes no pages'
import os, struct, sys
for i in range(int(sys.argv[1])):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 0) + os.urandom(4080))
    sys.stdout.buffer.flush()
END
}
arm() { # NAME [OPTION...]
        ok "$1 is armed" ftracectl arm -n "$1" --on command --do start "${@:2}" udp_sendmsg
        ok 'with nothing but its root hooked' filter_is udp_sendmsg
}
trigger() { # NAME: its trigger fires, and the kernel is at hooking
        hold set_ftrace_filter
        begin "trigger-$1" trigger "$1"
        trigger=$begun_pid
        ok 'hooking waits for the kernel' is_held
}

arm waits --on signal --do stop --max-captures=9 --set=MinGap=1ms
trigger waits
exits 'status is answered then, too' 0 answers status
is 'it records already' "$(session waits .state) $(<"$work/tracefs/tracing_on")" 'recording 1'
exits 'a second trigger is answered' 1 answers trigger waits
says 'that there is nothing to do' 'has nothing to do now'
ok 'who fired it waits until everything is hooked' kill -0 "$trigger"
ok 'three clients are answered, over and over' all_are_answered waits
ok 'and it is still at hooking' kill -0 "$trigger"
feed 1
let_go
ok 'and is told then' wait "$trigger"
ok 'what is missing is said' eval '[[ $(session waits ".warnings[]") == *"recorded from about"* ]]'

hold set_ftrace_filter
kill -USR2 "$ftraced_pid"
ok 'when it waits again hooking the root waits for the kernel' is_held
exits 'status is answered' 0 answers status
ok 'what it recorded is there' wait_until 30 state_is waits-snap-1 sealed
is 'it waits' "$(session waits .state)" armed
begin again trigger waits
trigger=$begun_pid
ok 'a trigger is heard meanwhile' wait_until 30 state_is waits recording
let_go
ok 'who fired that one is told' wait "$trigger"
ok 'everything is hooked' filter_is ''
kill -USR2 "$ftraced_pid"
ok 'it waits again' wait_until 30 state_is waits armed
ok 'with its root hooked' wait_until 30 filter_is udp_sendmsg

trigger waits
kill -USR2 "$ftraced_pid"
ok 'one that is to wait again meanwhile does' wait_until 30 state_is waits armed
exits 'the daemon answers' 0 answers status
let_go
ok 'who fired it is told' wait "$trigger"
ok 'with its root hooked at last' wait_until 30 filter_is udp_sendmsg

trigger waits
begin stop stop waits
stop=$begun_pid
ok 'it is stopped meanwhile' wait_until 30 state_is waits draining
is 'nothing is recorded any more' "$(<"$work/tracefs/tracing_on")" 0
exits 'others are answered' 0 answers status
exits 'it cannot be removed yet' 1 answers remove waits
let_go
ok 'it ends' wait "$stop"
ok 'who fired it is told' wait "$trigger"
is 'it has ended' "$(session waits .state)" sealed
ok 'it says what it lacks' eval '[[ $(session waits ".warnings[]") == *"ended when only its roots were hooked"* ]]'
exits 'it is removed' 0 ftracectl remove waits
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

arm short --duration=1s
trigger short
ok 'the time of one that is short is over meanwhile' wait_until 30 state_is short draining
kill -KILL "$trigger"
wait "$trigger" 2>/dev/null
exits 'and its client gone' 0 answers status
let_go
ok 'it ends' wait_until 30 state_is short sealed
says 'for that reason' 'duration reached' <(session short .reason)
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

arm locked
hold set_ftrace_filter all
begin trigger-locked trigger locked
trigger=$begun_pid
ok 'hooking waits for the kernel, which lets nobody open a control file' is_held
ok 'three clients are answered even so' all_are_answered locked
begin stop stop locked
stop=$begun_pid
begin stop-again stop locked
again=$begun_pid
ok 'and when somebody stops it' all_are_answered locked
let_go
ok 'it ends' wait "$stop"
ok 'and is told to all' wait "$again"
ok 'and to who fired it' wait "$trigger"
is 'it has ended' "$(session locked .state)" sealed
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

arm left
trigger left
kill -USR1 "$ftraced_pid"
let_go
ok 'a daemon that leaves it to the next one ends' wait "$ftraced_pid"
ftraced_pid=
wait "$trigger" 2>/dev/null
ok 'everything is hooked' filter_is ''
ok 'the next daemon starts' start_ftraced --tracefs "$work/tracefs"
is 'it goes on' "$(session left .state)" recording
exits 'until it is stopped' 0 ftracectl stop left

arm killed
trigger killed
kill_ftraced
wait "$trigger" 2>/dev/null
let_go
echo udp_sendmsg >"$work/tracefs/set_ftrace_filter" # the kernel had not come to it
ok 'a daemon that is killed has a successor' start_ftraced --tracefs "$work/tracefs"
is 'it records' "$(session killed .state)" recording
ok 'everything is hooked' filter_is ''
ok 'it says from when on' eval '[[ $(session killed ".warnings[]") == *"hooked when the daemon ended"* ]]'
exits 'it is stopped, and may not be complete' 6 ftracectl stop killed
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"

# --- whoever leaves -----------------------------------------------------------------------------

hold set_graph_function
begin attached follow -n attached udp_sendmsg
attached=$begun_pid
ok 'the next one is armed' is_held
kill -KILL "$attached"
wait "$attached" 2>/dev/null
exits 'the daemon answers when its client has gone' 0 answers status
let_go
ok 'a session whose client left while it was armed ends' wait_until 30 state_is attached sealed
says 'it says why' 'client left' <(session attached .reason)

hold set_graph_function
begin last start -n last udp_sendmsg
last=$begun_pid
ok 'the last one is armed' is_held
kill -TERM "$ftraced_pid"
let_go
ok 'a daemon that is told to end does' wait "$ftraced_pid"
ftraced_pid=
wait "$last" 2>/dev/null
controls >"$work/after"
ok 'the kernel is as it was at last' diff "$work/before" "$work/after"
done_testing
