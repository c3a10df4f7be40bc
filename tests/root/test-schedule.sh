#!/bin/bash
# Touches: installs ftraced, systemd units and timers, function_graph; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for timers, and boots; what a capture does, system/test-schedule.sh shows
# kernels: 6.12
# needs: systemd
#
# Schedules on a host with systemd.
# Only here: timers of systemd: they come on time, can be masked, and nobody is needed for the end.
. "$(dirname "$0")/../functions.sh"
require_service

captures() { # NAME FILTER: of its log
        jq -r "$2" "/var/lib/ftraced-captures/$1.json"
}
# No limits: an emulated CPU takes long for everything.
mkdir -p /etc/ftraced/ftraced.conf.d
echo "$no_limits" >/etc/ftraced/ftraced.conf.d/test.conf
systemctl daemon-reload
ok 'systemctl start ftraced.socket succeeds' systemctl start ftraced.socket

# --- three on time, of which two are kept -------------------------------------------------------

exits 'a schedule is added' 0 ftracectl schedule add often --calendar='*:*:0/15' --duration=1s --keep=2 --flat ksys_write
exits 'its timer is there' 0 systemctl list-timers --no-pager --all
says 'as systemctl shows timers' 'ftraced-capture@often.timer +ftraced-capture@often.service' "$out"
next_is_listed() { # not while it captures
        ftracectl schedule list | grep -qE '^often +20[0-9][0-9]-.* of 2$'
}
ok 'it is listed with when it comes next' wait_until 30 next_is_listed
three() {
        [[ $(captures often '[.captures[] | select(.result == "sealed")] | length') -ge 3 ]]
}
ok 'three captures are made' wait_until 150 three
is 'each when its time came, but for what an emulated CPU takes' \
        "$(captures often '[.captures[] | select(((.at_ns / 1e9 | floor) % 15) > 8)] | length')" 0
exits 'it is removed' 0 ftracectl schedule remove often
is 'its timer has gone' "$(systemctl list-timers --all --no-legend 'ftraced-capture@often.timer' | wc -l)" 0
settled() {
        [[ $(systemctl is-active ftraced-capture@often.service) != activating ]]
}
ok 'the last capture ends' wait_until 30 settled
n=$(ftracectl list --json | jq '[.[] | select(.name | startswith("often-"))] | length')
is 'two recordings are kept' "$n" 2
last=$(ftracectl list --json | jq -r '[.[].name | select(startswith("often-"))] | sort | last')
ok 'a kept one is complete' ftracectl verify "$last"
is 'it says on which host' "$(session "$last" '.machine_id | length')" 32
is 'it recorded for its second' "$(session "$last" '.spec.duration_ns / 1e9')" 1
is_as_before 'the kernel is as it was'

# --- by hand, skipped, masked -------------------------------------------------------------------

exits 'a schedule for another day' 0 ftracectl schedule add rare --calendar=yearly --duration=1s --max-captures=1/day --flat --slower=2ms ksys_write
exits 'somebody else holds what there is once' 0 ftracectl start -n holder --flat --slower=3ms --duration=5min ksys_read
exits 'run says that it was skipped' 5 ftracectl schedule run rare
says 'and why' 'rare: skipped: another recording used the tracer' "$out"
exits 'so does the list' 0 ftracectl schedule list
says 'in its line' '^rare .*skipped: another recording used' "$out"
exits 'the holder ends' 0 ftracectl stop holder
exits 'now it records' 0 ftracectl schedule run rare
says 'and says what' '^rare-1: [0-9.]+ m?s, .* lost$' "$out"
exits 'once a day' 5 ftracectl schedule run rare
says 'is enough' 'max-captures' "$out"
ok 'the unit is no failure' not systemctl is-failed --quiet ftraced-capture@rare.service
# Stopped first: a timer that is masked while it runs has failed, systemd 252 thinks.
ok 'it can be stopped' systemctl stop ftraced-capture@rare.timer
ok 'it can be masked' systemctl mask --runtime ftraced-capture@rare.timer
exits 'and is listed' 0 ftracectl schedule list
says 'as such' '^rare +masked' "$out"
ok 'and unmasked' systemctl unmask --runtime ftraced-capture@rare.timer

# --- nobody is needed for the end ---------------------------------------------------------------

exits 'a longer one' 0 ftracectl schedule add long --calendar=yearly --duration=8s --flat ksys_write
systemctl start --no-block ftraced-capture@long.service
records() {
        ftracectl list --json | jq -e '.[] | select(.name == "long-1" and .state == "recording")'
}
ended() {
        ftracectl list --json | jq -e '.[] | select(.name == "long-1" and .state == "sealed")'
}
ok 'it records' wait_until 30 records
ok 'its client is killed' systemctl kill -s KILL ftraced-capture@long.service
ok 'the daemon is killed, too' systemctl kill -s KILL --kill-who=main ftraced.service
ok 'it ends all the same' wait_until 60 ended
is_as_before 'the kernel is as it was'

# --- once ---------------------------------------------------------------------------------------

# How exactly, the story "moment" measures; here are other guests beside this one.
at=$(($(date +%s) + 20))
exits 'a start that is near is armed' 0 ftracectl start -n soon --at=@$at --duration=1s --flat ksys_write
is 'and says its name' "$(<"$out")" soon
exits 'one that is far makes a timer' 0 ftracectl start -n never --at='*-01-01 00:00' --duration=1s --flat ksys_write
says 'and says its name' '^ftraced-start-[0-9a-f]{4}\.timer$' "$out"
timer=$(<"$out")
ok 'systemctl lists it' systemctl is-active "$timer"
soon() {
        ftracectl list --json | jq -e '.[] | select(.name == "soon" and .state == "sealed")'
}
ok 'the first has recorded' wait_until 60 soon
late_ms=$(ftracectl show soon --json | jq "(.start.realtime_ns / 1e6 - $at * 1000) | floor")
note "it began $late_ms ms after that moment"
ok 'it began at that moment' test "$late_ms" -ge 0 -a "$late_ms" -le 1000
ok 'the second is taken back' systemctl stop "$timer"
is 'no unit failed' "$(systemctl list-units --failed --no-legend --plain 'ftraced*' | grep -v 'ftraced-capture@long')" ''
journalctl -u 'ftraced-capture@*' -o cat >"$work/journal" 2>/dev/null
show_file "$work/journal"
systemctl stop ftraced.socket ftraced.service
is_as_before 'the kernel is as it was at the end'
done_testing
