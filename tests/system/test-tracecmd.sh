#!/bin/bash
# Touches: nothing; reads the recordings in tests/data/tracecmd.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What trace-cmd recorded is drawn as trace-cmd reports it: with its options' times, of each of its
# buffers, with what other tracers recorded, and with every loss that its pages tell.  The reports
# beside the recordings say which trace-cmd printed them; where one is installed, it is asked, too.
. "$(dirname "$0")/../functions.sh"
requires python3 gzip jq

data=$top_srcdir/tests/data/tracecmd
for name in tsc2nsec x86-tsc date function stacks marker split; do
        cp "$data/$name.dat" "$work/"
done
gzip -dc "$data/buffers.dat.gz" >"$work/buffers.dat"
chmod u+w "$work"/*.dat

compare() { # REPORT FILE [BUFFER]
        ftracectl report -q ${3:+--buffer="$3"} -O funcgraph-abstime -O funcgraph-proc "$2" \
                >"$work/drawn" 2>/dev/null
        python3 "$top_srcdir/tests/system/compare-report.py" "$1" "$work/drawn" "${3-}" >"$work/compared" ||
                { show_file "$work/compared"; false; }
}

for name in tsc2nsec x86-tsc date function stacks marker split; do
        ok "$name: every event is what trace-cmd reported" compare "$data/$name.report.gz" "$work/$name.dat"
        for version in '' --compress=zstd; do
                exits "$name $version: it is fetched again" \
                        "$([[ $name == split ]] && echo 6 || echo 0)" \
                        ftracectl fetch -q "$work/$name.dat" -o "$work/again.dat" ${version:+"$version"}
                ok "$name $version: nothing has changed" compare "$data/$name.report.gz" "$work/again.dat"
        done
done
for buffer in '' alpha beta; do
        ok "the buffer \"$buffer\" is what trace-cmd reported" \
                compare "$data/buffers.report.gz" "$work/buffers.dat" "$buffer"
done
if command -v trace-cmd >/dev/null; then
        for name in tsc2nsec x86-tsc date function stacks marker split buffers; do
                trace-cmd report -t -i "$work/$name.dat" >"$work/live" 2>/dev/null
                ok "$name: this trace-cmd reports the same" compare "$work/live" "$work/$name.dat"
        done
fi

# What a guest's file says of its host's clock, made by hand: its symbols do not tell, its times do.
times_of() { # FILE: "SECONDS CPU PID" of each event
        sed -nE -e 's/^ *([0-9.]+) \| +([0-9]+)\).*-([0-9]+) +\|.*/\1 \2 \3/p' \
                -e 's/^.*-([0-9]+) +\[0*([0-9]+)\].* ([0-9]+\.[0-9]{6})[0-9]*: func.*/\3 \2 \1/p' "$1"
}
for name in every-option-of-times times-without-interpolation; do
        cp "$top_srcdir/tests/fuzz/corpus/tracedat/$name" "$work/guest.dat"
        ftracectl report -q --no-legend -O funcgraph-abstime -O funcgraph-proc "$work/guest.dat" \
                >"$work/drawn" 2>/dev/null
        is "$name: all events are there" "$(times_of "$work/drawn" | wc -l)" 143
        command -v trace-cmd >/dev/null || continue
        trace-cmd report -t -i "$work/guest.dat" >"$work/live" 2>/dev/null
        ok "$name: when this trace-cmd reports them" cmp <(times_of "$work/drawn") <(times_of "$work/live")
done

# A time that is copied from what trace-cmd prints, rounded to microseconds, finds its call.
for name in tsc2nsec x86-tsc date; do
        when=$(gzip -dc "$data/$name.report.gz" | python3 -c '
import re, sys
for line in sys.stdin:
    m = re.search(r"\] *([0-9]+)(?:\.([0-9]{9}))?: funcgraph_entry: .*\|  udp_sendmsg", line)
    if m and m[2]:
        us = (int(m[1] + m[2]) + 500) // 1000
        print("%d.%06d" % divmod(us, 1000000))
    elif m:
        print(m[1])
    if m:
        break')
        exits "$name: a time of trace-cmd's is taken" 0 ftracectl report --no-legend -q --from="$when" \
                --to="$when" "$work/$name.dat"
        says "$name: it finds the call" 'udp_sendmsg' "$out"
done
# After --date a time of day is one, too.
TZ=UTC exits 'a time of day is taken' 0 ftracectl calls -q --json --from=22:31:17.431 "$work/date.dat"
is 'for what was recorded then' "$(jq -c '[length, .[0].start_ns >= 1795386677431000000]' "$out")" '[1,true]'
TZ=UTC exits 'also with what ends then' 0 ftracectl calls -q --json --from=22:31 --to=22:31:17.43 "$work/date.dat"
is 'or before' "$(jq -c '[length, .[0].start_ns < 1795386677430000000]' "$out")" '[1,true]'
exits 'which no other file can tell' 1 ftracectl calls -q --from=22:31 "$work/marker.dat"

# Losses.
exits 'verify finds it' 6 ftracectl verify --json "$work/split.dat"
is 'and counts it' "$(jq .events_lost "$out")" 98
is 'with the place' "$(jq '[.gaps[].events] | add' "$out")" 98
exits 'report says it' 6 ftracectl report "$work/split.dat"
says 'and how many' '98 events lost'
ok 'nothing of another program'"'"'s options' test -z "$(grep -e --buffer-size "$err")"
exits 'top says it' 6 ftracectl top "$work/split.dat"
exits 'show says it' 0 ftracectl show "$work/split.dat"
says 'in one line' 'Loss: 98 events lost' "$out"
is 'and as JSON' "$(ftracectl show --json "$work/split.dat" | jq '[.cpus[].overrun] | add')" 98

# Behind losses that the kernel counted: an end is not that of a call which began before.
gzip -dc "$data/loss.dat.gz" >"$work/loss.dat"
ok 'losses: every event is what trace-cmd reported' compare "$data/loss.report.gz" "$work/loss.dat"
exits 'losses: the calls are counted alike' 0 python3 "$top_srcdir/tests/count-calls.py" \
        "$top_builddir/ftracectl" "$top_srcdir/tests/read-export.py" "$work/loss.dat" "$work/loss.dat"
exits 'losses: everybody says the same' 0 python3 "$top_srcdir/tests/one-truth.py" \
        "$top_builddir/ftracectl" "$work/loss.dat"

# A packet of "trace-cmd listen -u" that got lost is a page that is missing, and nothing tells of it but
# calls without returns: so say all, and not only who looks for it.
ftracectl fetch -q --store "$top_srcdir/tests/data" udp_sendmsg-6.12 -o "$work/whole.dat"
python3 - "$work/whole.dat" "$work/holes.dat" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
table = data.index(b'flyrecord\0') + 10
begin, size = struct.unpack_from('<QQ', data, table)
assert size >= 5 * 4096
data[begin + 4096:begin + size - 4096] = data[begin + 2 * 4096:begin + size]
struct.pack_into('<Q', data, table + 8, size - 4096)
open(sys.argv[2], 'wb').write(data)
END
exits 'verify finds what has no partner' 6 ftracectl verify "$work/holes.dat"
grep -o '[0-9]* calls\? of which.*\.$\|[0-9]* returns\? of which.*\.$' "$out" >"$work/wanted"
ok 'and counts it' test -s "$work/wanted"
for verb in report top tree hist slow calls 'export --format=csv'; do
        # shellcheck disable=SC2086 # they are words
        exits "$verb: so does it" 6 ftracectl $verb "$work/holes.dat"
        ok "$verb: in the same words" grep -qFf "$work/wanted" "$out" "$err"
done
exits 'show says it' 0 ftracectl show "$work/holes.dat"
ok 'in the same words' cmp "$work/wanted" <(grep 'of which' "$out")
exits 'of the whole nobody does' 0 ftracectl top "$work/whole.dat"
is 'a word' "$(grep -c 'of which the' "$err")" 0

# Buffers.
exits 'show lists them' 0 ftracectl show "$work/buffers.dat"
says 'in one line' 'Buffers: top .read., beta, alpha' "$out"
is 'and as JSON' "$(ftracectl show --json --buffer=alpha "$work/buffers.dat" |
        jq -c '[.buffers[] | [.name, .read, .empty]]')" \
        '[["top",false,false],["beta",false,false],["alpha",true,false]]'
exits 'one is said where there are others' 0 ftracectl top "$work/buffers.dat"
says 'with what they are called' 'of its buffers "top" is read; --buffer=NAME reads another: beta, alpha'
exits 'one that is not there is not found' 3 ftracectl report --buffer=gamma "$work/buffers.dat"
says 'and those that are named' 'has no buffer "gamma", but top, beta, alpha'
exits 'a text has none' 2 ftracectl report --buffer=x "$top_srcdir/tests/data/udp_sendmsg-6.1.trace"
exits 'nor has a session' 2 ftracectl report --buffer=x --store "$top_srcdir/tests/data" udp_sendmsg-6.1
for verb in report top tree hist slow calls verify; do
        ok "$verb reads the one that is named" \
                test "$(ftracectl "$verb" -q --buffer=alpha "$work/buffers.dat" 2>&1 | md5sum)" != \
                "$(ftracectl "$verb" -q "$work/buffers.dat" 2>&1 | md5sum)"
done
done_testing
