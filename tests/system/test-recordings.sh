#!/bin/bash
# Touches: nothing; reads the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A checkout draws the recordings that come with it, without root, as their kernels drew them.
. "$(dirname "$0")/../functions.sh"
requires jq

for kernel in 5.10 6.1 6.12 new arm64-16k-6.12; do
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
        exits "$kernel: it is drawn" 0 ftracectl report "$work/$kernel.dat"
        ok "$kernel: as the recording itself" cmp "$out" "$top_srcdir/tests/data/$name.trace"
        exits "$kernel: what trace-cmd compressed is drawn" 0 \
                ftracectl report "$top_srcdir/tests/data/$name.dat"
        ok "$kernel: as the recording itself" cmp "$out" "$top_srcdir/tests/data/$name.trace"
        exits "$kernel: it is complete" 0 ftracectl verify "$top_srcdir/tests/data/$name.dat"
        says "$kernel: with trees, if it names its roots" "^$name\\.dat: complete, (4 trees, )?[0-9,]+ entries, [0-9,]+ exits\\.\$" "$out"
        exits "$kernel: it can be shown" 0 ftracectl show "$top_srcdir/tests/data/$name.dat"
        exits "$kernel: a trace.dat is made of a trace.dat" 0 \
                ftracectl fetch "$top_srcdir/tests/data/$name.dat" -o "$work/again.dat"
        exits "$kernel: that is drawn" 0 ftracectl report "$work/again.dat"
        ok "$kernel: as the recording itself" cmp "$out" "$top_srcdir/tests/data/$name.trace"
done

exits 'all are listed' 0 ftracectl list --store "$top_srcdir/tests/data" --no-legend
is 'all are listed, a line each' "$(awk '{ print $1 }' "$out" | sort)" "$(ls "$top_srcdir/tests/data/sessions")"
events=$(ftracectl verify --json --store "$top_srcdir/tests/data" udp_sendmsg-6.1 | jq '.entries + .exits')
is 'with its events' "$(awk '/^udp_sendmsg-6.1 / { gsub(",", ""); print $(NF - 3) }' "$out")" "$events"
exits 'those of two architectures are compared' 0 \
        ftracectl diff --store "$top_srcdir/tests/data" udp_sendmsg-6.12 udp_sendmsg-arm64-16k-6.12
says 'function by function' 'do_softirq' "$out"
exits 'one that is not there is not found' 3 ftracectl report --store "$top_srcdir/tests/data" nosuch
says 'one that is not there is named' nosuch

# Whose functions were learned: what else was called is not there, and everybody who reads it hears so.
mkdir "$work/lean"
cp -r "$top_srcdir/tests/data/sessions" "$top_srcdir/tests/data/symbols" "$work/lean/"
chmod -R u+w "$work/lean"
meta=$work/lean/sessions/udp_sendmsg-6.12/session.json
jq '.n_hooked = 269 | .learned_ns = 1795267200000000000 | .learned_calls = 1234' "$meta" >"$work/meta" && cat "$work/meta" >"$meta"
unseen='hooked 269 functions; what else they call is not known'
for verb in show verify report top; do
        exits "lean: $verb works" 0 ftracectl "$verb" --store "$work/lean" udp_sendmsg-6.12
        cat "$err" >>"$out"
        says "lean: $verb says what is not recorded" "$unseen" "$out"
done
exits 'lean: verify --json works' 0 ftracectl verify --json --store "$work/lean" udp_sendmsg-6.12
is 'lean: verify --json says it' "$(jq -r --arg s "$unseen" '[.notes[] | select(startswith($s))] | length' "$out")" 1
rm -r "$work/lean"

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


# What is left out, and that nothing else changes.
name=udp_sendmsg-6.12
draw() { # OPTION...
        ftracectl report --no-legend --store "$top_srcdir/tests/data" "$name" "$@"
}
draw >"$work/all"
removes() { # WHAT N OPTION...: N lines go, the others stay in their order
        local what=$1 n=$2

        shift 2
        exits "$what" 0 draw "$@"
        cp "$out" "$work/some"
        is "$what: as many lines as should" "$(($(wc -l <"$work/all") - $(wc -l <"$work/some")))" "$n"
        is "$what: lines only go" "$(diff "$work/all" "$work/some" | grep -c '^[>]')" 0
}
below() { # FUNCTION: lines of its calls and below, by their indentation, on each CPU
        awk -v f="$1" '{ cpu = $1; at = match($0, /\| +/) + RLENGTH; rest = substr($0, at) }
                /^ -|^$/ { next }
                { if (inside[cpu]) { n++; if (at <= level[cpu]) inside[cpu] = 0; next } }
                index(rest, f "()") == 1 { n++; if (rest ~ /{$/) { inside[cpu] = 1; level[cpu] = at } }
                END { print n + 0 }' "$work/all"
}
removes 'a subtree can be left out' "$(below ip_make_skb)" --notrace=ip_make_skb
removes 'a root can be asked for' "$(($(wc -l <"$work/all") - $(below ip_make_skb)))" --root=ip_make_skb
removes 'a CPU can be asked for' "$(grep -vc '^ 1)' "$work/all")" --cpus=1
removes 'a function can be asked for' "$(grep -vcE '[ |]kfree\(\);' "$work/all")" --function=kfree
removes 'the first level can be asked for' "$(($(wc -l <"$work/all") - 8))" --depth=1
removes 'a window can be asked for' 0 --from=+0s --to=+1h
exits 'the slowest tree can be asked for' 0 draw --slowest=1
is 'it is one' "$(grep -c 'udp_sendmsg() {' "$out")" 1
exits 'the second tree can be asked for' 0 draw --nth=2
is 'it is one' "$(grep -c 'udp_sendmsg() {' "$out")" 1
exits 'slow calls can be asked for' 0 draw --slower=1ms
is 'no other is there' "$(grep -cE '[0-9]\.[0-9]+ us' "$out")" "$(grep -cE '[#*@$] +[0-9.]+ us' "$out")"
exits 'a file of another program can be filtered' 0 \
        ftracectl report --no-legend --cpus=1 "$top_srcdir/tests/data/$name.dat"
is 'in the same way' "$(wc -l <"$out")" "$(grep -c '^ 1)' "$work/all")"

# Files of others.
dat=$top_srcdir/tests/data/udp_sendmsg-6.12.dat
exits 'a file that is not there is not found' 3 ftracectl report "$work/nosuch.dat"
says 'it is named' nosuch.dat
exits 'what is no recording is refused' 1 ftracectl report "$top_srcdir/tests/data/local.mk"
says 'by its name' 'local\.mk'
head -c 10000 "$work/6.12.dat" >"$work/cut.dat"
exits 'a head that was cut is refused' 1 ftracectl report "$work/cut.dat"
says 'with the place' 'byte [0-9]+: '
head -c 100000 "$work/6.12.dat" >"$work/cut.dat"
exits 'of pages that were cut the rest is drawn' 6 ftracectl report "$work/cut.dat"
ok 'much of it is there' test "$(wc -l <"$out")" -gt 500
cp "$dat" "$work/flipped.dat"
chmod u+w "$work/flipped.dat"
printf '\377\377\377\377' | dd of="$work/flipped.dat" bs=1 seek=$(($(stat -c %s "$dat") - 2000)) conv=notrunc status=none
exits 'of chunks that were damaged the rest is drawn' 6 ftracectl report "$work/flipped.dat"
says 'and how much is lost' 'does not unpack, [0-9]+ pages lost'
ok 'most of it is there' test "$(wc -l <"$out")" -gt 1000

done_testing
