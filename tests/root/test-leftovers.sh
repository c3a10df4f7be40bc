#!/bin/bash
# Touches: nearly every control file of tracefs; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 6.1
#
# What somebody left in the tracing files is overridden while a session records, and put back exactly:
# by stop, by run, and by --restore after the daemon was killed, also without the store, and, where
# instances have names, without the ledger.  What somebody uses is theirs.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
cpumask=$(<"$tracefs/tracing_cpumask")

put() { # FILE WORD...
        local file=$tracefs/$1 word

        shift
        : >"$file"
        for word in "$@"; do
                echo "$word" >>"$file"
        done
}

leave_things() {
        put set_graph_function tcp_sendmsg tcp_recvmsg
        put set_graph_notrace ip_make_skb
        put set_ftrace_filter udp_recvmsg tcp_sendmsg
        put set_ftrace_notrace sock_sendmsg
        put set_ftrace_pid 1
        echo 4 >"$tracefs/max_graph_depth"
        echo 100 >"$tracefs/tracing_thresh"
        echo global >"$tracefs/trace_clock"
        echo 1 >"$tracefs/tracing_cpumask"
        echo 0 >"$tracefs/options/funcgraph-irqs"
        echo 0 >"$tracefs/options/sleep-time"
        echo 0 >"$tracefs/options/overwrite"
        echo 1 >"$tracefs/options/function-fork"
        echo 2000 >"$tracefs/buffer_size_kb"
        echo 0 >"$tracefs/tracing_on"
        [[ ! -e $tracefs/buffer_percent ]] || echo 20 >"$tracefs/buffer_percent"
}

clear_things() {
        put set_graph_function
        put set_graph_notrace
        put set_ftrace_filter
        put set_ftrace_notrace
        put set_ftrace_pid
        echo 0 >"$tracefs/max_graph_depth"
        echo 0 >"$tracefs/tracing_thresh"
        echo local >"$tracefs/trace_clock"
        echo "$cpumask" >"$tracefs/tracing_cpumask"
        echo 1 | tee "$tracefs"/options/{funcgraph-irqs,sleep-time,overwrite} "$tracefs/tracing_on" >/dev/null
        echo 0 >"$tracefs/options/function-fork"
        echo 1408 >"$tracefs/buffer_size_kb"
        [[ ! -e $tracefs/buffer_percent ]] || echo 50 >"$tracefs/buffer_percent"
}

leave_things
cleanup_fn clear_things
dump_tracefs "$work/tracefs.before"
ok 'the leftovers are there' grep -q tcp_recvmsg "$work/tracefs.before"

exits 'run records in spite of them' 0 ftracectl run --store "$store" -n run udp_sendmsg -- "$udp_pairs" 20
is 'all calls are there' "$(count_roots udp_sendmsg "$out")" 40
ok 'what a notrace list left out is there' grep -q ip_make_skb "$out"
is_as_before 'run puts all of it back'

ok 'the daemon starts' start_ftraced
exits 'doctor mentions them' 0 ftracectl doctor
says 'doctor names tracing_thresh' 'tracing_thresh' "$out"
exits 'a session starts' 0 ftracectl start -n one udp_sendmsg
dump_tracefs "$work/tracefs.armed"
ok 'the leftovers are overridden meanwhile' not cmp -s "$work/tracefs.before" "$work/tracefs.armed"
stops 'the session stops' one
is_as_before 'stop puts all of it back'
exits 'a session starts again' 0 ftracectl start -n two --notrace=ip_make_skb --depth=3 --pid=$$ udp_sendmsg
kill_ftraced
ok 'ftraced --restore succeeds' "$top_builddir/ftraced" --store "$store" --restore
is_as_before 'ftraced --restore puts all of it back'
ok 'the next daemon starts' start_ftraced
exits 'the interrupted session is there, as failed' 0 ftracectl show two
says 'its state says so' 'failed' "$out"
exits 'a session starts once more' 0 ftracectl start -n three --flat udp_sendmsg
kill_ftraced
dump_tracefs "$work/tracefs.armed"
ok 'the next daemon starts by itself' start_ftraced
dump_tracefs "$work/tracefs.after"
ok 'it goes on with the session and changes nothing' cmp -s "$work/tracefs.armed" "$work/tracefs.after"
stops 'that session stops' three
is_as_before 'stop puts all of it back for a daemon that came later'
ok 'the daemon ends' stop_ftraced

# --- a ledger that is lost ------------------------------------------------------------------------

restore() {
        "$top_builddir/ftraced" --store "$store" --restore
}
kill_in_session() { # NAME: a daemon that records it
        ok "$1: the daemon starts" start_ftraced
        exits "$1: a session starts" 0 ftracectl start -n "$1" --flat udp_sendmsg
        kill_ftraced
}
kill_in_session moved
mv "$store" "$store.away"
exits 'without the store --restore succeeds' 0 restore
is_as_before 'it puts all of it back'
mv "$store.away" "$store"

kill_in_session emptied
find "$store" -mindepth 1 -delete
ok 'the next daemon starts on an empty store' start_ftraced
is_as_before 'it puts all of it back all the same'
ok 'it ends' stop_ftraced
says 'it has looked' 'The kernel is as it was' "$work/ftraced.log"

clear_things
dump_tracefs "$work/tracefs.before"
kill_in_session lost
find "$store" "$FTRACED_LEDGERS" -mindepth 1 -delete
if has_instances; then
        exits 'without ledger and store --restore puts back what carries a name' 0 restore
        ok 'and says what it guesses' grep -q 'what it was before is not known' "$err"
else
        exits 'without ledger and store --restore fails' 1 restore
        ok 'it does not say that there is nothing' not grep -q 'Nothing to put back' "$out"
        # The commands that it names.
        sed -n 's/.*: \(echo nop > .*\)\.$/\1/p' "$err" >"$work/commands"
        sed -n 's/^    echo/echo/p' "$out" >>"$work/commands"
        ok 'it names commands' test -s "$work/commands"
        ok 'they can be run' bash -e "$work/commands"
        exits 'then there is nothing to put back' 0 restore
fi
is_as_before 'everything is as it was'

# --- somebody else's ----------------------------------------------------------------------------

clear_things
put set_graph_function tcp_sendmsg
echo function_graph >"$tracefs/current_tracer"
dump_tracefs "$work/tracefs.before"
ok 'the daemon starts beside another user' start_ftraced
if has_instances; then
        # The graph filter is one for all: what we add would be theirs to see.
        wanted='function_graph'
else
        wanted='function_graph|current_tracer'
fi
exits 'a tracer in use is refused' 5 ftracectl start udp_sendmsg
one_sentence 'the refusal is one sentence'
says 'it names what is in use' "$wanted"
is_as_before 'the other user keeps everything'
exits 'doctor tells it' 1 ftracectl doctor
says 'doctor names what is in use' "$wanted" "$out"
ok 'the daemon ends beside another user' stop_ftraced
is_as_before 'the other user keeps everything, still'
echo nop >"$tracefs/current_tracer"
put set_graph_function
done_testing
