#!/bin/bash
# Touches: function_graph, loopback and dummy9, modules dummy and binfmt_misc, the clock on the wall; needs root.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for floods and clocks; the system story shows what a guard does
# kernels: 6.12
#
# What a host does to a recording, and a recording must not do to a host: a root that is called all the
# time ends its session, a clock that is set confuses no time, a module that goes takes its roots along.
# Only here: a flood that the kernel makes, a clock that is set, a module that goes.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires dd modprobe rmmod ip

state_is() { # NAME STATE
        [[ $(session "$1" .state) == "$2" ]]
}
# Milliseconds since the host started: nobody sets this one.
up_ms() {
        local up

        read -r up _ </proc/uptime
        echo $((${up/./} * 10))
}

sed -i '/^KeepFree=/a MaxRetentionSec=1y' "$FTRACED_CONFIG"
ok 'the daemon starts' start_ftraced
# Only these are hooked where what they call does not matter: an emulated CPU takes long for all.
printf '%s\n' vfs_read udp_sendmsg >"$work/hooked"

# --- a root that is called without end ---------------------------------------------------------------
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
load=$!
cleanup_fn kill $load
exits 'a session with too frequent a root starts' 0 \
        ftracectl start -n flood --lean="$work/hooked" --set=MaxEventRate=1K vfs_read
since=$(up_ms)
slowest=0
while state_is flood recording && (($(up_ms) - since < 60000)); do
        asked=$(up_ms)
        ftracectl status >/dev/null || fail 'the daemon does not answer'
        took=$(($(up_ms) - asked))
        slowest=$((took > slowest ? took : slowest))
done
took=$(($(up_ms) - since))
ok 'it ends by itself' wait_until 30 state_is flood sealed
kill $load
wait $load 2>/dev/null
cleanups=()
length=$(session flood '(.stop.boottime_ns - .start.boottime_ns) / 1e6 | round')
note "it ended itself after $length ms, was put away after $took ms; the slowest answer took $slowest ms"
ok 'within a few seconds, as a flood' test "$length" -lt 10000
ok 'and the host answers meanwhile' test "$slowest" -lt 10000
is 'it says which limit' "$(session flood .limit)" max_event_rate
exits 'it is shown' 0 ftracectl show flood
says 'it says how many, how long and the way out' \
        'events a second over .*, more than the 4,000 of MaxEventRate=; name fewer functions, or raise --set=MaxEventRate=' "$out"
exits 'what it recorded is whole' 0 ftracectl verify --json flood
ok 'and not nothing' test "$(jq .trees "$out")" -gt 100
is 'no page is missing' "$(sum_of flood pages_lost)" 0
is_as_before 'the kernel is as it was'

# --- a clock that is set -----------------------------------------------------------------------------
exits 'a session that ends by time starts' 0 \
        ftracectl start -n clock --lean="$work/hooked" --duration=30s --set=SegmentTime=2s udp_sendmsg
since=$(up_ms)
has_steps() { # COUNT
        [[ $(jq '.clock_steps | length' "$store/sessions/clock/session.json") == "$1" ]]
}
started=$(session clock .start.realtime_ns)
ok 'the clock is set forward by an hour' date -s '+1 hour'
cleanup_fn date -s '-1 hour'
ok 'that is noticed at once' wait_until 5 has_steps 1
"$udp_pairs" 40 >/dev/null
sleep 3
ok 'the clock is set back by two hours' date -s '-2 hours'
cleanups=()
cleanup_fn date -s '+1 hour'
ok 'that is noticed too' wait_until 5 has_steps 2
"$udp_pairs" 40 >/dev/null
ok 'the clock is set right' date -s '+1 hour'
cleanups=()
ok 'and that' wait_until 5 has_steps 3
is 'it began when it began' "$(session clock .start.realtime_ns)" "$started"
ok 'it ends by itself' wait_until 60 state_is clock sealed
took=$(($(up_ms) - since))
note "it ended after $took ms"
ok 'not before its time' test "$took" -ge 29000
is 'by its duration' "$(session clock .reason)" 'duration reached: 30 s'
is 'each step is as long as it was' "$(session clock '[.start, .clock_steps[]] |
        [range(1; length) as $i | (.[$i].realtime_ns - .[$i].boottime_ns - .[$i-1].realtime_ns + .[$i-1].boottime_ns) / 1e9 | round] |
        map(. / 60 | round) | @json')" '[60,-120,60]'
exits 'show tells of them' 0 ftracectl show clock
is 'of each' "$(grep -cE 'Clock: .*set (forward|back) by (1h|2h|59min|60min)' "$out")" 3
exits 'report draws it' 0 ftracectl report clock
is 'report tells of each too' "$(grep -cE '^clock: at .*, the clock was set (forward|back) by ' "$err")" 3
cuts=$store/sessions/clock/cuts
ok 'periods went on to be cut' test "$(wc -l <"$cuts")" -ge 2
ok 'their moments do not go back' sort -C -n -k 2 "$cuts"
exits 'nothing is lost' 0 ftracectl verify --json clock
is 'every datagram has its tree' "$(jq .trees "$out")" 160

# Nor is anything older for it.
names() {
        ftracectl list --json | jq -r '[.[].name] | sort | join(" ")'
}
before=$(names)
ok 'the clock is set ten years ahead' date -s '+3652 days'
cleanup_fn date -s '-3652 days'
exits 'a year is long enough for all' 0 ftracectl vacuum --dry-run --json
is 'nothing has to go' "$(jq '.removed | length' "$out")" 0
ok 'the daemon is restarted' eval 'stop_ftraced && start_ftraced'
exits 'a vacuum by age is told' 0 ftracectl vacuum --time=1day --dry-run
says 'that no age counts in this boot' 'the clock was set by more than a day: nothing goes for its age' "$out"
exits 'a list is printed' 0 ftracectl list
is 'in which nothing goes for its age' "$(grep -c MaxRetentionSec= "$out")" 0
ok 'the clock is set right' date -s '-3652 days'
cleanups=()
is 'nothing went' "$(names)" "$before"

# --- a module that goes ------------------------------------------------------------------------------
if modprobe dummy numdummies=0 2>/dev/null && grep -q '^dummy_dev_init \[dummy\]' "$tracefs/available_filter_functions"; then
        cleanup_fn rmmod dummy
        filter_is_empty() {
                grep -q '^#### all functions enabled' "$tracefs/set_graph_function"
        }
        is_degraded() { # NAME
                [[ $(session "$1" '.degraded[0].cause') == root_gone ]]
        }
        exits 'a session with a root in a module and another one starts' 0 ftracectl start -n two dummy_dev_init udp_sendmsg
        ip link add dummy9 type dummy
        ip link del dummy9
        rmmod dummy
        ok 'the session says that the root went' wait_until 15 is_degraded two
        ok 'the filter is not empty' not filter_is_empty
        "$udp_pairs" 5 >/dev/null
        modprobe binfmt_misc 2>/dev/null # takes its place, perhaps
        modprobe dummy numdummies=0
        ok 'it is well again when the module is back' wait_until 15 not is_degraded two
        ip link add dummy9 type dummy
        ip link del dummy9
        stops 'it stops' two
        ftracectl report two >"$out" 2>"$err"
        not_ours=$(grep -c 'somebody else' "$err")
        [[ $not_ours == 0 ]] || note "$(tail -n 12 "$work/ftraced.log" "$err")"
        is 'nothing of it is taken for somebody'"'"'s tampering' "$not_ours" 0
        is 'calls before and after are there' "$(count_roots dummy_dev_init "$out")" 2
        is 'and all others' "$(count_roots udp_sendmsg "$out")" 10

        rmmod binfmt_misc 2>/dev/null
        exits 'a session that stops without its root starts' 0 ftracectl start -n without --lean="$work/hooked" dummy_dev_init udp_sendmsg
        rmmod dummy
        ok 'the session says that the root went' wait_until 15 is_degraded without
        "$udp_pairs" 5 >/dev/null
        stops 'it stops' without
        is_as_before 'the kernel is as it was'
        ftracectl report without >"$out" 2>"$err"
        is 'all other calls are there' "$(count_roots udp_sendmsg "$out")" 10

        modprobe dummy numdummies=0
        exits 'a session whose root goes while there is no daemon starts' 0 ftracectl start -n between --lean="$work/hooked" dummy_dev_init udp_sendmsg
        kill_ftraced
        rmmod dummy
        ok 'the next daemon starts' start_ftraced
        ok 'and says that the root went' wait_until 15 is_degraded between
        ok 'the filter is not empty' not filter_is_empty
        "$udp_pairs" 5 >/dev/null
        stops 'it stops' between
        is_as_before 'the kernel is as it was'
        ftracectl report between >"$out" 2>"$err"
        is 'all other calls are there' "$(count_roots udp_sendmsg "$out")" 10
        exits 'nothing of it is left' 0 ftracectl doctor

        modprobe dummy numdummies=0
        exits 'a session with no other root starts' 0 ftracectl start -n one --lean="$work/hooked" dummy_dev_init
        rmmod dummy
        ok 'it ends by itself' wait_until 30 state_is one sealed
        says 'and says why' 'dummy_dev_init went with its module: nothing is left to record' \
                <(session one .reason)
        cleanups=()
        rmmod binfmt_misc 2>/dev/null
        is_as_before 'the kernel is as it was'
else
        skip_one 'a module that goes' 'this kernel has no module dummy'
fi
exits 'the daemon still answers' 0 ftracectl status
ok 'the daemon ends in peace' stop_ftraced
done_testing
