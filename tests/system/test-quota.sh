#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whatever makes a session, those of a member never take more of the disk than [Members] allows him.
. "$(dirname "$0")/../functions.sh"
requires jq python3 setpriv
[[ $(id -u) == 0 ]] || skip 'needs root, to be somebody else'

pipe=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
chmod 711 "$work"
config() { # STORE MEMBERS: of the two sections
        printf '%s\n[Members]\nMaxDurationSec=0\n%s\n' "${no_limits/KeepFree=0/KeepFree=0$'\n'$1}" "$2" >"$FTRACED_CONFIG"
}
begin() { # STORE MEMBERS: a daemon, and a store that nothing is in
        rm -rf "$store"
        config "$1" "$2"
        ok "a daemon starts ($1 ${2//$'\n'/ })" start_ftraced --tracefs "$work/tracefs"
        chgrp 64999 "$FTRACED_SOCKET"
        chmod 660 "$FTRACED_SOCKET"
}
member() {
        setpriv --reuid=64998 --regid=64998 --groups=64999 "$top_builddir/ftracectl" "$@"
}
patience=60
feed() { # N: pages of noise; what makes them may take longer to begin than anybody waits for a reader
        [[ -e $work/noise-$1 ]] || python3 -c 'import os, struct, sys
for i in range(int(sys.argv[1])):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 4080) + os.urandom(4080))' "$1" >"$work/noise-$1"
        timeout $patience dd if="$work/noise-$1" bs=4096 of="$pipe" conv=notrunc status=none
}
has() { # SESSION N: pages, dropped ones too
        [[ $(($(sum_of "$1" n_pages) + $(sum_of "$1" pages_dropped))) == "$2" ]]
}
# What is there with every file and directory, and what is linked twice counted twice; but the room that
# a recording keeps for its end.
used() {
        find "$store/sessions" -mindepth 1 ! -name reserve -printf '%b\n' | awk '{ n += $1 > 8 ? $1 : 8 } END { print n * 512 + 0 }'
}
n_sessions() {
        find "$store/sessions" -mindepth 1 -maxdepth 1 | wc -l
}
has_sessions() { # N: at least
        (($(n_sessions) >= $1))
}
within() { # DESCRIPTION LIMIT: some time, for a file that is being sealed by whom no CPU is left is there twice
        wait_until 60 eval "((\$(used) <= $2))"
        ok "$1 ($(used) of $2, $(n_sessions) sessions)" test "$(used)" -le "$2"
}
repeat() { # N COMMAND...: how often it succeeded; what it said last in $err
        local i n=0

        for ((i = 0; i < $1; i++)); do
                "${@:2}" >/dev/null 2>"$err" </dev/null && n=$((n + 1))
        done
        times=$n
}

serial=0
empty() {
        member start -n "empty-$((++serial))" udp_sendmsg && member pin "empty-$serial" && member stop "empty-$serial"
}

# --- snapshots -----------------------------------------------------------------------------------

begin '' $'MaxStored=2M\nMaxSessions=1'
exits 'a member has a ring' 0 member start -n ring --ring --max-size=512K udp_sendmsg
feed 40
ok 'which stores' wait_until 10 has ring 40
exits 'a snapshot is made' 0 member snapshot ring
repeat 30 member snapshot ring
ok "so are some more ($times)" test "$times" -ge 1
ok 'but not all' test "$times" -le 12
says 'the last was refused, with the way out' 'MaxStored= in \[Members\]\); remove some of them first'
within 'all is within MaxStored=' $((2 << 20))
feed 80
within 'also when the ring has grown' $((2 << 20))
exits 'one is removed' 0 member remove ring-snap-1
exits 'the session is stopped' 0 member stop ring
mapfile -t names < <(ftracectl list --json | jq -r '.[].name')
exits 'all are pinned' 0 member pin "${names[@]}"
ok 'the daemon ends in peace' stop_ftraced
ok 'the next one starts' start_ftraced --tracefs "$work/tracefs"
chgrp 64999 "$FTRACED_SOCKET" && chmod 660 "$FTRACED_SOCKET"
repeat 20 empty
within 'it knows what there is' $((2 << 20))
ok "and leaves room for a few at most ($times)" test "$times" -le 3
says 'then it is refused' 'MaxStored='
ok 'the daemon ends in peace' stop_ftraced

# --- a ring that grows beside what was kept of it -------------------------------------------------

begin '' $'MaxStored=2M\nMaxSessions=1'
exits 'a member has a ring' 0 member start -n ring --ring --segment-size=64K udp_sendmsg
for ((i = 1; i <= 6; i++)); do
        feed 50
        wait_until 10 has ring $((50 * i))
        member snapshot ring >/dev/null 2>&1
done
feed 300
sleep 0.5
within 'both together are within MaxStored=' $((2 << 20))
exits 'the ring goes on' 0 member stop ring
ok 'the daemon ends in peace' stop_ftraced

# --- triggers ------------------------------------------------------------------------------------

patience=1 # nobody may be reading
for way in '--ring --do snapshot' '--do start --do stop:10ms' '--in-kernel --do snapshot'; do
        begin '' $'MaxStored=2M\nMaxSessions=1'
        read -ra words <<<"$way"
        exits "a session is armed ($way)" 0 member arm -n armed "${words[@]}" --on command --min-gap=1ms --max-size=512K udp_sendmsg
        for ((i = 0; i < 12; i++)); do
                member trigger armed >/dev/null 2>&1
                feed 10 # as many as a pipe takes: it may be stopped
                sleep 0.05
        done
        ok 'it has made snapshots' wait_until 10 has_sessions 2
        sleep 0.5
        within "not more than MaxStored= ($way)" $((2 << 20))
        says 'the last was refused, which is told' '(not kept|takes* what).*MaxStored=' <(ftracectl show --json armed | jq -r '.warnings[], .reason')
        member stop armed >/dev/null 2>&1
        ok 'the daemon ends in peace' stop_ftraced
done

patience=60

# --- sessions without data -----------------------------------------------------------------------

begin '' $'MaxStored=64K\nMaxSessions=1'
repeat 30 empty
ok "of sessions without data there is one at most ($times)" test "$times" -le 1
within 'they count, too' $((64 << 10))
ok 'the daemon ends in peace' stop_ftraced
begin '' $'MaxStored=2M\nMaxSessions=1'
repeat 60 empty
ok "there are some ($times)" test "$times" -ge 2
ok 'and not many, however little they take' test "$(n_sessions)" -le 16
within 'all of them' $((2 << 20))
exits 'root is not held by it' 0 ftracectl start -n roots udp_sendmsg
exits 'he stops' 0 ftracectl stop roots
ok 'the daemon ends in peace' stop_ftraced

# --- data ----------------------------------------------------------------------------------------

has_ended() { # SESSION
        [[ $(session "$1" .state) == sealed ]]
}
begin '' $'MaxStored=1M\nMaxSessions=1'
exits 'a session without a size' 0 member start -n long udp_sendmsg
for ((i = 1; i <= 30; i++)); do # one after the other: what the kernel holds when it ends comes on top
        [[ $(session long .state) == recording ]] || break
        feed 30
        wait_until 60 eval 'has long $((30 * i)) || has_ended long'
done
ok 'ends' wait_until 20 has_ended long
within 'when it has what is left' $((1 << 20))
ok 'the daemon ends in peace' stop_ftraced

# --- pins ----------------------------------------------------------------------------------------

begin $'MaxUse=2M\nMinRetentionSec=0\nMaxSegmentSize=256K' $'MaxStored=0\nMaxSize=400K\nMaxSessions=1'
n_pinned=0
for ((i = 0; i < 6; i++)); do
        member start -n "pin-$i" udp_sendmsg >/dev/null 2>&1
        member pin "pin-$i" >/dev/null 2>"$err" && n_pinned=$((n_pinned + 1))
        feed 50
        wait_until 10 has "pin-$i" 50
        member stop "pin-$i" >/dev/null 2>&1
done
says 'who pins too much is told' 'half of MaxUse='
ok "a member may pin some ($n_pinned)" test "$n_pinned" -ge 1
ok 'but not all' test "$n_pinned" -le 3
ok 'so that what is pinned leaves room for others' test "$(ftracectl list --json | jq '[.[] | select(.pinned) | .disk_bytes] | add')" -le $((1 << 20))
for ((i = 0; i < 4; i++)); do
        ftracectl start -n "roots-$i" udp_sendmsg >/dev/null 2>&1
        feed 50
        wait_until 10 has "roots-$i" 50
        ftracectl stop "roots-$i" >/dev/null 2>&1
done
small() {
        (($(used) <= 2 << 20))
}
ok 'the store comes back within MaxUse=' wait_until 10 small
mapfile -t names < <(ftracectl list --json | jq -r '.[].name')
exits 'root pins whatever there is' 0 ftracectl pin "${names[@]}"
ok 'the daemon ends in peace' stop_ftraced
done_testing
