#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each error of a disk at every step
#
# A disk that is full, over quota, read-only or dead: the daemon answers, says what is wrong and since
# when, stores what waited as soon as it can, and ends in bounded time where it never can.
# Only here: each error of a disk (full, over quota, dead, read-only) at every step of a start, and which pages are
# stored then.
. "$(dirname "$0")/../functions.sh"
requires jq

preload=$top_builddir/tests/system/fault.so
[[ -e $preload ]] || skip "$preload is not built"
declare -A errnos=([ENOSPC]=28 [EDQUOT]=122 [EIO]=5 [EROFS]=30)
declare -A causes=([ENOSPC]=no_space [EDQUOT]=no_space [EIO]=disk_failed [EROFS]=disk_failed)
declare -A words=([ENOSPC]='No space left' [EDQUOT]='quota exceeded' [EIO]='Input/output error'
        [EROFS]='Read-only file system')
declare -A ways=([ENOSPC]='its file system has no room' [EDQUOT]='the quota of' [EIO]='its disk has an error'
        [EROFS]='.* mount it read-write')
export FAULT_DIR=$work/store FAULT_FILE=$work/fault

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
raw=$work/tracefs/per_cpu/cpu0/trace_pipe_raw

# Nothing goes but by what is tried here.
printf '[Store]\nMaxUse=0\nKeepFree=0\n' >"$work/ftraced.conf"
export FTRACED_CONFIG=$work/ftraced.conf

disk() { # good|ENOSPC|...
        if [[ $1 == good ]]; then
                rm -f "$FAULT_FILE"
        else
                echo "${errnos[$1]}" >"$FAULT_FILE"
        fi
}
page=0
feed() { # PAGES: each holds its number
        local i

        for ((i = 0; i < $1; i++)); do
                printf '%08d%4088s' $page '' >"$work/page"
                timeout 100 dd if="$work/page" of="$raw" bs=4096 conv=notrunc status=none || return
                page=$((page + 1))
        done
}
is_degraded() { # NAME CAUSE
        [[ $(session "$1" '.degraded[].cause') == "$2" ]]
}
pages_in() { # NAME: the numbers of all pages in the store, in order
        local segment

        for segment in "$store/sessions/$1"/cpu0/*.seg; do
                tail -c +4097 "$segment" | fold -b -w 4096 | cut -c1-8
        done
}

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
for error in ENOSPC EDQUOT EIO EROFS; do
        page=0
        exits "$error: a session starts" 0 ftracectl start -n "s-$error" udp_sendmsg
        feed 4
        ok "$error: pages are stored" wait_until 10 eval "[[ \$(sum_of s-$error n_pages) == 4 ]]"
        disk "$error"
        feed 4
        ok "$error: the session is degraded, with its cause" wait_until 10 is_degraded "s-$error" "${causes[$error]}"
        is "$error: it goes on recording" "$(session "s-$error" .state)" recording
        is "$error: nothing is missing yet" "$(session "s-$error" '.gaps | length')" 0
        exits "$error: show works" 0 ftracectl show "s-$error"
        says "$error: show says why and what to do" "Degraded: since .*${words[$error]}.*$store; ${ways[$error]}" "$out"
        exits "$error: list works" 0 ftracectl list --no-legend
        says "$error: list says it" "s-$error +degraded" "$out"
        exits "$error: status works" 0 ftracectl status
        says "$error: status says why" "${words[$error]}" "$out"
        exits "$error: another session is refused" 5 ftracectl start udp_recvmsg
        disk good
        ok "$error: what waited is stored when the disk is good again" \
                wait_until 10 eval "[[ \$(sum_of s-$error n_pages) == 8 ]]"
        ok "$error: then all is well" wait_until 10 is_degraded "s-$error" ''
        exits "$error: it stops" 0 ftracectl stop "s-$error"
        is "$error: every page is there once, in order" "$(pages_in "s-$error" | tr '\n' ' ')" \
                "$(seq -f %08g 0 7 | tr '\n' ' ')"
        is "$error: no page is lost" "$(session "s-$error" '[.cpus[].pages_lost] | add')" 0
done

page=0
exits 'a session that stops where the disk refuses starts' 0 ftracectl start -n ends --set=OnFull=stop udp_sendmsg
feed 4
ok 'its pages are stored' wait_until 10 eval '[[ $(sum_of ends n_pages) == 4 ]]'
disk ENOSPC
feed 1
ok 'it ends by itself' wait_until 30 eval '[[ $(session ends .state) == sealed ]]'
disk good
session ends .reason >"$out"
says 'it says why' 'OnFull=stop' "$out"
ok 'its session.json says so when it can' wait_until 10 \
        eval '[[ $(jq -r .state "$store/sessions/ends/session.json") == sealed ]]'
is 'what it had stored is intact' "$(pages_in ends | head -4 | tr '\n' ' ')" "$(seq -f %08g 0 3 | tr '\n' ' ')"
is 'what it could not store is counted' "$(sum_of ends pages_lost)" 1
is 'and placed, with its cause' "$(session ends '.gaps[] | "\(.cause) \(.cpu) \(.pages)"')" 'no_space 0 1'
exits 'verify says that it is incomplete' 6 ftracectl verify ends
says 'verify says where' 'CPU 0: 1 page .*disk was full' "$out"

page=0
exits 'a session starts on a disk that will die' 0 ftracectl start -n dead udp_sendmsg
feed 2
ok 'its first pages are stored' wait_until 10 eval '[[ $(sum_of dead n_pages) == 2 ]]'
disk EIO
feed 3
ok 'it is degraded' wait_until 10 is_degraded dead disk_failed
SECONDS=0
exits 'a stop on a dead disk ends in bounded time, and says that it is incomplete' 6 timeout 100 "$top_builddir/ftracectl" stop dead
[[ ! ${FTRACED_LONG:-} ]] || ok 'in 20 s, where nothing else is to do' test "$SECONDS" -lt 20
is 'what is lost is counted' "$(sum_of dead pages_lost)" 3
is 'and placed' "$(session dead '.gaps[] | "\(.cause) \(.pages)"')" 'disk_failed 3'
for name in s-ENOSPC s-EIO ends dead; do accounts_agree "$name"; done
disk good
ok 'session.json is written when the disk is back' wait_until 10 \
        eval '[[ $(jq -r .state "$store/sessions/dead/session.json") != draining ]]'
ok 'no half-written file is left' eval '! find "$store" -name "*.new" | grep .'
ok 'the daemon ends in peace' stop_ftraced

# --- a start, wherever on its way it meets the disk -------------------------------------------------

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
declare -A steps=([ENOSPC]=1 [EDQUOT]=7 [EIO]=5 [EROFS]=3)
for error in ENOSPC EDQUOT EIO EROFS; do
        n_met=0 n_other=0
        for ((passed = 0; passed < 80; passed += steps[$error])); do
                echo "${errnos[$error]} $passed $error" >"$FAULT_FILE"
                ftracectl start -n met udp_sendmsg >"$out" 2>"$err" && break
                n_met=$((n_met + 1))
                if ! grep -q "$store failed: .*${words[$error]}" "$err" || grep -qF "$work/tracefs" "$err"; then
                        n_other=$((n_other + 1))
                        note "after $passed: $(cat "$err")"
                fi
                disk good
                ftracectl list --no-legend >"$out"
                [[ ! -s $out ]] || grep -q '^met ' "$out" && n_other=$((n_other + 1))
        done
        ok "$error: a start met it in more places than one ($n_met)" test "$n_met" -gt 2
        is "$error: each time the store is named, and nothing is left" "$n_other" 0
        disk good
        ftracectl stop met >/dev/null 2>&1
        wait_until 20 ftracectl remove met 2>/dev/null
done
says 'the way out is said' 'mount it read-write' "$work/ftraced.log"
ok 'the daemon ends in peace' stop_ftraced
done_testing
