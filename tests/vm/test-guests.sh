#!/bin/bash
# Touches: boots four guests, which have an sshd each; in them function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Machines whose clocks agree begin at one moment: start --hosts --at over ssh, in four guests; what was recorded is
# collected, and each first call compared with the moment.
# No part of `make check`, for its four emulated machines; tests/run-all runs it in the long form.
if [[ ${1:-} == --inside ]]; then
        # In a guest: a network, this machine's time, an sshd, a daemon, and calls to record.
        files=$2
        set -e
        modprobe virtio_net
        for interface in /sys/class/net/e*; do interface=${interface##*/}; done
        ip link set "$interface" up
        ip address add 10.0.2.15/24 dev "$interface"
        ip route add default via 10.0.2.2
        mkdir -p /run/sshd /run/ftraced
        python3 "$files/clock.py" set "$(cat "$files/port")"
        /usr/sbin/sshd -E /mnt/out/sshd.log -f "$files/sshd_config"
        "$top_builddir/ftraced" --store /run/store --socket /run/ftraced/socket --config "$files/ftraced.conf" \
                >/mnt/out/ftraced.log 2>&1 </dev/null &
        python3 "$files/clock.py" write &
        while [[ ! -e /mnt/out/end ]]; do sleep 1; done
        kill %1 %2
        wait %1
        exit
fi
. "$(dirname "$0")/../functions.sh"
requires jq ssh sshd ssh-keygen python3 qemu-system-x86_64
names=(one two three four)

# This machine's time, and who asks for it, sets his by it, or tells how far it is off ("OFFSET ROUND-TRIP", in ms): of
# many answers the one that came soonest counts.  "write" is what is recorded: a write every other millisecond.
cat >"$work/clock.py" <<'END_OF_CLOCK'
import os, socket, struct, sys, time
what = sys.argv[1]
if what == "write":
    fd = os.open("/dev/null", os.O_WRONLY)
    while True:
        os.write(fd, b"x")
        time.sleep(0.002)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if what == "serve":
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1], flush=True)
    while True:
        n, who = s.recvfrom(16)
        s.sendto(n + struct.pack("q", time.time_ns()), who)
def ask():
    s.settimeout(1)
    best = None
    for i in range(100):
        n = struct.pack("q", i)
        t = time.time_ns()
        s.sendto(n, ("10.0.2.2", int(sys.argv[2])))
        try:
            answer = s.recv(16)
        except TimeoutError:
            continue
        u = time.time_ns()
        if answer[:8] == n and (best is None or u - t < best[1]):
            best = (struct.unpack("q", answer[8:])[0] - (t + u) // 2, u - t)
    return best
offset, trip = ask()
if what == "set":
    for _ in range(2):
        time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + offset)
        offset, trip = ask()
print(f"{offset / 1e6:.2f} {trip / 1e6:.2f}")
END_OF_CLOCK
python3 "$work/clock.py" serve >"$work/port" &
cleanup_fn kill $!

echo "$no_limits" >"$work/ftraced.conf"
mkdir "$work/bin"
ln -s "$(cd "$top_builddir" && pwd)/ftracectl" "$work/bin/ftracectl"
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/user"
cp "$work/user.pub" "$work/authorized"
cat >"$work/sshd_config" <<END
HostKey $work/host
AuthorizedKeysFile $work/authorized
StrictModes no
UsePAM no
UseDNS no
LoginGraceTime 0
PermitRootLogin yes
PasswordAuthentication no
SetEnv PATH=$work/bin:/usr/bin:/bin FTRACED_SOCKET=/run/ftraced/socket
END
read -ra ports < <(python3 -c 'import socket
s = [socket.socket() for _ in range(4)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
for i in "${!names[@]}"; do printf 'Host %s\nPort %s\n' "${names[i]}" "${ports[i]}"; done >"$work/ssh_config"
cat >>"$work/ssh_config" <<END
Host *
HostName 127.0.0.1
User root
IdentityFile $work/user
IdentitiesOnly yes
UserKnownHostsFile /dev/null
StrictHostKeyChecking no
LogLevel ERROR
BatchMode yes
ConnectTimeout 60
END
printf '#!/bin/bash\nexec ssh -F %q "$@"\n' "$work/ssh_config" >"$work/ssh"
chmod +x "$work/ssh"
export FTRACED_SSH=$work/ssh
printf '%s\n' "${names[@]}" >"$work/hosts"
wait_until 20 test -s "$work/port"

kernels=(6.12 6.12 6.1 new)
pids=()
built=$(cd "$top_builddir" && pwd)
for i in "${!names[@]}"; do
        mkdir "$work/${names[i]}"
        "$top_srcdir/tests/vm/vmrun" -k "${kernels[i]}" -f
        top_builddir=$built "$top_srcdir/tests/vm/vmrun" -k "${kernels[i]}" -n "${ports[i]}" -m 768 -s 1 -t 560 \
                -o "$work/${names[i]}" -- env "top_builddir=$built" bash "$(realpath "$0")" --inside "$work" \
                >"$work/${names[i]}.said" 2>&1 &
        pids+=($!)
done
end_guests() {
        local name

        for name in "${names[@]}"; do touch "$work/$name/end"; done
        wait "${pids[@]}"
}
cleanup_fn end_guests
answers() { # HOST
        timeout 100 "$work/ssh" "$1" ftracectl status
}
for name in "${names[@]}"; do
        ok "$name answers" wait_until 240 answers "$name"
done
note "$SECONDS s until all do"
if [[ $n_failed != 0 ]]; then
        for name in "${names[@]}"; do
                show_file "$work/$name.said"
                show_file "$work/$name/sshd.log"
        done
        done_testing
fi

clocks() { # set|tell: "HOST OFFSET ROUND-TRIP" of each
        local name told=()

        for name in "${names[@]}"; do
                echo "$name $("$work/ssh" "$name" python3 "$work/clock.py" "$1" "$(<"$work/port")")" >"$work/clock-of-$name" &
                told+=($!)
        done
        wait "${told[@]}"
        cat "$work"/clock-of-*
}
mkdir "$work/all"
best=
for round in first second third; do
        clocks set >"$work/clocks"
        at=$(($(date +%s) + 40))
        exits "$round: all four accept the moment" 0 ftracectl start --hosts "$work/hosts" --at=@$at -n "$round" \
                --duration=500ms --flat ksys_write
        pause $((at + 3 - $(date +%s)))
        clocks tell >"$work/clocks"
        exits "$round: it is collected" 0 ftracectl collect --hosts "$work/hosts" -n "$round" -o "$work/all"
        # When each began by its own clock, and its first call did, in ms after the moment.
        while read -r name offset trip; do
                first=$(ftracectl export --quiet --format=tsv "$work/all/$round@$name.dat" 2>"$err" | awk -F'\t' '
                        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "start_unix_ns") at = i; next }
                        { ms = ($at - "'$at'000000000") / 1e6; if (NR == 2 || ms < least) least = ms }
                        END { print least }')
                ftracectl show --json "$work/all/$round@$name.dat" |
                        jq -r --arg name "$name" --argjson off "$offset" --argjson first "${first:-null}" --argjson trip "$trip" \
                                '"\($name) \((.start.realtime_ns / 1e6 - '$at'000) * 10 | round / 10) \($first) \($off) \($trip)"'
        done <"$work/clocks" >"$work/begun"
        note "$round: began and first call, ms after the moment; how far its clock is behind ours, and the round trip of who asked, ms"
        show_file "$work/begun"
        is "$round: all have calls" "$(awk '$3 != "null" && NF == 5' "$work/begun" | wc -l)" 4
        ok "$round: none began before the moment" awk '$2 < 0 || $3 < 0 { bad = 1 } END { exit bad }' "$work/begun"
        # By our clock: what its own says, and what that lacks.
        worst=$(awk 'function abs(x) { return x < 0 ? -x : x }
                { for (i = 2; i <= 3; i++) { ms = abs($i + $4); if (ms > worst) worst = ms } } END { print worst }' "$work/begun")
        note "$round: by our clock the worst is $worst ms off"
        best=$(printf '%s\n' "$worst" ${best:+"$best"} | sort -n | head -n 1)
done
# An emulated machine stands still as long as its host does something else; one round without that is enough.
ok "all four begin, and have their first calls, within 50 ms of the moment ($best ms)" test "${best%.*}" -lt 50
end_guests
for name in "${names[@]}"; do
        is "$name: the daemon ended in peace" "$(cat "$work/$name/.vmrun/status" 2>/dev/null)" 0
done
done_testing
