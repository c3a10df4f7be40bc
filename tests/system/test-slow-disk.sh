#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for a disk that takes its time
#
# While a disk takes its time over unlinking what was removed, the daemon answers others, sessions
# start and are removed, also of the same name, and nothing of it is left behind.
. "$(dirname "$0")/../functions.sh"
requires jq python3
preload=$top_builddir/tests/system/slow.so
[[ -e $preload ]] || skip "$preload is not built"
export SLOW_DIR=$work/tracefs SLOW_FILE=$work/slow

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
hold() { # SESSION: what it held is not unlinked
        rm -f "$SLOW_FILE.reached"
        echo "unlink .removed-$1" >"$SLOW_FILE"
}
is_held() {
        wait_until 30 test -e "$SLOW_FILE.reached"
}
let_go() {
        rm -f "$SLOW_FILE"
}
record() { # NAME
        ok "session $1 starts" timeout 60 "$top_builddir/ftracectl" start -n "$1" udp_sendmsg
        ok 'it is stopped' timeout 60 "$top_builddir/ftracectl" stop "$1"
}
# With the clock: an answer that comes when the disk is through is none.
answers() { # VERB [WORD...]
        timeout 100 "$top_builddir/ftracectl" "$@"
}
names() {
        answers list --json | jq -r '[.[].name] | sort | join(" ")'
}
begin_vacuum() { # of all but one session, in the background
        "$top_builddir/ftracectl" vacuum --limit=1 >"$work/vacuumed" 2>&1 </dev/null &
        vacuum=$!
}
count_sockets() { # of the daemon
        find "/proc/$ftraced_pid/fd" -lname 'socket:*' | wc -l
}
has_sockets() { # N
        [[ $(count_sockets) == "$1" ]]
}
is_clear() { # nothing is being removed
        [[ -z $(find "$store/sessions" -maxdepth 1 -name '.removed-*') ]]
}

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
for name in a b c d; do
        record $name
done

hold a
exits 'a session is removed' 0 answers remove a
ok 'its files wait for the disk' is_held
exits 'status is answered meanwhile' 0 answers status
is 'it is none any more' "$(names)" 'b c d'
exits 'it cannot be shown' 3 answers show a
record a
exits 'one of its name is removed as well' 0 answers remove a
is 'each has its place until it is gone' "$(find "$store/sessions" -maxdepth 1 -name '.removed-a*' | wc -l)" 2
exits 'and one of another name' 0 answers remove d
record a
let_go
ok 'the disk forgets them' wait_until 30 is_clear
is 'the last one of the name is there' "$(names)" 'a b c'
exits 'and complete' 0 answers verify a
ok 'its symbols, too' test -n "$(ls "$store/symbols")"

record y
# Symbols that only a removed session used, while another one begins.
rm -f "$SLOW_FILE.reached"
symbols=$(cd "$store/symbols" && echo *.zst)
unused=$store/symbols/${symbols//[0-9a-f]/0}
: >"$unused"
echo set_graph_function >"$SLOW_FILE"
"$top_builddir/ftracectl" start -n z udp_sendmsg >/dev/null 2>&1 </dev/null &
begun=$!
ok 'a session begins' is_held
exits 'another is removed' 0 answers remove y
ok 'its files are not held up by the start' wait_until 30 is_clear
ok 'symbols are, for the new one may want them' test -e "$unused"
let_go
ok 'the session has begun' wait "$begun"
ok 'then they go, too' wait_until 30 not test -e "$unused"
exits 'it is stopped' 0 answers stop z
exits 'it is removed' 0 answers remove z

hold b
begin_vacuum
ok 'a vacuum waits for the disk' is_held
exits 'status is answered meanwhile' 0 answers status
is 'what went is none any more' "$(names)" 'a c'
record e
ok 'a session starts and ends while it waits' test "$(names)" == 'a c e'
ok 'it waits still' kill -0 "$vacuum"
let_go
ok 'and ends' wait "$vacuum"
is 'as was decided when it began' "$(names)" 'a e'
says 'it tells what went' '^Removed b ' "$work/vacuumed"
ok 'all of it is gone' is_clear

record g
hold a
before=$(count_sockets)
begin_vacuum
ok 'another one waits' is_held
kill -KILL "$vacuum"
wait "$vacuum" 2>/dev/null
exits 'the daemon answers when its client has gone' 0 answers status
ok 'and sees that' wait_until 60 has_sockets "$before"
let_go
ok 'what was begun is finished' wait_until 30 is_clear
is 'and the next left alone' "$(names)" 'e g'

hold e
exits 'a session is removed' 0 answers remove e
ok 'its files wait for the disk' is_held
kill_ftraced
ok 'a daemon that is killed has left them' not is_clear
let_go
ok 'the next daemon starts' start_ftraced --tracefs "$work/tracefs"
ok 'and finishes' is_clear
is 'the other session is there' "$(names)" g

hold g
exits 'the last one is removed' 0 answers remove g
ok 'its files wait for the disk' is_held
kill -TERM "$ftraced_pid"
let_go
ok 'a daemon that is told to end does' wait "$ftraced_pid"
ftraced_pid=
is 'with nothing left' "$(ls -A "$store/sessions")" ''
done_testing
