#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording outlives its daemon: killed, restarted, of another version; with somebody who holds its
# descriptors, and without.
# Only here: deaths in the worst moments, ledgers that are damaged or gone, sessions of another version.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
segment=$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg
n_pages=$(($(stat -c %s "$segment") / 4096 - 1))
ledger=$(ledger_of "$store")
tracer() {
        cat "$work/tracefs/current_tracer"
}
feed() { # FIRST COUNT: pages of a recording, as from the kernel
        timeout 100 dd if="$segment" of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" bs=4096 \
                skip=$((1 + $1)) count="$2" conv=notrunc status=none
}
has_pages() { # NAME COUNT
        [[ $(sum_of "$1" n_pages) == "$2" ]]
}
is_whole() { # DESCRIPTION NAME COUNT: the first COUNT pages, each once
        # The other CPU has none, so they are what a trace.dat ends with, whether they are sealed or not.
        ftracectl fetch "$2" -o "$work/$2.dat" 2>/dev/null
        ok "$1" cmp <(tail -c +4097 "$segment" | head -c $(($3 * 4096))) \
                <(tail -c $(($3 * 4096)) "$work/$2.dat")
        is "$1: not more" "$(sum_of "$2" n_pages)" "$3"
}
gaps_of() { # NAME
        jq '[.gaps[]? | select(.cause == "daemon_gone")] | length' "$store/sessions/$1/session.json"
}
live_json() { # NAME FILTER
        jq "$2" "$store/sessions/$1/live.json" >"$work/live.json" &&
                cp "$work/live.json" "$store/sessions/$1/live.json"
}
start() {
        start_ftraced --tracefs "$work/tracefs"
}

# --- by hand -----------------------------------------------------------------------------------

ok 'the daemon starts' start
exits 'a session starts' 0 ftracectl start -n hand --duration=1h udp_sendmsg
feed 0 3
ok 'pages arrive' wait_until 10 has_pages hand 3
kill_ftraced
is 'a killed daemon leaves the tracer on' "$(tracer)" function_graph
ok 'the next daemon starts' start
is 'it goes on with the session' "$(session hand .state)" recording
ok 'it counts what was stored before' has_pages hand 3
feed 3 2
ok 'pages arrive again' wait_until 10 has_pages hand 5
exits 'a second session is refused, as before' 5 ftracectl start udp_recvmsg
exits 'the session stops, and may not be complete' 6 ftracectl stop hand
is_whole 'each page is there once' hand 5
is 'they are in one segment' "$(ls "$store/sessions/hand/cpu0")" 00000000.seg
is 'the tracer is off' "$(tracer)" nop
ok 'nothing is left to put back' not test -e "$ledger"
ok 'nothing is left of the live session' not test -e "$store/sessions/hand/live.json"
is 'what may have been in the pipes when it was killed is a gap of each CPU' \
        "$(jq -c '[.gaps[] | select(.cause == "daemon_gone") | .cpu]' "$store/sessions/hand/session.json")" '[0,1]'
says 'and a sentence' 'up to 2M .*missing' <(ftracectl show hand)
exits 'verify says that it may not be complete' 6 ftracectl verify hand

is_armed() { # CAPTURES
        [[ $(session again '.state + (.captures.n // 0 | tostring)') == "armed$1" ]]
}
exits 'a session waits for its trigger' 0 ftracectl arm -n again --on command --do start --do stop:10ms \
        --max-captures=3 --set=MinGap=1ms udp_sendmsg
kill_ftraced
ok 'the next daemon starts' start
is 'nothing was in the pipes of one that has not recorded yet' "$(gaps_of again)" 0
exits 'it records' 0 ftracectl trigger again
ok 'and waits again' wait_until 10 is_armed 1
kill_ftraced
ok 'the next daemon starts' start
is 'something may have been in the pipes of one that has' "$(gaps_of again)" 2
exits 'it stops' 6 ftracectl stop again
exits 'it goes' 0 ftracectl remove again

exits 'a session starts again' 0 ftracectl start -n order udp_sendmsg
feed 0 4
ok 'pages arrive in it' wait_until 10 has_pages order 4
kill -USR1 "$ftraced_pid"
wait "$ftraced_pid"
is 'a daemon that is told to leave ends well' $? 0
ftraced_pid=
is 'it leaves the tracer on' "$(tracer)" function_graph
is 'it leaves the session as it is' "$(jq -r .state "$store/sessions/order/session.json")" recording
ok 'the next one starts' start
feed 4 4
ok 'pages arrive behind the others' wait_until 10 has_pages order 8
exits 'it is stopped' 0 ftracectl stop order
is_whole 'each page is there once, again' order 8
is 'nothing was in a pipe' "$(gaps_of order)" 0

# --- what is not gone on with ------------------------------------------------------------------

exits 'another session starts' 0 ftracectl start -n future udp_sendmsg
feed 0 2
ok 'pages arrive in that' wait_until 10 has_pages future 2
kill_ftraced
live_json future '.version = 99'
ok 'a daemon starts on what a newer one began' start
ok 'it ends that session' wait_until 10 eval '[[ $(session future .state) == sealed ]]'
says 'it says by which version' 'future.*version 99' "$work/ftraced.log"
is_whole 'it keeps what was recorded' future 2
is 'it puts the kernel back' "$(tracer)" nop

exits 'a session of an attached client starts' 0 ftracectl start -n attached udp_sendmsg
kill_ftraced
live_json attached '.attached = true'
ok 'the next daemon starts without the client' start
ok 'it ends the session' wait_until 10 eval '[[ $(session attached .state) == sealed ]]'
says 'for want of the client' 'client left' <(session attached .reason)

exits 'a session with little time starts' 0 ftracectl start -n brief --duration=2s udp_sendmsg
kill_ftraced
sleep 2
ok 'the next daemon starts too late' start
ok 'the session ends' wait_until 10 eval '[[ $(session brief .state) == sealed ]]'
says 'because its time is over' 'duration reached' <(session brief .reason)

exits 'a session starts that loses its tracer' 0 ftracectl start -n robbed udp_sendmsg
kill_ftraced
echo nop >"$work/tracefs/current_tracer"
ok 'the next daemon starts without a tracer' start
is 'that session has failed' "$(session robbed .state)" failed
ok 'its changes are undone' not test -e "$ledger"

exits 'a session starts that is undone' 0 ftracectl start -n undone udp_sendmsg
kill_ftraced
ok 'ftraced --restore succeeds' "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --restore
is 'the kernel is put back' "$(tracer)" nop
ok 'the next daemon starts after that' start
is 'that session has failed, too' "$(session undone .state)" failed

exits 'a session starts before a daemon that cannot' 0 ftracectl start -n still udp_sendmsg
feed 0 1
ok 'a page arrives' wait_until 10 has_pages still 1
kill_ftraced
mkdir "$work/no-socket"
ok 'a daemon that cannot listen fails' not "$top_builddir/ftraced" --store "$store" \
        --tracefs "$work/tracefs" --socket "$work/no-socket"
is 'the session is left as it was' "$(jq -r .state "$store/sessions/still/session.json")" recording
ok 'the next daemon starts after the failure' start
is 'it goes on all the same' "$(session still .state)" recording
ok 'the daemon ends' stop_ftraced
is 'a daemon that is told to end ends its sessions' \
        "$(jq -r .state "$store/sessions/still/session.json")" sealed
is 'and puts the kernel back' "$(tracer)" nop

# --- a ledger that is damaged ------------------------------------------------------------------

dump() { # FILE: all of the fake tracefs, where an empty list of functions has a line, or none if it was put back
        (cd "$work/tracefs" && find . -type f ! -path '*/trace_pipe_raw' -exec grep -H '' {} + |
                grep -v ':#### all functions enabled ####$' | sort) >"$1"
}
damage_truncated() {
        truncate -s 100 "$1"
}
damage_zeroed() {
        dd if=/dev/zero of="$1" bs=1 count="$(stat -c %s "$1")" conv=notrunc status=none
}
damage_emptied() {
        : >"$1"
}
damage_removed() {
        rm "$1"
}
damage_directory() {
        rm "$1"
        mkdir -p "$1/in-it"
}
damage_newer() {
        jq '.version = 99' "$1" >"$work/damaged" && cp "$work/damaged" "$1"
}
damage_other_boot() {
        jq '.boot_id = "00000000-0000-0000-0000-000000000000"' "$1" >"$work/damaged" && cp "$work/damaged" "$1"
}
dump "$work/tracefs.before"
restore() {
        "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --restore
}
for kind in truncated zeroed emptied directory newer removed other_boot; do
        ok "$kind: a daemon starts" start
        exits "$kind: a session starts" 0 ftracectl start -n "ledger-$kind" udp_sendmsg
        kill_ftraced
        dump "$work/tracefs.armed"
        cp "$ledger" "$work/ledger.good"
        "damage_$kind" "$ledger"
        exits "$kind: ftraced --restore fails" 1 restore
        ok "$kind: it does not say that nothing is to be put back" not grep -q 'Nothing to put back' "$out"
        says "$kind: it names what is left, and the command" "echo nop > $work/tracefs/current_tracer"
        says "$kind: and what may be left" "echo > $work/tracefs/set_graph_function" "$out"
        case $kind in
        removed | other_boot) ;;
        *)
                says "$kind: it names the file" "$ledger, which lists"
                ok "$kind: which is kept" test -e "$ledger.bad"
                ;;
        esac
        dump "$work/tracefs.after"
        ok "$kind: it guesses nothing" diff "$work/tracefs.armed" "$work/tracefs.after"
        ok "$kind: the next daemon starts all the same" start
        is "$kind: the session has failed" "$(session "ledger-$kind" .state)" failed
        if [[ -e $ledger.bad ]]; then
                ftracectl doctor >"$out" 2>"$err"
                says "$kind: doctor names what was damaged" "kept as $ledger.bad" "$out"
        fi
        ok "$kind: that daemon ends" stop_ftraced
        ok "$kind: it does not say that the kernel is as it was" not grep -q 'The kernel is as it was' "$work/ftraced.log"
        says "$kind: but what is left" "echo nop > $work/tracefs/current_tracer" "$work/ftraced.log"
        rm -rf "$ledger.bad"
        mkdir -p "${ledger%/ledger}"
        cp "$work/ledger.good" "$ledger"
        exits "$kind: with the ledger --restore puts all back" 0 restore
        dump "$work/tracefs.after"
        ok "$kind: all of tracefs is as it was" diff "$work/tracefs.before" "$work/tracefs.after"
        ok "$kind: nothing is left in /run" not test -e "${ledger%/ledger}"
done

for kind in replaced missing; do
        ok "a daemon starts whose store will be $kind" start
        exits "$kind: a session starts" 0 ftracectl start -n "$kind" udp_sendmsg
        kill_ftraced
        mv "$store" "$store.away"
        [[ $kind == missing ]] || : >"$store"
        exits "$kind: --restore puts back what the ledger lists" 0 restore
        dump "$work/tracefs.after"
        ok "$kind: all of tracefs is as it was" diff "$work/tracefs.before" "$work/tracefs.after"
        exits "$kind: once more there is nothing to put back" 0 restore
        says "$kind: it says so" 'Nothing to put back' "$out"
        rm -f "$store"
        mv "$store.away" "$store"
        ok "$kind: the next daemon starts" start
        ok "$kind: it ends" stop_ftraced
        dump "$work/tracefs.after"
        ok "$kind: all of tracefs is still as it was" diff "$work/tracefs.before" "$work/tracefs.after"
done

ok 'a daemon starts whose ledger is taken away' start
exits 'beside it --restore does nothing' 1 restore
says 'it says who owns the store' 'owns the store'
FTRACED_LEDGERS=$work/elsewhere
exits 'nor where it looks for the ledger elsewhere' 1 restore
FTRACED_LEDGERS=$work/ledgers
ftracectl doctor >"$out" 2>"$err"
ok 'doctor has nothing to say about its ledger' not grep -q 'written again' "$out"
exits 'a session starts whose ledger is taken away' 0 ftracectl start -n taken udp_sendmsg
rm "$ledger"
ftracectl doctor >"$out" 2>"$err"
says 'doctor finds it' "removed $ledger" "$out"
ok 'it is there again' test -s "$ledger"
kill_ftraced
ok 'the next daemon starts' start
is 'it goes on with the session' "$(session taken .state)" recording
ok 'it ends' stop_ftraced
dump "$work/tracefs.after"
ok 'and all of tracefs is as it was' diff "$work/tracefs.before" "$work/tracefs.after"

# Without a place for it nothing is changed.
touch "$work/no-place"
FTRACED_LEDGERS=$work/no-place/ledgers start
exits 'without a place for the ledger a start is refused' 1 ftracectl start -n no-place udp_sendmsg
says 'it names the place' "writing the ledger in $work/no-place/ledgers failed"
says 'it names the way out' 'another place with FTRACED_LEDGERS'
ftracectl doctor >"$out" 2>"$err"
says 'so does doctor' "no place for the ledger in $work/no-place/ledgers" "$out"
dump "$work/tracefs.after"
ok 'nothing was changed' diff "$work/tracefs.before" "$work/tracefs.after"
ok 'that daemon ends' stop_ftraced
rm -r "$work/tracefs"
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2

# --- held by a service manager -----------------------------------------------------------------

status() { # KEY
        awk -v key="$1" '{ for (i = 1; i < NF; i += 2) if ($i == key) print $(i + 1) }' "$work/status"
}
start_managed() { # KILLS MS
        ASAN_OPTIONS=detect_leaks=0 "$top_builddir/tests/system/service-manager" -k "$1" -m "$2" \
                -f "$work/status" "$top_builddir/ftraced" --store "$store" \
                --socket "$FTRACED_SOCKET" --tracefs "$work/tracefs" >"$work/manager.log" 2>&1 &
        ftraced_pid=$!
        wait_until 20 ftracectl status
}
ok 'the daemon starts as a service' start_managed 0 1
exits 'a session starts in it' 0 ftracectl start -n held udp_sendmsg
is 'the manager holds two descriptors of each CPU' "$(status held)" 4
feed 0 2
ok 'its pages arrive' wait_until 10 has_pages held 2
before=$(status pid)
kill -USR1 "$ftraced_pid"
is_anew() {
        [[ $(status pid) != "$before" && $(status ready) == 1 ]]
}
ok 'the service is started anew' wait_until 10 is_anew
is 'the session goes on' "$(session held .state)" recording
is 'the manager holds the same descriptors' "$(status held)" 4
for ((i = 2; i < n_pages && i < 60; i++)); do
        feed "$i" 1
        if ((i % 3 == 0)); then
                kill -KILL "$(status pid)" 2>/dev/null
        fi
done
ok 'all its pages arrive' wait_until 20 has_pages held "$i"
exits 'it is stopped in the end' 0 ftracectl stop held
is_whole 'no page was lost by the kills, and none is there twice' held "$i"
is 'nothing is said to be missing' "$(gaps_of held)" 0
is 'no page is counted as lost' "$(sum_of held pages_lost)" 0
is 'the manager holds nothing any more' "$(status held)" 0
exits 'a session starts whose store will be emptied' 0 ftracectl start -n emptied udp_sendmsg
dump "$work/tracefs.armed"
find "$store" -mindepth 1 -delete
exits 'a second daemon does not begin in its place' 1 timeout 100 "$top_builddir/ftraced" --store "$store" \
        --socket "$work/socket-too" --tracefs "$work/tracefs"
says 'it says who owns the store' "pid $(status pid)\\) owns the store"
find "$store" -mindepth 1 -delete
before=$(status pid)
[[ $before -le 1 ]] || kill -KILL "$before"
ok 'the service is started anew on an empty store' wait_until 10 is_anew
is 'the manager holds nothing of the session' "$(status held)" 0
dump "$work/tracefs.after"
ok 'all of tracefs is as it was before the session' diff "$work/tracefs.before" "$work/tracefs.after"
exits 'one more session starts' 0 ftracectl start -n last udp_sendmsg
ok 'the service ends' stop_ftraced
is 'its session is sealed' "$(jq -r .state "$store/sessions/last/session.json")" sealed
is 'the tracer is off at last' "$(tracer)" nop

done_testing
