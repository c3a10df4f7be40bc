#!/bin/bash
# Touches: nothing but a directory of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of several hosts in one timeline.
. "$(dirname "$0")/../functions.sh"
requires jq awk

data=$top_srcdir/tests/data
mkdir "$work/store"
cp -r "$data/sessions" "$data/symbols" "$work/store"
chmod -R u+w "$work/store"
one=udp_sendmsg-6.1 other=udp_sendmsg-6.12
change() { # SESSION FILTER
        local file=$work/store/sessions/$1/session.json

        jq "$2" "$file" >"$work/json" && cat "$work/json" >"$file"
}
report() { # SOURCE... [OPTION...]
        ftracectl report --store "$work/store" "$@"
}
# The clock of the second host's wall, so that both were busy at the same time.
change $one '.host = "web-1"'
change $other '.host = "db-1" | .start.realtime_ns = 1795256258645000000'

# --- two hosts ----------------------------------------------------------------------------------

exits 'two hosts are merged' 0 report $one $other
cp "$out" "$work/merged"
says 'the legend says what is what' '^# web-1: udp_sendmsg-6.1, Linux 6.1.0-' "$out"
says 'for each' '^# db-1: udp_sendmsg-6.12, Linux 6.12.' "$out"
says 'and where the names of columns are' '^# {22}CPU  DURATION' "$out"
says 'what the order is worth is said' 'each host'\''s time of day'
grep -v '^#' "$work/merged" >"$work/lines"
ok 'lines are in the order of time' sort -c -s -k1,1 "$work/lines"
ok 'of both in turns' test "$(awk '{ print $2 }' "$work/lines" | uniq | wc -l)" -gt 10
for session in $one $other; do
        host=$(jq -r .host "$work/store/sessions/$session/session.json")
        awk -v host="$host" '$2 == host' "$work/lines" | cut -c23- >"$work/its"
        report --no-legend "$session" >"$work/alone" 2>/dev/null
        ok "those of $host are drawn as they are alone" cmp "$work/its" "$work/alone"
        offset=$(jq '.start.realtime_ns / 1000 - .start.trace_ns / 1000 | floor' "$work/store/sessions/$session/session.json")
        TZ=UTC exits "with $host's trace clock beside" 0 report --no-legend -O abstime $one $other
        is 'the time is its own on the wall' "$(awk -v host="$host" -v offset="$offset" '
                $2 == host && $3 ~ /^[0-9]+\.[0-9]+$/ {
                        split($1, t, ":")
                        off = (t[1] * 3600 + t[2] * 60 + t[3]) - ($3 + offset / 1e6) % 86400
                        n++
                        wrong += off > 0.0001 || off < -0.0001
                } END { print (n > 100) + 0, wrong + 0 }' "$out")" '1 0'
done
exits 'without a legend' 0 report --no-legend $one $other
ok 'nothing else changes' cmp "$out" "$work/lines"
exits 'filters are for each' 0 report --no-legend $one $other --slowest=1
is 'of which one call remains' "$(awk '$4 == "|" && $5 ~ /^udp_sendmsg/ || $5 == "|" && $6 ~ /^udp_sendmsg/ { print $2 }' "$out" |
        sort | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" '1 db-1 1 web-1 '

# --- fetched ------------------------------------------------------------------------------------

for version in '' --compress=zstd; do
        for session in $one $other; do
                ftracectl fetch -q --store "$work/store" $version -o "$work/$session.dat" "$session"
        done
        exits "what was fetched${version:+ with $version} is merged" 0 report --no-legend "$work/$one.dat" "$work/$other.dat"
        ok 'as the sessions are' cmp "$out" "$work/lines"
done
exits 'a file and a session' 0 report --no-legend "$work/$one.dat" $other
ok 'are merged as well' cmp "$out" "$work/lines"

# --- one host -----------------------------------------------------------------------------------

change $other '.host = "web-1"'
exits 'two sessions of one host' 0 report --no-legend $one $other
is 'have their own names' "$(awk '{ print $2 }' "$out" | sort -u | paste -sd' ')" "$one $other"
change $other '.host = "db-1"'
change udp_sendmsg-new '.host = "db-1"'
exits 'three of two hosts' 0 report $one $other udp_sendmsg-new
is 'have the names of their sessions, and their hosts in the legend' \
        "$(grep -c "^# $one: $one on web-1, \|^# $other: $other on db-1, \|^# udp_sendmsg-new: udp_sendmsg-new on db-1, " "$out")" 3
change $other '.host = "web-1"'
exits 'three are merged' 0 report --no-legend $one $other udp_sendmsg-new
is 'all of them' "$(awk '{ print $2 }' "$out" | sort -u | wc -l)" 3

# --- many ---------------------------------------------------------------------------------------

# Each but the first begins when the one before has ended.
base=1795256258645000000 many=()
for i in {10..49}; do
        cp -r "$work/store/sessions/udp-pairs-6.12" "$work/store/sessions/pairs-$i"
        change "pairs-$i" ".name = \"pairs-$i\" | .start.realtime_ns = $((base + i * 2000000000))"
        many+=("pairs-$i")
done
exits 'many are merged, in whatever order they are named' 0 report --no-legend "${many[@]:20}" "${many[@]:0:20}"
is 'each has its turn' "$(awk '{ print $2 }' "$out" | uniq | paste -sd' ')" "${many[*]}"
is 'and its lines' "$(wc -l <"$out")" $((40 * $(report --no-legend "${many[0]}" 2>/dev/null | wc -l)))
(
        ulimit -n 40
        report --no-legend "${many[@]}" 2>/dev/null | cmp - "$out"
) && few=yes || few=no
is 'with descriptors for a few' "$few" yes
two=$(peak_kb "$top_builddir/ftracectl" report --store "$work/store" "${many[@]:0:2}" 2>/dev/null)
all=$(peak_kb "$top_builddir/ftracectl" report --store "$work/store" "${many[@]}" 2>/dev/null)
ok "and in no 8 MB more than two take ($two KB, $all KB)" test "$all" -lt $((two + 8000))

# A clock that was set back while it recorded: what is left of it is earlier than its beginning.
change pairs-10 '.clock_steps = [.start | .trace_ns += 1000000000 | .monotonic_ns += 1000000000 |
        .boottime_ns += 1000000000 | .realtime_ns -= 100000000000]'
change pairs-11 ".start.realtime_ns = $((base + 20000000000 - 50000000000))"
exits 'one whose clock was set back' 0 report --no-legend --from=+0.3s pairs-10 pairs-11
is 'is merged by what it showed then' "$(awk '{ print $2 }' "$out" | uniq | paste -sd' ')" 'pairs-10 pairs-11'

# --- what cannot be -----------------------------------------------------------------------------

exits 'a text is refused' 2 report $one "$data/udp_sendmsg-6.1.trace"
says 'for what it lacks' 'is a text, which does not say when it was'
exits 'and the file of another program' 2 report $one "$data/tracecmd/function.dat"
says 'too' 'does not say how its trace clock relates to real time'
change $other '.clock = "counter"'
exits 'a clock that does not count time is refused' 2 report $one $other
says 'by its name' 'counter, does not count nanoseconds'
exits 'JSON is of one recording' 2 report --json $one $other
exits 'all must be there' 3 report $one nosuch
one_sentence 'or that is all that is said'
done_testing
