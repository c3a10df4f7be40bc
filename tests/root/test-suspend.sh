#!/bin/bash
# Touches: function_graph, the network (loopback), puts the machine to sleep; needs root and a guest that can be.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: a guest of its own that sleeps, for what seldom changes
# long kernels: new
# needs: memory with jq timeout
#
# The machine sleeps while a session records, as deep as it can: no call is lost or half, the
# recording says when and for how long, and a duration that ends meanwhile ends the session.
#
# What wakes it comes from outside (tests/vm/vmrun -R).  All of "mem" is real, with CPU 1 taken offline
# and the firmware's way back.  "freeze" is too, but as nothing tells an emulated CPU to leave its timer
# alone, the kernel's clocks run on in it (linux 6.1 drivers/cpuidle/cpuidle.c, cpuidle_enter_s2idle()).
#
# The timeout(1) of coreutils is needed, for busybox's sleeps second by second: calls that we record.
. "$(dirname "$0")/../functions.sh"
require_kernel
[[ $(uname -n) == ftraced-vm ]] || skip 'only where nobody minds a sleep: in a virtual machine'
grep -q mem /sys/power/state || skip 'this kernel cannot sleep'
! grep -q ' 9p ' /proc/mounts || skip 'a guest whose files are on 9p does not wake up again'

# How long it has slept since it booted [ms], 11 less (the resolution of uptime) or a little more.
slept_ms() {
        local mono

        mono=$(awk '/^now at / { print int($3 / 1000000); exit }' /proc/timer_list)
        awk -v mono="$mono" '{ print int($1 * 1000 - mono) }' /proc/uptime
}
n_sleeps() {
        cat /sys/power/suspend_stats/success
}
# Until the clock of the firmware, which counts seconds, has seen one.  It is refused while the key of
# whoever wakes it comes in.
sleep_deeply() {
        local before

        before=$(slept_ms)
        for _ in {1..20}; do
                echo mem >/sys/power/state
                (($(slept_ms) - before < 1500)) || return 0
        done
        return 1
}
sleep_lightly() {
        local before

        before=$(n_sleeps)
        for _ in {1..20}; do
                echo freeze >/sys/power/state
                (($(n_sleeps) == before)) || return 0
        done
        return 1
}
# Datagrams until somebody says that it is enough, and always one call that lasts.
work_on() {
        local n=0

        while [[ ! -e $work/enough ]]; do
                "$udp_pairs" 10 >/dev/null || return
                n=$((n + 20))
                echo $n >"$work/sent.new"
                mv "$work/sent.new" "$work/sent"
        done
}
nap() {
        while [[ ! -e $work/enough ]]; do
                sleep 1
        done
}
has_sent_more_than() { # N
        (($(<"$work/sent") > $1))
}
sends_on() {
        wait_until 60 has_sent_more_than "$(<"$work/sent")"
}

for wakeup in /sys/devices/platform/i8042/serio*/power/wakeup; do
        echo enabled >"$wakeup" # the key that ends "freeze"
done
[[ $(cat /sys/power/mem_sleep) != *deep* ]] || echo deep >/sys/power/mem_sleep

ok 'the daemon starts' start_ftraced
printf '%s\n' udp_sendmsg ip_make_skb udp_send_skb hrtimer_nanosleep do_nanosleep >"$work/hooked" # quick to arm
exits 'a session starts' 0 ftracectl start -n s --lean="$work/hooked" udp_sendmsg hrtimer_nanosleep
echo 0 >"$work/sent"
work_on &
worker=$!
nap &
napper=$!
ok 'the workload runs' sends_on
if grep -q freeze /sys/power/state; then
        ok 'the machine freezes and goes on' sleep_lightly
        ok 'the workload goes on' sends_on
fi
n=$(session s '.clock_steps // [] | length')
ok 'the machine sleeps and wakes up' sleep_deeply
ok 'it is noticed at once' wait_until 20 eval "((\$(session s '.clock_steps // [] | length') > $n))"
ok 'the workload goes on after that' sends_on
touch "$work/enough"
ok 'the workload ends well' wait $worker
wait $napper
stops 'stop works' s
is_as_before 'the kernel is as it was'
exits 'verify is content' 0 ftracectl verify --json s
is 'entries equal exits, but for those that are known not to' \
        "$(jq '.entries - ([.notes[] | select(contains("irq_exit_rcu")) | split(" ")[0] | tonumber] | add // 0)' "$out")" "$(jq .exits "$out")"
is 'no page is missing' "$(sum_of s pages_lost)" 0
slept=$(session s '[[.start] + .clock_steps + [.stop] | .[-1], .[0] | (.boottime_ns - .monotonic_ns) / 1000000] | .[0] - .[1] | floor')
note "it slept for $slept ms"
ok 'the recording says how long it slept' test "$slept" -ge 1400 -a "$slept" -le $(($(slept_ms) + 11))
ok 'each step says when' test "$(session s '[.start.trace_ns] + [.clock_steps[].trace_ns] + [.stop.trace_ns] | . == sort')" = true
exits 'show works' 0 ftracectl show s
says 'show tells of it' 'Clock.*, the host slept for ' "$out"
exits 'report draws it' 0 ftracectl report s
is 'every datagram has its tree' "$(count_roots udp_sendmsg "$out")" "$(<"$work/sent")"
ok 'so have the sleepers' test "$(count_roots hrtimer_nanosleep "$out")" -gt 1
says 'report tells of it' '^s: at 20.*, the host slept for '
is 'and, beside what was hooked, of nothing else' "$(grep -vcE 'the host slept for|^s: hooked ' "$err")" 0

# --- a time that is over before it wakes up ------------------------------------------------------

exits 'a session that is to last for 4 seconds starts' 0 ftracectl start -n short --lean="$work/hooked" --duration=4 udp_sendmsg
ok 'the machine sleeps and wakes up once more' sleep_deeply
is_over() {
        [[ $(session short .state) == sealed ]]
}
ok 'the session ends by itself' wait_until 60 is_over
is 'by its duration' "$(session short .reason)" 'duration reached: 4 s'
ok 'which counts the sleep' test "$(session short '.stop.boottime_ns - .start.boottime_ns >= 4000000000')" = true
note "of it $(session short '(.stop.monotonic_ns - .start.monotonic_ns) / 1000000 | floor') ms awake"
exits 'it is complete' 0 ftracectl verify short

exits 'one more records' 0 ftracectl run -n after --lean="$work/hooked" udp_sendmsg -- "$udp_pairs" 10
is 'all of it' "$(count_roots udp_sendmsg "$out")" 20
is_as_before 'the kernel is as it was at the end'
ok 'the daemon ends' stop_ftraced
done_testing
