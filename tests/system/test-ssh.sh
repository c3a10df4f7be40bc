#!/bin/bash
# Touches: a fake tracefs, a store, and an sshd on a port of the loopback, all of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs on other hosts over the real ssh; tests/system/test-remote.sh has the rest of it.
. "$(dirname "$0")/../functions.sh"
requires jq ssh sshd ssh-keygen python3
[[ $(id -u) != 0 ]] || mkdir -p /run/sshd 2>/dev/null # where sshd locks itself up

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
mkdir "$work/bin"
ln -s "$(cd "$top_builddir" && pwd)/ftracectl" "$work/bin/ftracectl"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/user"
cp "$work/user.pub" "$work/authorized"
cat >"$work/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/authorized
PidFile $work/sshd.pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
SetEnv PATH=$work/bin:/usr/bin:/bin FTRACED_SOCKET=$FTRACED_SOCKET
END
cat >"$work/ssh_config" <<END
Host one two
HostName 127.0.0.1
Port $port
Host *
User $(id -un)
IdentityFile $work/user
IdentitiesOnly yes
UserKnownHostsFile $work/known
StrictHostKeyChecking accept-new
KexAlgorithms curve25519-sha256
BatchMode yes
END
printf '#!/bin/bash\nexec ssh -F %q "$@"\n' "$work/ssh_config" >"$work/ssh"
chmod +x "$work/ssh"
export FTRACED_SSH=$work/ssh
"$(command -v sshd)" -D -e -f "$work/sshd_config" >"$work/sshd.log" 2>&1 &
cleanup_fn kill $!
if ! wait_until 30 "$work/ssh" one true; then
        show_file "$work/sshd.log"
        skip "sshd does not let us in here"
fi
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
unset FTRACED_SOCKET # only the other host has a daemon

exits 'a session starts over ssh' 0 ftracectl -H one start -n far udp_sendmsg
is 'its name comes back' "$(<"$out")" far
timeout 100 dd if="$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg" bs=4096 skip=1 count=8 \
        of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" status=none
exits 'a function that is mistyped is refused there' 3 ftracectl -H one start udp_sendmesg
says 'and suggested here' 'Did you mean'
exits 'it stops' 0 ftracectl -H "$(id -un)@127.0.0.1:$port" stop far
exits 'it is fetched through the pipe' 0 ftracectl -H one fetch far -o -
cp "$out" "$work/piped.dat"
exits 'and into a file' 0 ftracectl -H one fetch far -o "$work/far.dat"
ok 'byte by byte' cmp "$work/piped.dat" "$work/far.dat"
exits 'which can be read' 0 ftracectl verify --json "$work/far.dat"
ok 'and has what was recorded there' test "$(jq .entries "$out")" -gt 50
printf 'one\ntwo\n' >"$work/hosts"
exits 'two hosts are asked at once' 0 ftracectl status --hosts "$work/hosts"
is 'a line each' "$(cut -d: -f1 "$out" | sort | paste -sd' ')" 'one two'
says 'and a sum' '2 of 2 hosts'
mkdir "$work/fetched"
exits 'both are fetched from' 0 ftracectl fetch far --hosts "$work/hosts" -o "$work/fetched"
ok 'the same' cmp "$work/fetched/one.dat" "$work/fetched/two.dat"
echo one >"$work/first"
exits 'a start at a moment' 0 ftracectl start --hosts "$work/first" --in=20s --duration=100ms -n later udp_sendmsg
is 'is armed there' "$(ftracectl -H one show later --json | jq -r .state)" armed
later_ended() {
        [[ $(ftracectl -H one show later --json | jq -r .state) == sealed ]]
}
ok 'it records and ends' wait_until 60 later_ended
exits 'it is collected' 0 ftracectl collect --hosts "$work/first" -n later -o "$work/all"
ok 'whole' ftracectl verify "$work/all/later@one.dat"
echo 127.0.0.1:1 >>"$work/hosts"
exits 'one that is not there fails the whole' 1 ftracectl status --hosts "$work/hosts"
says 'in its line' '^127.0.0.1.*: ssh: connect to host .*refused' "$out"
ok 'the daemon ends in peace' stop_ftraced
done_testing
