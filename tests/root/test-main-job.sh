#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 new
# long kernels: 5.10 6.12-rt new-rt arm64-6.12 arm64-16k-6.12
#
# The main job: record udp_sendmsg under a client and a server, and draw it.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

only_drawing() { # FILE: without what the workload itself says
        grep -v ' datagrams sent and answered$' "$1"
}

# --- without a daemon: nothing is set up, nothing is said but what is wanted ----------------------

socket=$FTRACED_SOCKET
unset FTRACED_SOCKET
[[ ! -e /run/ftraced/org.ftraced ]] || skip 'a daemon of this machine runs; this story starts private ones'
remove_kept() {
        local s

        for s in "${kept[@]}"; do
                rm -rf "/var/lib/ftraced/sessions/$s"
        done
}
kept=()
cleanup_fn remove_kept

exits 'run without a daemon succeeds' 0 ftracectl run --lean=off udp_sendmsg -- "$udp_pairs" 20
says 'it says that its daemon is a private one' '[Nn]o daemon.*private'
says 'the command keeps its standard output' '^20 of 20 datagrams' "$out"
is '40 calls of udp_sendmsg are drawn' "$(count_roots udp_sendmsg "$out")" 40
# But for ends of interrupts that linux 7.2 leaves out (lib/calls/census.c), which a busy machine has many of.
n_left_out=0
! waits_for_cpus || n_left_out=$(grep -cE '\| +irq_exit(_rcu)?\(\) \{$' "$out")
n_open=$(($(grep -c '{$' "$out") - $(grep -cE '\| +}' "$out")))
ok "as many closing braces as opening ones are drawn: $n_open more" test $((n_open >= 0 && n_open <= n_left_out)) = 1
says 'leaves are drawn on one line, with their time' '^ ?[0-9]+\) +[+!#*@$]? *[0-9.]+ us +\|  +[a-z_0-9.]+\(\);' "$out"
only_drawing "$out" >"$work/first"
name=$(sed -n 's/^Kept as \([^ ]*\) .*/\1/p' "$err")
ok 'it says what the recording is kept as' test -n "$name"
kept+=("$name")
is_as_before 'the kernel is as it was'
exits 'report draws it again, without a daemon' 0 ftracectl report "$name"
ok 'the second drawing equals the first' cmp "$work/first" "$out"
exits 'list shows it, without a daemon' 0 ftracectl list
says 'it is sealed' "^$name +sealed" "$out"
echo udp_sendmsg >"$work/hooked" # all functions take long on an emulated CPU, and nothing is called here
exits 'the exit status of run is the status of the command' 7 \
        ftracectl run --store "$store" --lean="$work/hooked" udp_sendmsg -- bash -c 'exit 7'
is_as_before 'the kernel is as it was after a command that failed'
exits 'a command that does not exist is 127' 127 \
        ftracectl run --store "$store" --lean="$work/hooked" udp_sendmsg -- /no/such/command
is_as_before 'the kernel is as it was after a command that does not exist'

# --- with a daemon ------------------------------------------------------------------------------

export FTRACED_SOCKET=$socket
rm -rf "$store"
ok 'the daemon starts' start_ftraced
exits 'run with a daemon succeeds' 0 ftracectl run --lean=off -n by-run udp_sendmsg -- "$udp_pairs" 20
is '40 calls are drawn by run' "$(count_roots udp_sendmsg "$out")" 40
is_as_before 'the kernel is as it was after run'

exits 'start prints the name of the session' 0 ftracectl start -n steps udp_sendmsg
is 'the name is the one asked for' "$(cat "$out")" steps
is 'the session records' "$(session steps .state)" recording
"$udp_pairs" 20 >/dev/null
exits 'status works' 0 ftracectl status
says 'status shows the session' 'steps.*recording' "$out"
exits 'list works' 0 ftracectl list
says 'list shows the session' '^steps +recording' "$out"
says 'list shows what was kept' '^by-run +sealed' "$out"
exits 'stop works' 0 ftracectl stop steps
says 'stop says that nothing was lost' 'steps: sealed.*[Nn]othing lost' "$out"
is_as_before 'the kernel is as it was after stop'
exits 'show works' 0 ftracectl show steps
says 'show tells the root' 'udp_sendmsg' "$out"
exits 'verify is content' 0 ftracectl verify steps
exits 'report works' 0 ftracectl report steps
cp "$out" "$work/report"
is '40 calls are drawn by report' "$(count_roots udp_sendmsg "$work/report")" 40

exits 'fetch works' 0 ftracectl fetch steps -o "$work/steps.dat"
if command -v trace-cmd >/dev/null; then
        ok 'trace-cmd reads what was fetched' trace-cmd report -i "$work/steps.dat"
        trace-cmd report -i "$work/steps.dat" >"$work/trace-cmd" 2>/dev/null
        is 'trace-cmd finds 40 calls of udp_sendmsg' \
                "$(grep -cE 'funcgraph_entry:.*\|  +udp_sendmsg\(' "$work/trace-cmd")" 40
        is 'trace-cmd finds as many calls as report' \
                "$(grep -c 'funcgraph_entry:' "$work/trace-cmd")" "$(grep -cE '\{$|\);|\) \{|\]; ?$|\(\) \[[a-z_0-9]+\];$' "$work/report")"
else
        skip_one 'trace-cmd reads what was fetched' 'trace-cmd is not installed'
fi
exits 'fetch says so when it cannot write' 1 ftracectl fetch steps -o /no/such/directory/x.dat

exits 'remove works' 0 ftracectl remove steps
exits 'a removed session is not found' 3 ftracectl show steps
exits 'functions lists what can be traced' 0 ftracectl functions 'udp_send*'
says 'udp_sendmsg is among them' '^udp_sendmsg$' "$out"
ok 'the daemon ends well' stop_ftraced
is_as_before 'the kernel is as it was at the end'
done_testing
