#!/bin/bash
# Touches: function_graph, probes, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 5.10 6.1 new arm64-6.12
#
# Who calls a root: for each of its calls the functions that the kernel itself prints of a stack taken there by hand,
# nothing of what takes the stack, and nothing is left behind.
. "$(dirname "$0")/../functions.sh"
require_kernel

witness=$tracefs/instances/witness
give_up_witness() {
        [[ ! -d $witness ]] || rmdir "$witness"
        ! grep -q witness/w "$tracefs/dynamic_events" || echo '-:witness/w' >>"$tracefs/dynamic_events"
}
cleanup_fn give_up_witness

# "a < b < c", the innermost last, of each stack in the kernel's text.
kernels_callers() {
        awk '/<stack trace>/ { if (stack) print stack; stack = ""; is_above = 0; next }
             $1 == "=>" { if (is_above) stack = $2 (stack ? " < " stack : ""); is_above = is_above || $2 == "udp_sendmsg"; next }
             END { if (stack) print stack }' "$1"
}

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n calls --kernel-stack udp_sendmsg
mkdir "$witness"
echo 'p:witness/w udp_sendmsg' >>"$tracefs/dynamic_events"
echo stacktrace >"$witness/events/witness/w/trigger"
echo 1 >"$witness/events/witness/w/enable"
"$udp_pairs" 20 >/dev/null
echo 0 >"$witness/events/witness/w/enable"
kernels_callers "$witness/trace" | sort | uniq -c >"$work/kernels"
give_up_witness
stops 'it stops' calls
is_as_before 'the kernel is as it was'
is 'no probe is left' "$(grep -c ftraced "$tracefs/dynamic_events")" 0

exits 'it is drawn' 0 ftracectl report calls
sed -n 's,.*/\* callers: \(.*\) \*/,\1,p' "$out" | sort | uniq -c >"$work/ours"
show_file "$work/ours"
is 'each call has its callers' "$(awk '{ n += $1 } END { print n }' "$work/ours")" 40
ok 'which the kernel names, too' cmp "$work/kernels" "$work/ours"
says 'they begin with a system call' 'sys_send(to|msg)' "$work/ours"
ok 'nothing is drawn of what takes the stack' not grep -qE 'stack_trace_save|stack trace|unwind_|kernel_stack' "$out"
exits 'time is told by them' 0 ftracectl top calls --by=caller --json
is 'of all 40 calls' "$(jq -c '[.[] | select(.callers | test("sys_send")) | .count]' "$out")" '[40]'
exits 'in a tree they stand above the root' 0 ftracectl tree calls --json
is 'in their order, without calls of their own, with the time of what they called' \
        "$(jq -c '[.tree[] | recurse(.children[]) | select(.function == "udp_sendmsg" or any(.. | .function?; . == "udp_sendmsg"))
                | select(.count == 0 and .self_ns == 0 and .total_ns > 0).function] | join(" < ")' "$out")" \
        "\"$(sed 's/^ *[0-9]* //' "$work/ours" | head -n 1)\""
exits 'as in pictures' 0 ftracectl export calls --format=folded -o "$work/folded"
ok 'of which they are the root' not grep -v "^$(sed 's/^ *[0-9]* //; s/ < /;/g' "$work/ours" | head -n 1);udp_sendmsg" "$work/folded"
exits 'a trace.dat has them, too' 0 ftracectl fetch calls -o "$work/calls.dat"
exits 'as can be drawn' 0 ftracectl report "$work/calls.dat"
is 'each of them' "$(grep -c '/\* callers: ' "$out")" 40

exits 'without being asked nobody tells' 0 ftracectl run -n plain udp_sendmsg -- "$udp_pairs" 2
ok 'no callers' not grep -q callers: "$out"
is_as_before 'the kernel is as it was at the end'
done_testing
