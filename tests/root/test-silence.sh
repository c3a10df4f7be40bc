#!/bin/bash
# Touches: function_graph, sysctl kernel.ftrace_enabled; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# A session without calls says why, whatever it is that kept them away.
# Only here: reasons that only a kernel has: sysctl kernel.ftrace_enabled, a CPU, what is kept from tracing.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

silence() { # NAME PATTERN
        stops "$1: it stops" "$1"
        says "$1: and says why it is empty" "^$1: no calls: $2\\.\$" "$out"
}

ok 'the daemon starts' start_ftraced

exits 'nobody: a session starts' 0 ftracectl start -n nobody udp_sendmsg
silence nobody 'nothing called udp_sendmsg in [0-9.]+ (ms|s) of recording'

exits 'elsewhere: a session is about one CPU' 0 ftracectl start -n elsewhere --flat --cpus=0 udp_sendmsg
taskset 2 "$udp_pairs" 3 >/dev/null
silence elsewhere 'nothing called udp_sendmsg on CPUs 0 in [0-9.]+ (ms|s) of recording'

exits 'off: a session starts' 0 ftracectl start -n off --flat udp_sendmsg
echo 0 >/proc/sys/kernel/ftrace_enabled
"$udp_pairs" 3 >/dev/null
is_told() { ftracectl show off | grep -q 'No calls: sysctl kernel.ftrace_enabled was 0 for'; }
ok 'off: show knows it while it records, with the reason' wait_until 30 is_told
silence off 'sysctl kernel.ftrace_enabled was 0 for .*'
echo 1 >/proc/sys/kernel/ftrace_enabled

exits 'a function that is kept from tracing is refused' 3 ftracectl start native_sched_clock
says 'with that reason' 'cannot be traced|can be traced here: this kernel has it and excludes it from tracing'
is_as_before 'the kernel is as it was'
done_testing
