#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# While the kernel takes its time over arming and disarming the daemon answers others, and who leaves, stops
# the daemon or comes with another session meanwhile gets what is due.
. "$(dirname "$0")/../functions.sh"
requires jq
preload=$top_builddir/tests/system/slow.so
[[ -e $preload ]] || skip "$preload is not built"
export SLOW_DIR=$work/tracefs SLOW_FILE=$work/slow

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
controls() {
        (cd "$work/tracefs" && grep -r -D skip . . | grep -v set_graph_ | sed 's/\[\(local\)\] .*/\1/' | sort)
}
hold() { # FILE: whoever writes to it waits
        rm -f "$SLOW_FILE.reached"
        echo "$1" >"$SLOW_FILE"
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
        timeout 30 "$top_builddir/ftracectl" "$@"
}
state_is() { # NAME STATE
        [[ $(session "$1" .state) == "$2" ]]
}

controls >"$work/before"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"

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
