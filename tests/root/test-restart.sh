#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: systemd takes its time between two starts
# kernels: 6.12
# long kernels: 6.12-rt arm64-6.12 arm64-16k-6.12
# needs: systemd
#
# One recording over kills, restarts, a thread that hangs and an upgrade of the service loses nothing;
# process 1, which holds the descriptors meanwhile, is not woken by the tracer; a stop ends it; and a daemon that
# cannot be started any more leaves nothing in the kernel.
# Only here: systemd's descriptor store, its watchdog and its limit of starts, and an upgrade of what is installed.
. "$(dirname "$0")/../functions.sh"
requires python3
require_service
kills=${KILLS:-3} restarts=${RESTARTS:-2} # test-kill.sh has 100
store=/var/lib/ftraced
sbindir=$prefix/sbin
systemctl daemon-reload
ok 'the socket starts' systemctl start ftraced.socket

main_pid() {
        systemctl show -P MainPID ftraced.service
}
# Runs, is ready, and is not the process that it was.  systemctl takes long on an emulated CPU: it is asked
# when the old one has gone, and once for both.
is_new() { # PID
        local said

        [[ ! -e /proc/$1 ]] || return
        said=$'\n'$(systemctl show -p ActiveState -p MainPID ftraced.service)$'\n'
        [[ $said == *$'\nActiveState=active\n'* && $said != *$'\nMainPID='"$1"$'\n'* ]]
}
state_of() { # NAME
        jq -r .state "$store/sessions/$1/session.json"
}
switches_of_1() {
        awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/1/status
}
markers() { # BUFFER: begins to write marks
        "$top_builddir/tests/workload/markers" "$1/trace_marker" 2000 >"$work/markers" 2>&1 &
        markers_pid=$!
}
end_markers() {
        kill "$markers_pid"
        wait "$markers_pid"
        n_markers=$(cat "$work/markers")
}
load() {
        until [[ -e $work/enough ]]; do
                "$udp_pairs" 20 >/dev/null
                sleep 0.5
        done
}
is_whole() { # DESCRIPTION NAME
        is "$1: every mark is there once" "$("$top_builddir/tests/root/count-markers" "$store/sessions/$2")" \
                "$n_markers markers, 0 missing, 0 double"
        exits "$1: verify is content" 0 ftracectl verify --json "$2"
        is "$1: entries equal exits" "$(jq .entries "$out")" "$(jq .exits "$out")"
        is "$1: nothing is missing" "$(jq '.gaps // [] | length' "$store/sessions/$2/session.json")" 0
        is "$1: nothing was lost" \
                "$(jq '[.cpus[] | .overrun + .commit_overrun + .dropped_events + .pages_lost] | add' \
                        "$store/sessions/$2/session.json")" 0
}

# Room for what comes while a thread of ours is stopped.  With this clock it is not looked at what others call, which
# takes the kernel several seconds on an emulated CPU, and whoever opens a file of tracefs meanwhile waits: longer than
# the watchdog below does.  Nor is an emulated CPU's time what MaxCPU= is for.
exits 'a session starts' 0 ftracectl start -n long --buffer-size=64M --clock=boot --set=MaxCPU=infinity udp_sendmsg
n_cpus=$(session long '.cpus | length')
is 'systemd holds two descriptors of each CPU' \
        "$(systemctl show -P NFileDescriptorStore ftraced.service)" $((2 * n_cpus))
markers "$(buffer_of long)"
load &
load_pid=$!
before=$(switches_of_1)
sleep 5
switches=$(($(switches_of_1) - before))
ok 'the tracer does not wake process 1' test "$switches" -lt 100
note "process 1 was switched to $switches times in 5 s under load"

for ((i = 0; i < kills; i++)); do
        pid=$(main_pid)
        sleep "0.$((RANDOM % 5))"
        systemctl kill -s KILL --kill-who=main ftraced.service
        wait_until 60 is_new "$pid" || break
done
is "the service is started again after each of $kills kills" "$i" "$kills"
systemctl reset-failed ftraced.service
for ((i = 0; i < restarts; i++)); do
        pid=$(main_pid)
        systemctl restart ftraced.service || break
        wait_until 60 is_new "$pid" || break
done
is "$restarts restarts succeed" "$i" "$restarts"
is 'the session went on over all of them' "$(session long '[.state, .reason // empty] | join(": ")')" recording

# A thread that reads and does not move any more is not seen from the main thread's loop, which runs on.
mkdir -p /run/systemd/system/ftraced.service.d
printf '[Service]\nWatchdogSec=9s\n' >/run/systemd/system/ftraced.service.d/watchdog.conf
systemctl daemon-reload
pid=$(main_pid)
systemctl restart ftraced.service
ok 'with a shorter watchdog it starts again' wait_until 60 is_new "$pid"
pid=$(main_pid)
python3 "$top_srcdir/tests/hold-thread.py" "$pid" >"$work/held" &
held_pid=$!
ok 'a thread that reads is stopped' wait_until 60 test -s "$work/held"
ok 'the others work meanwhile' ftracectl show long
ok 'the watchdog ends that daemon' wait_until 150 is_new "$pid"
wait "$held_pid"
journalctl --sync 2>/dev/null
journalctl -u ftraced.service -o cat >"$work/journal" 2>/dev/null
says 'since it was told nothing any more' "reader of session \"long\" is stuck" "$work/journal"
says 'by systemd' 'Watchdog timeout' "$work/journal"
rm -r /run/systemd/system/ftraced.service.d
systemctl daemon-reload
is 'the session goes on' "$(session long .state)" recording
is 'systemd holds as many descriptors as before' \
        "$(systemctl show -P NFileDescriptorStore ftraced.service)" $((2 * n_cpus))

# An upgrade, to a program that keeps more about its sessions.
cp "$top_builddir/tests/root/ftraced-next" "$sbindir/ftraced.new"
mv "$sbindir/ftraced.new" "$sbindir/ftraced"
ok 'a newer ftraced takes its place' systemctl restart ftraced.service
is 'it goes on with what the older one recorded' "$(session long .state)" recording
is 'in its own way' "$(jq .version "$store/sessions/long/live.json")" 2
end_markers
: >"$work/enough"
wait "$load_pid"
stops 'the session stops' long
is 'it is sealed' "$(state_of long)" sealed
is_as_before 'the kernel is as it was'
is_whole 'long' long
is 'systemd holds nothing any more' "$(systemctl show -P NFileDescriptorStore ftraced.service)" 0

# And back: the older one cannot know what the newer one meant.  What is hooked does not matter from here
# on, and all functions take an emulated CPU six seconds each time.
printf '%s\n' udp_sendmsg ip_make_skb >"$work/hooked"
exits 'the newer one begins a session' 0 ftracectl start -n newer --lean="$work/hooked" udp_sendmsg
markers "$(buffer_of newer)"
sleep 1
end_markers
cp "$top_builddir/ftraced" "$sbindir/ftraced.new"
mv "$sbindir/ftraced.new" "$sbindir/ftraced"
ok 'the older ftraced is back' systemctl restart ftraced.service
has_ended() {
        [[ $(state_of newer) == sealed ]]
}
ok 'it ends what the newer one recorded' wait_until 30 has_ended
says 'and says why' 'newer ftraced' <(session newer .reason)
is_whole 'newer' newer
is_as_before 'the kernel is as it was, again'

exits 'one more session starts' 0 ftracectl start -n stopped --lean="$work/hooked" udp_sendmsg
markers "$(buffer_of stopped)"
sleep 1
end_markers
ok 'the service is stopped' systemctl stop ftraced.socket ftraced.service
is 'that ends the session' "$(state_of stopped)" sealed
is_as_before 'and puts the kernel back'
is_whole 'stopped' stopped

# A store whose content goes while something records.
for also in '' /run/ftraced/ledgers; do
        what="a store that is emptied${also:+ with its ledger}"
        ok "$what: the service starts" systemctl start ftraced.socket ftraced.service
        exits "$what: a session starts" 0 ftracectl start -n emptied --flat udp_sendmsg
        pid=$(main_pid)
        find "$store" $also -mindepth 1 -delete
        systemctl kill -s KILL --kill-who=main ftraced.service
        ok "$what: the service comes back" wait_until 60 is_new "$pid"
        is_as_before "$what: the kernel is as it was"
        is "$what: systemd holds nothing" "$(systemctl show -P NFileDescriptorStore ftraced.service)" 0
done
ok 'the service is stopped after that' systemctl stop ftraced.socket ftraced.service

# A daemon that cannot come back.
ok 'the service starts again' systemctl start ftraced.socket ftraced.service
exits 'a session starts that is left alone' 0 ftracectl start -n orphan udp_sendmsg
mkdir -p /run/systemd/system/ftraced.service.d
printf '[Unit]\nStartLimitBurst=3\n[Service]\nExecStart=\nExecStart=/bin/false\n' \
        >/run/systemd/system/ftraced.service.d/broken.conf
systemctl daemon-reload
systemctl reset-failed ftraced.service
systemctl kill -s KILL --kill-who=main ftraced.service
has_failed() {
        [[ $(systemctl is-failed ftraced.service) == failed ]]
}
ok 'systemd gives up' wait_until 60 has_failed
is_undone() {
        [[ ! -e $(ledger_of "$store") ]]
}
ok 'what it left in the kernel is undone' wait_until 60 is_undone
is_as_before 'the kernel is as it was at the end'
rm -r /run/systemd/system/ftraced.service.d
systemctl daemon-reload
systemctl stop ftraced.socket ftraced.service
[[ $n_failed == 0 ]] || {
        journalctl -u ftraced.service -o cat >"$work/journal"
        { grep '"long"' "$work/journal" && echo ... && tail -n 60 "$work/journal"; } | cut -c1-200 | sed 's/^/# journal: /'
}
done_testing
