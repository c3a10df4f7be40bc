#!/bin/bash
# Touches: nothing; reads recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whose request a call belongs to is what the last marker of its task said before it began, as counted from the
# text of the recording, whatever filters leave out; what cannot be exported is refused with the reason.
# Only here: each filter, a fetched trace.dat, and what is refused.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
recording=requests-6.12

# "TRACE-ID SPAN-ID PID FUNCTION" of each outermost call, from the text.
ftracectl report --store "$data" $recording -O funcgraph-proc --no-legend >"$work/text" 2>"$err"
cat >"$work/count.py" <<'END'
import re, sys
said, depth = {}, {}
for line in open(sys.argv[1], encoding="utf-8"):
    m = re.match(r" *\d+\) +(.*)-(\d+) +\|(.*)\|(  .*)$", line)
    if not m:
        continue
    pid, text = int(m[2]), m[4][2:]
    marker = re.search(r"/\* (.*) \*/", text)
    if marker and "traceparent=" in marker[1]:
        value = re.search(r"traceparent=00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}", marker[1])
        said[pid] = value.groups() if value else None
    elif re.match(r"\w+\(\) \{", text) or re.match(r"\w+\(\);", text):
        if said.get(pid):
            print(*said[pid], pid, text[:text.index("(")])
END
python3 "$work/count.py" "$work/text" | sort >"$work/wanted"

spans_of() { # FILE
        jq -r '.resourceSpans[].scopeSpans[].spans[] | "\(.traceId) \(.parentSpanId) " +
                "\(.attributes[] | select(.key == "thread.id").value.intValue) \(.name)"' "$1" | sort
}
exits 'requests are exported' 0 ftracectl export --store "$data" $recording --format=otlp -o "$work/otlp"
says 'what belongs to none is counted' '[1-9][0-9]* of [1-9][0-9]* outermost calls belong to no request'
ok 'the text has calls of several requests' test "$(cut -d' ' -f1 "$work/wanted" | uniq | wc -l)" -gt 4
is 'each call is a span of what its task said last' "$(spans_of "$work/otlp")" "$(cat "$work/wanted")"

for filter in --root=udp_sendmsg --slowest=9 --task=requests --keep-slower=1us --nth=3 --depth=1 --fold=irq; do
        exits "$filter: requests are exported" 0 \
                ftracectl export --store "$data" $recording --format=otlp $filter -o "$work/some"
        jq -c '.resourceSpans[].scopeSpans[].spans[] | [.traceId, .parentSpanId, .spanId, .name]' "$work/some" |
                sort >"$work/some.spans"
        is "$filter: they have the spans that they have without it" \
                "$(comm -23 "$work/some.spans" <(jq -c '.resourceSpans[].scopeSpans[].spans[] |
                        [.traceId, .parentSpanId, .spanId, .name]' "$work/otlp" | sort))" ''
        n_roots=$(ftracectl export --store "$data" $recording --format=csv $filter 2>"$err" |
                awk -F, 'NR > 1 && $2 == ""' | wc -l)
        n_spans=$(wc -l <"$work/some.spans")
        left_out=$(ftracectl export --store "$data" $recording --format=otlp $filter 2>&1 >"$work/again" |
                grep -oE '[0-9]+ (of [0-9]+ )?outermost' | grep -oE '^[0-9]+')
        is "$filter: what is no span is left out and counted" "$((n_spans + ${left_out:-0}))" "$n_roots"
done

exits 'its trace.dat is fetched' 0 ftracectl fetch --store "$data" $recording -o "$work/x.dat"
exits 'and exported' 0 ftracectl export "$work/x.dat" --format=otlp -o "$work/dat"
is 'with the same requests' "$(spans_of "$work/dat")" "$(cat "$work/wanted")"

# What was said before a window holds for the calls in it, also for one of which only the end is in it, and in a file
# that is not read from its beginning.
ends_of() { # FILE: "TRACE-ID THREAD END" of each span
        jq -r '.resourceSpans[].scopeSpans[].spans[] |
                "\(.traceId) \(.attributes[] | select(.key == "thread.id").value.intValue) \(.endTimeUnixNano)"' "$1" | sort
}
ends_of "$work/dat" >"$work/ends"
for from in 20 50 56 60 66; do
        exits "from $from ms on: requests are exported" 0 \
                ftracectl export "$work/x.dat" --format=otlp --from=+${from}ms -o "$work/late"
        ends_of "$work/late" >"$work/late.ends"
        first=$(awk '{ print $3 }' "$work/late.ends" | sort -n | head -n 1)
        # Where only the end is known, that is some microseconds off.
        is "from $from ms on: they are those of which the end is in it" "$(cut -d' ' -f1,2 "$work/late.ends")" \
                "$(awk -v first="$first" 'substr($3, 6) + 0 >= substr(first, 6) - 10000 { print $1, $2 }' "$work/ends")"
done
ok 'windows leave some out' test "$(wc -l <"$work/late.ends")" -lt "$(wc -l <"$work/ends")"

exits 'a text is refused' 2 ftracectl export "$work/text" --format=otlp
one_sentence 'in one line'
says 'for it has no time of day' 'time of day'
mkdir "$work/dir"
exits 'a directory is refused' 1 ftracectl export --store "$data" $recording --format=otlp -o "$work/dir"
is 'and stays empty' "$(ls "$work/dir")" ''
done_testing
