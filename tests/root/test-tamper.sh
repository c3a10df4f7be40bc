#!/bin/bash
# Touches: function_graph and the control files of a session; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: somebody else changes each control file in turn
# kernels: 6.12
# long kernels: 6.1
#
# What somebody else does to a session's tracing is noticed within 4 s or at the stop, and is a gap with its cause.
# Only here: what each control file of a kernel says after others' writes, and after those that take them back.
. "$(dirname "$0")/../functions.sh"
require_kernel

is_degraded() { # NAME CAUSE
        [[ $(session "$1" '[.degraded[].cause] | join(" ")') == "$2" ]]
}
is_noticed() { # NAME CAUSE
        [[ " $(session "$1" '[.gaps[].cause] | join(" ")') " == *" $2 "* ]]
}
look=12 # every 4 s; guests are slow, and ftracectl and jq take a few

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n quiet udp_sendmsg
"$udp_pairs" 20 >/dev/null
gaps=
if has_instances; then
        gaps=$(root_changes 2)
        exits 'another one comes' 0 ftracectl start -n other udp_recvmsg
        stops 'and goes' other
fi
stops 'it stops' quiet
is 'nothing that the daemon does is tampering' "$(session quiet '[.gaps[].cause] | join(" ")')" "$gaps"
exits 'it is complete, but for changes of the roots' $((${#gaps} > 0 ? 6 : 0)) ftracectl verify quiet
is_as_before 'the kernel is as it was'

exits 'a session starts' 0 ftracectl start -n s udp_sendmsg
buffer=$(buffer_of s)
"$udp_pairs" 5 >/dev/null

echo 0 >"$buffer/tracing_on"
ok 'tracing_on: noticed' wait_until $look is_degraded s tracing_off
"$udp_pairs" 5 >/dev/null
echo 1 >"$buffer/tracing_on"
ok 'tracing_on: that it is back is noticed' wait_until $look is_degraded s ''
exits 'tracing_on: show works' 0 ftracectl show s
says 'tracing_on: show has a note of it' 'tracing_on was changed by somebody else' "$out"

if (echo nop >"$buffer/current_tracer") 2>/dev/null; then
        ok 'current_tracer: noticed' wait_until $look is_degraded s tracer_off
        echo function_graph >"$buffer/current_tracer"
        ok 'current_tracer: that it is back is noticed' wait_until $look is_degraded s ''
else
        pass 'current_tracer: the kernel protects it while we read'
fi

: >"$buffer/trace"
ok 'trace: that the buffer was emptied is noticed' wait_until $look is_noticed s cleared
is 'trace: nothing is wrong any more' "$(session s '.degraded | length')" 0

n=$(session s '.gaps | length')
echo local >"$buffer/trace_clock"
ok 'trace_clock: noticed' wait_until $look is_degraded s clock_changed
echo mono >"$buffer/trace_clock"
ok 'trace_clock: that it is back is noticed' wait_until $look is_degraded s ''
ok 'trace_clock: there are gaps of it' test "$(session s '.gaps | length')" -gt "$n"

echo udp_recvmsg >>"$tracefs/set_graph_function"
ok 'set_graph_function: noticed' wait_until $look is_degraded s filter_changed
# The kernel takes no single name back: "!name" does.
echo '!udp_recvmsg' >>"$tracefs/set_graph_function"
ok 'set_graph_function: that it is back is noticed' wait_until $look is_degraded s ''

echo 1 >"$tracefs/max_graph_depth"
ok 'max_graph_depth: noticed' wait_until $look is_degraded s filter_changed
echo 0 >"$tracefs/max_graph_depth"
ok 'max_graph_depth: that it is back is noticed' wait_until $look is_degraded s ''

if [[ -w /proc/sys/kernel/ftrace_enabled ]]; then
        cleanup_fn sysctl -qw kernel.ftrace_enabled=1
        sysctl -qw kernel.ftrace_enabled=0
        ok 'kernel.ftrace_enabled: noticed' wait_until $look is_degraded s ftrace_off
        sysctl -qw kernel.ftrace_enabled=1
        ok 'kernel.ftrace_enabled: that it is back is noticed' wait_until $look is_degraded s ''
fi

"$udp_pairs" 5 >/dev/null
stops 'it stops' s
exits 'verify says that it is incomplete' 6 ftracectl verify s
says 'verify places what was switched off' \
        'from [0-9:.]+ to [0-9:.]+: somebody else switched tracing_on off' "$out"
says 'verify places what was emptied' "from [0-9:.]+ to [0-9:.]+: somebody else emptied the kernel's buffer" "$out"
is 'all gaps have an end' "$(session s '[.gaps[] | select(.to_ns == null)] | length')" 0

# What nobody has looked at before the end.
exits 'a session starts' 0 ftracectl start -n e --flat udp_sendmsg
"$udp_pairs" 5 >/dev/null
echo udp_recvmsg >>"$tracefs/set_graph_function"
ftracectl stop e >"$out" 2>"$err"
says 'at the end: stop says that something is lost' 'unknown loss in 1 gap' "$out"
is 'at the end: it is the one gap' "$(session e '[.gaps[].cause] | join(" ")')" filter_changed
is 'at the end: which has an end' "$(session e '.gaps[0].to_ns == null')" false
exits 'at the end: verify says that it is incomplete' 6 ftracectl verify e
says 'at the end: and why' 'somebody else changed which functions' "$out"
: >"$tracefs/set_graph_function"
is_as_before 'the kernel is as it was at the end'
ok 'the daemon ends' stop_ftraced
done_testing
