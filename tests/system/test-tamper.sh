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
is_degraded() { # NAME CAUSE
        [[ $(session "$1" '[.degraded[].cause] | join(" ")') == "$2" ]]
}

ok 'the daemon starts' start_ftraced --tracefs "$t"
exits 'a session starts' 0 ftracectl start -n quiet udp_sendmsg
sleep 5 # a look
is 'what the daemon itself writes is no tampering' "$(gaps_of quiet)" ''
exits 'it stops' 0 ftracectl stop quiet
is 'stopping is no tampering' "$(gaps_of quiet)" ''
is 'it has no note' "$(session quiet '.warnings | length')" "$(session quiet '[.warnings[] | select(contains("symbols"))] | length')"

exits 'a session starts' 0 ftracectl start -n s udp_sendmsg
for cause in 'tracing_on 0 1 tracing_off' 'trace_clock [global] [mono] clock_changed' \
        'set_graph_function tcp_sendmsg udp_sendmsg filter_changed' 'max_graph_depth 3 0 filter_changed'; do
        read -r file wrong right cause <<<"$cause"
        echo "$wrong" >"$t/$file"
        ok "$file: it is noticed" wait_until 10 is_degraded s "$cause"
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
sed -i 's/^read events: .*/read events: 100/; s/^overrun: .*/overrun: 7/' "$t/per_cpu/cpu1/stats"
ok 'an overrun is noticed' wait_until 10 is_noticed s overrun
is 'it has its CPU and its count' \
        "$(session s '.gaps[] | select(.cause == "overrun") | "\(.cpu) \(.events)"')" '1 7'
sed -i 's/^read events: .*/read events: 0/; s/^overrun: .*/overrun: 0/' "$t/per_cpu/cpu1/stats"
ok 'counters that go backwards are a buffer that was emptied' wait_until 10 is_noticed s cleared
is 'the gap begins where the last page that is stored does: here with the session' \
        "$(session s '.start.trace_ns as $start | [.gaps[] | select(.cause == "cleared") | .from_ns - $start < 1000000000] | all')" true
is 'nothing is wrong any more' "$(session s '.degraded | length')" 0
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

# What nobody has looked at before the end, and everybody says the same.
exits 'a session starts' 0 ftracectl start -n late udp_sendmsg
before=$(session late .start.trace_ns)
echo 0 >"$t/tracing_on"
ftracectl stop late >"$out" 2>"$err"
says 'at the end: stop says that something is lost' '^late: sealed, .*, unknown loss in 1 gap\.$' "$out"
is 'at the end: it is the one gap' "$(gaps_of late)" tracing_off
ok 'at the end: it lies behind a look that found all well' test "$(session late '.gaps[0].from_ns')" -ge "$before"
exits 'at the end: list works' 0 ftracectl list --no-legend
says 'at the end: list says it' '^late .* 1 gap *$' "$out"
exits 'at the end: show works' 0 ftracectl show late
says 'at the end: show says it' 'Loss: unknown loss in 1 gap' "$out"
says 'at the end: and which file it was' 'Note: .*tracing_on was changed by somebody else' "$out"
for verb in verify report; do
        exits "at the end: $verb says that it is incomplete" 6 ftracectl "$verb" late
        cat "$err" >>"$out"
        says "at the end: $verb says why" 'somebody else switched tracing_on off' "$out"
done
echo 1 >"$t/tracing_on"

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
