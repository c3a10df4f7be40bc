#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12
#
# follow draws calls while they happen, and Ctrl-C leaves the kernel as it was.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

has_drawn() { # COUNT
        [[ $(count_roots udp_sendmsg "$work/live") -ge $1 ]]
}

# A background job of a script ignores SIGINT unless it is told otherwise.
follow() {
        env --default-signal=INT "$top_builddir/ftracectl" follow "$@" >"$work/live" 2>"$work/live.err" </dev/null &
        follower=$!
}

nothing_is_kept() {
        [[ $(ftracectl list --json | jq length) == 0 ]]
}
try() { # NAME ARGUMENT...: of follow
        local name=$1 workload status=0

        shift
        follow "$@"
        ok "$name: it begins" wait_until 60 grep -q 'Ctrl-C to end' "$work/live.err"
        "$udp_pairs" 100 --pause-us 100000 >/dev/null &
        workload=$!
        ok "$name: calls are drawn while the workload runs" wait_until 60 has_drawn 6
        ok "$name: the workload had not ended by then" kill -0 $workload
        kill $workload 2>/dev/null
        wait $workload 2>/dev/null
        kill -INT $follower
        wait $follower || status=$?
        is "$name: Ctrl-C ends it with status 0" $status 0
        says "$name: it says how it ended" 'Ended|ended' "$work/live.err"
        ok "$name: the drawing is of whole lines" test -z "$(tail -c1 "$work/live" | tr -d '\n')"
        is_as_before "$name: the kernel is as it was"
}


some=(${hooked_by_default:+--lean="$hooked_by_default"})
try 'without a daemon' --store "$store" "${some[@]}" udp_sendmsg
ok 'the daemon starts' start_ftraced
try 'with a daemon' "${some[@]}" udp_sendmsg
ok 'the recording is not kept unless asked for' wait_until 30 nothing_is_kept
try 'kept' -n kept --flat udp_sendmsg
exits 'what was kept can be drawn again' 0 ftracectl report kept
try 'a function alone' "${some[@]}" --function=udp_sendmsg udp_sendmsg
is 'no other is drawn' "$(grep -vcE '^#|^$|udp_sendmsg|\}|-----| => ' "$work/live")" 0
try 'slow calls' -n slow --flat --keep-slower=50us udp_sendmsg
exits 'they can be drawn again' 0 ftracectl report slow --keep-slower=50us
is 'as many' "$(count_roots udp_sendmsg "$out")" "$(count_roots udp_sendmsg "$work/live")"
exits 'what is known only at the end is refused' 2 ftracectl follow --keep-slower=p99 udp_sendmsg
exits 'so is what lies before' 2 ftracectl follow --from=+1s udp_sendmsg

exits 'a session of somebody starts' 0 ftracectl start -n theirs --flat udp_sendmsg
mv "$work/tracefs.before" "$work/tracefs.before.all"
dump_tracefs "$work/tracefs.before"
try 'a session that records' theirs
is 'it is left alone' "$(session theirs .state)" recording

# Two clients at the same time, each with a table of its own.
followers=()
for i in 1 2; do
        env --default-signal=INT "$top_builddir/ftracectl" follow --limit=3 theirs \
                >"$work/top$i" 2>"$work/top$i.err" </dev/null &
        followers+=($!)
done
"$udp_pairs" 600 --pause-us 100000 >/dev/null &
workload=$!
shows_rows() { # FILE: a table with its first line, more than once
        [[ $(grep -c '^Shown ' "$1") -ge 2 ]] && grep -qE ' (us|ms|s) +[0-9]+\.[0-9]% .* [a-z_][a-z_0-9.]*(  \(\+[0-9?]+\))?$' "$1"
}
for i in 1 2; do
        ok "client $i has a table that goes on" wait_until 60 shows_rows "$work/top$i"
done
kill $workload
wait $workload 2>/dev/null
for i in 1 2; do
        status=0
        kill -INT "${followers[i - 1]}"
        wait "${followers[i - 1]}" || status=$?
        is "client $i ends with status 0" $status 0
        says "client $i is told of calls a second" '^[0-9,]+ calls, [0-9,]+ a second, nothing lost$' \
                "$work/top$i"
done
is 'it goes on recording' "$(session theirs .state)" recording
mv "$work/tracefs.before.all" "$work/tracefs.before"
stops 'it stops' theirs

# That a task is back is told by an event of the task before it, which no root has.
follow --by=root --columns=blocked,name --sched --root=udp_recvmsg udp_recvmsg udp_sendmsg
ok 'waiting: it begins' wait_until 60 grep -q 'Ctrl-C to end' "$work/live.err"
"$udp_pairs" 60 --pause-us 20000 >/dev/null
waited() {
        grep -qE '^ *[1-9][0-9.]* (us|ms|s)  udp_recvmsg$' "$work/live"
}
ok 'a table of one root has the time in which it waited' wait_until 20 waited
kill -INT $follower
status=0
wait $follower || status=$?
is 'and ends' $status 0

follow --flat udp_sendmsg
ok 'killed: it begins' wait_until 60 grep -q 'Ctrl-C to end' "$work/live.err"
kill -KILL $follower
wait $follower 2>/dev/null
nothing_records() {
        [[ $(ftracectl list --json | jq '[.[] | select(.state == "recording" or .state == "draining")] | length') == 0 ]]
}
ok 'killed: the daemon ends the session of a client that died' wait_until 30 nothing_records
is_as_before 'killed: the kernel is as it was'
done_testing
