#!/bin/bash
# Touches: function_graph, the network (loopback), control groups; needs root, such a kernel and two CPUs.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each filter is recorded by itself; the system story shows that it is passed on
# kernels: 6.12
# long kernels: 6.1
#
# Whose calls, where, which and by what clock: each filter shows in what is recorded.
# Only here: the filters of a recording: --pid, --cpus, --notrace, clocks and so on.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires taskset
[[ $(nproc) -ge 2 ]] || skip "needs two CPUs"

record() { # NAME OPTION... -- COMMAND...: to $work/NAME.text
        local name=$1

        shift
        exits "$name: run succeeds" 0 ftracectl run --format=none -n "$name" "$@"
        ftracectl report "$name" >"$work/$name.text" 2>"$err"
}

drawn_functions() { # FILE: their names, on one line
        sed -n 's/^.*|  *\(} \/\* \)\{0,1\}\([A-Za-z_][A-Za-z0-9_.]*\)\( \[[a-z_]*\]\)\{0,1\}\(()\| \*\/\).*/\2/p' "$1" |
                sort -u | paste -sd' '
}

durations() { # FILE: in microseconds
        sed -n 's/^.*[) |] *\([0-9.][0-9.]*\) us .*/\1/p' "$1"
}

trees() { # NAME
        ftracectl verify --json "$1" | jq .trees
}

verified() { # NAME
        exits "$1: verify finds it complete" 0 ftracectl verify "$1"
}

records() { # NAME PID: whether a session's buffer is set to that task
        grep -qx "$2" "$(buffer_of "$1")/set_ftrace_pid" &&
                ! grep -qx "$2" "$(buffer_of "$1")/set_ftrace_notrace_pid"
}

ok 'the daemon starts' start_ftraced

# --- which calls --------------------------------------------------------------------------------

record flat --flat udp_sendmsg -- "$udp_pairs" 20
is 'flat: every call is there' "$(count_roots udp_sendmsg "$work/flat.text")" 40
is 'flat: and nothing else' "$(drawn_functions "$work/flat.text")" udp_sendmsg
is 'flat: one function was hooked' "$(session flat .n_hooked)" 1
ok 'flat: calls are leaves with their durations' \
        test "$(grep -cE ' us +\|  udp_sendmsg\(\);$' "$work/flat.text")" -ge 30
verified flat
is_as_before 'flat: the kernel is as it was'

record only --only=ip_make_skb --only='/^__ip_append_data$/' udp_sendmsg -- "$udp_pairs" 20
is 'only: calls of the roots are all there' "$(count_roots udp_sendmsg "$work/only.text")" 40
is 'only: of the others just those' "$(drawn_functions "$work/only.text")" \
        '__ip_append_data ip_make_skb udp_sendmsg'
verified only

limit=$(durations "$work/flat.text" | sort -n | sed -n 20p)
limit=${limit%.*}
# A guest may have become slower or faster since.
for slow in slow{1..6}; do
        record "$slow" --flat "--slower=${limit}us" udp_sendmsg -- "$udp_pairs" 100
        n_slow=$(trees "$slow")
        case $n_slow in
        0) limit=$((limit / 2 + 1)) ;;
        200) limit=$((limit * 2)) ;;
        *) break ;;
        esac
done
ok "slower: some calls took $limit us" test "$n_slow" -gt 0
ok 'slower: others did not' test "$n_slow" -lt 200
is 'slower: each is drawn by its end' "$(grep -c '} /\* udp_sendmsg \*/$' "$work/$slow.text")" "$n_slow"
is 'slower: none was quicker' "$(durations "$work/$slow.text" | awk -v min="$limit" '$1 < min' | wc -l)" 0
verified "$slow"
is_as_before 'slower: the kernel is as it was'
record slow-all --slower=50us '--only=ip_*,__ip_*,__dev_queue_xmit' udp_sendmsg -- "$udp_pairs" 20
is 'slower, not flat: none was quicker' "$(durations "$work/slow-all.text" | awk '$1 < 50' | wc -l)" 0
ok 'slower, not flat: what they call is there' test "$(drawn_functions "$work/slow-all.text" | wc -w)" -gt 1
verified slow-all

# Calls that are long enough for the timer to come in.
long_calls=(dd if=/dev/zero of=/dev/null bs=64M count=8 status=none)
record irqs --only=hrtimer_interrupt read_zero -- "${long_calls[@]}"
record no-irqs --set=NoIRQs=yes --only=hrtimer_interrupt read_zero -- "${long_calls[@]}"
ok 'interrupts are recorded' grep -q hrtimer_interrupt "$work/irqs.text"
is 'no-irqs: they are not' "$(grep -c hrtimer_interrupt "$work/no-irqs.text")" 0
is 'no-irqs: the calls are all there' "$(count_roots read_zero "$work/no-irqs.text")" 8

record sleep --flat hrtimer_nanosleep -- sleep 0.5
record no-sleep --flat --set=NoSleepTime=yes hrtimer_nanosleep -- sleep 0.5
ok 'the time of a call has what its task slept' \
        test "$(durations "$work/sleep.text" | sort -n | tail -n 1 | cut -d. -f1)" -ge 500000
ok 'no-sleep-time: it does not' \
        test "$(durations "$work/no-sleep.text" | sort -n | tail -n 1 | cut -d. -f1)" -lt 400000
is_as_before 'options: the kernel is as it was'

# --- where, and by what clock -------------------------------------------------------------------

exits 'cpus: start works' 0 ftracectl start -n cpus --flat --cpus=1 --clock=boot udp_sendmsg
taskset -c 0 "$udp_pairs" 10 >/dev/null
taskset -c 1 "$udp_pairs" 15 >/dev/null
stops 'cpus: stop works' cpus
is 'cpus: what happened there is there' "$(trees cpus)" 30
is 'cpus: and nothing from another' "$(session cpus '[.cpus[] | select(.cpu != 1).read_events] | add')" 0
verified cpus
is 'clock: it is named' "$(session cpus .clock)" boot
is 'clock: the moments are of that clock' \
        "$(session cpus '.start | (.trace_ns - .boottime_ns) / 1e7 | fabs | floor')" 0
exits 'clock: fetch works' 0 ftracectl fetch -o "$work/cpus.dat" cpus
ok 'clock: trace.dat names it' grep -qa '\[boot\]' "$work/cpus.dat"

for clock in local counter; do
        record "$clock" --flat "--clock=$clock" udp_sendmsg -- "$udp_pairs" 10
        is "clock $clock: all is there" "$(count_roots udp_sendmsg "$work/$clock.text")" 20
        verified "$clock"
done
first=$(ftracectl report -O funcgraph-abstime local 2>"$err" | sed -n 's/^ *\([0-9]*\.[0-9]*\) |.*/\1/p' | head -n 1)
ok "clock local: what is recorded was recorded between start and stop ($first s)" \
        test "$(session local "(.start.trace_ns / 1e9 <= $first + 0.05) and (.stop.trace_ns / 1e9 >= $first)")" == true
is_as_before 'clock: the kernel is as it was'

# --- whose --------------------------------------------------------------------------------------

# Shells called "named" and "other": each waits for a word, then sends 20 datagrams, of one byte (those
# of the workload have eight).
cp /bin/bash "$work/named"
cp /bin/bash "$work/other"
mkfifo "$work/go"
sends='for ((i = 0; i < 20; i++)); do echo >/dev/udp/127.0.0.1/9; done 2>/dev/null'

of_a_byte="net_dev_queue: dev=lo .* len=$((14 + 20 + 8 + 1)) "
of_eight="net_dev_queue: dev=lo .* len=$((14 + 20 + 8 + 8)) "
queued() { # NAME: how many datagrams of one byte, and of eight, its events tell of
        ftracectl report "$1" >"$work/$1.text" 2>"$err"
        echo "$(grep -c "$of_a_byte" "$work/$1.text") $(grep -c "$of_eight" "$work/$1.text")"
}

exits 'comm: start works though there is nobody' 0 \
        ftracectl start -n comm --flat --comm=named --event=net:net_dev_queue udp_sendmsg
says 'comm: that there is nobody is told' 'no task is called named yet' <(session comm '.warnings[]')
kill_ftraced
ok 'comm: the daemon is killed, the next one goes on' start_ftraced
"$work/named" -c "read -r <\"\$1\"; $sends; \"\$2\" -c 'sleep 2; $sends' & wait" - "$work/go" "$work/other" &
task=$!
ok 'comm: who is called so is noticed' wait_until 20 records comm "$task"
"$udp_pairs" 10 >/dev/null
echo >"$work/go"
wait "$task"
stops 'comm: stop works' comm
is 'comm: calls of that task are there, not those of others nor of what it became' "$(trees comm)" 20
is 'comm: its events are there, no others' "$(queued comm)" '20 0'
is_as_before 'comm: the kernel is as it was'

groups=/sys/fs/cgroup
[[ -e $groups/cgroup.procs ]] || mount -t cgroup2 none $groups
mkdir -p $groups/ftraced-test/below
exits 'cgroup: start works' 0 \
        ftracectl start -n cgroup --flat --cgroup=/ftraced-test --event=net:net_dev_queue udp_sendmsg
"$work/other" -c "read -r <\"\$1\"; $sends" - "$work/go" &
task=$!
echo $task >$groups/ftraced-test/below/cgroup.procs
ok 'cgroup: who joins it is noticed' wait_until 20 records cgroup "$task"
"$udp_pairs" 10 >/dev/null
echo >"$work/go"
wait "$task"
stops 'cgroup: stop works' cgroup
is 'cgroup: calls of its task are there, no others' "$(trees cgroup)" 20
is 'cgroup: its events are there, no others' "$(queued cgroup)" '20 0'
rmdir $groups/ftraced-test/below $groups/ftraced-test
is_as_before 'cgroup: the kernel is as it was'

# --- what is refused ----------------------------------------------------------------------------

refused() { # STATUS PATTERN OPTION...
        local status=$1 pattern=$2

        shift 2
        exits "refused: $*" "$status" ftracectl start -n x "$@" udp_sendmsg
        says 'the way out is told' "$pattern"
        one_sentence 'in one sentence'
}

refused 2 'no trace clock "sundial"; it has .*mono' --clock=sundial
refused 2 'no CPU 77 here' --cpus=0,77
refused 2 'no control group "/no/such"' --cgroup=/no/such
refused 2 'Use one of them' --comm=a --pid=1
refused 2 '\-\-flat' --flat --only=ip_make_skb
refused 3 'no function "ip_make_sbk"' --only=ip_make_sbk
is_as_before 'after refusals the kernel is as it was'

if has_instances; then
        exits 'two sessions: the first starts' 0 ftracectl start -n first --flat --slower=5ms --set=NoIRQs=yes udp_sendmsg
        exits 'two sessions: another time is busy' 5 ftracectl start -n x --flat --slower=6ms --set=NoIRQs=yes udp_recvmsg
        says 'two sessions: the holder is named' 'tracing_thresh .*session first'
        exits 'two sessions: the same is not' 0 ftracectl start -n second --flat --slower=5ms --set=NoIRQs=yes udp_recvmsg
        stops 'two sessions: the first stops' first
        stops 'two sessions: the second stops' second
        is_as_before 'two sessions: the kernel is as it was'
fi
done_testing
