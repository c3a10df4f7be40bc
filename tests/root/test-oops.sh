#!/bin/bash
# Touches: function_graph, a module that faults and one that hangs: the kernel is tainted and a CPU busy afterwards.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 new
# needs: reboots
# boot: reserve_mem=4M:4096:trace trace_instance=boot_mapped^traceoff@trace
#
# What led up to a fault and to a lockup that the machine survived is kept from the black box, which goes on.
# Only here: a kernel that faults and goes on.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires jq python3 insmod "$top_builddir/tests/workload/numbered"
box=$tracefs/instances/boot_mapped
[[ -e $box/last_boot_info ]] || skip 'this kernel was booted without memory that stays: run-in-guests'
declare -A modules=([fault]=test_static_key_base [hang]=test_firmware) # one that faults keeps its name
for harm in fault hang; do
        python3 "$top_srcdir/tests/root/break-module.py" $harm \
                "$(find "/lib/modules/$(uname -r)" -name "${modules[$harm]}.ko*" | head -n1)" "$work/$harm.ko"
done
echo 0 >/proc/sys/kernel/panic_on_oops
echo 0 >/proc/sys/kernel/softlockup_panic
echo 4 >/proc/sys/kernel/watchdog_thresh # a lockup is said to be one after twice as long
grep -xE '__x64_sys_sysinfo|do_sysinfo.*|si_meminfo|si_swapinfo|nr_blockdev_pages' "$tracefs/available_filter_functions" >"$work/hooked"
ended() { # SESSION
        [[ $(session "$1" .state) == sealed ]]
}
has_calls() { # not by the text, which takes an emulated CPU long
        (($(sed -n 's/^entries: //p' "$box/per_cpu/cpu0/stats") > 2000))
}
load() {
        "$top_builddir/tests/workload/numbered" "$box/trace_marker" 1 &
        load=$!
        disown
        ok 'the load runs' wait_until 60 has_calls
}

ok 'the daemon starts' start_ftraced
exits 'a black box waits for a fault' 0 ftracectl arm -n box --black-box --set=MinGap=1s \
        --on='event:printk:console:msg ~ "*Oops: *" || msg ~ "*BUG: *"' --lean="$work/hooked" __x64_sys_sysinfo
is 'it records' "$(session box .state)" recording
load
ok 'a module faults' not insmod "$work/fault.ko"
ok 'what led up to it is kept' wait_until 60 ended box-snap-1
exits 'it is complete' 0 ftracectl verify box-snap-1
exits 'it is drawn' 0 ftracectl report box-snap-1
says 'with the calls before it' '__x64_sys_sysinfo\(\)' "$out"
says 'and what the kernel said' 'console: .*(Oops|BUG): ' "$out"
is 'it goes on' "$(session box .state)" recording
mountpoint -q /sys/kernel/debug || mount -t debugfs nodev /sys/kernel/debug
if grep -qE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt; then
        skip_one 'a lockup' 'this kernel takes the CPU from whom keeps it'
else
        ok 'a module keeps its CPU for a while' insmod "$work/hang.ko"
        ok 'what led up to the lockup is kept' wait_until 120 ended box-snap-2
        exits 'it is complete' 0 ftracectl verify box-snap-2
        exits 'it is drawn' 0 ftracectl report box-snap-2
        says 'with what the kernel said' 'console: watchdog: BUG: soft lockup' "$out"
        says 'and the calls before it' '__x64_sys_sysinfo\(\)' "$out"
fi
pkill -P $load
stops 'it is stopped' box
ok 'the black box is empty' test "$(cat "$box"/per_cpu/cpu*/stats | grep -c '^entries: 0$')" = "$(nproc)"
echo 1 >"$tracefs/tracing_on" # linux 6.12 kernel/panic.c, oops_enter(): an oops turns it off, where nobody records
is_as_before 'the kernel is as it was'
rm "$work/faults.before" # it was made to
done_testing
