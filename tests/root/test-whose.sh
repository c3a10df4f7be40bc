#!/bin/bash
# Touches: function_graph, probes, tracepoints, systemd units, control groups, the network (loopback); needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
# needs: systemd
#
# Whose the calls of one root are: of units with short-lived children, of a container, of a process that moves, of a user.
. "$(dirname "$0")/../functions.sh"
require_kernel
require_systemd
requires systemd-run runuser

id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
container=/sys/fs/cgroup/docker/$id
give_up() {
        [[ ! -e $container ]] || echo 1 >"$container/cgroup.kill"
        wait_until 10 rmdir "$container" "${container%/*}" || true
        rm -rf "/var/lib/docker/containers/$id"
}
cleanup_fn give_up
unit() { # NAME COMMAND...
        local name=$1

        shift
        systemd-run --quiet --wait --unit="$name" "$@" >/dev/null
}
# systemd would make one of "$$".
sends='exec 3>/dev/udp/127.0.0.1/9; for i in 1 2 3 4 5; do echo $i >&3; [[ $i != 2 ]] || echo $BASHPID >"$0/cgroup.procs"; done 2>/dev/null; true'
counts() { # BY
        jq -r '.[] | select(.function? == null) | "\(.owner) \(.count)"' "$out" | grep -E "$1" | LC_ALL=C sort | tr '\n' ' '
}

mkdir -p "$container" "/var/lib/docker/containers/$id"
echo '{"ID":"'"$id"'","Name":"/web"}' >"/var/lib/docker/containers/$id/config.v2.json"
(echo "$BASHPID" >"$container/cgroup.procs" && exec sleep 1000) &

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n whose --whose --flat udp_sendmsg
ok 'a unit calls' unit one "$udp_pairs" 20
ok 'as do short-lived children of another' unit two bash -c 'for i in 1 2 3 4 5; do "$0" 2; done' "$udp_pairs"
ok 'a container does' bash -c 'echo $$ >"$1/cgroup.procs" && exec "$0" 5' "$udp_pairs" "$container"
ok 'a process moves into it between its calls' unit three bash -c "$sends" "$container"
ok 'threads call' unit four python3 -c '
import socket, threading
def send():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
all = [threading.Thread(target=send) for i in range(7)]
[t.start() for t in all]
[t.join() for t in all]'
ok 'a user does' runuser -u nobody -- "$udp_pairs" 3
stops 'it stops' whose
is_as_before 'the kernel is as it was'
is 'no probe is left' "$(grep -c ftraced "$tracefs/dynamic_events")" 0
show_file "$store/sessions/whose/tracing/owners" 2>/dev/null | head -n 40

told() { # SOURCE
        exits "$1: calls are told by unit" 0 ftracectl top "$1" --by=unit --json
        is "$1: each unit's are what it made" "$(counts '^(one|two|three|four)\.')" 'four.service 7 one.service 40 three.service 2 two.service 20 '
        is "$1: none are unknown" "$(counts '^unknown')" ''
        exits "$1: and by container" 0 ftracectl top "$1" --by=container --json
        is "$1: the container's too, by its name, from the move on" "$(counts '^web')" 'web 13 '
        exits "$1: and by user" 0 ftracectl top "$1" --by=user --json
        is "$1: the user's too" "$(counts '^nobody')" 'nobody 6 '
        exits "$1: and by process" 0 ftracectl top "$1" --by=process --unit=four.service --json
        is "$1: threads are of one process" "$(jq -c '[.[] | .count]' "$out")" '[7]'
}
told whose
exits 'a unit is chosen' 0 ftracectl top whose --unit='t*.service' --by=unit --json
is 'and nothing else' "$(counts .)" 'three.service 2 two.service 20 '
exits 'a user and a container are' 0 ftracectl top whose --container=web --user=root --by=container --json
is 'both' "$(counts .)" 'web 13 '
exits 'rows say it' 0 ftracectl export whose --format=csv -o "$work/rows.csv"
is 'of each call' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["container"] == "web" { n++ } $at["unit"] == "two.service" && $at["user"] == "root" && $at["tgid"] == $at["pid"] { k++ } END { print n, k }' "$work/rows.csv")" '13 20'
exits 'it goes along into a trace.dat' 0 ftracectl fetch whose -o "$work/whose.dat"
told "$work/whose.dat"
exits 'what was not recorded is not told' 0 ftracectl run -n plain --flat --format=none udp_sendmsg -- "$udp_pairs" 2
exits 'which a sentence says' 1 ftracectl top plain --by=unit
says 'with the way out' 'top --by=unit: "plain" was recorded without --whose' "$err"
done_testing
