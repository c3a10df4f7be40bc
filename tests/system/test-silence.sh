#!/bin/bash
# Touches: a fake tracefs below a temporary directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A session without calls says why: stop, show and report say the same, and run at its end.
# Only here: that stop, show, report and session.json say the same.
. "$(dirname "$0")/../functions.sh"
requires jq

fake=$work/tracefs
bash "$(dirname "$0")/fake-tracefs.sh" "$fake" 1
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$fake"

expect_silence() { # NAME PATTERN
        stops "$1: it stops" "$1"
        says "$1: stop says why" "^$1: no calls: $2\\.\$" "$out"
        exits "$1: show knows it" 0 ftracectl show "$1"
        says "$1: show says why" "No calls: $2\$" "$out"
        ftracectl report "$1" >"$out" 2>"$err" || :
        says "$1: report says why" "^$1 has no calls: $2\\.\$"
        says "$1: so does its session.json" "$2" <(session "$1" .silence)
}

exits 'a session starts' 0 ftracectl start -n quiet --cpus=0 --slower=5ms udp_sendmsg
exits 'it can be looked at while it records' 0 ftracectl show quiet
says 'show says that nobody called it yet' 'No calls: no call of udp_sendmsg took 5 ms or more on CPUs 0 in .*, as far as is stored$' "$out"
expect_silence quiet 'no call of udp_sendmsg took 5 ms or more on CPUs 0 in [0-9.]+ m?s of recording'

exits 'a session starts' 0 ftracectl start -n off udp_sendmsg
echo 0 >"$fake/tracing_on"
ok 'what others did is noticed' wait_until 10 eval '[[ $(session off .state) == recording && $(session off ".degraded[]") ]]'
expect_silence off 'somebody else switched tracing_on off for [0-9.]+ m?s of the [0-9.]+ m?s'

exits 'a session waits for its trigger' 0 ftracectl arm -n armed udp_sendmsg
expect_silence armed 'it waited for a trigger, and none fired'

sleep 60 &
exits 'a session is about one process' 0 ftracectl start -n gone --pid $! udp_sendmsg
kill $!
wait $! || :
expect_silence gone 'process [0-9]+ has ended'

exits 'a name that is no function is refused' 3 ftracectl start -n no no_such_function_at_all
says 'with what may be the reason' 'cannot be traced|can be traced here.*inlined'
echo 'ffffffff81001000 t kept_out' >>"$FTRACED_KALLSYMS"
exits 'nor is one that the kernel keeps tracing out of' 3 ftracectl start -n no kept_out
says 'with that reason, from the symbols that the unit has bound elsewhere' 'this kernel has it and excludes it from tracing'
exits 'the daemon ends' 0 stop_ftraced
done_testing
