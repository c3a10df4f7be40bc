#!/bin/bash
# Touches: function_graph, kills daemons; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: deaths at random moments, of which every-call has all
#
# An independent witness looks at tracefs all the time while sessions start, stop and fail, and the
# daemon is killed at random moments: never is the filter empty while function_graph is on, and
# `ftraced --restore` always puts everything back.
. "$(dirname "$0")/../functions.sh"
require_kernel

seed=${SEED:-$RANDOM}
note "SEED=$seed"
RANDOM=$seed
rounds=${ROUNDS:-12}
witness=$top_builddir/tests/root/watch-tracefs
requires "$witness"

"$witness" "$tracefs" >"$work/witness" 2>"$work/witness.err" &
witness_pid=$!
end_witness() {
        kill -KILL "$witness_pid" 2>/dev/null
}
cleanup_fn end_witness

ok 'the daemon starts' start_ftraced
for i in 1 2 3; do
        exits "round $i: a session starts" 0 ftracectl start -n "calm-$i" udp_sendmsg udp_recvmsg
        exits "round $i: a second with a wrong name is refused" 3 ftracectl start udp_sendmesg
        "$udp_pairs" 5 >/dev/null
        stops "round $i: it stops" "calm-$i"
done
if has_instances; then
        exits 'one of two starts' 0 ftracectl start -n first udp_sendmsg
        exits 'two of two starts' 0 ftracectl start -n second udp_recvmsg
        stops 'the first stops' first
        stops 'the second stops' second
fi
is_as_before 'tracefs is as it was after calm rounds'

# Arming and disarming take seconds in a guest and milliseconds elsewhere: death comes anywhere in it.
arm_ms=$(session calm-1 '.arm_ns / 1e6 | floor')
note "arming takes $arm_ms ms"
killed=0 unrestored=0
for ((i = 0; i < rounds; i++)); do
        [[ -n $ftraced_pid ]] || start_ftraced || break
        if ((i % 2)); then
                ftracectl start -n "die-$i" udp_sendmsg >/dev/null 2>&1
                ftracectl stop "die-$i" >/dev/null 2>&1 &
        else
                ftracectl start -n "die-$i" udp_sendmsg >/dev/null 2>&1 &
        fi
        client=$!
        delay_ms=$((RANDOM % (arm_ms + arm_ms / 5 + 10)))
        sleep "$((delay_ms / 1000)).$(printf '%03d' $((delay_ms % 1000)))"
        kill_ftraced && killed=$((killed + 1))
        wait $client
        "$top_builddir/ftraced" --store "$store" --restore >"$work/restore" 2>&1 || {
                note "round $i: --restore failed"
                show_file "$work/restore"
        }
        dump_tracefs "$work/tracefs.after"
        cmp -s "$work/tracefs.before" "$work/tracefs.after" || {
                unrestored=$((unrestored + 1))
                note "round $i: not restored"
                diff "$work/tracefs.before" "$work/tracefs.after" >"$work/diff"
                show_file "$work/diff"
        }
done
is 'the daemon was killed in every round' "$killed" "$rounds"
is 'after every kill --restore put everything back' "$unrestored" 0

kill -TERM $witness_pid
wait $witness_pid
note "$(cat "$work/witness")"
show_file "$work/witness.err"
ok 'the witness saw tracers on' grep -qE ' on [1-9]' "$work/witness"
ok 'the witness never saw an empty filter with function_graph on' grep -q ' bad 0$' "$work/witness"
done_testing
