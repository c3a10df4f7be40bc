#!/bin/bash
# Touches: function_graph, events, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: new
#
# Events beside the calls, and the calls' arguments: what is drawn of them equals the kernel's own
# `trace` file, whatever cannot be recorded is refused with the reason, and nothing is left behind.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

put_back() { # FILE VALUE
        [[ ! -e $1 ]] || echo "$2" >"$1"
}

# What the daemon has read is no longer in `trace`: it is stopped before it has read anything, if need be the next time.
start_unread() { # NAME START-OPTION...; the directory in which it records is $buffer
        local name=$1 i

        shift
        for ((i = 0; i < 5; i++)); do
                ftracectl start -n "$name" "$@" || return
                kill -STOP "$ftraced_pid"
                buffer=$(ls -d "$tracefs"/instances/ftraced-* 2>/dev/null) || buffer=$tracefs # which a stopped daemon cannot be asked
                grep -q '^read events: [1-9]' "$buffer"/per_cpu/*/stats || return 0
                kill -CONT "$ftraced_pid"
                ftracectl stop "$name"
                ftracectl remove "$name"
        done
        return 1
}

# The same events twice: `trace` first, then drained and drawn.  $load PAIRS causes them [$udp_pairs].
compare() { # NAME PAIRS START-OPTION...
        local name=$1 pairs=$2 buffer was

        shift 2
        exits "$name: the session starts" 0 start_unread "$name" "$@"
        # "%p" is a number there only where the kernel does not hash it.
        was=$(cat "$buffer/options/hash-ptr")
        cleanup_fn put_back "$buffer/options/hash-ptr" "$was"
        "${load:-$udp_pairs}" "$pairs" >/dev/null
        echo 0 >"$buffer/tracing_on"
        put_back "$buffer/options/hash-ptr" 0
        cp "$buffer/trace" "$work/$name.kernel"
        put_back "$buffer/options/hash-ptr" "$was"
        kill -CONT "$ftraced_pid"
        stops "$name: stop works" "$name"
        report_unmarked "$name" >"$work/$name.ours" 2>"$err"
        cp "$work/$name.ours" "$work/$name.alike"
        as_flawed_as "$work/$name.kernel" "$work/$name.alike"
        if cmp -s "$work/$name.kernel" "$work/$name.alike"; then
                pass "$name: report equals the kernel's text"
        else
                fail "$name: report equals the kernel's text"
                diff "$work/$name.kernel" "$work/$name.alike" >"$work/diff"
                note "$(grep -c '^[<>]' "$work/diff") lines differ of $(wc -l <"$work/$name.kernel")"
                show_file "$work/diff"
        fi
        is_as_before "$name: the kernel is as it was"
}

count() { # EVENT FILE
        grep -c "/\\* $1: .* \\*/\$" "$2"
}

ok 'the daemon starts' start_ftraced

# The trace file of Debian's 6.1 prints the first string of an event's text as nothing.
as_flawed_as() { # TEXT OURS
        grep -qE 'sched_wakeup: comm= pid=|sched_switch: prev_comm= prev_pid=' "$1" || return 0
        note 'this kernel leaves out the first string of each event'
        sed -Ei 's@(/\* sched_wakeup: comm=).*( pid=)@\1\2@; s@(/\* sched_switch: prev_comm=).*( prev_pid=)@\1\2@
                s@(/\* softirq_entry: .*\[action=).*\]@\1]@; s@(/\* irq_handler_entry: .*name=).* \*/@\1 */@
                s@(/\* net_dev_queue: dev=).*( skbaddr=)@\1\2@' "$2"
}

# --- refusals -----------------------------------------------------------------------------------

exits 'an unknown event is refused' 3 ftracectl start --event=sched:sched_swich udp_sendmsg
one_sentence 'the refusal is one sentence'
says 'the nearest one is named' 'Did you mean sched:sched_switch'
exits 'what is no event is refused' 2 ftracectl start --event=sched_switch udp_sendmsg
exits 'a filter over a field that is not there is refused' 2 \
        ftracectl start '--event=sched:sched_switch:no_such_field == 3' udp_sendmsg
says "the kernel's own reason is told" 'Field not found'
exits 'two filters for one event are refused' 2 \
        ftracectl start --event=sched:sched_switch --event='sched:sched_switch:prev_pid > 0' udp_sendmsg
is_as_before 'a refusal leaves the kernel as it was'

# --- events -------------------------------------------------------------------------------------

compare events 20 --event=sched:sched_switch --event=sched:sched_wakeup \
        --event=irq:irq_handler_entry --event=irq:softirq_entry --event=net:net_dev_queue udp_sendmsg
for e in sched_switch sched_wakeup softirq_entry net_dev_queue; do
        ok "events: $e is there" test "$(count $e "$work/events.ours")" -gt 0
done
is 'events: each datagram was queued' "$(grep -c 'net_dev_queue: dev=lo skbaddr=' "$work/events.ours")" 40
is 'events: all calls are there' "$(count_roots udp_sendmsg "$work/events.ours")" 40

if command -v trace-cmd >/dev/null; then
        exits 'trace.dat: fetch works, and says that recording was switched off' 6 ftracectl fetch -o "$work/events.dat" events
        trace-cmd report "$work/events.dat" >"$work/events.report" 2>/dev/null
        for e in sched_switch sched_wakeup softirq_entry net_dev_queue; do
                is "trace.dat: trace-cmd has as many of $e" "$(grep -c " $e: " "$work/events.report")" \
                        "$(count $e "$work/events.ours")"
        done
        ftracectl report --no-legend "$work/events.dat" >"$work/events.again" 2>/dev/null
        ok 'trace.dat: we draw it as the session' \
                cmp "$work/events.again" <(report_unmarked --no-legend events 2>/dev/null)
        is 'trace.dat: no event is unknown to it' "$(grep -c 'UNKNOWN EVENT' "$work/events.report")" 0
fi

compare filtered 20 --event='net:net_dev_queue:len > 60000' \
        --event='sched:sched_switch:prev_comm == "udp-pairs" || next_comm == "udp-pairs"' udp_sendmsg
is 'filtered: nothing is longer' "$(count net_dev_queue "$work/filtered.ours")" 0
ok 'filtered: the client is switched' test "$(count sched_switch "$work/filtered.ours")" -gt 0
is 'filtered: nobody else is' \
        "$(grep 'sched_switch: ' "$work/filtered.ours" | grep -cv '_comm=udp-pairs')" 0

# Since 6.18 numbers look otherwise, since 6.19 what pointers point to is there, and openat() has words of its own.
call_oddly() { # PAIRS
        "$udp_pairs" "$1"
        python3 - "$work" <<'END'
import os, sys
work = sys.argv[1]
data = os.open(work + "/odd", os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o640)
for text in b"", b"x", b"\0\1\377", b"two\nlines\t", bytes(range(256)) * 3:
    os.write(data, text)
os.pwrite(data, b"hi", 7)
os.lseek(data, -3, os.SEEK_END)
os.close(data)
for flags in os.O_TMPFILE | os.O_RDWR, os.O_DIRECTORY, os.O_PATH, os.O_WRONLY, os.O_RDONLY | os.O_NONBLOCK:
    try:
        os.close(os.open(work, flags, 0o600))
    except OSError:
        pass
for name in b"", b'a "name", flags: O_CREAT, mode: 0', "fü\n\t".encode(), b"x" * 300, b"y" * 200:
    try:
        os.access(name, os.R_OK)
        os.rename(name, b"z")
    except OSError:
        pass
    try:
        os.open(name, os.O_RDONLY)
    except OSError:
        pass
END
}
load=call_oddly compare syscalls 5 --event=syscalls:sys_{enter,exit}_{openat,write,pwrite64,lseek,close,access,rename} \
        --event=syscalls:sys_enter_mmap udp_sendmsg
ok 'syscalls: names that were opened are there' test "$(grep -c '/\* sys_openat(dfd: .*) \*/$' "$work/syscalls.ours")" -gt 4

mkfifo "$work/go"
bash -c 'read -r <"$1"; exec "$2" 10' - "$work/go" "$udp_pairs" >/dev/null &
client=$!
exits 'pid: start works' 0 ftracectl start -n pid --pid=$client --event=net:net_dev_queue udp_sendmsg
"$udp_pairs" 10 >/dev/null
echo >"$work/go"
wait $client
exits 'pid: stop works' 0 ftracectl stop pid
is_as_before 'pid: the kernel is as it was'
ftracectl report pid >"$work/pid.text" 2>"$err"
is "pid: that process's events are there, and its child's, no others" \
        "$(count net_dev_queue "$work/pid.text")" 20

# --- arguments and return values ----------------------------------------------------------------

if [[ -e $tracefs/options/funcgraph-args ]]; then
        compare args 20 --args --event=irq:softirq_entry udp_sendmsg
        ok 'args: they have names' grep -q 'udp_sendmsg(sk=0x[0-9a-f]*, msg=0x[0-9a-f]*, len=0x[0-9a-f]*) {' \
                "$work/args.ours"
        ftracectl report -O nofuncgraph-args args >"$work/args.without" 2>"$err"
        is 'args: they can be left out' "$(grep -c '(sk=' "$work/args.without")" 0
        is 'args: nothing else changes' "$(wc -l <"$work/args.without")" "$(wc -l <"$work/args.ours")"
fi # else: test-values.sh
if [[ -e $tracefs/options/funcgraph-retval ]]; then
        compare retval 20 --retval udp_sendmsg
        ok 'retval: they are there' grep -q '/\* udp_sendmsg ret=0x[0-9a-f]* \*/' "$work/retval.ours"
fi # else: test-values.sh
is_as_before 'the kernel is as it was'
done_testing
