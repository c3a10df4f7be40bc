#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What old kernels do not know, system calls, flags and files that may be written, nobody needs.
. "$(dirname "$0")/../functions.sh"
requires jq python3

old=$top_builddir/tests/system/old-kernel
"$old" 5.10 true || skip 'there are no seccomp filters here'
can_open_a_process() { # RELEASE
        "$old" "$1" python3 -c 'import ctypes, os, sys; sys.exit(ctypes.CDLL(None).syscall(434, os.getpid(), 0) < 0)'
}
ok '5.10 is an old kernel' not "$old" 5.10 python3 -c 'import mmap; mmap.mmap(-1, 4096).madvise(23)'
ok 'which has pidfd_open' can_open_a_process 5.10
ok '4.18 has none' not can_open_a_process 4.18
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
chmod 0444 "$work/tracefs/buffer_percent" "$work/tracefs/per_cpu/cpu0/buffer_size_kb"
export FTRACED_TRACEFS=$work/tracefs
page=$(compgen -G "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/*.seg" | head -n 1)

for release in 4.18 5.10; do
        ftracectl() {
                "$old" "$release" "$top_builddir/ftracectl" "$@"
        }
        echo 1408 >"$work/tracefs/buffer_size_kb"
        exits "$release: the main job is done" 0 ftracectl run --format=none --store "$work/own" -n "old-$release" udp_sendmsg -- \
                dd if="$page" of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" bs=4096 skip=1 count=1 status=none
        says "$release: by a private daemon" 'with a private daemon'
        is "$release: the page is there" "$(jq '[.cpus[].n_pages] | add' "$work/own/sessions/old-$release/session.json")" 1
        is "$release: how full a buffer wakes was not asked for" "$(<"$work/tracefs/buffer_percent")" 50
        echo X >"$work/tracefs/buffer_size_kb"
        exits "$release: sizes that cannot be put back are refused" 77 ftracectl run --store "$work/own" udp_sendmsg -- true
        says "$release: with a way out" 'different sizes.*echo 1408 > buffer_size_kb'

        for test in 'lib-store segment' 'daemon-upkeep sealer' 'daemon-process sandbox spawn' 'lib-base io' \
                'cli-contact client remote-output'; do
                read -ra words <<<"$test"
                ok "$release: the unit tests of $test pass" "$old" "$release" "$top_builddir/tests/unit/${words[0]}" "${words[@]:1}"
        done
done
done_testing
