#!/bin/bash
# Touches: a fake tracefs and a store, both of its own; a pseudo-terminal.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A live table goes on until it is ended, on a terminal by a key, and several clients may have one.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
exits 'a session starts' 0 ftracectl start -n watched --duration=1h udp_sendmsg
exits 'a column that is none is refused before it begins' 2 ftracectl follow --columns=self,tital watched
says 'with those that there are' '"tital" is not one of self, share, '

env --default-signal=INT "$top_builddir/ftracectl" follow --by=function watched >"$work/top" 2>"$work/top.err" </dev/null &
follower=$!
python3 - "$top_builddir/ftracectl" >"$out" 2>"$err" <<'END'
import os, pty, select, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], 'follow', '--by=function', 'watched'])
before = termios.tcgetattr(fd)[3]
seen, begin, pressed = b'', time.time(), False
while time.time() - begin < 20:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    if seen.count(b'q ends') >= 2 and not pressed:
        print('keys', bool(termios.tcgetattr(fd)[3] & termios.ICANON))
        os.write(fd, b'q')
        pressed = True
print('in place', seen.count(b'\033[H\033[J') >= 2)
print('status', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
is 'on a terminal it is drawn in place, until q' "$(tr '\n' ' ' <"$out")" 'keys False in place True status 0 '
is 'the session goes on' "$(session watched .state)" recording
ok 'elsewhere lines are printed, by another client' wait_until 20 grep -qE '^0 calls, 0 a second, nothing lost$' "$work/top"
ok 'without any control characters' not grep -q $'\033' "$work/top"
status=0
kill -INT $follower
wait $follower || status=$?
is 'and Ctrl-C ends it in peace' $status 0
ftracectl stop -q watched
ok 'the daemon ends in peace' stop_ftraced
done_testing
