#!/bin/bash
# Touches: function_graph; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for the daemon to do nothing
# kernels: 6.12
#
# A session in which nothing happens costs next to nothing: the daemon wakes about once a second, all its threads
# together, however many CPUs there are.  In 20 s it compares the kernel's files five times (the loop, its thread, the
# loop again), its readers look four times, and once or twice it looks at the disk.
. "$(dirname "$0")/../functions.sh"
require_kernel
seconds=20
wakeups_max=24

# How often the daemon's threads have left a CPU of their own will: each wake-up ends with that.
wakeups() {
        cat /proc/"$ftraced_pid"/task/*/status | awk '$1 == "voluntary_ctxt_switches:" { n += $2 } END { print n + 0 }'
}

rests() { # DESCRIPTION: it wakes no more often than that from now on
        local before

        before=$(wakeups)
        sleep $seconds
        n=$(($(wakeups) - before))
        note "$1: $n wake-ups in $seconds s, $(nproc) CPUs, $(find /proc/"$ftraced_pid"/task -mindepth 1 -maxdepth 1 | wc -l) threads"
        ok "$1: the daemon wakes about once a second" test "$n" -le $wakeups_max
}

ok 'the daemon starts' start_ftraced
sleep 3
rests 'without a session'
# A function that nothing calls here.
exits 'a quiet session starts' 0 ftracectl start -n quiet udpv6_sendmsg
sleep 3
rests 'with a quiet session'
exits 'it still records' 0 ftracectl show quiet
is 'nothing was recorded, so that it was quiet' "$(sum_of quiet n_pages)" 0
exits 'it stops' 0 ftracectl stop quiet
exits 'a flight recorder waits' 0 ftracectl arm -n waits --in-kernel --on function:__x64_sys_getsid udpv6_sendmsg
sleep 3
rests 'with an armed session'
exits 'it stops' 0 ftracectl stop waits
is_as_before 'the kernel is as it was'
done_testing
