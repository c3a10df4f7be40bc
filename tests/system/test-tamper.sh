#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What somebody else does to the control files of a session is noticed, said, and placed as a gap; what
# the daemon itself writes is not.
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
        ok "$file: within a second" test "$(noticed_after "$written_us")" -lt 1000000
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
is 'trace: nothing is wrong any more' "$(session s '.degraded | length')" 0
before=$(session s '.gaps | length')
sed -i 's/^read events: .*/read events: 100/; s/^overrun: .*/overrun: 7/' "$t/per_cpu/cpu1/stats"
ok 'an overrun is noticed' wait_until 10 is_noticed s overrun
is 'it has its CPU and its count' \
        "$(session s '.gaps[] | select(.cause == "overrun") | "\(.cpu) \(.events)"')" '1 7'
sed -i 's/^read events: .*/read events: 0/; s/^overrun: .*/overrun: 0/' "$t/per_cpu/cpu1/stats"
ok 'counters that go backwards are a buffer that was emptied' \
        wait_until 10 eval "[[ \$(session s '.gaps | length') -ge $((before + 2)) ]]"
echo 4096 >"$t/buffer_size_kb"
ok 'another size of the buffer is noted' wait_until 10 \
        eval '[[ $(session s ".warnings | join(\" \")") == *buffer_size_kb* ]]'
exits 'it stops' 0 ftracectl stop s
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
exits 'it stops' 0 ftracectl stop open
is 'what lasted ends with the session' \
        "$(session open '.stop.trace_ns - .gaps[0].to_ns')" 0
is 'no session that has ended is degraded' "$(session open '.degraded | length')" 0

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
