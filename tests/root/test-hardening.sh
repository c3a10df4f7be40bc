#!/bin/bash
# Touches: installs ftraced, systemd units, users, function_graph; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: systemd is asked a hundred times, by an emulated CPU
# kernels: 6.12
# long kernels: 6.12-rt arm64-6.12 arm64-16k-6.12
# needs: systemd
. "$(dirname "$0")/../functions.sh"
requires systemd-sysusers useradd runuser
require_service

as() { # USER COMMAND...
        runuser -u "$1" -- "${@:2}"
}
sub_state() {
        systemctl show -P SubState ftraced.service
}
main_pid() {
        systemctl show -P MainPID ftraced.service
}
records() { # NAME
        ftracectl list --json | jq -e --arg n "$1" '.[] | select(.name == $n and .state == "recording")'
}
journal() { # MATCH...
        journalctl --sync 2>/dev/null
        journalctl -u ftraced.service -x -o short "$@" >"$work/journal" 2>/dev/null
}

ok 'systemd-sysusers makes the group' systemd-sysusers "$prefix/lib/sysusers.d/ftraced.conf"
# As README has it: root records before there is a service.
rm -rf /var/lib/ftraced # which installing has made
exits 'root records with a daemon of its own' 0 ftracectl run -n first udp_sendmsg -- "$udp_pairs" 2
is 'for root alone' "$(stat -c %G /var/lib/ftraced/sessions/first)" root
ok 'systemd-tmpfiles knows our file' systemd-tmpfiles --create "$prefix/lib/tmpfiles.d/ftraced.conf"
ok 'the catalog can be compiled' journalctl --update-catalog
mkdir -p /etc/ftraced/ftraced.conf.d /etc/systemd/system/ftraced.service.d
echo "$no_limits" >/etc/ftraced/ftraced.conf
useradd -M -G ftraced alice
useradd -M bob
systemctl daemon-reload
ok 'the socket listens' systemctl start ftraced.socket
exits 'a member draws what was recorded before there was a service' 0 as alice "$prefix/bin/ftracectl" report first
ok 'with the names of functions' grep -q 'udp_sendmsg' "$out"
is 'all of it is of the group' "$(find /var/lib/ftraced ! -group ftraced)" ''
is 'it is for root and the group' "$(stat -c '%a %U:%G' /run/ftraced/org.ftraced)" '660 root:ftraced'

# --- the sandbox ---------------------------------------------------------------------------------

exits 'a session starts in the sandbox' 0 ftracectl start -n hard udp_sendmsg
"$udp_pairs" 20 >/dev/null
score=$(systemd-analyze security --no-pager ftraced.service 2>/dev/null | sed -n 's/.*level for .*: \([0-9.]*\) .*/\1/p')
note "exposure: $score"
ok "systemd-analyze security says at most 1.2" test "$(awk -v s="${score:-9}" 'BEGIN { print s <= 1.2 }')" = 1
status=/proc/$(main_pid)/status
is 'CAP_SYSLOG is all it has' "$(awk '/^CapEff/ { print $2 }' "$status")" 0000000400000000
is 'no capability can come back' "$(awk '/^CapBnd/ { print $2 }' "$status")" 0000000400000000
is 'it has a seccomp filter and no new privileges' "$(awk '/^(Seccomp|NoNewPrivs):/ { printf "%s ", $2 }' "$status")" '1 2 '
exits 'a function that is kept from tracing is refused' 3 ftracectl start sched_clock
says 'with the reason, although /proc/kallsyms is empty in there' 'this kernel has it and excludes it from tracing'
exits 'doctor finds nothing bad from in there' 0 ftracectl doctor
says 'it reads symbols' 'symbols are readable' "$out"
says 'tracefs has the name that people know' 'tracefs at /sys/kernel/tracing' "$out"
says 'root hears that he may do everything' 'you may do everything' "$out"
before=$(main_pid)
ok 'the main process is killed' systemctl kill -s KILL --kill-who=main ftraced.service
taken_up() {
        [[ $(main_pid) != "$before" ]] && records hard
}
ok 'the next one takes the session up' wait_until 60 taken_up
"$udp_pairs" 20 >/dev/null
exits 'it stops' 0 ftracectl stop hard
ok 'nothing is missing' ftracectl verify hard
is 'all calls before and after the kill are there' "$(ftracectl report hard 2>"$err" | grep -cE '\|  udp_sendmsg\(')" 80
is_as_before 'the kernel is as it was'
segments_sealed() {
        store=/var/lib/ftraced segments_are 2 hard
}
ok 'the worker seals its segments in there' wait_until 60 segments_sealed
exits 'run --lean=off works in there' 0 ftracectl run -n lean --lean=off udp_sendmsg -- "$udp_pairs" 20
is 'with all calls' "$(count_roots udp_sendmsg "$out")" 40
as bob sleep 300 &
cleanup_fn kill $!
ok 'another user sleeps' wait_until 30 pgrep -u bob sleep
exits 'another user'\''s process can be recorded' 0 ftracectl start -n bobs --flat --pid "$(pgrep -u bob sleep)" udp_sendmsg
sysctl -qw kernel.ftrace_enabled=0
ftracectl stop bobs >"$out" 2>"$err"
sysctl -qw kernel.ftrace_enabled=1
says 'what others did to kernel.ftrace_enabled is seen in there' 'unknown loss in 1 gap' "$out"

# --- who may what --------------------------------------------------------------------------------

ftracectl start -n roots --flat udp_sendmsg >/dev/null
exits 'a stranger is not let in' 4 as bob "$prefix/bin/ftracectl" list
says 'he is told of the group' 'not in group ftraced.*usermod -aG ftraced bob'
exits 'a member lists' 0 as alice "$prefix/bin/ftracectl" list
says 'she sees what root records' roots "$out"
exits 'she may not stop it' 4 as alice "$prefix/bin/ftracectl" stop roots
says 'and hears whose it is' "session \"roots\" is of root"
exits 'she may not vacuum' 4 as alice "$prefix/bin/ftracectl" vacuum
"$udp_pairs" 5 >/dev/null
exits 'root stops it' 0 ftracectl stop roots
exits 'she draws it' 0 as alice "$prefix/bin/ftracectl" report roots
ok 'and sees the names of functions' grep -q 'udp_sendmsg' "$out"
exits 'she starts one' 0 as alice "$prefix/bin/ftracectl" start -n hers --flat udp_sendmsg
is 'which has an end' "$(ftracectl show --json hers | jq .spec.max_bytes)" $((2 << 30))
exits 'she stops it' 0 as alice "$prefix/bin/ftracectl" stop hers
exits 'her doctor tells her rights' 0 as alice "$prefix/bin/ftracectl" doctor
says 'in one line' "you are in ftraced's group.*4 at once" "$out"
is_as_before 'the kernel is as it was after all that'

# --- configuration -------------------------------------------------------------------------------

printf '[Members]\nFunctions=tcp_*\n' >/etc/ftraced/ftraced.conf.d/members.conf
ok 'the configuration is read again' systemctl reload ftraced.service
exits 'what it forbids now is refused' 4 as alice "$prefix/bin/ftracectl" start udp_sendmsg
says 'with the way out' "may not record the function \"udp_sendmsg\".*only tcp_\\*"
printf '[Members]\nFunctions=udp_*\nMaxStored=much\n' >/etc/ftraced/ftraced.conf.d/members.conf
ok 'a configuration with something wrong is not taken' not systemctl reload ftraced.service
is 'the service runs on' "$(systemctl is-active ftraced.service)" active
exits 'nothing of it counts' 4 as alice "$prefix/bin/ftracectl" start udp_sendmsg
kill -HUP "$(main_pid)"
journal_has() {
        journal "$@" && [[ -s $work/journal ]]
}
ok 'a signal alone is refused too' wait_until 20 journal_has MESSAGE_ID="$(awk '/^-- / { id = $2 } /not read again/ { print id; exit }' "$prefix/lib/systemd/catalog/ftraced.catalog")"
says 'the journal says which line' 'MaxStored=much' "$work/journal"
rm /etc/ftraced/ftraced.conf.d/members.conf
ok 'without it all is as before' systemctl reload ftraced.service

# --- the journal ---------------------------------------------------------------------------------

journal FTRACED_SESSION=hard
says 'the journal is explained' 'Recording hard has begun' "$work/journal"
says 'it says that it was taken up' 'Recording hard was taken up' "$work/journal"
says 'and its end' 'Recording hard has ended, complete' "$work/journal"
ok 'the catalog leaves nothing to be filled in' not grep -q '@FTRACED' "$work/journal"
as alice python3 -c 'import socket
s = socket.socket(socket.AF_UNIX)
s.connect("/run/ftraced/org.ftraced")
s.sendall(b"no call\0")
s.recv(1)'
journal FTRACED_USER="$(id -u alice)"
says 'that alice did not speak the protocol is there' 'Closed a connection' "$work/journal"
says 'what alice read is there' 'Recording roots was read' "$work/journal"
says 'what she was refused is there' 'A call was refused' "$work/journal"
is 'with her process' "$(journalctl -u ftraced -o json FTRACED_USER="$(id -u alice)" | jq -rs 'map(select(.FTRACED_PID | tonumber <= 1)) | length')" 0
is 'and functions and losses as fields' "$(journalctl -u ftraced -o json FTRACED_SESSION=hard FTRACED_STATE=sealed | jq -rs '.[0] | "\(.FTRACED_FUNCTIONS) \(.FTRACED_LOST)"')" 'udp_sendmsg 0'

# --- the end of it -------------------------------------------------------------------------------

printf '[Service]\nExecStart=\nExecStart=%s/sbin/ftraced --store=/var/lib/ftraced --exit-idle=1s\n' "$prefix" \
        >/etc/systemd/system/ftraced.service.d/idle.conf
systemctl daemon-reload
systemctl restart ftraced.service
inactive() {
        [[ $(systemctl is-active ftraced.service) == inactive ]]
}
ok 'a service without work leaves' wait_until 30 inactive
is 'the socket stays' "$(systemctl is-active ftraced.socket)" active
exits 'who connects brings it back' 0 ftracectl list
exits 'it records' 0 ftracectl start -n stays --flat udp_sendmsg
sleep 3
ok 'and stays as long as that goes on' records stays
rm /etc/systemd/system/ftraced.service.d/idle.conf
printf '[Unit]\nStartLimitBurst=2\n' >/etc/systemd/system/ftraced.service.d/limit.conf
systemctl daemon-reload
gives_up() {
        systemctl kill -s KILL --kill-who=main ftraced.service 2>/dev/null
        sleep 1
        [[ $(systemctl is-active ftraced.service) == failed ]]
}
ok 'a service that cannot live is given up' wait_until 60 gives_up
restored() {
        [[ $(systemctl show -P Result ftraced-restore.service) == success &&
                $(systemctl show -P ExecMainExitTimestampMonotonic ftraced-restore.service) != 0 ]]
}
ok 'then the janitor has run' wait_until 60 restored
is_as_before 'and the kernel is as it was'
rm -r /etc/systemd/system/ftraced.service.d
systemctl daemon-reload
systemctl reset-failed ftraced.socket ftraced.service
systemctl stop ftraced.socket ftraced.service
exits 'root records without the service into its store' 0 ftracectl run -n between --flat udp_sendmsg -- "$udp_pairs" 2
is 'which is of the group' "$(find /var/lib/ftraced ! -group ftraced)" ''
systemctl start ftraced.socket
exits 'a member draws that as well' 0 as alice "$prefix/bin/ftracectl" report between
ok 'with the names of functions, too' grep -q 'udp_sendmsg' "$out"
systemctl stop ftraced.socket ftraced.service
done_testing
