#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who may what, and how a change of ftraced.conf comes to count.
. "$(dirname "$0")/../functions.sh"
requires jq setpriv

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
config() { # TEXT: of [Members]
        printf '%s\n[Members]\n%s\n' "$no_limits" "$1" >"$FTRACED_CONFIG"
}
n_logged() { # PATTERN
        grep -c -- "$1" "$work/ftraced.log"
}
reload() { # PATTERN: of what is logged then
        local n

        n=$(n_logged "$1")
        kill -HUP "$ftraced_pid"
        wait_until 5 eval "(( \$(n_logged '$1') > $n ))"
}

# --- the store's group ----------------------------------------------------------------------------

mkdir "$work/grouped"
chmod 0750 "$work/grouped"
if [[ $(id -u) == 0 ]] && chgrp 4711 "$work/grouped" 2>/dev/null; then
        ok "root's daemon starts on a group's store" start_ftraced --tracefs "$work/tracefs" --store "$work/grouped"
        exits 'it records' 0 ftracectl start -n theirs udp_sendmsg
        exits 'and ends' 0 ftracectl stop theirs
        ok 'the daemon ends' stop_ftraced
        is 'all of it is of that group' "$(find "$work/grouped" ! -group 4711)" ''
        ok 'sessions and symbols are there' test -e "$work/grouped/sessions/theirs/session.json" -a -d "$work/grouped/symbols"
fi

# --- configuration -------------------------------------------------------------------------------

profiles=$work/root/usr/lib/ftraced/profiles.d
mkdir -p "$profiles"
printf '[Profile]\nFunctions=udp_sendmsg\nComm=backup\nTrigger=start function:udp_recvmsg\n' >"$profiles/roots.conf"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs" --config-root="$work/root"
exits 'a configuration without fault is checked' 0 "$top_builddir/ftraced" --check-config
config 'MaxStored=much'
exits 'a fault in it is found' 1 "$top_builddir/ftraced" --check-config
says 'with file and line' "ftraced.conf:[0-9]+: MaxStored=much"
ok 'it is not taken' reload 'not reloaded, the old one stays'
says 'and said why' 'MaxStored=much' "$work/ftraced.log"
config 'MaxDepth=5'
exits 'a key that is gone is found' 1 "$top_builddir/ftraced" --check-config
says 'with what to use' 'the key MaxDepth= is gone: profiles have a depth'
config 'MaxStored=5M'
ok 'one without fault is' reload 'The configuration was read again'
exits 'root is not held by it' 0 ftracectl start -n roots udp_sendmsg
is 'his size is what he asked for' "$(session roots .spec.max_bytes)" null
exits 'doctor tells root his rights' 0 ftracectl doctor
says 'he may do everything' 'you may do everything' "$out"
# Of a guest's 128 possible CPUs each has its part of the memory, whether it is there or not.
mkdir "$work/world"
echo 0-127 >"$work/world/possible"
preload=$top_builddir/tests/system/world.so
ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 WORLD_DIR=$work/world LD_PRELOAD=$preload \
        ftracectl doctor --black-box >"$out" 2>"$err"
if [[ -e $preload ]] && grep -q reserve_mem= "$out"; then
        says 'and what a black box takes' 'of memory for good \([0-9.]+[KMG] for each of 128 possible CPUs\)' "$out"
else
        skip_one 'and what a black box takes' 'this kernel has none'
fi
unset preload

# --- members and strangers -----------------------------------------------------------------------

if [[ $(id -u) != 0 ]]; then
        skip_one 'a member may what ftraced.conf allows' 'needs root, to be somebody else'
        ok 'the daemon ends in peace' stop_ftraced
        done_testing
fi
chmod 711 "$work"
member() {
        setpriv --reuid=64998 --regid=64998 --groups=64999 "$top_builddir/ftracectl" "$@"
}
stranger() {
        setpriv --reuid=64997 --regid=64997 --clear-groups "$top_builddir/ftracectl" "$@"
}
chmod 666 "$FTRACED_SOCKET"
exits 'without a group only root may' 4 member list
chgrp 64999 "$FTRACED_SOCKET"
exits 'a stranger who comes as far as the daemon is refused' 4 stranger list
says 'with a reason' 'uid 64997 may not use ftraced'
chmod 660 "$FTRACED_SOCKET"
exits 'a stranger does not even come so far' 4 stranger list
one_sentence 'and is told in one sentence'
exits 'a member lists' 0 member list
exits 'what root started he may not stop' 4 member stop roots
says 'he hears whose it is' "session \"roots\" is of root, and you are uid 64998"
exits 'nor remove' 4 member remove roots
exits 'nor pin' 4 member pin roots
exits 'nor remove what gets old' 4 member vacuum
exits 'root stops it' 0 ftracectl stop roots
exits 'he may not switch off tracers of others' 4 member start --force udp_sendmsg
exits 'he starts one' 0 member start -n his --depth=9 udp_sendmsg
is 'as deep as he likes' "$(session his .spec.depth)" 9
is 'as large as he may' "$(session his .spec.max_bytes)" $((5 << 20))
says 'and is told' 'limited to 5M, what your sessions leave of MaxStored=' <(session his '.warnings[]')
is 'it is his' "$(session his .owner_uid)" 64998
exits 'he stops it' 0 member stop his
exits 'he hears his rights' 0 member doctor
says 'in words' "you are in ftraced's group.*functions \*, 4 at once" "$out"
config 'Functions=tcp_*
MaxSessions=1'
ok 'the configuration changes' reload 'The configuration was read again'
cp "$FTRACED_CONFIG" "$work/good"
config 'Functions=udp_*
MaxStored=much'
ok 'one with a fault counts in nothing' reload 'not reloaded, the old one stays'
rm "$FTRACED_CONFIG"
ok 'nor does one that is gone' reload 'not reloaded, the old one stays'
cp "$work/good" "$FTRACED_CONFIG"
exits 'what it does not allow is refused' 4 member start udp_sendmsg
says 'with what it does' "may not record the function \"udp_sendmsg\": ftraced.conf allows its group only tcp_\\*"
exits 'a glob that goes beyond it is, too' 4 member start '*_sendmsg'
exits 'an event is refused' 4 member start --event=sched:sched_switch tcp_sendmsg
exits 'what is behind arguments is refused' 4 member start --what tcp_sendmsg
says 'as only root may' 'only root may record what is behind arguments'
exits 'by name, too' 4 member start '--args=tcp_sendmsg(size)' tcp_sendmsg
# What a session waits for tells as much as what it records, and so may any name.
exits 'nor does a black box bring one along: the kernel log' 4 member start --black-box tcp_sendmsg
says 'which is named' "may not have a black box record the event \"printk:console\": ftraced.conf allows its group none"
exits 'a profile has none to give to others' 4 member start --dry-run --profile roots --black-box
exits 'a trigger waits for no function that is not allowed' 4 member arm tcp_sendmsg --on function:udp_sendmsg
says 'which is named' "may not wait for the function \"udp_sendmsg\": ftraced.conf allows its group only tcp_\\*"
exits 'nor does the end of a recording' 4 member arm tcp_sendmsg --on command --on function:udp_sendmsg --do=stop
exits 'nor for an event' 4 member arm tcp_sendmsg --on 'event:sched:sched_process_exec:filename ~ "*passwd*"'
says 'whatever its filter' "may not wait for the event \"sched:sched_process_exec\""
exits 'a dry run tells nothing of it either' 4 member arm --dry-run tcp_sendmsg --on function:udp_sendmsg
exits 'what is left out is allowed, too' 4 member start tcp_sendmsg --notrace udp_sendmsg
exits 'and what is chosen' 4 member start tcp_sendmsg --only 'udp_*'
exits 'a profile goes beyond it as it stands' 0 member start --dry-run --profile roots
exits 'but not with the tasks of others' 4 member start --dry-run --profile roots --comm=bash
says 'its functions are then asked for' "may not record the function \"udp_sendmsg\""
exits 'nor with other triggers' 4 member arm --dry-run --profile roots --on command
exits 'nor deeper than it says' 4 member start --dry-run --profile roots --depth=0
exits 'nor with the arguments' 4 member start --dry-run --profile roots --args
exits 'shorter it may be' 0 member start --dry-run --profile roots --duration=1s
exits 'what may be recorded may be waited for' 0 member arm --dry-run tcp_sendmsg --on function:tcp_sendmsg
exits 'what it allows is not' 0 member start -n one 'tcp_s*'
exits 'as often as it allows' 7 member start -n two tcp_sendmsg
says 'with the way out' 'MaxSessions=.*stop one of them first'
exits 'root has no such limit, only one tracer' 5 ftracectl start -n two udp_sendmsg
exits 'he removes his own' 0 member remove his
exits 'and ends the other' 0 member stop one

says 'each start is logged with user and process' "\"one\" started by uid 64998 \\(pid [0-9]+\\)" "$work/ftraced.log"
says 'each stop' "\"roots\" is stopped by root \\(pid [0-9]+\\)" "$work/ftraced.log"
says 'each removal' "\"his\" is removed by uid 64998 \\(pid [0-9]+\\)" "$work/ftraced.log"
says 'each refusal' 'Refused uid 64998 \(pid [0-9]+\): you may not record' "$work/ftraced.log"
ftracectl report one >/dev/null 2>&1
says 'and each reading' "\"one\" is read by root \\(pid [0-9]+\\)" "$work/ftraced.log"
at_most() { # USERS: lines that may be logged of them since SECONDS was 0: of each 20 in 10 s, which began before
        echo $((20 * $1 * (SECONDS / 10 + 2)))
}
SECONDS=0
for ((i = 0; i < 60; i++)); do
        member stop nobody
done 2>/dev/null
ok 'who is refused in a loop does not fill the log' test "$(n_logged "no session \"nobody\"")" -le "$(at_most 1)"
other() {
        setpriv --reuid=64996 --regid=64996 --groups=64999 "$top_builddir/ftracectl" "$@"
}
for ((i = 0; i < 60; i++)); do
        member stop nobody
        other stop nobody
        member report one >/dev/null
        other report one >/dev/null
done 2>/dev/null
ok 'nor do two who take turns' test "$(n_logged "Refused uid 6499[68].*no session \"nobody\"")" -le "$(at_most 2)"
ok 'nor do they by reading' test "$(n_logged "\"one\" is read by uid 6499[68]")" -le "$(at_most 2)"
ok 'of each of them something is told' grep -q "\"one\" is read by uid 64996" "$work/ftraced.log"

# --- from a container -------------------------------------------------------------------------------

if unshare -pf true 2>/dev/null; then
        # /proc is the host's in there: a shell can tell both of its numbers, of which $$ is 1.
        exits 'a process of a container is found by its number there' 0 unshare -pf bash -c '
                while read -r key host here; do
                        [[ $key != NSpid: ]] || echo "$host $here" >"$1"
                done </proc/self/status
                "$0" start --dry-run --pid $$ udp_sendmsg
                exit' "$top_builddir/ftracectl" "$work/numbers"
        read -r host here <"$work/numbers"
        is 'which is another one here' "$here, $((host > 1))" '1, 1'
        says 'and is what is recorded' "echo '?$host'? >.*set_ftrace_pid" "$out"
        unshare -pf sleep 600 & # which ends with what is in there
        ok 'another container begins' wait_until 10 pgrep -P $!
        contained=$(pgrep -P $!)
        cleanup_fn kill -KILL "$contained"
        exits 'who came in from outside cannot be told from others' 2 \
                nsenter -t "$contained" -p "$top_builddir/ftracectl" start --dry-run --pid 1 udp_sendmsg
        says 'and hears where to ask' 'there is no process 1 in your container .*Ask on the host, with its number there'
        mkdir -p "$work/boxed" "$work/tracefs/events/cgroup/cgroup_attach_task"
        exits 'the path of a control group begins at the mount in there' 2 unshare -m bash -c '
                mount --bind "$1" /sys/fs/cgroup && "$0" start --dry-run --cgroup=/a udp_sendmsg' \
                "$top_builddir/ftracectl" "$work/boxed"
        says 'and is told as ftraced has it' 'there is no control group ".*/boxed/a"'
else
        skip_one 'a process of a container is found by its number there' 'no PID namespace can be made here'
fi

# --- calls that are long ---------------------------------------------------------------------------

mapfile -t names < <(seq -f 'tcp_[s%g]endmsg' 4096)
exits 'as many names as there may be fit into a call' 0 member start --dry-run --set=MaxFunctions=4096 "${names[@]}"
exits 'more names than a list has room for are refused' 7 member start --dry-run --set=MaxFunctions=20000 "${names[@]}" tcp_x
says 'and not left out' '4097 names are too many: a list takes 4096'
for i in 1 2 3; do
        seq -f "$(printf 'f%.0s' {1..240})${i}_%g" 4000 >"$work/names$i"
done
exits 'what does not fit into a call is not sent' 7 member start --dry-run --set=MaxFunctions=4096 "@$work/names1" \
        --notrace="@$work/names2" --only="@$work/names3"
says 'with the limit and the way out' 'exceed 2112K, the limit of a call. Name fewer functions, or globs'
python3 - "$FTRACED_SOCKET" <<'END' >"$out"
import os, socket, sys
os.setgroups([64999]); os.setregid(64995, 64995); os.setreuid(64995, 64995)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b'{"method":"' + b"x" * (3 << 20))
except OSError:
    pass
print(s.recv(65536).decode())
many = [socket.socket(socket.AF_UNIX) for _ in range(80)]
for m in many:
    m.connect(sys.argv[1])
print(many[-1].recv(65536).decode())
END
says 'another client is told as well' 'QuotaExceeded.*longer than 2112K' "$out"
says 'and the journal' 'uid 64995 .*longer than 2112K' "$work/ftraced.log"
says 'who has too many connections is told of a setting' 'QuotaExceeded.*MaxConnections= in .Members' "$out"
says 'and the journal is, too' 'uid 64995 .*MaxConnections= in .Members' "$work/ftraced.log"
ok 'the daemon ends in peace' stop_ftraced

# --- as the service has it: root with another group, and nearly no capabilities ------------------

ASAN_OPTIONS=detect_leaks=0 setpriv --regid=64999 --groups=0 --bounding-set=-all,+syslog --inh-caps=-all \
        "$top_builddir/ftraced" --store "$work/shared" --socket "$FTRACED_SOCKET" --tracefs "$work/tracefs" \
        >"$work/ftraced.log" 2>&1 </dev/null &
ftraced_pid=$!
ok 'a daemon with that group starts' wait_until 20 ftracectl status
chmod 660 "$FTRACED_SOCKET"
exits 'it records' 0 ftracectl start -n shared udp_sendmsg
timeout 100 dd if="$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg" bs=4096 skip=1 count=2 \
        of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" conv=notrunc status=none
arrived() {
        [[ $(sum_of shared n_pages) == 2 ]]
}
ok 'pages arrive' wait_until 10 arrived
exits 'a member draws them from the descriptors that he gets' 0 member report shared
ok 'all of them' test "$(wc -l <"$out")" -gt 100
# What is read from a descriptor of an instance may be another session's a moment later, in a black box above all.
python3 - "$FTRACED_SOCKET" <<'END' >"$out"
import fcntl, json, os, socket, sys
os.setgroups([64999]); os.setregid(64995, 64995); os.setreuid(64995, 64995)
def call(method, **parameters):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(json.dumps({'method': 'org.ftraced.' + method, 'parameters': parameters}).encode() + b'\0')
    text, handed = b'', []
    while not text.endswith(b'\0'):
        more, fds, _, _ = socket.recv_fds(s, 65536, 64)
        text, handed = text + more, handed + fds
    for fd in handed:
        print(method, os.readlink(f'/proc/self/fd/{fd}'), fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE)
for method in 'Open', 'Describe', 'Snapshot', 'Stop', 'Trigger':
    call(method, session='shared')
call('Start', spec={'functions': ['udp_recvmsg']})
for method in 'List', 'GetStatus', 'ListFunctions':
    call(method)
END
is 'a member is handed nothing of tracefs, and nothing to write to' \
        "$(sed -E "s,(/memfd:)[^ ]*( \(deleted\))?,\1," "$out")" \
        "Open $work/shared/sessions/shared 0"$'\n'"Open $work/shared/symbols 0"$'\n''ListFunctions /memfd: 0'
ok 'the daemon ends in peace' stop_ftraced
done_testing
