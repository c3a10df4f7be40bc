#!/bin/bash
# Touches: function_graph, the network (loopback), trace_marker; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# One recording, under load, over 100 daemons (FTRACED_LONG: 300) that are killed with SIGKILL at random moments: every
# mark that was written into the trace is there once, every function that was entered returned, and
# nothing is counted as lost.  The service manager is tests/system/service-manager.c, for systemd
# takes its time between two starts; with systemd it is test-restart.sh.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
# The promise is about the two kernels that production hosts have; newer ones get a sample.
case $(uname -r) in
6.1.* | 6.12.*) kills=${KILLS:-${FTRACED_LONG:+300}} ;;
*) kills=${KILLS:-50} ;;
esac
kills=${kills:-100}

status() { # KEY
        awk -v key="$1" '{ for (i = 1; i < NF; i += 2) if ($i == key) print $(i + 1) }' "$work/status"
}
# The leak checker: see start_ftraced.
ASAN_OPTIONS=detect_leaks=0 "$top_builddir/tests/system/service-manager" -k "$kills" -m "${KILL_MS:-250}" \
        -f "$work/status" "$top_builddir/ftraced" --store "$store" --socket "$FTRACED_SOCKET" \
        >"$work/manager.log" 2>&1 </dev/null &
ftraced_pid=$!
ok 'the daemon starts' wait_until 30 ftracectl status
exits 'a session starts' 0 ftracectl start -n killed --buffer-size=32M udp_sendmsg
n_cpus=$(session killed '.cpus | length')
is 'a raw descriptor and a pipe of each CPU are held' "$(status held)" $((2 * n_cpus))
marker_file=$(buffer_of killed)/trace_marker

"$top_builddir/tests/workload/markers" "$marker_file" "${MARKER_US:-2000}" >"$work/markers" 2>&1 &
markers_pid=$!
(until [[ -e $work/enough ]]; do "$udp_pairs" 20 >/dev/null; sleep 0.2; done) &
load_pid=$!
kill -USR2 "$ftraced_pid"
all_are_dead() { # without a process, for it is asked often
        local now

        read -r now <"$work/status" || return
        [[ " $now " == *" kills $kills "* && " $now " == *" ready 1 "* ]]
}
ok "$kills daemons are killed" wait_until 330 all_are_dead
note "killed: $(cat "$work/status"), after $SECONDS s"
: >"$work/enough"
wait "$load_pid"
kill "$markers_pid"
wait "$markers_pid"
stops 'the session stops' killed
is 'it is sealed' "$(session killed .state)" sealed
is 'nothing is held any more' "$(status held)" 0
ok 'the last daemon ends' stop_ftraced
is_as_before 'the kernel is as it was'

n_markers=$(cat "$work/markers")
ok 'marks were written all the time' test "$n_markers" -gt $((kills * 5))
is 'every mark is there once' "$("$top_builddir/tests/root/count-markers" "$store/sessions/killed")" \
        "$n_markers markers, 0 missing, 0 double"
exits 'verify is content' 0 ftracectl verify --store "$store" --json killed
cp "$out" "$work/verify.json"
is 'entries equal exits' "$(jq .entries "$work/verify.json")" "$(jq .exits "$work/verify.json")"
ok 'there was load' test "$(jq .entries "$work/verify.json")" -gt 10000
note "$n_markers marks, $(jq .entries "$work/verify.json") entries, $(jq .trees "$work/verify.json") trees"
for counter in overrun commit_overrun dropped_events pages_lost; do
        is "$counter is 0" "$(jq "[.cpus[].$counter] | add" "$store/sessions/killed/session.json")" 0
done
is 'no gap is said' "$(jq '.gaps // [] | length' "$store/sessions/killed/session.json")" 0
ok 'no descriptor was asked for in vain' not grep -E 'cannot be taken up|does not take' "$work/manager.log"
[[ $n_failed == 0 ]] || tail -n 40 "$work/manager.log" | cut -c1-200 | sed 's/^/# manager.log: /'
done_testing
