#!/bin/bash
# Touches: nearly every control file of tracefs; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12
#
# The kernel's own selftests find a clean kernel after ftraced: stopped, or killed and put back.  What
# they reset while it records is noticed.  They are run where SELFTESTS says where they are (HACKING).
. "$(dirname "$0")/../functions.sh"
[[ -n ${SELFTESTS:-} ]] || skip "SELFTESTS does not say where tools/testing/selftests/ftrace of a kernel is"
require_kernel
requires "$SELFTESTS/ftracetest"

cp -r "$SELFTESTS" "$work/selftests"
cases=(ftrace/fgraph-filter ftrace/fgraph-filter-stack ftrace/fgraph-multi ftrace/func-filter-pid
        instances/instance)

run_selftests() { # NAME: results to $work/NAME.results, one a line
        local c paths=()

        for c in "${cases[@]}"; do
                [[ ! -e $work/selftests/test.d/$c.tc ]] || paths+=("$work/selftests/test.d/$c.tc")
        done
        (cd "$work/selftests" && ./ftracetest --logdir "$work/logs-$1" "${paths[@]}") >"$work/$1.said" 2>&1
        sed -n 's/\x1b\[[0-9;]*m//g; s/^\[[0-9]*\] \(.*\)\[\([A-Z]*\)\].*/\1\2/p' "$work/$1.said" >"$work/$1.results"
}
are_fine() { # NAME
        is "$1: the selftests say what they said before" "$(cat "$work/$1.results")" "$(cat "$work/clean.results")"
        [[ $(cat "$work/$1.results") == "$(cat "$work/clean.results")" ]] || show_file "$work/$1.said"
}

run_selftests clean
note "$(cat "$work/clean.results")"
ok 'the selftests can be run' grep -q PASS "$work/clean.results"
ok 'none fails on a clean kernel' not grep -q FAIL "$work/clean.results"
dump_tracefs "$work/tracefs.before"

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n stopped udp_sendmsg
"$udp_pairs" 10 >/dev/null
exits 'it stops' 0 ftracectl stop stopped
run_selftests stopped
are_fine stopped
is_as_before 'stopped: tracefs is as it was'

exits 'a session starts again' 0 ftracectl start -n killed udp_sendmsg
"$udp_pairs" 10 >/dev/null
kill_ftraced
ok 'ftraced --restore succeeds' "$top_builddir/ftraced" --store "$store" --restore
run_selftests killed
are_fine killed
is_as_before 'killed: tracefs is as it was'

ok 'the daemon starts' start_ftraced
exits 'a session starts once more' 0 ftracectl start -n meanwhile udp_sendmsg
"$udp_pairs" 10 >/dev/null
cases=(ftrace/fgraph-filter)
run_selftests meanwhile
note "$(cat "$work/meanwhile.results")"
has_gap() {
        [[ " $(session meanwhile '[.gaps[].cause] | join(" ")') " == *" filter_changed "* ]]
}
ok 'what they did to the filter is noticed' wait_until 20 has_gap
ftracectl stop meanwhile >/dev/null 2>&1 # or a guard has ended it: every function was recorded
exits 'show works' 0 ftracectl show meanwhile
says 'show tells what was changed' 'set_graph_function was changed by somebody else' "$out"
exits 'verify says that something may be missing' 6 ftracectl verify meanwhile
is_as_before 'meanwhile: tracefs is as it was'
ok 'the daemon ends' stop_ftraced
done_testing
