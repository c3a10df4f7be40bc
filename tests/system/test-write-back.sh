#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it waits for disks
#
# A disk that takes pages and fails to write them: the session is degraded as long as it lasts, what was
# not written is a gap with its cause at once, and what is told as kept at the end is on the disk.
. "$(dirname "$0")/../functions.sh"
requires jq

preload=$top_builddir/tests/system/fault.so
[[ -e $preload ]] || skip "$preload is not built"
export FAULT_DIR=$work/store FAULT_FILE=$work/fault

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
raw=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
printf '[Store]\nMaxUse=0\nKeepFree=0\n' >"$work/ftraced.conf"
export FTRACED_CONFIG=$work/ftraced.conf

disk() { # good|s5|w1|...
        if [[ $1 == good ]]; then
                rm -f "$FAULT_FILE"
        else
                echo "$1" >"$FAULT_FILE"
        fi
}
feed() { # PAGES
        local i

        for ((i = 0; i < $1; i++)); do
                printf '%08d%4088s' "$i" '' >"$work/page"
                timeout 100 dd if="$work/page" of="$raw" bs=4096 conv=notrunc status=none || return
        done
}
has_pages() { # NAME PAGES
        [[ $(sum_of "$1" n_pages) == "$2" ]]
}
is_degraded() { # NAME CAUSE
        [[ $(session "$1" '[.degraded[].cause] | join(" ")') == "$2" ]]
}
begin() { # NAME PAGES [OPTION...]
        local name=$1 n=$2

        shift 2
        exits "$name: it starts" 0 ftracectl start -n "$name" "$@" udp_sendmsg
        feed "$n"
        ok "$name: its pages are stored" wait_until 10 has_pages "$name" "$n"
}

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"

# --- at the end -----------------------------------------------------------------------------------

begin well 4
exits 'on a good disk it stops' 0 ftracectl stop well
says 'with nothing lost' 'nothing lost' "$out"
is 'and nothing to be written' "$(session well '.pages_unsynced // 0')" 0

begin lost 5
disk s5
SECONDS=0
exits 'where nothing is written back a stop ends, and says that it is incomplete' 6 \
        timeout 100 "$top_builddir/ftracectl" stop lost
[[ ! ${FTRACED_LONG:-} ]] || ok 'in 10 s, for nothing is tried again' test "$SECONDS" -lt 10
says 'and what is lost' '5 pages lost' "$out"
disk good
is 'the account says it' "$(sum_of lost pages_lost) $(sum_of lost n_pages)" '5 0'
is 'a gap has the cause' "$(session lost '[.gaps[] | select(.pages) | "\(.cause) \(.cpu) \(.pages)"] | join(" ")')" \
        'not_written 0 5'
exits 'list works' 0 ftracectl list --no-legend
says 'list says it' 'lost .* 5 pages' "$out"
exits 'show works' 0 ftracectl show lost
says 'show says why' 'CPU 0: 5 pages lost .*failed to write pages that it had taken' "$out"
exits 'verify says that it is incomplete' 6 ftracectl verify lost
says 'verify says why' 'CPU 0: 5 pages lost .*failed to write pages that it had taken' "$out"
is 'session.json says it' "$(jq '.cpus[0].pages_lost' "$store/sessions/lost/session.json")" 5

begin ring 5 --ring --max-size=1M
disk s5
exits 'a ring tells it as well' 6 timeout 100 "$top_builddir/ftracectl" stop ring
disk good
accounts_agree ring
is 'all of its pages' "$(sum_of ring pages_lost)" 5

# --- a snapshot -----------------------------------------------------------------------------------

begin source 4 --ring --max-size=1M
disk w1
"$top_builddir/ftracectl" snapshot source >"$work/name" 2>"$work/name.err" </dev/null &
asking=$!
ok 'a snapshot is written down before it is synced' wait_until 10 \
        eval '[[ $(jq .pages_unsynced "$store/sessions/source-snap-1/session.json") == 4 ]]'
is 'whoever asked for it is not told yet' "$(cat "$work/name")" ''
is 'nobody is' "$(grep -c "kept as" "$work/ftraced.log")" 0
exits 'meanwhile the daemon answers' 0 ftracectl status
is 'and the session goes on' "$(session source .state)" recording
disk good
ok 'when it is on the disk it is told' wait "$asking"
is 'with its name' "$(cat "$work/name")" source-snap-1
ok 'to all' grep -q '"source": kept as "source-snap-1"' "$work/ftraced.log"
is 'session.json says it' "$(jq '.pages_unsynced // 0' "$store/sessions/source-snap-1/session.json")" 0
accounts_agree source-snap-1
feed 2
disk s5
exits 'one that cannot be written is told as incomplete' 6 timeout 100 "$top_builddir/ftracectl" snapshot source
says 'with what is lost' 'source-snap-2: 6 pages lost' "$err"
disk good
accounts_agree source-snap-2
exits 'the ring itself stops' 0 ftracectl stop source

# --- while it records -----------------------------------------------------------------------------

begin passes 3 --set=SegmentTime=1s
disk s5
feed 2
ok 'a session whose disk fails is degraded' wait_until 20 is_degraded passes not_written
exits 'status works' 0 ftracectl status
says 'and says why' 'writing back what was stored failed: Input/output error' "$out"
ok 'the journal says it' grep -q "\"passes\" is degraded: writing back what was stored failed" "$work/ftraced.log"
ok 'pages are lost' test "$(sum_of passes pages_lost)" -ge 2
is 'a gap has the cause at once' "$(session passes '[.gaps[] | select(.pages) | .cause] | unique | join(" ")')" \
        not_written
ok 'and session.json has it' wait_until 10 \
        eval '[[ $(jq "[.gaps[].pages] | add" "$store/sessions/passes/session.json") == $(sum_of passes pages_lost) ]]'
disk good
feed 2
ok 'when the next pages are written it is well again' wait_until 40 is_degraded passes ''
exits 'it stops, and is incomplete' 6 ftracectl stop passes
lost=$(sum_of passes pages_lost)
says 'as it says' "$lost pages lost" "$out"
is 'all others are there' "$(sum_of passes n_pages)" $((7 - lost))
ok 'what came later among them' test "$lost" -le 5

# --- not yet --------------------------------------------------------------------------------------

begin slow 3
disk w1
SECONDS=0
exits 'a stop does not wait for ever' 6 timeout 100 "$top_builddir/ftracectl" stop slow
says 'and says what is not on the disk yet' '3 pages not on the disk yet' "$out"
note "the stop took $SECONDS s"
exits 'meanwhile the daemon answers' 0 ftracectl status
is 'nothing is said to be lost' "$(sum_of slow pages_lost)" 0
disk good
ok 'when it is, that is told' wait_until 10 eval '[[ $(session slow ".pages_unsynced // 0") == 0 ]]'
ok 'and written down' wait_until 10 \
        eval '[[ $(jq ".pages_unsynced // 0" "$store/sessions/slow/session.json") == 0 ]]'

begin round 3 --ring --max-size=1M
disk w1
exits 'nor that of a ring' 6 timeout 100 "$top_builddir/ftracectl" stop round
says 'and says what is not on the disk yet' '3 pages not on the disk yet' "$out"
disk good
ok 'when it is, that is told' wait_until 10 eval '[[ $(session round ".pages_unsynced // 0") == 0 ]]'

begin behind 3
disk w1
ftracectl stop behind >/dev/null 2>&1 &
asking=$!
is_written_down() { # NAME STATE PAGES
        [[ $(jq -r '"\(.state) \(.pages_unsynced)"' "$store/sessions/$1/session.json") == "$2 $3" ]]
}
ok 'while the disk takes one that has ended' wait_until 10 is_written_down behind sealed 3
exits 'another begins' 0 ftracectl start -n beside udp_sendmsg
ok 'which is not written down as if the first still recorded' is_written_down behind sealed 3
is 'nor beside it' "$(jq -c .neighbours "$store/sessions/behind/session.json")" '[]'
disk good
wait "$asking"
exits 'both are listed' 0 ftracectl list --json
is 'as they are' "$(jq -r '.[] | select(.name == "behind" or .name == "beside") | "\(.name) \(.state)"' "$out" | sort | paste -sd' ')" \
        'behind sealed beside recording'
exits 'the first is shown' 0 ftracectl show behind
exits 'the other one ends' 0 ftracectl stop beside

begin killed 3
disk w1
ftracectl stop killed >/dev/null 2>&1 &
ok 'one that ends is written down before it is synced' wait_until 10 is_written_down killed sealed 3
kill -KILL "$ftraced_pid"
wait
disk good
ok 'the next daemon starts' start_ftraced --tracefs "$work/tracefs"
ok 'and syncs what the last one had not' wait_until 10 eval '[[ $(session killed ".pages_unsynced // 0") == 0 ]]'
for name in well lost ring passes slow killed; do
        accounts_agree "$name"
done
ok 'the daemon ends in peace' stop_ftraced
done_testing
