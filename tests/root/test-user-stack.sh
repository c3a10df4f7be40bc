#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph, the network (loopback); needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
# needs: systemd
#
# The program's own stack above each call, as root and by the service, of programs that ran before and later; what looks at
# their maps has one right.
. "$(dirname "$0")/../functions.sh"
require_service
requires trace-cmd nm

client=$top_builddir/tests/workload/stacked
place() { # FUNCTION: within the program, and how many bytes it has
        nm -S "$client" | awk -v name="$1" '$4 == name { print "0x" $1, "0x" $2 }'
}
exits 'root records by himself' 0 ftracectl run -n alone --flat --user-stack udp_sendmsg -- "$client" 40
exits 'it is fetched' 0 ftracectl fetch alone -o "$work/dat"
trace-cmd report -R -i "$work/dat" 2>/dev/null >"$work/text"
# The return addresses of the program's frames behind a root's event: the innermost is in send_one().
sed -nE '/_[ck]0: /{n;s/.*user_stack: .*caller=ARRAY\[(.*)\].*/\1/p}' "$work/text" | python3 -c '
import sys
for line in sys.stdin:
    data = bytes.fromhex(line.replace(",", " "))
    print(*(int.from_bytes(data[i:i + 8], "little") & 0xfff for i in range(0, 24, 8)))' >"$work/frames"
is 'each call has the stack of the program behind it' "$(wc -l <"$work/frames")" 40
within() { # COLUMN FUNCTION: how many are in it
        local from n

        read -r from n <<<"$(place "$2")"
        awk -v column="$1" -v from=$((from & 0xfff)) -v n=$((n)) \
                '$column > from && $column <= from + n { hits++ } END { print hits + 0 }' "$work/frames"
}
is 'the system call is in send_one()' "$(within 1 send_one)" 40
is 'every other one is called by even()' "$(within 2 even)" 20
is 'and the others by odd()' "$(within 2 odd)" 20
is 'which main() calls' "$(within 3 main)" 40
says 'the program has been mapped since' '_m0: .*p0_file="?stacked' "$work/text"

# --- by the service --------------------------------------------------------------------------------

systemd-sysusers "$prefix/lib/sysusers.d/ftraced.conf"
useradd -M -G ftraced alice
mkdir -p /etc/ftraced
echo "$no_limits" >/etc/ftraced/ftraced.conf
systemctl daemon-reload
runuser -u alice -- "$client" 10 30 >"$work/said" &
ok 'a program of somebody else runs' wait_until 20 grep -q ready "$work/said"
ok 'the socket listens' systemctl start ftraced.socket
exits 'the service records' 0 ftracectl start -n served --flat --user-stack udp_sendmsg
is 'its warnings are none' "$(grep -c 'have no names' "$err")" 0
maps=/var/lib/ftraced/sessions/served/tracing/maps
ok 'what ran before has been looked at' wait_until 30 grep -q '^map .*/stacked$' "$maps"
id=$(readelf -n "$client" | sed -n 's/.*Build ID: //p')
ok 'with its build ID' grep -q " $id $client\$" "$maps"
is 'the service has CAP_SYSLOG alone' \
        "$(awk '/^Cap(Eff|Bnd)/ { print $2 }' "/proc/$(systemctl show -P MainPID ftraced.service)/status" | sort -u)" 0000000400000000
ok 'who looked has ended' wait_until 20 eval '[[ -z $(systemctl list-units --no-legend --plain "ftraced-maps@*.service" --state=active) ]]'
is 'nobody else may ask' "$(stat -c '%a %U' /run/ftraced-maps/socket)" '600 root'
# It waits for what is asked: it is looked at meanwhile.
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX)
s.connect("/run/ftraced-maps/socket")
time.sleep(20)' &
looker() {
        systemctl list-units --no-legend --plain 'ftraced-maps@*.service' | awk '{ print $1 }'
}
ok 'it is begun by whoever connects' wait_until 15 eval '[[ -n $(looker) ]]'
pid() {
        systemctl show -P MainPID "$(looker)"
}
only_ptrace() {
        [[ $(awk '/^Cap(Eff|Prm|Bnd)/ { print $2 }' "/proc/$(pid)/status" | sort -u) == 0000000000080000 ]]
}
ok 'and has CAP_SYS_PTRACE alone' wait_until 15 only_ptrace
is 'a seccomp filter and no new privileges' "$(awk '/^(Seccomp|NoNewPrivs):/ { printf "%s ", $2 }' "/proc/$(pid)/status")" '1 2 '
exits 'a member is refused' 4 runuser -u alice -- "$prefix/bin/ftracectl" start --user-stack udp_sendmsg
says 'for programs are others'"'" 'only root may record where programs are' "$err"
stops 'the session ends' served

# --- by a member, with a profile of root's ---------------------------------------------------------

as_alice() {
        runuser -u alice -- "$prefix/bin/ftracectl" "$@"
}
mkdir -p /etc/ftraced/profiles.d
printf '%s\n' '[Profile]' 'Functions=udp_sendmsg' 'Flat=yes' 'UserStack=yes' >/etc/ftraced/profiles.d/stacks.conf
wait_until 60 eval '! pgrep -x stacked' # the one from above
mkfifo "$work/begin"
sleep 1000 >"$work/begin" &
begins=$!
for user in alice root; do
        runuser -u $user -- "$client" 10 - <"$work/begin" >"$work/of-$user" &
        ok "a program of $user's runs before" wait_until 20 grep -q ready "$work/of-$user"
done
hers=$(pgrep -u alice -x stacked) roots=$(pgrep -u root -x stacked)
exits 'a member may start what the profile says' 0 as_alice start -n hers --profile=stacks
exits 'but not with other functions' 4 as_alice start --profile=stacks udp_recvmsg
says 'for the same reason' 'only root may record where programs are' "$err"
maps=/var/lib/ftraced/sessions/hers/tracing/maps
ok 'her program has been looked at' wait_until 60 grep -q '^map .*/stacked$' "$maps"
ok 'it alone' grep -qx "process $hers" "$maps"
is 'and nobody else'"'"'s' "$(sed -n 's/^process //p' "$maps" | while read -r pid; do stat -c %U "/proc/$pid"; done 2>/dev/null | sort -u)" alice
kill $begins
ok 'both end' wait_until 60 eval '! pgrep -x stacked'
"$client" 10
exits 'she stops it' 0 as_alice stop hers
exits 'she lists its calls' 0 as_alice calls hers --json
named() { # FILTER: how many of these calls have her program's functions
        jq "[.[] | select(.task == \"stacked\" and ($1))] | map(.stack // \"\" | test(\"main .stacked. < (even|odd) < send_one\")) | group_by(.) | map([.[0], length])" \
                -c "$out"
}
is 'those of her program have its names' "$(named ".pid == $hers")" '[[true,10]]'
is 'those of a program of root'"'"'s that ran before have none' "$(named ".pid == $roots")" '[[false,10]]'
is 'those of one that began meanwhile have' "$(named ".pid != $hers and .pid != $roots")" '[[true,10]]'
systemctl stop ftraced-maps.socket
exits 'without who looks it is recorded all the same' 0 ftracectl start -n blind --flat --user-stack udp_sendmsg
exits 'which is told' 0 wait_until 10 eval 'ftracectl show blind | tr "\n" " " | grep -q "ran before will have no *names"'
stops 'it is stopped' blind
systemctl stop ftraced.service ftraced.socket
done_testing
