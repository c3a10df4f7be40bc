#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# systemd is told that all is well only while every thread that reads comes back from its waits.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
python3 - "$work/notify" >"$work/notified" <<'P' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    print(s.recv(65536).decode().replace("\n", " "), flush=True)
P
cleanup_fn kill $!
ok 'somebody listens in the place of systemd' wait_until 20 test -S "$work/notify"
NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=3000000 ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
n_fed() {
        grep -c 'WATCHDOG=1' "$work/notified"
}
is_fed_since() { # N
        [[ $(n_fed) -gt $1 ]]
}
ok 'its watchdog is fed' wait_until 60 is_fed_since 0
exits 'a session starts' 0 ftracectl start -n long udp_sendmsg
ok 'it is fed while that records, and nothing comes' wait_until 60 is_fed_since "$(n_fed)"

python3 "$top_srcdir/tests/hold-thread.py" "$ftraced_pid" >"$work/held" 2>"$err" &
held_pid=$!
wait_until 60 eval 'test -s "$work/held" || grep -q "not permitted" "$err"'
if [[ ! -s $work/held ]] && grep -q 'not permitted' "$err"; then
        kill $held_pid 2>/dev/null
        skip_one 'a thread that reads is stopped' 'ptrace() is not permitted'
        done_testing
fi
ok 'a thread that reads is stopped' test -s "$work/held"
is_noticed() {
        grep -q "reader of session \"long\" is stuck" "$work/ftraced.log"
}
ok 'that is noticed' wait_until 150 is_noticed
is 'neither the disk nor tracefs is said to be stuck' "$(session long '[.degraded[].cause] | join(" ")')" daemon_gone
ok 'the thread is named' eval '[[ $(session long ".degraded[0].reason") == "thread $(cat "$work/held") that reads CPU "*" has not moved "* ]]'
wait_until_same 2 n_fed # what was said before has come; it is fed every 1.5 s
before=$(n_fed)
sleep 2
is 'then the watchdog is not fed' "$(n_fed)" "$before"
exits 'though the daemon answers' 0 ftracectl show long
kill -KILL $held_pid
ok 'if the thread moves again it is fed' wait_until 60 is_fed_since "$before"
exits 'and the session ends' 0 ftracectl stop long
ok 'the daemon ends in peace' stop_ftraced
done_testing
