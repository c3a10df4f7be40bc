#!/bin/bash
# Touches: function_graph, again and again; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1
# long: dies some hundred times, and the system story of this name at every call
#
# Whoever arms or disarms may die after any system call: the next one puts everything back, and at no
# time is the filter empty while a tracer is on.
# Only here: that the kernel takes back what it was told, in that order, and a witness of its filter.
. "$(dirname "$0")/../functions.sh"
require_kernel

witness=$top_builddir/tests/root/watch-tracefs
requires "$witness"

# All calls are the system story's; here it is every second one of the kernel that most hosts run, and
# fewer of others.  FTRACED_LONG: all.
case $(uname -r) in
6.12.*) every=${EVERY:-${FTRACED_LONG:-2}} ;;
6.1.*) every=${EVERY:-${FTRACED_LONG:-3}} ;;
*) every=${EVERY:-${FTRACED_LONG:-7}} ;;
esac

# What is waited for here is mostly that no CPU is in a function any more: sooner is as good.
expedited=/sys/kernel/rcu_expedited
if [[ -w $expedited ]]; then
        cleanup_fn bash -c "echo $(<"$expedited") >$expedited"
        echo 1 >"$expedited"
fi

"$witness" "$tracefs" >"$work/witness" 2>"$work/witness.err" &
witness_pid=$!
end_witness() {
        kill -KILL "$witness_pid" 2>/dev/null
}
cleanup_fn end_witness
mkdir "$work/ledger"
exits "death after any of the calls, every $every of them, is put back" 0 \
        "$top_builddir/tests/root/kill-every" "$tracefs" "$work/ledger" \
        udp_sendmsg inet_sendmsg ip_make_skb "$every" "${SECONDS_MAX:-360}"
note "$(cat "$out")"
ok 'there were deaths' grep -qE '^deaths [1-9][0-9]+ of' "$out"
# Nearly everything hooked takes an emulated CPU some ten seconds each time; the system story has all calls.
if [[ ${FTRACED_LONG:-} ]]; then
        exits 'so is death with nearly everything hooked, and a list of what is not' 0 \
                "$top_builddir/tests/root/kill-every" "$tracefs" "$work/ledger" \
                udp_sendmsg inet_sendmsg - 17 3000
        note "$(cat "$out")"
        ok 'there were deaths' grep -qE '^deaths [1-9]' "$out"
fi
is_as_before 'tracefs is as it was'

kill -TERM $witness_pid
wait $witness_pid
note "$(cat "$work/witness")"
show_file "$work/witness.err"
ok 'the witness saw tracers on' grep -qE ' on [1-9]' "$work/witness"
ok 'the witness never saw an empty filter with function_graph on' grep -q ' bad 0$' "$work/witness"
done_testing
