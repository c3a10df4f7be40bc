#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the oldest kernel does not know, system calls, flags and files that may be written, nobody needs.
. "$(dirname "$0")/../functions.sh"
requires jq python3

old=$top_builddir/tests/system/old-kernel
"$old" true || skip 'there are no seccomp filters here'
ok 'it is an old kernel' not "$old" python3 -c 'import mmap; mmap.mmap(-1, 4096).madvise(23)'
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
chmod 0444 "$work/tracefs/buffer_percent" "$work/tracefs/per_cpu/cpu0/buffer_size_kb"
export FTRACED_TRACEFS=$work/tracefs
ftracectl() {
        "$old" "$top_builddir/ftracectl" "$@"
}

page=$(compgen -G "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/*.seg" | head -n 1)
exits 'the main job is done' 0 ftracectl run --no-report --store "$work/own" -n old udp_sendmsg -- \
        dd if="$page" of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" bs=4096 skip=1 count=1 status=none
says 'by a private daemon' 'with a private daemon'
is 'the page is there' "$(jq '[.cpus[].n_pages] | add' "$work/own/sessions/old/session.json")" 1
is 'how full a buffer wakes was not asked for' "$(<"$work/tracefs/buffer_percent")" 50
echo X >"$work/tracefs/buffer_size_kb"
exits 'sizes that cannot be put back are refused' 77 ftracectl run --store "$work/own" udp_sendmsg -- true
says 'with a way out' 'different sizes.*echo 1408 > buffer_size_kb'

for test in segment sealer sandbox hook-cost; do
        ok "the unit test of $test passes" "$old" "$top_builddir/tests/unit/test-$test"
done
done_testing
