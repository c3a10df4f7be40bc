#!/bin/bash
# Touches: function_graph, event and function triggers; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each kind of trigger waits for its moment; the system story shows all but the kernel's part
# kernels: 6.12
# long kernels: new
#
# Triggers on a real kernel: functions, events with a filter, slow calls, counts; the kernel switches
# by itself, a flight recorder keeps what led up to it, and nothing of it is left behind.
# Only here: triggers that the kernel pulls: functions, events, slow calls, counts.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires python3

# One call of the function by which others are triggered here; nothing else calls it.
bell=__x64_sys_getsid
ring() {
        python3 -c 'import os; os.getsid(0)'
}
die_of() { # SIGNAL: the same for an event; a shell of its own, for a child of this one has its traps
        bash -c "kill -$1 \$\$" 2>/dev/null || true
}
fired() { # SESSION
        session "$1" '.captures.triggers[0].fired'
}
records() { # SESSION
        [[ $(session "$1" .state) == recording ]]
}
ended() { # SESSION
        [[ $(session "$1" .state) == sealed ]]
}
printf '%s\n' udp_sendmsg ip_make_skb ip_append_data udp_send_skb >"$work/functions"

ok 'the daemon starts' start_ftraced

exits 'a session waits for a function' 0 ftracectl arm -n call --on function:$bell --lean="$work/functions" udp_sendmsg
is 'it is armed' "$(session call .state)" armed
is 'its tracer is on' "$(<"$(buffer_of call)/current_tracer")" function_graph
is 'with recording off' "$(<"$(buffer_of call)/tracing_on")" 0
"$udp_pairs" 5 >/dev/null
ring
ok 'it records when that is called' wait_until 10 records call
is 'with no more hooked than before' "$(grep -vc : "$(buffer_of call)/set_ftrace_filter")" 4 # but its trigger
"$udp_pairs" 10 >/dev/null
stops 'it is stopped' call
is 'the trigger fired once' "$(fired call)" 1
ftracectl report call >"$work/text" 2>"$err"
is 'only what came after the trigger was recorded' "$(count_roots udp_sendmsg "$work/text")" 20
exits 'it is complete' 0 ftracectl verify call

exits 'a session waits for an event' 0 ftracectl arm -n event --on event:signal:signal_generate:sig==10 --do start --do stop:500ms \
        --set=MinGap=1ms --max-captures=2 --lean="$work/functions" udp_sendmsg
die_of USR2
sleep 0.5
is 'what the filter does not let pass is nothing' "$(session event .state) $(fired event)" 'armed 0'
for i in 1 2; do
        die_of USR1
        "$udp_pairs" $i >/dev/null
        ok "what it does begins a recording, which becomes a session ($i)" wait_until 20 ended event-snap-$i
        ftracectl report event-snap-$i >"$work/text" 2>"$err"
        is "with its calls ($i)" "$(count_roots udp_sendmsg "$work/text")" $((2 * i))
done
ok 'after the last it ends' wait_until 30 ended event
is_as_before 'the kernel is as it was'

exits 'a flight recorder waits for a function' 0 ftracectl arm -n flight --in-kernel --buffer-size=64K --set=MinGap=1h \
        --on function:$bell --lean="$work/functions" udp_sendmsg
is 'it records' "$(session flight .state)" recording
"$udp_pairs" 2000 >/dev/null
before=$(date +%s%N)
ring
ok 'what led up to it is kept' wait_until 20 ended flight-snap-1
"$udp_pairs" 5 >/dev/null
ftracectl report flight-snap-1 >"$work/text" 2>"$err"
n=$(count_roots udp_sendmsg "$work/text")
ok "the newest of 4,000 calls ($n)" test "$n" -gt 20 -a "$n" -lt 3000
is 'without a gap in it' "$(grep -c LOST "$work/text")" 0
stop=$(session flight-snap-1 .stop.realtime_ns)
ok "it ends where the trigger was ($(((stop - before) / 1000000)) ms)" test $((stop - before)) -lt 20000000000
exits 'it is complete' 0 ftracectl verify flight-snap-1
exits 'a snapshot by hand' 0 ftracectl snapshot flight
ftracectl report flight-snap-2 >"$work/text" 2>"$err"
is 'has what came since' "$(count_roots udp_sendmsg "$work/text")" 10
kill_ftraced
"$udp_pairs" 3 >/dev/null
ok 'a daemon that is killed has a successor' start_ftraced
is 'which goes on with it' "$(session flight .state)" recording
exits 'a snapshot' 0 ftracectl snapshot flight
ftracectl report flight-snap-3 >"$work/text" 2>"$err"
is 'has what was called meanwhile' "$(count_roots udp_sendmsg "$work/text")" 6
stops 'it is stopped' flight
is_as_before 'the kernel is as it was'

exits 'a session waits for 20 calls' 0 ftracectl arm -n count --on count:20 --do start udp_sendmsg
"$udp_pairs" 5 >/dev/null
sleep 3
is '10 are not enough' "$(session count .state)" armed
"$udp_pairs" 6 >/dev/null
ok '22 are' wait_until 10 records count
stops 'it is stopped' count
is_as_before 'the kernel is as it was'

hooked() { # SESSION: what its roots call is recorded
        [[ $(session "$1" '.warnings[]') == *'recorded from about'* ]]
}
exits 'a session waits with its root alone hooked' 0 ftracectl arm -n bare --lean=off --on function:$bell --do start udp_sendmsg
ring
ok 'it records when its trigger fires' wait_until 20 records bare
"$udp_pairs" 3 >/dev/null
ring
ok 'and then everything is hooked' wait_until 120 hooked bare
"$udp_pairs" 5 >/dev/null
stops 'it is stopped' bare
is 'the trigger fired once' "$(fired bare)" 1
ftracectl report bare >"$work/text" 2>"$err"
is 'no call is missing' "$(count_roots udp_sendmsg "$work/text")" 16
ok 'of the later ones all is there' test "$(grep -c 'ip_make_skb' "$work/text")" -ge 10
exits 'it is complete' 0 ftracectl verify bare
is_as_before 'the kernel is as it was'

exits 'one' 0 ftracectl arm -n cut --on function:$bell --do start udp_sendmsg
exits 'that is fired' 0 ftracectl trigger cut
stops 'is stopped' cut
exits 'and one' 0 ftracectl arm -n short --on function:$bell --do start udp_sendmsg
ring
ok 'that records' wait_until 20 records short
ftracectl stop short &
ring
wait $!
is 'while it is being hooked, too' "$(session short .state)" sealed
is_as_before 'the kernel is as it was'

exits 'a flight recorder waits for a slow call' 0 ftracectl arm -n slow --in-kernel --buffer-size=64K --set=MinGap=1h \
        --on slower:1s --lean="$work/functions" hrtimer_nanosleep
sleep 0.05
sleep 0.5
is 'quick ones are nothing' "$(fired slow)" 0
sleep 1.5
ok 'a slow one is kept, with what led up to it' wait_until 20 ended slow-snap-1
ftracectl report slow-snap-1 >"$work/text" 2>"$err"
ok 'it is in it' test "$(count_roots hrtimer_nanosleep "$work/text")" -ge 3
stops 'it is stopped' slow
is_as_before 'the kernel is as it was'

exits 'an unknown event' 3 ftracectl arm --on event:signal:no_such udp_sendmsg
says 'is named' 'no event "signal:no_such"'
exits 'a bad filter' 2 ftracectl arm --on 'event:signal:signal_generate:nosuch==1' udp_sendmsg
says 'is refused in the kernel'"'"'s words' 'does not take the filter "nosuch==1" .*: Field not found'
exits 'an unknown function' 3 ftracectl arm --on function:no_such_function udp_sendmsg
is_as_before 'the kernel is as it was'

exits 'an armed session' 0 ftracectl arm -n killed --on function:$bell --lean="$work/functions" udp_sendmsg
kill_ftraced
ring
"$udp_pairs" 4 >/dev/null
ok 'outlives its daemon' start_ftraced
ok 'and what fired meanwhile has begun it' wait_until 10 records killed
stops 'it is stopped' killed
ftracectl report killed >"$work/text" 2>"$err"
is 'from the moment on that it fired, which was the kernel'"'"'s doing' "$(count_roots udp_sendmsg "$work/text")" 8
exits 'an armed session' 0 ftracectl arm -n gone --on function:$bell --lean="$work/functions" udp_sendmsg
kill_ftraced
ok 'is disarmed by hand' "$top_builddir/ftraced" --store "$store" --restore
is_as_before 'and leaves nothing behind'
done_testing
