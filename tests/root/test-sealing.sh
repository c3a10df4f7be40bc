#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.12-rt new-rt arm64-6.12 arm64-16k-6.12
#
# A recording is the same before and after it is sealed, but for its size, and who seals it is locked up.
# Only here: how few bytes an event takes, and that a worker as the kernel locked it up can do its work.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n it udp_sendmsg
"$udp_pairs" 300 >/dev/null
catch_worker it &
catcher=$!
exits 'it is stopped' 0 ftracectl stop it
wait "$catcher"
worker=$(cat "$work/worker")
ok 'a worker was caught at its work' test -n "$worker"
is 'it has no capability' "$(awk '/^Cap(Inh|Prm|Eff|Amb):/ { print $2 }' "/proc/$worker/status" | sort -u)" 0000000000000000
is 'it cannot get any' "$(awk '$1 == "NoNewPrivs:" { print $2 }' "/proc/$worker/status")" 1
is 'its system calls are filtered' "$(awk '$1 == "Seccomp:" { print $2 }' "/proc/$worker/status")" 2
is 'it has the two files and nowhere to talk to' \
        "$(find "/proc/$worker/fd" -type l -printf '%f ' | xargs)" '0 1 2'
ok 'nothing is sealed yet' segments_are 1 it
exits 'it is complete before' 0 ftracectl verify it
exits 'it is drawn before' 0 ftracectl report it
cp "$out" "$work/before"
is 'all calls are drawn' "$(count_roots udp_sendmsg "$work/before")" 600
exits 'it is fetched before' 0 ftracectl fetch it -o "$work/before.dat"
kill -CONT "$worker"
ok 'it is sealed' wait_until 120 segments_are 2 it
exits 'it is complete after' 0 ftracectl verify it
exits 'every block is as it was' 0 ftracectl verify --deep it
note "$(cat "$out")"
exits 'it is drawn after' 0 ftracectl report it
ok 'the drawings are equal' cmp "$out" "$work/before"
exits 'it is fetched after' 0 ftracectl fetch it -o "$work/after.dat"
ok 'the files are equal' cmp "$work/before.dat" "$work/after.dat"

raw=$(sum_of it n_bytes) events=$(sum_of it read_events)
disk=$(stat -c %s "$store"/sessions/it/cpu*/*.seg | awk '{ n += $1 } END { print n }')
note "$events events: $raw bytes raw, $disk sealed: $((disk * 100 / events)) hundredths of a byte an event"
# Where interrupts are recorded, too, durations differ more: 2.4 to 3.1 bytes were seen on arm64.
halves=$([[ $(uname -m) == aarch64 ]] && echo 7 || echo 6)
ok 'an event takes three bytes at most, or half a byte more on arm64' test "$disk" -le $((events * halves / 2))
exits 'it is removed' 0 ftracectl remove it
ok 'the daemon ends' stop_ftraced
is_as_before 'the kernel is as it was'
done_testing
