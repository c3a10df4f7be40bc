#!/bin/bash
# Touches: function_graph, the filters and buffers of tracefs; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each option is tried by itself, for what seldom changes
# kernels: 6.12
# long kernels: 5.10 6.1 new 6.12-rt new-rt arm64-6.12 arm64-16k-6.12
#
# Each option of a recording works on this kernel, or is refused with the reason, as doctor said before.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

busy_group=/sys/fs/cgroup/ftraced-busy
[[ -e /sys/fs/cgroup/cgroup.procs ]] || mount -t cgroup2 none /sys/fs/cgroup
mkdir "$busy_group"
(echo "$BASHPID" >"$busy_group/cgroup.procs" && exec "$udp_pairs" 1000000 --pause-us 5000) >"$work/busy" 2>&1 &
busy=$!
end_busy() {
        kill "$busy"
        wait "$busy"
        rmdir "$busy_group"
}
cleanup_fn end_busy
printf '%s\n' udp_sendmsg ip_make_skb >"$work/some"
ok 'the daemon starts' start_ftraced
dump_tracefs "$work/tracefs.before"
exits 'doctor finds nothing in the way' 0 ftracectl doctor
show_file "$out"
exits 'and says so in JSON' 0 ftracectl doctor --json
cp "$out" "$work/doctor"
is_as_before 'it leaves the kernel as it was'
is 'and no recording' "$(ftracectl list --json)" '[]'

can() { # CAPABILITY
        [[ $1 == - ]] || jq -e --arg name "$1" 'any(.[]; .name == $name and .state == "good")' "$work/doctor" >/dev/null
}
# CAPABILITY is what doctor calls it; -: every kernel can.
works() { # CAPABILITY VERB WORD...
        local capability=$1 verb=$2 what

        shift 2
        what="$verb $*"
        what=${what//"$work"/...}
        if ! can "$capability"; then
                exits "$what: is refused, as doctor says" 77 ftracectl "$verb" -n try "$@"
                says "$what: with the version that can" 'Linux can since [0-9]'
                return
        fi
        exits "$what: begins" 0 ftracectl "$verb" -n try "$@"
        sleep 0.2
        if [[ $verb == start ]]; then
                stops "$what: ends" try
                exits "$what: is whole" 0 ftracectl verify --json try
                ok "$what: has calls" jq -e '.entries > 0' "$out"
        else
                exits "$what: waits, and ends" 0 ftracectl stop try
        fi
        ftracectl remove --quiet try
        is_as_before "$what: is put back"
}
some=--lean=$work/some
works - start "$some" udp_sendmsg
works - start --flat udp_sendmsg
works - start "$some" --depth=3 --notrace=ip_make_skb udp_sendmsg
works - start "$some" --pid=1 --pid="$busy" udp_sendmsg
works comm start "$some" --comm=udp-client udp_sendmsg
works cgroup start "$some" --cgroup=/ftraced-busy udp_sendmsg
works - start "$some" --cpus=0-1 udp_sendmsg
works - start "$some" --set=NoIRQs=yes --set=NoSleepTime=yes udp_sendmsg
works - start "$some" --slower=1us udp_sendmsg
works sched start "$some" --sched udp_sendmsg
works - start "$some" --event='syscalls:sys_enter_sendto:len > 1' udp_sendmsg
works - start "$some" --clock=boot udp_sendmsg
works clock-tai start "$some" --clock=tai udp_sendmsg
works - start "$some" --ring --max-size=64M udp_sendmsg
works args start "$some" --args udp_sendmsg
works retval start "$some" --retval udp_sendmsg
works - arm "$some" --on=command udp_sendmsg
works on-function arm "$some" --on=function:do_sys_settimeofday64 udp_sendmsg
works - arm "$some" --on='event:sched:sched_process_hang:pid > 1' udp_sendmsg
works on-slower arm "$some" --on=slower:10s udp_sendmsg

exits 'one recording' 0 ftracectl start -n one "$some" udp_sendmsg
can sessions && wanted=0 || wanted=5
exits 'another beside it, as doctor says' "$wanted" ftracectl start -n other "$some" udp_recvmsg
exits 'doctor beside them' 0 ftracectl doctor
[[ $wanted == 0 ]] || says 'it says that another would have to wait' '^! a recording would have to wait: ' "$out"
ftracectl stop --quiet --all
is_as_before 'the kernel is as it was at the end'
done_testing
