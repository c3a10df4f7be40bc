#!/bin/bash
# Touches: function_graph, the filters and buffers of tracefs; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it plans a start for everything that a kernel has
# kernels: 6.12
#
# What a dry run prints, typed into a shell, programs the kernel as a start does, and puts it back.
. "$(dirname "$0")/../functions.sh"
require_kernel

# Something is in the way of everything that a session sets.
leave_over() {
        echo vfs_read >"$tracefs/set_graph_notrace"
        echo 5 >"$tracefs/max_graph_depth"
        echo boot >"$tracefs/trace_clock"
        echo 0 >"$tracefs/options/sleep-time"
        echo 0 >"$tracefs/options/funcgraph-irqs"
        echo 0 >"$tracefs/options/overwrite"
        echo vfs_write >"$tracefs/set_ftrace_notrace"
}

# Arms by hand, dumps, and puts back; then by the daemon, and compares.
compare() { # VERB NAME OPTION...
        local verb=$1 name=$2 shell

        shift 2
        exits "$name: a dry run succeeds" 0 ftracectl "$verb" --dry-run -n "$name" "$@"
        cp "$out" "$work/$name.sh"
        is_as_before "$name: it has changed nothing"
        ok "$name: it wrote no ledger" not test -e "$(ledger_of "$store")"
        note "$(grep -c '^[a-z]' "$work/$name.sh") lines"

        mkfifo "$work/$name.enter"
        sh -x "$work/$name.sh" <"$work/$name.enter" >"$work/$name.log" 2>&1 &
        shell=$!
        exec 9>"$work/$name.enter"
        ok "$name: by hand it comes to its end" wait_until 60 grep -q '^+ read' "$work/$name.log"
        dump_tracefs "$work/$name.hand"
        "$udp_pairs" 5 >/dev/null
        exec 9>&-
        ok "$name: no line fails" wait "$shell"
        is "$name: and none complains" "$(grep -v '^+' "$work/$name.log")" ''
        is_as_before "$name: by hand all is put back"

        exits "$name: a start succeeds" 0 ftracectl "$verb" -n "$name" "$@"
        dump_tracefs "$work/$name.daemon"
        stops "$name: a stop succeeds" "$name"
        is_as_before "$name: the daemon puts all back"
        ok "$name: both program the same" diff -U2 "$work/$name.hand" "$work/$name.daemon"
}

mkdir -p "$work/root/usr/lib/ftraced/profiles.d"
cp "$top_srcdir"/systemd/profiles.d/*.conf "$work/root/usr/lib/ftraced/profiles.d"
ok 'the daemon starts' start_ftraced --config-root="$work/root"
for profile in $(ftracectl profile list --no-legend | awk '{ print $1 }'); do
        exits "$profile: what it names is here" 0 ftracectl start --dry-run --profile "$profile"
done
is_as_before 'profiles: the kernel is as it was'
compare start plain --depth=4 udp_sendmsg udp_recvmsg
leave_over
dump_tracefs "$work/tracefs.before"
printf '%s\n' 'udp_*' 'ip_*' >"$work/hooked"
compare start hooked --lean="$work/hooked" --pid=1 --notrace=ip_make_skb udp_sendmsg
compare arm armed --on=function:do_sys_settimeofday64 --on=event:sched:sched_process_hang:'pid > 1' udp_sendmsg
compare arm timed --on=slower:10s --do=stop udp_sendmsg
exits 'what a start refuses is refused' 3 ftracectl start --dry-run udp_sendmesg
if has_instances; then
        exits 'a neighbour records' 0 ftracectl start -n neighbour udp_recvmsg
        exits 'beside it' 0 ftracectl start --dry-run -n beside udp_sendmsg
        says 'a root is added' '^echo udp_sendmsg >> set_graph_function +# was udp_recvmsg' "$out"
        says 'and only that is taken out' "^echo '!udp_sendmsg' >> set_graph_function\$" "$out"
        # A list that nobody wants to see.
        wide=(start --dry-run -n wide '--only=s*' --set=MaxHooked=20000 vfs_truncate)
        exits 'many functions beside it' 0 ftracectl "${wide[@]}"
        ok 'are listed' test "$(wc -l <"$out")" -gt 200
        ok 'in lines that a shell takes' sh -n "$out"
        says 'with where they are' 'Lines of available_filter_functions, .* for [0-9]+:' "$out"
        stops 'it goes on' neighbour
fi
done_testing
