#!/bin/bash
# Touches: a fake tracefs, a store, and unit files below a directory, all of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Schedules without systemd: the files that are written for it, and the captures that it would start.
# Only here: the units that are written, the log of captures, and every way in which one ends.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
root=$work/root units=$work/root/etc/systemd/system
mkdir -p "$units" "$root/usr/local/lib/ftraced/profiles.d" "$work/captures"
export STATE_DIRECTORY=$work/captures
captures() { # NAME FILTER: of its log
        jq -r "$2" "$work/captures/$1.json"
}
kept() {
        ftracectl list --json | jq -r '[.[].name | select(startswith("s-"))] | sort | join(" ")'
}
capture() { # OPTION...: of schedule s
        ftracectl schedule capture s --duration=50ms "$@"
}

# --- what is written ----------------------------------------------------------------------------

requires_calendar=
command -v systemd-analyze >/dev/null || requires_calendar='systemd-analyze is not installed'
schedule() {
        ftracectl schedule "$@" --config-root="$root"
}
if [[ -z $requires_calendar ]]; then
        exits 'a schedule is added' 0 schedule add nightly --calendar='Mon..Fri 02:00' --duration=30s --keep=14 \
                --event='sched:sched_switch:prev_comm == "a$b%c"' udp_sendmsg 'tcp_*'
        drop_in=$units/ftraced-capture@nightly.timer.d/50-ftracectl.conf
        ok 'the timer has its time' grep -qx 'OnCalendar=Mon..Fri 02:00' "$drop_in"
        drop_in=$units/ftraced-capture@nightly.service.d/50-ftracectl.conf
        says 'the service has the command, quoted as systemd wants it' \
                'schedule capture nightly --socket=[^ ]* --keep=14 --duration=30s "--event=sched:sched_switch:prev_comm == ..a\$\$b%%c.."' "$drop_in"
        says 'and the functions behind --' ' -- udp_sendmsg tcp_\*$' "$drop_in"
        exits 'it is listed' 0 schedule list
        says 'with what it keeps' '^nightly +off .* 0 of 14$' "$out"
        exits 'as JSON too' 0 schedule list --json
        conforms 'of its type' '[]Schedule'
        is 'with its calendar' "$(jq -r '.[0].calendar' "$out")" 'Mon..Fri 02:00'
        exits 'without headings' 0 schedule list --no-legend
        is 'a line is left' "$(wc -l <"$out")" 1
        exits 'one of that name is there already' 1 schedule add nightly --calendar=daily --duration=1s udp_sendmsg
        exits 'it is removed' 0 schedule remove nightly
        is 'and leaves nothing' "$(find "$units" -type f)" ''
        exits 'a time that is none is refused' 2 schedule add x --calendar='Mon..Foo' --duration=1s udp_sendmsg
        says 'with the value' '"Mon..Foo" is not a time'
        exits 'one that has passed is refused' 2 schedule add x --calendar='2001-01-01' --duration=1s udp_sendmsg
        exits 'a recording without an end is refused' 2 schedule add x --calendar=daily udp_sendmsg
        says 'with the way out' '--duration'
        exits 'a ring has no end either' 2 schedule add x --calendar=daily --ring --max-size=1G udp_sendmsg
        printf '[Profile]\nFunctions=udp_sendmsg\nDuration=1s\nWait=30s\n' >"$root/usr/local/lib/ftraced/profiles.d/mine.conf"
        exits 'a profile may have the end' 0 schedule add p --calendar=daily --profile=mine
        exits 'one that is not there is refused' 3 schedule add x --calendar=daily --profile=mime
        says 'and the nearest named' 'Did you mean "mine"'
        is 'nothing was written for what was refused' "$(cd "$units" && echo *)" 'ftraced-capture@p.service.d ftraced-capture@p.timer.d'
        exits 'start --at refuses it in the same words' 2 ftracectl start --at='Mon..Foo' --duration=1s udp_sendmsg
fi
exits 'a timer of a moment that has passed would never fire' 2 ftracectl start --at=@1000 --wait --duration=1s udp_sendmsg
says 'so another one is wanted' 'name a later moment'
exits 'what is no action is refused' 2 ftracectl schedule ad x
exits 'a name is wanted' 2 ftracectl schedule remove
exits 'one that is not there is not found' 3 schedule remove nothing

# --- captures -----------------------------------------------------------------------------------

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs" --config-root="$root"
# The list, whose schedule s has a last capture with this RESULT.
lists_last() { # RESULT
        [[ -z $requires_calendar ]] || return 0
        exits "its schedule is listed as $1" 0 schedule list --json
        conforms 'which is its type' '[]Schedule'
        is 'with that as the last result' "$(jq -r '.[] | select(.name == "s") | .last.result' "$out")" "$1"
        exits 'as a table, too' 0 schedule list
}
[[ -n $requires_calendar ]] || exits 'a schedule of that name is added' 0 schedule add s --calendar=daily --duration=50ms udp_sendmsg
exits 'a capture records and ends' 0 capture --keep=2 udp_sendmsg
lists_last sealed
is 'its session has the schedule'"'"'s name' "$(kept)" s-1
is 'the log says so' "$(captures s '.captures[0] | [.session, .result] | join(" ")')" 's-1 sealed'
exits 'a stranger in our names' 0 ftracectl start -n s-2 --duration=300ms udp_sendmsg
exits 'the next one waits for who is there' 0 capture --keep=2 --wait udp_sendmsg
exits 'so does a third' 0 capture --keep=2 --wait udp_sendmsg
is 'the oldest was removed, and no stranger' "$(kept)" 's-2 s-3 s-4'
exits 'one more' 0 capture --keep=2 udp_sendmsg
is 'keeps two' "$(kept)" 's-2 s-4 s-5'
ftracectl pin --quiet s-4
exits 'one more' 0 capture --keep=1 udp_sendmsg
is 'a pinned one stays' "$(kept)" 's-2 s-4 s-6'

printf '[Profile]\nFunctions=udp_sendmsg\nDuration=50ms\nSample=0.0001%%\n' >"$root/usr/local/lib/ftraced/profiles.d/rare.conf"
printf '[Profile]\nFunctions=udp_sendmsg\nDuration=50ms\nSample=100%%\n' >"$root/usr/local/lib/ftraced/profiles.d/each.conf"
if [[ -r /etc/machine-id && -s /etc/machine-id ]]; then
        # One host in a million may fail here, for a day.
        exits 'a host that is not in the sample succeeds' 0 ftracectl schedule capture rare --profile=rare --config-root="$root"
        says 'and says so' 'not among the 0.0001% that record today'
        is 'the log has it' "$(captures rare '.captures[0] | [.result, .reason] | join(" ")')" 'skipped this host is not in the sample today'
        exits 'one that is in it records' 0 ftracectl schedule capture each --profile=each --config-root="$root"
        is 'and says what share it is of' "$(ftracectl show each-1 --json | jq .spec.sample_ppm)" 1000000
        exits 'it is shown' 0 ftracectl show each-1
        says 'with that' 'Sample: 100% of the hosts record it; this host represents 1$' "$out"
        exits 'by hand it stands for itself' 0 ftracectl start -n alone --profile=rare --duration=50ms
        is 'and for nobody else' "$(ftracectl show alone --json | jq '.spec.sample_ppm // 0')" 0
        ok 'it ends' wait_until 20 not ftracectl stop alone
        ok 'and goes' ftracectl remove alone each-1
fi

exits 'somebody else records' 0 ftracectl start -n holder udp_recvmsg
exits 'a capture is skipped' 5 capture udp_sendmsg
is 'which the log has' "$(captures s '.captures[-1] | .result + ": " + .reason')" 'skipped: another recording used the tracer'
lists_last skipped
exits 'one of what cannot be traced fails' 3 capture no_such_function
lists_last failed
says 'and where the reason is' '^s .* failed: it could not begin; its journal says why' "$out"
printf '[Profile]\nFunctions=udp_sendmsg\nDuration=50ms\nWait=infinity\n' >"$root/usr/local/lib/ftraced/profiles.d/patient.conf"
ftracectl schedule capture s --config-root="$root" --profile=patient >/dev/null 2>"$work/patient.err" &
patient=$!
ok 'as the profile says it waits' wait_until 10 grep -q '^Waiting: .*session holder ' "$work/patient.err"
exits 'until the other one ends' 0 ftracectl stop holder
ok 'and then records' wait "$patient"
is 'in the log, too' "$(captures s '.captures[-1].result')" sealed
exits 'six were enough for a day' 7 capture --max-captures=6/day udp_sendmsg
says 'it says so' '6 times in 24 hours'
exits 'seven would do' 0 capture --max-captures=8/day udp_sendmsg

# --- nobody is needed for the end ---------------------------------------------------------------

records() {
        [[ $(session "$1" .state) == recording ]]
}
ended() {
        [[ $(session "$1" .state) == sealed ]]
}
name=s-$(captures s .next)
ftracectl schedule capture s --duration=5s udp_sendmsg >/dev/null 2>&1 &
pid=$!
ok 'a capture records' wait_until 10 records "$name"
kill_ftraced
ok 'another daemon comes' start_ftraced --tracefs "$work/tracefs" --config-root="$root"
wait "$pid"
ok 'the capture ended in time' ended "$name"
is 'and its client, which found the other daemon, has it in the log' "$(captures s '.captures[-1].session')" "$name"
name=s-$(captures s .next)
ftracectl schedule capture s --duration=5s udp_sendmsg >/dev/null 2>&1 &
pid=$!
ok 'a capture records' wait_until 10 records "$name"
kill -KILL "$(pgrep -P "$pid" || echo "$pid")"
wait "$pid" 2>/dev/null
ok 'it ends without its client' wait_until 10 ended "$name"
name=s-$(captures s .next)
"$top_builddir/ftracectl" schedule capture s --duration=1h udp_sendmsg >/dev/null 2>&1 &
pid=$!
ok 'a long one records' wait_until 10 records "$name"
kill -TERM "$pid"
wait "$pid"
ok 'who ends its unit ends it' ended "$name"
is 'and the log has it' "$(captures s '.captures[-1].result')" sealed

# A capture that cannot be read any more has no end of its own to go by, and is told.
truncate -s 200 "$store/sessions/$name/session.json"
exits 'one is damaged' 0 ftracectl show "$name"
exits 'others go on' 0 capture --keep=1 udp_sendmsg
exits 'and once more' 0 capture --keep=1 udp_sendmsg
ok 'it is still there' test -e "$store/sessions/$name"
exits 'the list is not whole' 6 ftracectl list
says 'and says why' "session \"$name\" is damaged"
ok 'the daemon ends in peace' stop_ftraced
is 'no tracer is left' "$(<"$work/tracefs/current_tracer")" nop
done_testing
