#!/bin/bash
# Touches: nothing; reads recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whose request a call belongs to is what the last marker of its task said before it began, as counted from the
# text of the recording, whatever filters leave out.
# Only here: each filter, a fetched trace.dat, and a text.
. "$(dirname "$0")/../functions.sh"
requires python3

data=$top_srcdir/tests/data
recording=requests-6.12

# "TRACE-ID PID FUNCTION" of each outermost call, from the text.
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
        value = re.search(r"traceparent=00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}", marker[1])
        said[pid] = value[1] if value else None
    elif re.match(r"\w+\(\) \{", text) or re.match(r"\w+\(\);", text):
        if said.get(pid):
            print(said[pid], pid, text[:text.index("(")])
END
python3 "$work/count.py" "$work/text" | sort >"$work/wanted"

exits 'rows are exported' 0 ftracectl export --store "$data" $recording --format=tsv -o "$work/tsv"
ok 'the text has calls of several requests' test "$(cut -d' ' -f1 "$work/wanted" | uniq | wc -l)" -gt 4
is 'each call is of what its task said last' "$(requests_of "$work/tsv")" "$(cat "$work/wanted")"
rows_of() { # FILE: when it began, its task, its function, its request
        columns_of "$1" start_ns pid function trace_id | sort
}

for filter in --root=udp_sendmsg --slowest=9 --task=requests --keep-slower=1us --nth=3 --depth=1 --fold=irq; do
        exits "$filter: rows are exported" 0 \
                ftracectl export --store "$data" $recording --format=tsv $filter -o "$work/some"
        rows_of "$work/some" >"$work/some.rows"
        ok "$filter: there are some" test -s "$work/some.rows"
        is "$filter: they have the requests that they have without it" \
                "$(comm -23 "$work/some.rows" <(rows_of "$work/tsv"))" ''
done

exits 'its trace.dat is fetched' 0 ftracectl fetch --store "$data" $recording -o "$work/x.dat"
exits 'and exported' 0 ftracectl export "$work/x.dat" --format=tsv -o "$work/dat"
is 'with the same requests' "$(requests_of "$work/dat")" "$(cat "$work/wanted")"

# What was said before a window holds for the calls in it, also for one of which only the end is in it, and in a file
# that is not read from its beginning.
ends_of() { # FILE: "TRACE-ID PID END" of each outermost call of a request
        columns_of "$1" left trace_id pid start_ns duration_ns | awk '$1 == 1 && NF == 5 { print $2, $3, $4 + $5 }' | sort
}
ends_of "$work/dat" >"$work/ends"
for from in 20 50 56 60 66; do
        exits "from $from ms on: rows are exported" 0 \
                ftracectl export "$work/x.dat" --format=tsv --from=+${from}ms -o "$work/late"
        ends_of "$work/late" >"$work/late.ends"
        first=$(awk '{ print $3 }' "$work/late.ends" | sort -n | head -n 1)
        # Where only the end is known, that is some microseconds off.
        is "from $from ms on: they are those of which the end is in it" "$(cut -d' ' -f1,2 "$work/late.ends")" \
                "$(awk -v first="$first" '$3 >= first - 10000 { print $1, $2 }' "$work/ends")"
done
ok 'windows leave some out' test "$(wc -l <"$work/late.ends")" -lt "$(wc -l <"$work/ends")"

exits 'the text is exported' 0 ftracectl export "$work/text" --format=tsv -o "$work/of-text"
is 'with the same requests' "$(requests_of "$work/of-text")" "$(cat "$work/wanted")"
done_testing
