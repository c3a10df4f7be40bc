#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Segments are cut by size and by time, on all CPUs together, and a ring keeps the newest.
# Only here: which pages are in which segment, CPUs that have nothing to cut, and the moments of cuts.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$work/tracefs"

# N pages without events, as a kernel with nothing to say would give, with noise behind their ends so
# that sealing does not make them smaller; their times go on from FIRST.
feed() { # CPU FIRST N
        timeout 60 python3 - "$2" "$3" >"$work/tracefs/per_cpu/cpu$1/trace_pipe_raw" <<'EOF' || fail "CPU $1 takes no pages"
import os, struct, sys
first, n = int(sys.argv[1]), int(sys.argv[2])
for i in range(first, first + n):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 0) + os.urandom(4080))
    sys.stdout.buffer.flush()
EOF
}
segments() { # SESSION CPU
        (shopt -s nullglob && cd "$store/sessions/$1/cpu$2" 2>/dev/null && echo *.seg)
}
stored() { # SESSION: pages that have been stored, dropped ones too
        echo $(($(sum_of "$1" n_pages) + $(sum_of "$1" pages_dropped)))
}
# The time of the first page of a segment, in units of the feed.
first_page() { # SEGMENT, sealed (then its first block's header says it) or not
        local at=4096

        [[ $(od -A n -t u4 -j 8 -N 4 "$1") -ne 2 ]] || at=$((80 + 64))
        echo $(($(od -A n -t u8 -j $at -N 8 "$1") / 1000 - 1))
}

exits 'a session with small segments starts' 0 ftracectl start -n sized --segment-size=64K udp_sendmsg
feed 1 0 3
ok 'the pages of one CPU arrive' wait_until 10 eval '[[ $(stored sized) == 3 ]]'
for i in 0 8 16 24 32; do
        feed 0 $i 8
        ok "$((i + 8)) pages of the other arrive" wait_until 10 eval "[[ \$(stored sized) == $((i + 11)) ]]"
done
feed 1 3 1
ok 'one more arrives' wait_until 10 eval '[[ $(stored sized) == 44 ]]'
exits 'it is stopped' 0 ftracectl stop sized
is 'a full segment is followed by another' "$(segments sized 0)" '00000000.seg 00000001.seg 00000002.seg'
is 'the other CPU was cut with it, and skipped what it has nothing for' "$(segments sized 1)" '00000000.seg 00000002.seg'
exits 'what is skipped is no damage' 0 ftracectl verify sized
is 'the moment of every cut is kept' "$(cut -d' ' -f1 "$store/sessions/sized/cuts" | xargs)" '0 1 2'

exits 'a session that is cut by time starts' 0 ftracectl start -n timed --set=SegmentTime=1s udp_sendmsg
feed 0 0 1
feed 1 0 1
ok 'a quiet CPU is cut too' wait_until 10 eval '[[ $(cut -d" " -f1 "$store/sessions/timed/cuts" | tail -n 1) -ge 1 ]]'
n_cuts() {
        wc -l <"$store/sessions/timed/cuts"
}
before=$(n_cuts)
feed 0 1 1
ok 'the page after the cut arrives' wait_until 10 eval '[[ $(stored timed) == 3 ]]'
is 'it is in another segment' "$(segments timed 0 | wc -w)" 2
ok 'what was stored is cut, too' wait_until 60 eval "((\$(n_cuts) > $before))"
wait_until_same 1.5 n_cuts
last=$(tail -n 1 "$store/sessions/timed/cuts" | cut -d' ' -f1)
sleep 2.5
exits 'it is stopped' 0 ftracectl stop timed
is 'nothing is cut while nothing is stored' "$(tail -n 1 "$store/sessions/timed/cuts" | cut -d' ' -f1)" "$last"

exits 'a ring starts' 0 ftracectl start -n ring --ring --max-size=1M udp_sendmsg
feed 1 0 100
for i in 0 100 200 300 400; do
        feed 0 $i 100
        ok "a ring takes $((i + 100)) pages" wait_until 20 eval "[[ \$(stored ring) == $((i + 200)) ]]"
done
is 'it still records' "$(session ring .state)" recording
exits 'it is stopped' 0 ftracectl stop ring
size=$(du -s --block-size=1K "$store/sessions/ring"/cpu* | awk '{ n += $1 } END { print n }')
# Directories, headers, and the sealed copy of a segment while it is being written are beside it.
ok "it has its size ($size K)" test "$size" -le 1160 -a "$size" -gt 700
oldest=$(segments ring 0 | cut -d' ' -f1)
is 'what it kept has no gap' $(($(first_page "$store/sessions/ring/cpu0/$oldest") + $(session ring '.cpus[0].n_pages'))) 500
is 'the oldest of all CPUs went together' "$(segments ring 1)" ''
is 'it says what it dropped' "$(session ring '.cpus[1].pages_dropped')" 100
is 'it says what is the first it kept' "$(session ring .first_sequence)" $((16#${oldest%.seg}))
ok 'it says since when it has data' test "$(session ring .kept_since.monotonic_ns)" -gt "$(session ring .start.monotonic_ns)"
# Of cuts that follow each other faster than the daemon looks only the last is in the log.
first=$((16#${oldest%.seg})) kept=$(cut -d' ' -f1 "$store/sessions/ring/cuts" | xargs)
ok "the moments of dropped cuts are dropped (before $first: $kept)" \
        test "$(tr ' ' '\n' <<<"$kept" | awk -v first=$first '$1 < first' | wc -l)" -le 1
exits 'what a ring dropped is no damage' 0 ftracectl verify ring
says 'verify tells of it' 'dropped by the ring' "$out"
exits 'what is left is drawn' 0 ftracectl report ring
says 'the drawing tells of it' 'dropped by the ring'

ok 'the daemon ends in peace' stop_ftraced
done_testing
