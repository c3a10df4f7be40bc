#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What somebody else does to the control files of a session is noticed, said, and placed as a gap; what
# the daemon itself writes is not.
# Only here: where each gap begins and ends, to the page, and that every verb says the same of it.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
t=$work/tracefs
gaps_of() { # NAME: causes in the order in which they were noted
        session "$1" '[.gaps[].cause] | join(" ")'
}
is_noticed() { # NAME CAUSE
        [[ " $(gaps_of "$1") " == *" $2 "* ]]
}
noticed_after() { # TIME: on the real time clock [us]; until the last gap that is open began
        session s "(([.gaps[] | select(.to_ns == null)] | last | .from_ns - $start_ns) / 1000 | floor) + $start_us - $1"
}
is_degraded() { # NAME CAUSE
        [[ $(session "$1" '[.degraded[].cause] | join(" ")') == "$2" ]]
}

echo 1 >"$work/ftrace_enabled"
export FTRACED_FTRACE_ENABLED=$work/ftrace_enabled
ok 'the daemon starts' start_ftraced --tracefs "$t"
exits 'a session starts' 0 ftracectl start -n quiet udp_sendmsg
sleep 2.5
is 'what the daemon itself writes is no tampering' "$(gaps_of quiet)" ''
exits 'it stops' 0 ftracectl stop quiet
is 'stopping is no tampering' "$(gaps_of quiet)" ''
is 'it has no note' "$(session quiet '.warnings | length')" "$(session quiet '[.warnings[] | select(contains("symbols"))] | length')"

exits 'a session starts' 0 ftracectl start -n s udp_sendmsg
start_ns=$(session s .start.trace_ns) start_us=$(session s '.start.realtime_ns / 1000 | floor')
for cause in 'tracing_on 0 1 tracing_off' 'trace_clock [global] [mono] clock_changed' \
        'set_graph_function tcp_sendmsg udp_sendmsg filter_changed' 'max_graph_depth 3 0 filter_changed'; do
        read -r file wrong right cause <<<"$cause"
        written_us=$(($(date +%s%N) / 1000))
        echo "$wrong" >"$t/$file"
        ok "$file: it is noticed" wait_until 10 is_degraded s "$cause"
        if [[ ${FTRACED_LONG:-} ]]; then # of a machine that has nothing else to do
                ok "$file: within a second" test "$(noticed_after "$written_us")" -lt 1000000
        fi
        exits "$file: show works" 0 ftracectl show s
        says "$file: show names the file" "Degraded: since .*$file was changed by somebody else" "$out"
        is "$file: the gap has no end yet" "$(session s '[.gaps[] | select(.to_ns == null) | .cause] | join(" ")')" "$cause"
        sleep 0.3
        echo "$right" >"$t/$file"
        ok "$file: that it is back is noticed" wait_until 10 is_degraded s ''
        is "$file: the gap has an end" "$(session s '[.gaps[] | select(.to_ns == null)] | length')" 0
        ok "$file: and a length" test \
                "$(session s "[.gaps[] | select(.cause == \"$cause\")] | last | .to_ns - .from_ns")" -gt 200000000
done
echo >"$t/trace"
ok 'trace: that the buffer was emptied is noticed' wait_until 10 is_noticed s cleared
is 'the gap begins where the last page that is stored does: here with the session' \
        "$(session s '.start.trace_ns as $start | [.gaps[] | select(.cause == "cleared") | .from_ns - $start < 1000000000] | all')" true
is 'trace: nothing is wrong any more' "$(session s '.degraded | length')" 0
emptied_until() { # the last that is known of
        session s '[.gaps[] | select(.cause == "cleared") | .to_ns] | max'
}
before=$(emptied_until)
sed -i 's/^read events: .*/read events: 100/; s/^overrun: .*/overrun: 7/' "$t/per_cpu/cpu1/stats"
ok 'an overrun is noticed' wait_until 10 is_noticed s overrun
is 'it has its CPU and its count' \
        "$(session s '.gaps[] | select(.cause == "overrun") | "\(.cpu) \(.events)"')" '1 7'
sed -i 's/^read events: .*/read events: 0/; s/^overrun: .*/overrun: 0/' "$t/per_cpu/cpu1/stats"
ok 'counters that go backwards are a buffer that was emptied' \
        wait_until 10 eval "[[ \$(emptied_until) -gt $before ]]"
echo 4096 >"$t/buffer_size_kb"
ok 'another size of the buffer is noted' wait_until 10 \
        eval '[[ $(session s ".warnings | join(\" \")") == *buffer_size_kb* ]]'
stops 'it stops' s
is 'all gaps have an end' "$(session s '[.gaps[] | select(.to_ns == null)] | length')" 0
is 'no gap ends before it begins' "$(session s '[.gaps[] | select(.to_ns < .from_ns)] | length')" 0
exits 'verify says that it is incomplete' 6 ftracectl verify s
says 'verify places what somebody switched off' \
        'from [0-9:.]+ to [0-9:.]+: somebody else switched tracing_on off' "$out"
says 'verify places the overrun' 'CPU 1: 7 events lost from .*buffer was full' "$out"
exits 'verify --json works' 6 ftracectl verify --json s
is 'verify --json has the gaps' "$(jq '.gaps | length' "$out")" "$(session s '.gaps | length')"
exits 'verify of the quiet one finds it complete' 0 ftracectl verify quiet

exits 'a session starts' 0 ftracectl start -n open udp_sendmsg
echo 0 >"$t/tracing_on"
ok 'it is switched off' wait_until 10 is_degraded open tracing_off
stops 'it stops' open
is 'what lasted ends with the session' \
        "$(session open '.stop.trace_ns - .gaps[0].to_ns')" 0
is 'no session that has ended is degraded' "$(session open '.degraded | length')" 0

# What was put back before anybody could look: the writes tell, also if the session ends at once, and
# everybody says the same.
exits 'a session starts' 0 ftracectl start -n flicked udp_sendmsg
for value in 0 1; do echo "$value" >"$t/tracing_on"; done
ftracectl stop flicked >"$out" 2>"$err"
says 'off and on: stop says that something is lost' '^flicked: sealed, .*, unknown loss in 1 gap\.$' "$out"
is 'off and on: it is the one gap' "$(gaps_of flicked)" tracing_off
exits 'off and on: list works' 0 ftracectl list --no-legend
says 'off and on: list says it' '^flicked .* 1 gap *$' "$out"
exits 'off and on: show works' 0 ftracectl show flicked
says 'off and on: show says it' 'Loss: unknown loss in 1 gap' "$out"
says 'off and on: and which file it was' 'Note: .*tracing_on was (written|changed) by somebody else' "$out"
for verb in verify report; do
        exits "off and on: $verb says that it is incomplete" 6 ftracectl "$verb" flicked
        cat "$err" >>"$out"
        says "off and on: $verb says why" 'somebody else switched tracing_on off' "$out"
done
exits 'a session starts' 0 ftracectl start -n sysctl udp_sendmsg
for value in 0 1; do echo "$value" >"$work/ftrace_enabled"; done
ftracectl stop sysctl >"$out" 2>"$err"
is 'ftrace_enabled: it is the one gap' "$(gaps_of sysctl)" ftrace_off
says 'ftrace_enabled: it has the name that people know' '"kernel.ftrace_enabled was ' <(session sysctl '.warnings[] | @json')

exits 'a session starts' 0 ftracectl start -n looked udp_sendmsg
before=$(session looked .start.trace_ns)
for value in tcp_sendmsg udp_sendmsg; do echo "$value" >"$t/set_graph_function"; done
ok 'another root for a moment: it is noticed' wait_until 10 is_noticed looked filter_changed
ok 'another root for a moment: it lies behind a look that found all well' test \
        "$(session looked '.gaps[0].from_ns')" -ge "$before"
ftracectl stop looked >"$out" 2>"$err"

# Without a daemon: what a store says of a session whose daemon was killed.
exits 'a session starts' 0 ftracectl start -n orphan udp_sendmsg
exits 'with the daemon alive it records' 0 ftracectl show --store "$store" orphan
says 'says show --store' 'State: recording' "$out"
kill_ftraced
exits 'with the daemon dead it can be shown' 0 ftracectl show --store "$store" orphan
says 'as interrupted, with what comes next' 'State: interrupted: no daemon owns' "$out"
exits 'list works as well' 0 ftracectl list --no-legend --store "$store"
says 'and says the same' '^orphan +interrupted' "$out"
done_testing
