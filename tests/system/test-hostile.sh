#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: floods of calls
#
# Whatever a client does, it costs only itself its connection: another one is answered all the while,
# the daemon's memory and descriptors stay what they were, and what records loses nothing.
#
# How soon the other client is answered is told, and judged with FTRACED_LONG alone, on a machine that has nothing
# else to do: there, three users make all calls that take long, again and again, in sessions of 20,000 segments.
# That nobody waits for another user's calls is unit/test-quota.c and test-background.c; what needs methods made for it
# is unit/test-server-hostile.c.
. "$(dirname "$0")/../functions.sh"
requires jq python3

attacks=(hang_up slow never_read connections half_close endless nested malformed floods_of_descriptors
        loop descriptors)
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
chmod 711 "$work"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
((n_failed == 0)) || done_testing
if [[ $(id -u) == 0 ]]; then
        chgrp 64999 "$FTRACED_SOCKET" && chmod 660 "$FTRACED_SOCKET"
fi
segment=$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg
n_pages=$(($(stat -c %s "$segment") / 4096 - 1))
n_rounds=20
memory() { # [kB]
        awk '/^VmRSS/ { print $2 }' "/proc/$ftraced_pid/status"
}
descriptors() {
        find "/proc/$ftraced_pid/fd" -mindepth 1 | wc -l
}
feed() { # all the while, as from the kernel
        local i

        for ((i = 0; i < n_rounds; i++)); do
                tail -c +4097 "$segment"
                sleep 0.3
        done | timeout 200 dd bs=4096 iflag=fullblock status=none >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw"
}

exits 'a session starts' 0 ftracectl start -n busy udp_sendmsg
feed &
feeder=$!
memory_before=$(memory)
descriptors_before=$(descriptors)
timeout 250 python3 "$(dirname "$0")/hostile.py" "$FTRACED_SOCKET" "$ftraced_pid" "${attacks[@]}" >"$work/hostile"
sed -n 's/^# //p' "$work/hostile" >"$work/answers"
show_file "$work/answers"
for attack in "${attacks[@]}"; do
        is "${attack//_/ } harms nobody else" "$(sed -n "s/^$attack //p" "$work/hostile")" ok
done
read -r _ answers _ late _ worst < <(grep ^answers "$work/hostile")
ok "another client was answered, $answers times (late: $late; the worst: $worst ms)" test "${answers:-0}" -ge 100
if [[ ${FTRACED_LONG:-} ]]; then
        ok 'in time' test $((${late:-9} * 25)) -le "${answers:-0}"
        ok 'and never had to wait for long' test "${worst:-9999}" -le 5000
fi
ok 'the daemon runs' kill -0 "$ftraced_pid"
if is_sanitized ftraced; then
        skip_one 'its memory is what it was' 'the sanitizer keeps what was freed'
else
        ok "its memory is what it was ($memory_before kB, $(memory) kB)" test "$(memory)" -le $((memory_before + 16384))
fi
settled() {
        (($(descriptors) <= descriptors_before + 2))
}
ok 'no descriptor is left open' wait_until 60 settled
wait "$feeder"
fed() {
        [[ $(sum_of busy n_pages) == $((n_rounds * n_pages)) ]]
}
ok 'all pages arrived meanwhile' wait_until 60 fed

# To read the names of 500,000 tasks takes the daemon a while, which the next who open it have not to
# wait for.
seq 500000 | sed 's/$/ somebody/' >"$work/tracefs/saved_cmdlines"
python3 - "$FTRACED_SOCKET" "$store/sessions/busy/tracing/saved_cmdlines" >"$work/copies" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
copies = set()
for _ in range(200):
    s.sendall(b'{"method":"org.ftraced.Open","parameters":{"session":"busy"}}\0')
    data = b""
    while not data.endswith(b"\0"):
        data += s.recv(65536)
    st = os.stat(sys.argv[2])
    copies.add((st.st_ino, st.st_mtime_ns))
print(len(copies), os.stat(sys.argv[2]).st_size)
END
read -r copies size <"$work/copies"
ok 'the names of tasks were copied' test "${size:-0}" -gt 5000000
ok "but not each time that somebody opened the session ($copies of 200)" test "${copies:-200}" -le 100
exits 'the session stops' 0 ftracectl stop busy
is 'nothing of it is lost' "$(sum_of busy pages_lost)" 0
ok 'the daemon ends in peace' stop_ftraced

# --- calls that are valid, and take long ----------------------------------------------------------

expensive=(expensive_dry_runs expensive_starts expensive_questions expensive_session expensive_methods
        expensive_segments)
first='' rounds=(1) uids=(64999)
[[ ! ${FTRACED_LONG:-} ]] || rounds=(1 2 3) uids=(64999 65000 65001)
for uid in "${uids[@]}"; do # a session for each attacker in each round
        [[ $(id -u) == 0 ]] || uid=$(id -u)
        for round in "${rounds[@]}"; do
                wide=$store/sessions/wide$uid-$round
                if [[ ! $first ]]; then
                        first=$wide
                        python3 "$(dirname "$0")/hostile.py" --session "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1" \
                                "$first" "$uid"
                elif [[ ! -e $wide ]]; then
                        cp -rl "$first" "$wide"
                        rm "$wide/session.json"
                        jq --arg name "${wide##*/}" --argjson uid "$uid" '.name = $name | .owner_uid = $uid' \
                                "$first/session.json" >"$wide/session.json"
                fi
        done
done
python3 "$(dirname "$0")/hostile.py" --functions >"$work/tracefs/available_filter_functions"
mkdir -p "$work/tracefs/events/many"/event{0..255}
for ((i = 0; i < 256; i++)); do
        echo 0 >"$work/tracefs/events/many/event$i/enable"
        echo none >"$work/tracefs/events/many/event$i/filter"
        echo "many:event$i"
done >"$work/tracefs/available_events"
printf '%s\n[Members]\nEvents=*\nMaxSessions=0\nMaxStored=0\n' "$no_limits" >"$FTRACED_CONFIG"
ok 'a daemon starts where there are many functions' start_ftraced --tracefs "$work/tracefs"
if [[ $(id -u) == 0 ]]; then
        chgrp 64999 "$FTRACED_SOCKET" && chmod 660 "$FTRACED_SOCKET"
fi
timeout 600 python3 "$(dirname "$0")/hostile.py" "$FTRACED_SOCKET" "$ftraced_pid" "${expensive[@]}" >"$work/hostile"
sed -n 's/^# //p' "$work/hostile" >"$work/answers"
show_file "$work/answers"
for attack in "${expensive[@]}"; do
        is "${attack//_/ } are answered, and so is everybody else" "$(sed -n "s/^$attack //p" "$work/hostile")" ok
done
ok 'the daemon runs' kill -0 "$ftraced_pid"

# Whoever waits for the tasks to end, as the end does, does not wait for all 30 that anybody has asked for.
end_of_queue() { # METHOD PARAMETERS: how much CPU time one call takes, and the end with 30 of METHOD under way [ms]
        python3 - "$FTRACED_SOCKET" "$ftraced_pid" "$@" 2>"$work/queue.errors" <<'END'
import json, os, select, signal, socket, sys, time
letters = "etaosrinlucdp"
globs = [f"*{a}*{b}*{c}*{d}*" for a in letters for b in letters for c in letters for d in "123456789"][:4000]
spec = {"functions": globs, "max_functions": 65536, "max_hooked": 1 << 40}
def connect(method, **more):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(json.dumps({"method": "org.ftraced." + method, "parameters": {"spec": spec, **more}}).encode() + b"\0")
    return s
def cpu_ms():
    with open(f"/proc/{sys.argv[2]}/stat") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 // os.sysconf("SC_CLK_TCK")
before = cpu_ms()
begin = time.monotonic()
connect("DryRun").recv(1 << 16)
took = time.monotonic() - begin
one = cpu_ms() - before
many = [connect(sys.argv[3], **json.loads(sys.argv[4])) for _ in range(30)]
time.sleep(took * 1.5)
pid = os.pidfd_open(int(sys.argv[2]))
before = cpu_ms()
signal.pidfd_send_signal(pid, signal.SIGTERM)
after = before
while not select.select([pid], [], [], 0.01)[0]:
    try:
        after = cpu_ms()
    except OSError:
        pass  # it has gone
print(one, after - before)
END
        show_file "$work/queue.errors"
}
read -r one all < <(end_of_queue DryRun '{}')
ok "the end waits for no queue (one call: $one ms, the end: $all ms)" test "${all:-99999}" -le $((${one:-0} * 8 + 300))
ok 'and the daemon ends in peace' stop_ftraced
bash "$(dirname "$0")/fake-tracefs.sh" "$work/waiting" 1 # where nobody has left anything
cp "$work/tracefs/available_filter_functions" "$work/waiting/"
ok 'a daemon starts for those who are refused' start_ftraced --tracefs "$work/waiting"
exits 'for a session that records' 0 ftracectl start -n first udp_sendmsg
read -r one all < <(end_of_queue Start '{}')
ok "the end waits for none of them (one look: $one ms, the end: $all ms)" test "${all:-99999}" -le $((${one:-0} * 8 + 300))
ok 'and that daemon ends in peace' stop_ftraced
done_testing
