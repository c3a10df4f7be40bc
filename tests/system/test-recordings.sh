#!/bin/bash
# Touches: nothing; reads the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A checkout draws the recordings that come with it, without root, as their kernels drew them.
. "$(dirname "$0")/../functions.sh"
requires jq

for kernel in 6.1 6.12 new; do
        name=udp_sendmsg-$kernel
        exits "$kernel: the recording is drawn" 0 \
                ftracectl report --store "$top_srcdir/tests/data" "$name"
        ok "$kernel: the drawing is byte for byte the kernel's own" \
                cmp "$out" "$top_srcdir/tests/data/$name.trace"
        is "$kernel: as many roots as datagrams were sent" "$(count_roots udp_sendmsg "$out")" 4

        exits "$kernel: the recording is complete" 0 \
                ftracectl verify --store "$top_srcdir/tests/data" "$name"
        exits "$kernel: its description is JSON" 0 \
                ftracectl show --json --store "$top_srcdir/tests/data" "$name"
        is "$kernel: nothing was lost" \
                "$(jq '[.cpus[] | .overrun + .commit_overrun + .dropped_events + .pages_lost] | add' "$out")" 0
        exits "$kernel: a trace.dat is made of it" 0 \
                ftracectl fetch --store "$top_srcdir/tests/data" "$name" -o "$work/$kernel.dat"
        is "$kernel: the trace.dat begins as one" "$(head -c 10 "$work/$kernel.dat" | tail -c 7)" tracing
done

exits 'all are listed' 0 ftracectl list --store "$top_srcdir/tests/data" --no-legend
is 'all are listed, a line each' "$(wc -l <"$out")" 3
exits 'one that is not there is not found' 3 ftracectl report --store "$top_srcdir/tests/data" nosuch
says 'one that is not there is named' nosuch

# What a renderer gets wrong about a damaged recording must be an error, not a crash.
cp -r "$top_srcdir/tests/data/sessions" "$top_srcdir/tests/data/symbols" "$work/"
chmod -R u+w "$work/sessions"
segment=$(find "$work/sessions/udp_sendmsg-6.12" -name '*.seg' | sort | head -n 1)
printf '\377\377\377\377' | dd of="$segment" bs=1 seek=$((4096 + 4096 + 8)) conv=notrunc status=none
exits 'a page with an impossible length makes a recording incomplete' 6 \
        ftracectl verify --store "$work" udp_sendmsg-6.12
exits 'the rest of it is drawn all the same' 6 ftracectl report --store "$work" udp_sendmsg-6.12
ok 'most of it is there' test "$(wc -l <"$out")" -gt 1000
truncate -s 10000 "$segment"
exits 'a segment that is cut off is said to be damaged' 6 \
        ftracectl verify --store "$work" udp_sendmsg-6.12

done_testing
