#!/bin/bash
# Touches: nothing; prints the trace.dat files in tests/data with trace-cmd.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What trace-cmd prints of a recording has, whatever its options, the calls of that recording: as
# many, as deep, as long, and drawn alike.
. "$(dirname "$0")/../functions.sh"
requires jq trace-cmd

dat=$top_srcdir/tests/data/udp_sendmsg-6.1.dat
# Options that change what a line looks like and not which there are.
options=('' -l -t '-t -l' --ts-diff -N '-N -l' -R '-R -l' --raw-ts --align-ts '-n funcgraph_exit'
        '-r funcgraph_exit' '-n funcgraph_entry' '-O fgraph:tailprint'
        '-O fgraph:tailprint -O fgraph:depth')

printed() { # OPTIONS
        # shellcheck disable=SC2086 # they are words
        trace-cmd report $1 -i "$dat" >"$work/printed.txt" 2>/dev/null
}

ftracectl report "$dat" >"$work/drawn" 2>/dev/null
ftracectl top --json "$dat" >"$work/top" 2>/dev/null
ftracectl tree --json "$dat" >"$work/tree" 2>/dev/null
for option in "${options[@]}"; do
        what="trace-cmd report${option:+ $option}"
        ok "$what" printed "$option"
        exits 'it is drawn' 0 ftracectl report "$work/printed.txt"
        ok 'as the recording is' cmp "$out" "$work/drawn"
        exits 'it is added up' 0 ftracectl top --json "$work/printed.txt"
        ok 'to the same' cmp "$out" "$work/top"
        exits 'its tree is made' 0 ftracectl tree --json "$work/printed.txt"
        ok 'which is the same' cmp "$out" "$work/tree"
done
exits 'it is complete' 0 ftracectl verify --json "$work/printed.txt"
is 'it is told by name' "$(jq -r .format "$out")" events

# Returns alone: what they are of is not said, but how long it took.
printed '-F funcgraph_exit'
n=$(grep -c funcgraph_exit: "$work/printed.txt")
exits 'returns without calls are returns' 6 ftracectl verify --json "$work/printed.txt"
is 'as many as there are' "$(jq '[.open, .leaf, .close]' -c "$out")" "[0,0,$n]"

{
        printed ''
        head -n 20 "$work/printed.txt"
        echo 'CPU:0 [12 EVENTS DROPPED]'
        tail -n +21 "$work/printed.txt"
} >"$work/lossy.txt"
exits 'a loss makes it incomplete' 6 ftracectl report "$work/lossy.txt"
says 'the loss is told' 'had lost 12 events'

refused() { # WHAT NAME
        exits "$1 is refused" 1 ftracectl report "$work/refused.txt"
        says 'and told by name' "$2"
}

printf '# tracer: function\n#\n  cat-9 [000] ....  12.000001: vfs_read <-ksys_read\n' >"$work/refused.txt"
refused "the function tracer's text" 'looks like the text of the function tracer: it says when a function'
trace-cmd report -F 'funcgraph_entry:depth > 900' -i "$dat" >"$work/refused.txt" 2>/dev/null
echo '  cat-9 [000]  12.000001: sched_wakeup: comm=b' >>"$work/refused.txt"
refused 'a text of other events' 'a text of events: none of them is a call'
done_testing
