#!/bin/bash
# Touches: nothing; reads the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A trace.dat, in each form that it can have, is what the recording was, for us and for trace-cmd.
# Only here: each form that a trace.dat can have, windows of it, damage, and interruptions.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
fetch() { # SESSION FILE OPTION...
        ftracectl fetch -q --store "$data" "$1" -o "$2" "${@:3}"
}
has_trace_cmd=
! command -v trace-cmd >/dev/null || has_trace_cmd=1
trace_cmd_says() { # FILE: what its report prints, without the count of CPUs' noise
        trace-cmd report -i "$1" 2>&1
}

forms=('' '--compress=zstd' '--compress=none')
for kernel in 6.1 6.12 new; do
        name=udp_sendmsg-$kernel
        lines=
        for form in "${forms[@]}"; do
                what="$kernel $form"
                # shellcheck disable=SC2086
                exits "$what: a file is written" 0 fetch "$name" "$work/x.dat" $form
                # shellcheck disable=SC2086
                fetch "$name" - $form >"$work/piped.dat" </dev/null
                ok "$what: the same goes through a pipe" cmp "$work/x.dat" "$work/piped.dat"
                exits "$what: we draw it" 0 ftracectl report "$work/x.dat"
                ok "$what: as the kernel did" cmp "$out" "$data/$name.trace"
                says "$what: it tells what was asked for" "^ *Asked for: udp_sendmsg$" <(ftracectl show "$work/x.dat")
                exits "$what: it is complete" 0 ftracectl verify "$work/x.dat"
                [[ $has_trace_cmd ]] || continue
                ok "$what: trace-cmd finds it valid" \
                        grep -q 'is a valid' <(trace-cmd dump --validate -i "$work/x.dat" 2>&1)
                trace_cmd_says "$work/x.dat" >"$work/report"
                ok "$what: trace-cmd prints a line for each call" \
                        test "$(grep -c 'funcgraph_entry' "$work/report")" -gt 1000
                is "$what: and has a name for each" "$(grep -c '[0-9a-f]\{16\}()' "$work/report")" 0
                [[ $lines ]] || lines=$(md5sum <"$work/report")
                is "$what: the same lines as for every form" "$(md5sum <"$work/report")" "$lines"
        done
done

# Of a window whole pages, of all that it asks for.
name=udp_sendmsg-6.12
exits 'a window is written' 0 fetch "$name" "$work/window.dat" --from=+10ms --to=+90ms
fetch "$name" "$work/all.dat"
ok 'it is smaller than everything' \
        test "$(stat -c %s "$work/window.dat")" -lt "$(stat -c %s "$work/all.dat")"
begin=$(ftracectl report --no-legend -O funcgraph-abstime "$work/all.dat" |
        awk '$1 + 0 > 0 { print $1; exit }')
exits 'the window of the window is drawn' 0 ftracectl report --no-legend \
        --from="$(awk -v b="$begin" 'BEGIN { printf "%.6f", b + 0.011 }')" \
        --to="$(awk -v b="$begin" 'BEGIN { printf "%.6f", b + 0.089 }')" "$work/window.dat"
cp "$out" "$work/inner"
ftracectl report --no-legend \
        --from="$(awk -v b="$begin" 'BEGIN { printf "%.6f", b + 0.011 }')" \
        --to="$(awk -v b="$begin" 'BEGIN { printf "%.6f", b + 0.089 }')" "$work/all.dat" >"$work/wanted"
ok 'as that of everything' cmp "$work/inner" "$work/wanted"
ok 'in which there is something' test -s "$work/wanted"
exits 'one CPU is written' 0 fetch "$name" "$work/one.dat" --cpus=1
is 'it has that one' "$(ftracectl show --json "$work/one.dat" | jq -c '[.cpus[].cpu]')" '[0,1]'
is 'and no line of another' "$(ftracectl report --no-legend "$work/one.dat" | grep -c '^ 0)')" 0

# Refusals.
exits 'another compression is refused' 2 fetch "$name" "$work/x.dat" --compress=zlib
says 'it is named' 'zlib'
exits 'what is no time is refused' 2 fetch "$name" "$work/x.dat" --from=yesterday
exits 'a filter that pages cannot have is refused' 2 fetch "$name" "$work/x.dat" --task=client
exits 'a directory that is not there is said' 1 fetch "$name" "$work/nosuch/x.dat"
if command -v script >/dev/null; then
        script -qec "$top_builddir/ftracectl fetch --store $data $name -o -" /dev/null >"$out" 2>&1 </dev/null
        ok 'nothing of it goes to a terminal' grep -q 'cannot go to a terminal' "$out"
        ok 'but for that sentence' test "$(wc -c <"$out")" -lt 300
fi

cp -r "$data/sessions" "$data/symbols" "$work/"
chmod -R u+w "$work/sessions" "$work/symbols"
"$top_builddir/tests/bench/grow-session" "$work/sessions/$name" 20 >/dev/null
mkdir "$work/files"
exits 'a grown recording is fetched' 0 ftracectl fetch -q --store "$work" "$name" -o "$work/files/x.dat" --compress=zstd
ftracectl report --no-legend --store "$work" "$name" >"$work/wanted"
exits 'of the grown recording all is in it' 0 ftracectl report --no-legend "$work/files/x.dat"
ok 'as in the recording' cmp "$out" "$work/wanted"

# Memory does not grow with the recording.
declare -A small=()
for form in --compress=none --compress=zstd; do
        small[$form]=$(peak_kb "$top_builddir/ftracectl" fetch -q --store "$data" "$name" -o - "$form")
done
"$top_builddir/tests/bench/grow-session" "$work/sessions/$name" 20 >/dev/null
is 'it has grown a lot' "$(($(du -s "$work/sessions/$name" | cut -f 1) > 50000))" 1
for form in --compress=none --compress=zstd; do
        large=$(peak_kb "$top_builddir/ftracectl" fetch -q --store "$work" "$name" -o - "$form")
        ok "$form: of 60 MB it takes no 10 MB more than of a small one ($large KB)" \
                test "$large" -lt "$((small[$form] + 10000))"
done

# Of kernels of 32 bits, of either byte order, and of one that aligns its pages' data to 8 bytes.
for kernel in 6.1 6.12; do
        fetch "udp_sendmsg-$kernel" "$work/wide.dat"
        ftracectl top --json "$work/wide.dat" | jq 'map({ (.function): [.count, .self_ns, .total_ns] })' >"$work/wide"
        for form in '' --big-endian '--big-endian --data-at=16' --data-at=16; do
                what="$kernel, 32 bits $form"
                # shellcheck disable=SC2086
                python3 "$top_srcdir/tests/narrow-dat.py" "$work/wide.dat" "$work/narrow.dat" $form
                exits "$what: it is drawn" 0 ftracectl report "$work/narrow.dat"
                ok "$what: as that of 64 bits" cmp "$out" "$data/udp_sendmsg-$kernel.trace"
                exits "$what: it is complete" 0 ftracectl verify "$work/narrow.dat"
                exits "$what: it is added up" 0 ftracectl top --json "$work/narrow.dat"
                ok "$what: to the same sums" \
                        cmp "$work/wide" <(jq 'map({ (.function): [.count, .self_ns, .total_ns] })' "$out")
                # libtraceevent has the data at byte 12, whatever header_page says.
                [[ $has_trace_cmd && $form != *data-at* ]] || continue
                ok "$what: trace-cmd reads the same" \
                        cmp <(trace_cmd_says "$work/narrow.dat") <(trace_cmd_says "$work/wide.dat")
        done
done
python3 - "$work/wide.dat" "$work/lossy.dat" <<'END'
import struct
import sys

data = bytearray(open(sys.argv[1], 'rb').read())
page = len(data) - 4096
commit = struct.unpack_from('<Q', data, page + 8)[0]
struct.pack_into('<Q', data, page + 8, commit | 3 << 30)
struct.pack_into('<Q', data, page + 16 + commit, 17)
open(sys.argv[2], 'wb').write(data)
END
for form in '' --big-endian; do
        # shellcheck disable=SC2086
        python3 "$top_srcdir/tests/narrow-dat.py" "$work/lossy.dat" "$work/lossy32.dat" $form
        exits "32 bits $form: a loss is one" 6 ftracectl report "$work/lossy32.dat"
        ok "32 bits $form: of 17 events" grep -q '^CPU:[01] \[LOST 17 EVENTS\]$' "$out"
done
exits 'of 32 bits: a file is made of it' 0 ftracectl fetch -q "$work/narrow.dat" -o "$work/again.dat"
exits 'of 32 bits: that is drawn' 0 ftracectl report "$work/again.dat"
ok 'of 32 bits: as it was' cmp "$out" "$data/udp_sendmsg-6.12.trace"

# What is damaged is left out, and said.
printf '\377\377\377\377' | dd of="$(find "$work/sessions/$name" -name '*.seg' | sort | head -n 1)" \
        bs=1 seek=$((4096 + 4096 + 8)) conv=notrunc status=none
exits 'a damaged page makes it incomplete' 6 ftracectl fetch -q --store "$work" "$name" -o "$work/x.dat"
says 'it is counted' '^ftracectl: CPU 0: 1 page with an impossible length, skipped'
done_testing
