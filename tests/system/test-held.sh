#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What was removed takes nothing of the disk, also while a member of the group has it open.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/member.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
pipe=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
data=$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg
printf '%s\n[Members]\nMaxDurationSec=0\n' "$no_limits" >"$FTRACED_CONFIG"
as_member() { # VERB [WORD...]
        member "$top_builddir/ftracectl" "$@"
}
has() { # SESSION N: pages, dropped ones too
        [[ $(($(sum_of "$1" n_pages) + $(sum_of "$1" pages_dropped))) -ge $2 ]]
}
noise() { # N: pages
        timeout 100 python3 -c 'import os, struct, sys
for i in range(int(sys.argv[1])):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 4080) + os.urandom(4080))' "$1" >"$pipe"
}
events() { # N: times the pages of a recording
        local i

        for ((i = 0; i < $1; i++)); do
                timeout 100 dd if="$data" bs=4096 skip=1 of="$pipe" conv=notrunc status=none || return 1
        done
}
pages_of_data=$(($(stat -c %s "$data") / 4096 - 1))

# --- a member who opens, maps and keeps whatever there is -----------------------------------------

holder=
hold() {
        coproc HOLDER { exec_member "$python" -c "$(<"$(dirname "$0")/holder.py")" "$store" 2>"$work/holder.err"; }
        holder=$HOLDER_PID
}
let_go() {
        [[ -n $holder ]] || return 0
        kill "$holder" 2>/dev/null
        wait "$holder" 2>/dev/null
        holder=
}
cleanup_fn let_go
n_held=0 held_bytes=0 held_last=-
ask() {
        sleep 0.05
        echo >&"${HOLDER[1]}" && read -rt 20 n_held held_bytes held_last <&"${HOLDER[0]}"
}
freed() {
        ask && ((held_bytes == 0))
}
holds_nothing() { # DESCRIPTION N: of that many files at least, or it would prove nothing
        ok "$1: a member has what was removed" wait_until 10 eval "ask && ((n_held >= $2))"
        ok "$1: it takes nothing ($n_held files)" wait_until 10 freed
        ((held_bytes == 0)) || note "$held_bytes bytes, of $held_last and others"
}

ok 'a daemon starts' daemon
hold
exits 'a member has a ring' 0 as_member start -n ring --ring --max-size=512K --segment-size=64K udp_sendmsg
noise 1000
ok 'which stores' wait_until 20 has ring 1000
exits 'and is stopped' 0 as_member stop ring
holds_nothing 'what a ring dropped and what was sealed' 20
before=$n_held
exits 'the ring is removed' 0 as_member remove ring
holds_nothing 'a session, with its files and its symbols' $((before + 5))
for ((i = 0; i < 10; i++)); do
        as_member start -n small --ring --max-size=512K udp_sendmsg >/dev/null 2>&1
        noise 40
        wait_until 10 has small 40
        as_member snapshot small >/dev/null 2>&1
        as_member pin small >/dev/null 2>&1 && as_member unpin small >/dev/null 2>&1
        as_member stop small >/dev/null 2>&1
        sleep 0.1
        mapfile -t names < <(ftracectl list --json | jq -r '.[].name')
        as_member remove "${names[@]}" >/dev/null 2>"$err" || fail "they are removed: $(<"$err")"
done
holds_nothing 'ten of them, with snapshots that share their segments' $((before + 100))
exits 'a session is to stay' 0 as_member start -n kept --ring --max-size=512K --segment-size=64K udp_sendmsg
events 1
ok 'it stores' wait_until 10 has kept $pages_of_data
exits 'a snapshot is kept' 0 as_member snapshot kept
noise 500
ok 'the ring drops what the snapshot has' wait_until 20 has kept $((pages_of_data + 500))
exits 'which has all of it' 0 ftracectl verify --deep kept-snap-1
exits 'and is drawn' 0 as_member report kept-snap-1
ok 'with its calls' test "$(grep -c '()' "$out")" -gt 1000
exits 'it is stopped' 0 as_member stop kept
holds_nothing 'what the snapshot does not have' $((before + 100))

# --- a daemon that is killed while it removes -----------------------------------------------------

for ((i = 0; i < 30; i++)); do
        ftracectl start -n "many-$i" udp_sendmsg >/dev/null 2>&1
        noise 40
        wait_until 10 has "many-$i" 40
        ftracectl stop "many-$i" >/dev/null 2>&1
done
mapfile -t names < <(ftracectl list --json | jq -r '.[].name | select(startswith("many"))')
all_sealed() {
        ftracectl list --json | jq -e 'all(.state == "sealed")' >/dev/null
}
ok 'all of them are sealed' wait_until 20 all_sealed
timeout 100 "$top_builddir/ftracectl" remove "${names[@]}" >/dev/null 2>&1 &
remover=$!
wait_until 60 eval 'compgen -G "$store/sessions/.removed-many*" || ! kill -0 $remover'
kill_ftraced
wait $remover
ok 'another daemon starts after one that was killed' daemon
mapfile -t names < <(ftracectl list --json | jq -r '.[].name | select(startswith("many"))')
[[ ${#names[@]} == 0 ]] || ftracectl remove "${names[@]}" >/dev/null 2>&1
holds_nothing 'what one that was killed had begun to remove' $((before + 100))
nothing_hidden() {
        not compgen -G "$store/sessions/.removed-*"
}
ok 'nothing is left of it' wait_until 20 nothing_hidden
let_go
ok 'the daemon ends in peace' stop_ftraced

# --- who reads ------------------------------------------------------------------------------------

# A reader that stands still in the middle, for a pipe takes no more.
stand() { # SESSION
        rm -f "$work/reader.status"
        exec 7< <(as_member report "$1" 2>"$work/reader.err"; echo "status $?" >"$work/reader.status")
        IFS= read -ru 7 _
        IFS= read -ru 7 _
        sleep 0.5
}
go_on() { # DESCRIPTION
        cat <&7 >"$work/reader.out"
        exec 7<&-
        wait_until 10 grep -q status "$work/reader.status"
        is "$1: the reader ends by itself" "$(grep -cE 'status (0|1|6)$' "$work/reader.status")" 1
        ok "$1: and calls nothing damaged" not grep -iE 'damage|corrupt|torn|not a segment' "$work/reader.err"
}
ok 'a daemon starts' daemon
exits 'a session is recorded' 0 ftracectl start -n read udp_sendmsg
events 20
ok 'it stores' wait_until 20 has read $((20 * pages_of_data))
stand read
exits 'it is stopped while somebody reads it' 0 ftracectl stop read
exits 'and sealed' 0 ftracectl seal read
go_on 'sealed'
is 'all of it is drawn' "$(grep -c . "$work/reader.out")" "$(($(as_member report read 2>/dev/null | grep -c .) - 2))"
exits 'another is recorded' 0 ftracectl start -n gone --ring --max-size=4M --segment-size=64K udp_sendmsg
events 10
ok 'it stores' wait_until 20 has gone $((10 * pages_of_data))
stand gone
noise 3000
ok 'a ring drops what somebody reads' wait_until 30 has gone $((10 * pages_of_data + 3000))
go_on 'dropped'
says 'it is told' 'removed while it was read' "$work/reader.err"
exits 'it is stopped' 0 ftracectl stop gone
exits 'a third is recorded' 0 ftracectl start -n removed --segment-size=64K udp_sendmsg
events 10
ok 'it stores' wait_until 20 has removed $((10 * pages_of_data))
exits 'it is stopped' 0 ftracectl stop removed
stand removed
exits 'and removed while somebody reads it' 0 ftracectl remove removed
go_on 'removed'
ok 'the daemon ends in peace' stop_ftraced
done_testing
