#!/bin/bash
# Touches: installs ftraced, systemd units and timers, function_graph, a server on the loopback; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: it waits for timers, and a transfer that is slow
# needs: systemd
#
# Recordings are sent by systemd's service and timer, with a token that only they have, once, whatever is killed.
# Only here: the units: LoadCredential=, the sandbox, the timer, a kill in the middle.
. "$(dirname "$0")/../functions.sh"
requires python3 curl flock
require_service

mkdir -p /etc/ftraced/ftraced.conf.d
echo "$no_limits" >/etc/ftraced/ftraced.conf.d/test.conf
systemctl daemon-reload
ok 'systemctl start ftraced.socket succeeds' systemctl start ftraced.socket

mkdir "$work/server"
python3 "$here/system/put-server.py" "$work/server" >"$work/port" &
cleanup_fn kill $!
ok 'a server listens' wait_until 60 test -s "$work/port"
log() { # of the server, since it was asked last
        cut -d' ' -f1 "$work/server/log" 2>/dev/null | paste -sd' '
        : >"$work/server/log"
}
kept() {
        find "$work/server" -name '*.dat' -printf '%f\n' | sed 's/^put_[^_]*_//; s/-[0-9a-f]\{16\}\.dat$//' | sort | paste -sd' '
}
configure() { # LINE...
        printf '%s\n' "FTRACED_SHIP_URL=http://127.0.0.1:$(<"$work/port")/put/" FTRACED_SHIP_RETRY_SEC=1 "$@" >/etc/ftraced/ship.conf
}
result() {
        systemctl show -P Result ftraced-ship.service
}
record() { # NAME
        ftracectl run --quiet --format=none -n "$1" --flat udp_sendmsg -- "$udp_pairs" 20 >/dev/null
}

ok 'one has ended' record one
configure
exits 'without a token nothing is sent' 0 systemctl start ftraced-ship.service
is 'by no request' "$(log)" ''
is 'for a condition' "$(systemctl show -P ConditionResult ftraced-ship.service)" no
(umask 077 && printf secret.1 >/etc/ftraced/ship.token)
exits 'with one it is sent' 0 systemctl start ftraced-ship.service
is 'by one request, that has the token' "$(log)" 201
is 'to its place' "$(kept)" one
ftracectl fetch --quiet one -o "$work/one.dat"
ok 'byte by byte' cmp "$work/one.dat" "$work"/server/put_*_one-*.dat
exits 'once more' 0 systemctl start ftraced-ship.service
is 'it is not sent again' "$(log)" ''
is 'its notes are for root alone' "$(stat -c '%a %U' /var/lib/ftraced-ship)" '700 root'
ok 'two has ended' record two
echo error >"$work/server/mode"
exits 'a server that fails is asked again' 0 systemctl start ftraced-ship.service
is 'until it takes it' "$(log)" '500 201'

# What it is killed in the middle of comes with the next run, and nobody sees the token meanwhile.
ok 'three has ended' ftracectl run --quiet --format=none -n three --lean=off udp_sendmsg -- "$udp_pairs" 50
size=$(ftracectl fetch --quiet three -o - | wc -c)
configure FTRACED_SHIP_RATE=$((size / 30))
systemctl start --no-block ftraced-ship.service
sends() {
        [[ -s /var/lib/ftraced-ship/spool.dat ]] && pgrep -x curl
}
ok 'a slow transfer goes on' wait_until 60 sends
sleep 2
for pid in /proc/[0-9]*; do
        tr '\0' ' ' <"$pid/cmdline"
        ! grep -qx 'curl\|ftracectl\|ftraced-ship' "$pid/comm" || tr '\0' '\n' <"$pid/environ"
done >"$work/seen" 2>/dev/null
ok 'by curl' grep -q 'curl --disable --config -' "$work/seen"
ok 'of which nobody sees the token' not grep -q 'secret\.1' "$work/seen"
is 'its spool is one file' "$(find /var/lib/ftraced-ship -name "*dat*" | wc -l)" 1
systemctl kill -s KILL ftraced-ship.service
ended() {
        [[ $(systemctl is-active ftraced-ship.service) == failed ]]
}
ok 'it is killed' wait_until 30 ended
configure
log >/dev/null
exits 'the next run' 0 systemctl start ftraced-ship.service
is 'sends it' "$(log) $(kept)" '201 one three two'
ok 'and leaves nothing behind' not test -e /var/lib/ftraced-ship/spool.dat

# By itself.
mkdir -p /etc/systemd/system/ftraced-ship.timer.d
printf '[Timer]\nOnBootSec=\nOnUnitInactiveSec=\nOnActiveSec=3s\nOnUnitInactiveSec=3s\nRandomizedDelaySec=0\nAccuracySec=1s\n' \
        >/etc/systemd/system/ftraced-ship.timer.d/test.conf
systemctl daemon-reload
ok 'the timer starts' systemctl start ftraced-ship.timer
ok 'four has ended' record four
four_is_there() {
        [[ $(kept) == 'four one three two' ]]
}
ok 'and comes by itself' wait_until 60 four_is_there
sleep 8
is 'once' "$(log)" 201
ok 'the timer stops' systemctl stop ftraced-ship.timer
# One that it has begun has the other token.
is_over() {
        [[ $(systemctl is-active ftraced-ship.service) == inactive ]]
}
ok 'and what it began ends' wait_until 60 is_over
printf wrong >/etc/ftraced/ship.token
ok 'five has ended' record five
exits 'a token that is wrong fails the service' 1 systemctl start ftraced-ship.service
is 'by one request' "$(log)" 401
systemctl reset-failed ftraced-ship.service

journalctl -u ftraced-ship.service -o cat >"$work/journal" 2>/dev/null
says 'the journal tells what was sent' 'three is there \(201' "$work/journal"
says 'and what is wrong' 'does not take the token .401.' "$work/journal"
ok 'it has no priority prefixes left in' not grep -q '^<[0-7]>' "$work/journal"
ok 'and no token' not grep -qE 'secret\.1|wrong$' "$work/journal"
show_file "$work/journal"
says 'the sandbox is tight' 'OK|[0-3]\.[0-9]' <(systemd-analyze security --no-pager ftraced-ship.service 2>/dev/null | tail -n1)
systemctl stop ftraced.socket ftraced.service
is_as_before 'the kernel is as it was'
done_testing
