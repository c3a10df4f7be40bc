#!/bin/bash
# Touches: function_graph, dynamic events, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: probes are set, and die, in many ways, for what seldom changes
# kernels: 6.12
# long kernels: 5.10 6.1 new arm64-6.12
#
# What functions return, on kernels whose function_graph does not record it: as the calls' callers got it, of
# every call, and nothing is left of the probes after any kind of death.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires python3 jq
[[ ! -e $tracefs/options/funcgraph-retval ]] || skip 'this kernel records what functions return by itself'

udp_errors=$top_builddir/tests/workload/udp-errors
some=--lean=$work/some
printf '%s\n' ip_make_skb udp_send_skb ip_send_skb >"$work/some"
n_probes() {
        grep -c ftraced "$tracefs/dynamic_events" || true
}
no_probe() {
        [[ $(n_probes) == 0 ]]
}
values() { # SESSION FUNCTION
        ftracectl calls --json --function="$2" "$1" 2>"$err" | jq -r '.[].retval | if . == null then "none" else . end'
}
same() { # DESCRIPTION FILE FILE
        if cmp -s "$2" "$3"; then
                pass "$1"
        else
                fail "$1"
                note "$(diff "$2" "$3" | grep -c '^[<>]') lines differ of $(wc -l <"$2"); none: $(grep -c none "$3")"
                diff "$2" "$3" | head -5 | sed 's/^/# /'
        fi
}

ok 'the daemon starts' start_ftraced
dump_tracefs "$work/tracefs.before"
exits 'doctor' 0 ftracectl doctor
says 'doctor says how' '--retval: what roots and --retval=FUNCTION return, by a probe of each' "$out"

# --- each value is its call's --------------------------------------------------------------------

exits 'what the root returns is recorded' 0 ftracectl start -n root --retval "$some" udp_sendmsg
is 'with one probe' "$(n_probes)" 1
"$udp_errors" 100 >"$work/told"
"$udp_pairs" 10 >/dev/null
stops 'it is stopped' root
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'
ftracectl calls --json --function=udp_sendmsg root 2>"$err" | jq -r '.[] | select(.task == "udp-errors") |
        .retval | if . == null then "none" else . end' >"$work/got"
is 'four calls a round' "$(wc -l <"$work/told")" 400
same 'every value is what the caller got' "$work/told" "$work/got"
is 'errors are among them' "$(sort -n "$work/got" | uniq -c | awk '$2 < 0 { printf "%s x %s, ", $1, $2 }')" '100 x -111, 100 x -90, '

ftracectl report root >"$work/text" 2>"$err"
is 'each end of a root has its value' "$(grep -cE '/\* udp_sendmsg (ret=|= )' "$work/text")" 420
is 'as a kernel draws it' "$(grep -cE '/\* udp_sendmsg (ret=|= )-90 \*/' "$work/text")" 100
is 'others have none' "$(grep -cE '/\* (ip_make_skb|udp_send_skb) (ret=|= )' "$work/text")" 0
is 'no probe is drawn' "$(grep -c '/\* ftraced_' "$work/text")" 0
is 'nor what handles it' "$(grep -cE 'kretprobe|rethook|trampoline|kprobe' "$work/text")" 0
ftracectl report --keep-failed root >"$work/failed" 2>"$err"
is '--keep-failed keeps those that failed' "$(count_roots udp_sendmsg "$work/failed")" 200
ftracectl report -O nofuncgraph-retval root >"$work/text" 2>"$err"
is 'they can be left out' "$(grep -cE 'ret=|\* = ' "$work/text")" 0
exits 'it is complete' 0 ftracectl verify root

if command -v strace >/dev/null; then
        exits 'beside strace' 0 ftracectl start -n strace --retval "$some" udp_sendmsg
        strace -f -qq -e trace=sendto -o "$work/strace" "$udp_errors" 20 >/dev/null
        stops 'it is stopped' strace
        sed -nE 's/.* = (-?[0-9]+)( E[A-Z]+)?.*/\1 \2/p' "$work/strace" |
                sed 's/^-1  EMSGSIZE/-90/; s/^-1  ECONNREFUSED/-111/; s/ *$//' >"$work/told"
        values strace udp_sendmsg >"$work/got"
        is 'strace has seen all' "$(wc -l <"$work/told")" 80
        same 'every value is what strace says' "$work/told" "$work/got"
fi

exits 'everything that the root calls, and values of two below it' 0 \
        ftracectl start -n below --retval=ip_make_skb,udp_sendmsg udp_sendmsg
is 'with two probes' "$(n_probes)" 2
"$udp_errors" 50 >"$work/told"
stops 'it is stopped' below
ok 'no probe is left' no_probe
values below udp_sendmsg >"$work/got"
same 'every value of the root is what the caller got' "$work/told" "$work/got"
values below ip_make_skb >"$work/got"
is 'one below it has 200' "$(grep -vc none "$work/got")" 200
is 'of which 50 failed with its error' "$(grep -cE '^-90$' "$work/got")" 50
ftracectl report below >"$work/text" 2>"$err"
is 'what handles probes is not in the trees' "$(grep -cE 'kretprobe|rethook|trampoline_handler|kprobe' "$work/text")" 0

if command -v trace-cmd >/dev/null; then
        ftracectl fetch -o "$work/below.dat" below >"$out" 2>"$err"
        ftracectl calls --json --function=udp_sendmsg "$work/below.dat" 2>/dev/null | jq -r '.[].retval' >"$work/again"
        # Behind its exit the first value is the first that tells the function's name.
        ok 'a trace.dat has them, too' test "$(grep -vc null "$work/again")" -ge 199
fi

# --- arguments -----------------------------------------------------------------------------------

exits 'what the root is given is recorded' 0 ftracectl start -n args --args --retval "$some" udp_sendmsg
"$udp_errors" 100 >"$work/told"
stops 'it is stopped' args
ok 'no probe is left' no_probe
ftracectl calls --json --function=udp_sendmsg args 2>"$err" >"$work/calls"
jq -r '.[].args' "$work/calls" | sed -nE 's/^\(sk=0x[0-9a-f]+, msg=0x[0-9a-f]+, len=(0x[0-9a-f]+)\)$/\1/p' |
        while read -r n; do echo $((n)); done >"$work/got"
for i in {1..100}; do printf '%s\n' "$i" 65530 1 1; done >"$work/wanted"
same 'every length is what the caller gave' "$work/wanted" "$work/got"
values args udp_sendmsg >"$work/got"
same 'beside every value' "$work/told" "$work/got"
ftracectl report args >"$work/text" 2>"$err"
is 'it is drawn as a kernel draws it' "$(grep -cE 'udp_sendmsg\(sk=0x[0-9a-f]+, msg=0x[0-9a-f]+, len=0xfffa\) \{' "$work/text")" 100
is 'calls are found by both' \
        "$(ftracectl calls --no-legend --where='ret < 0 && len > 1400' args 2>"$err" | wc -l)" 100
is 'and by the name of an error' \
        "$(ftracectl calls --no-legend --where='ret == -ECONNREFUSED || ret == -EMSGSIZE && len < 9' args 2>"$err" | wc -l)" 100
exits 'why compares those that failed with the others' 0 ftracectl why --keep-failed args udp_sendmsg
says 'and names what half of them were given' '; 50 % of them have len (=|>) [0-9]+, 0 % of the usual ones\.$' "$out"
if [[ ! -e $tracefs/options/funcgraph-args ]]; then
        exits 'of a function below it' 0 ftracectl start -n below-args --args=ip_make_skb udp_sendmsg
        "$udp_errors" 20 >/dev/null
        stops 'it is stopped' below-args
        ftracectl report below-args >"$work/text" 2>"$err"
        is 'they are there' "$(grep -cE ' ip_make_skb\(sk=0x[0-9a-f]+, ' "$work/text")" 80
        is 'of others there are none' "$(grep -c 'udp_sendmsg(sk=' "$work/text")" 0
fi
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'

# --- a trigger ------------------------------------------------------------------------------------

exits 'a session waits for an error' 0 ftracectl arm -n error --on='return:udp_sendmsg:ret == -90' --do start "$some" udp_sendmsg
"$udp_pairs" 5 >/dev/null
sleep 0.5
is 'what does not fail does not fire it' "$(session error .state)" armed
"$udp_errors" 1 >/dev/null
fired() {
        [[ $(session error .state) == recording ]]
}
ok 'what fails does' wait_until 20 fired
stops 'it is stopped' error
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'
exits 'a filter of what is not there is refused' 2 ftracectl arm -n bad --on='return:udp_sendmsg:len > 3' "$some" udp_sendmsg
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'

# --- tasks, dry runs, refusals -------------------------------------------------------------------

exits 'one process' 0 ftracectl start -n pid --pid=$$ --retval "$some" udp_sendmsg
"$udp_errors" 5 >"$work/told"
stops 'it is stopped' pid
values pid udp_sendmsg >"$work/got"
same 'every value of its child' "$work/told" "$work/got"

exits 'a dry run' 0 ftracectl start --dry-run -n dry --retval "$some" udp_sendmsg
says 'has the event' "^echo '[fr][0-9]*:ftraced/ftraced_[0-9a-f]*_[fr]0 udp_sendmsg(%return)? ret=\\\$retval' >> dynamic_events" "$out"
says 'and its end' "^echo -:ftraced/ftraced_[0-9a-f]*_[fr]0 >> dynamic_events" "$out"
ok 'and makes nothing' no_probe
cp "$out" "$work/script"
(yes '' | head -n 1 | sh "$work/script") >"$work/said" 2>&1
ok 'its script takes away what it makes' no_probe
is_as_before 'and leaves the kernel as it was'
exits 'no such function' 3 ftracectl start --retval=udp_sendmsgg "$some" udp_sendmsg
says 'names one like it' 'Did you mean'
ok 'no probe is left' no_probe
if [[ -e /sys/kernel/btf/vmlinux && $(uname -r) != 5.* && $(uname -r) != 6.1.* ]]; then
        exits 'a function that returns nothing' 77 ftracectl start --retval=udp_sendmsg,ip_make_skb,kfree "$some" udp_sendmsg
        says 'is refused in the words of the kernel' 'what is returned by kfree cannot be recorded: .*void'
        ok 'no probe is left' no_probe
        is_as_before 'and the kernel is as it was'
fi

# --- deaths --------------------------------------------------------------------------------------

exits 'a session with values' 0 ftracectl start -n death --retval "$some" udp_sendmsg
"$udp_errors" 5 >"$work/told"
kill_ftraced
"$udp_errors" 5 >>"$work/told"
ok 'a daemon that is killed has a successor' start_ftraced
"$udp_errors" 5 >>"$work/told"
stops 'which ends the session' death
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'
values death udp_sendmsg >"$work/got"
same 'with all values' "$work/told" "$work/got"

exits 'another' 0 ftracectl start -n restored --retval "$some" udp_sendmsg
kill_ftraced
is 'its probe is there after the death' "$(n_probes)" 1
ok 'ftraced --restore succeeds' "$top_builddir/ftraced" --store "$store" --restore
ok 'no probe is left' no_probe
is_as_before 'the kernel is as it was'

ok 'the daemon starts' start_ftraced
exits 'one whose ledger is lost' 0 ftracectl start -n lost --retval "$some" udp_sendmsg
kill_ftraced
find "$store" "$FTRACED_LEDGERS" -mindepth 1 -delete
if [[ -d $tracefs/instances/ftraced-lost ]]; then
        ok 'ftraced --restore' "$top_builddir/ftraced" --store "$store" --restore
        ok 'no probe is left' no_probe
        ok 'nor its instance' not test -d "$tracefs/instances/ftraced-lost"
else # the tracer at the top level is nobody's by its name
        echo 0 >"$tracefs/tracing_on"
        echo nop >"$tracefs/current_tracer"
        "$top_builddir/ftraced" --store "$store" --restore >"$out" 2>&1
        ok 'no probe is left' no_probe
        : >"$tracefs/set_graph_function"
        : >"$tracefs/set_graph_notrace"
        : >"$tracefs/set_ftrace_filter"
        echo local >"$tracefs/trace_clock"
        echo 1408 >"$tracefs/buffer_size_kb"
        echo 1 >"$tracefs/tracing_on"
fi
dump_tracefs "$work/tracefs.before"

ok 'the daemon starts' start_ftraced
exits 'one whose event somebody else uses' 0 ftracectl start -n used --retval "$some" udp_sendmsg
mkdir "$tracefs/instances/else"
event=$(echo "$tracefs"/instances/else/events/ftraced/ftraced_*)
echo 1 >"$event/enable"
ftracectl stop used >"$out" 2>"$err"
is 'its event cannot go with the session' "$(n_probes)" 1
echo 0 >"$event/enable"
ok 'but when they have done' wait_until 20 no_probe
rmdir "$tracefs/instances/else"
is_as_before 'the kernel is as it was'
done_testing
