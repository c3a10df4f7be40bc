#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph, perf events, the network (loopback); needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
# needs: systemd
#
# Copies of stacks: the chain above a call where there are no frame pointers, as root and by the service; nobody's who is not
# recorded; for root alone; what copies them has few rights, and leaves nothing.
. "$(dirname "$0")/../functions.sh"
require_service
requires cc python3

programs=$top_builddir/tests/workload
stacks() { # of the last report
        sed -n 's,.*/\* stack: \(.*\) \*/,\1,p' "$out" | sort | uniq -c | sed 's/^ *//'
}
drawn() { # NAME
        exits "$1 is drawn" 0 ftracectl report "$1"
        stacks >"$work/stacks"
        show_file "$work/stacks"
}

# --- as root ----------------------------------------------------------------------------------------

cat >"$work/plain.c" <<'END'
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
static int fd;
__attribute__((noinline)) long inner(int n) {
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char room[200];
        memset(room, n, sizeof(room));
        return sendto(fd, room, 10, 0, (struct sockaddr *) &to, sizeof(to)) + 1;
}
__attribute__((noinline)) long outer(int n) { return inner(n) + 2; }
int main(void) {
        long sum = 0;
        fd = socket(AF_INET, SOCK_DGRAM, 0);
        for (int i = 0; i < 8; i++)
                sum += outer(i);
        return sum == 7;
}
END
ok 'a program without frame pointers is built' cc -O2 -fomit-frame-pointer -o "$work/plain" "$work/plain.c"
exits 'it is recorded' 0 ftracectl run -n plain --flat --user-stack=copy udp_sendmsg -- "$work/plain"
drawn plain
is 'each call has the whole chain through libc' "$(grep -cE '^8 _start \[plain\] < .*main \[plain\] < outer < inner < sendto \[libc[^]]*\]$' "$work/stacks")" 1
ok 'none ends early' not grep -qE 'end early|are cut' "$err"
is 'the files are of root alone' "$(stat -c '%a %U' /var/lib/ftraced/sessions/plain/stacks /var/lib/ftraced/sessions/plain/stacks/* | sort -u | xargs)" '600 root 700 root'
exits 'in pictures, too' 0 ftracectl export plain --format=folded -o "$work/folded"
says 'the chain is whole' ';main \[plain\];outer \[plain\];inner \[plain\];sendto \[libc' "$work/folded"
exits 'both are told apart' 0 ftracectl run -n bare --flat --user-stack=copy --kernel-stack udp_sendmsg -- "$programs/unstacked" 10
drawn bare
is 'half of them by even()' "$(grep -cE '^5 .*main \[unstacked\] < even < send_one$' "$work/stacks")" 1
is 'half of them by odd()' "$(grep -cE '^5 .*main \[unstacked\] < odd < send_one$' "$work/stacks")" 1
is 'behind each the callers in the kernel' "$(grep -c '/\* callers: .*sys_sendto' "$out")" 10
exits 'a part of them' 0 ftracectl run -n some --flat --user-stack=copy,1/4 udp_sendmsg -- "$programs/unstacked" 40
drawn some
is 'no more than that are whole' "$(awk '/main/ { n += $1 } END { print (n >= 5 && n <= 10) ? "so" : n }' "$work/stacks")" so
is 'and by each its own' "$(grep -c 'main .* < even < odd' "$work/stacks")" 0
cat >"$work/send.py" <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def inner(): s.sendto(b"x", ("127.0.0.1", 9))
def outer(): inner()
for i in range(3): outer()
END
exits 'Python' 0 ftracectl run -n snake --flat --user-stack=copy:32K udp_sendmsg -- python3 "$work/send.py"
drawn snake
is 'is known from its beginning on' "$(grep -cE '^3 _start \[python3[^]]*\] < .*Py_BytesMain.* < sendto \[libc' "$work/stacks")" 1
exits 'too little of it' 0 ftracectl run -n short --flat --user-stack=copy:1K udp_sendmsg -- python3 "$work/send.py"
drawn short
says 'is said to be' 'stacks of programs are cut after the 1K' "$err"
is 'where it is' "$(grep -c '^3 \.\.\. < ' "$work/stacks")" 1
exits 'a copy of the file has none' 0 ftracectl fetch plain -o "$work/plain.dat"
exits 'and is drawn by frame pointers' 0 ftracectl report "$work/plain.dat"
says 'which is said' 'Copies of stacks are not there, or for root alone' "$err"
for with in --comm=a --clock=global; do
        # shellcheck disable=SC2086 # words
        exits "not with $with" 2 ftracectl start --user-stack=copy $with --dry-run udp_sendmsg
        says 'which is said' 'does not go with --user-stack=copy' "$err"
done

# --- by the service --------------------------------------------------------------------------------

systemd-sysusers "$prefix/lib/sysusers.d/ftraced.conf"
useradd -M -G ftraced alice
mkdir -p /etc/ftraced/profiles.d
echo "$no_limits" >/etc/ftraced/ftraced.conf
printf '[Profile]\nFunctions=udp_sendmsg\nStackCopy=8K\n' >/etc/ftraced/profiles.d/copies.conf
systemctl daemon-reload
printf '[Profile]\nFunctions=udp_sendmsg\nStackEvery=3\n' >/etc/ftraced/profiles.d/every.conf
ok 'the socket listens' systemctl start ftraced.socket
exits 'one stack of so many calls' 2 ftracectl start --profile=every --dry-run
says 'needs copies' 'StackEvery= needs StackCopy=' "$err"
exits 'the service records' 0 ftracectl start -n served --flat --user-stack=copy udp_sendmsg
is 'without a warning' "$(grep -c 'not copied' "$err")" 0
"$programs/unstacked" 10
stops 'the session ends' served
drawn served
is 'it has the chain, too' "$(grep -cE '^5 .*main \[unstacked\] < (even|odd) < send_one$' "$work/stacks")" 2

# --- nobody else's --------------------------------------------------------------------------------

secret=swordfish-$RANDOM-$RANDOM
cat >"$work/keeper.py" <<'END'
import ctypes, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
libc = ctypes.CDLL(None)
while True:
    s.sendto(b"x", ("127.0.0.1", 9))
    time.sleep(0.01)
END
python3 "$work/keeper.py" "$secret" & # its arguments are on its stack
keeper=$!
sleep 1
bash -c "while :; do '$programs/unstacked' 2; sleep 0.2; done" &
other=$!
exits 'beside a program that keeps a secret, another one' 0 ftracectl start -n others --pid="$other" --flat --user-stack=copy:48K udp_sendmsg
sleep 5
stops 'is recorded' others
kill "$other"
is 'with its children' "$(grep -la 'unstacked' /var/lib/ftraced/sessions/others/stacks/* | wc -l | awk '{ print ($1 > 0) }')" 1
is 'and the secret is not' "$(grep -la "$secret" /var/lib/ftraced/sessions/others/stacks/* | wc -l)" 0
exits 'of all' 0 ftracectl run -n all --flat --user-stack=copy:48K udp_sendmsg -- sleep 3
is 'it is' "$(grep -la "$secret" /var/lib/ftraced/sessions/all/stacks/* | wc -l | awk '{ print ($1 > 0) }')" 1
unit() { # WORD: which its programs have in their environment
        systemd-run --quiet --unit=sender --setenv=WORD="$1" bash -c "while :; do '$programs/unstacked' 2; sleep 0.2; done"
}
has_copies_of() { # WORD
        grep -qa "WORD=$1" /var/lib/ftraced/sessions/unit/stacks/*
}
ok 'beside it, a unit runs' unit first
exits 'which is recorded' 0 ftracectl start -n unit --cgroup=/system.slice/sender.service --flat --user-stack=copy:48K udp_sendmsg
ok 'and copied' wait_until 60 has_copies_of first
systemctl stop sender.service
ok 'it is started again' unit second
ok 'and copied still' wait_until 60 has_copies_of second
stops 'it is stopped' unit
systemctl stop sender.service
is 'the secret is not in these copies either' "$(grep -la "$secret" /var/lib/ftraced/sessions/unit/stacks/* | wc -l)" 0
drawn unit
# Until the new group was seen, calls have no copies.
is 'no others are in the recording' \
        "$(grep -vcE '(main \[unstacked\] < (even|odd) < send_one|^[0-9]+ send_one \[unstacked\])$' "$work/stacks")" 0
kill "$keeper"

is 'the service has CAP_SYSLOG alone' \
        "$(awk '/^Cap(Eff|Bnd)/ { print $2 }' "/proc/$(systemctl show -P MainPID ftraced.service)/status" | sort -u)" 0000000400000000
is 'nothing is left in the kernel' "$(grep -c ftraced /sys/kernel/tracing/dynamic_events)" 0
is 'nobody else may ask' "$(stat -c '%a %U' /run/ftraced-stacks/socket)" '600 root'
exits 'a member is refused' 4 runuser -u alice -- "$prefix/bin/ftracectl" start --profile=copies
says 'whatever the profile' 'no profile lends that' "$err"
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX)
s.connect("/run/ftraced-stacks/socket")
time.sleep(300)' &
client=$!
opener() {
        systemctl list-units --no-legend --plain 'ftraced-stacks@*.service' | awk '{ print $1 }'
}
ok 'what opens them is begun by whoever connects' wait_until 15 eval '[[ -n $(opener) ]]'
few_rights() {
        [[ $(awk '/^Cap(Eff|Prm)/ { print $2 }' "/proc/$(systemctl show -P MainPID "$(opener)")/status" | sort -u) =~ ^(0000000000200000|0000004000000000)$ ]]
}
ok 'it has one capability' wait_until 15 few_rights
is 'a seccomp filter and no new privileges' "$(awk '/^(Seccomp|NoNewPrivs):/ { printf "%s ", $2 }' "/proc/$(systemctl show -P MainPID "$(opener)")/status")" '1 2 '
kill "$client"
systemctl stop ftraced-stacks.socket
exits 'without it the rest is recorded all the same' 0 ftracectl start -n blind --flat --user-stack=copy udp_sendmsg
exits 'which is told' 0 wait_until 10 eval 'ftracectl show blind | tr "\n" " " | grep -q "stacks of programs are not  *copied"'
stops 'it is stopped' blind
exits 'with a recording its copies go' 0 ftracectl remove served
ok 'all of them' not test -e /var/lib/ftraced/sessions/served
systemctl stop ftraced.service ftraced.socket
done_testing
