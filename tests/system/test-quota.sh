#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each way to fill a disk, at its limit
#
# Who has as much on disk as [Members] allows makes no more, whatever makes it.
. "$(dirname "$0")/../functions.sh"
requires jq python3 setpriv
[[ $(id -u) == 0 ]] || skip 'needs root, to be somebody else'

pipe=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
chmod 711 "$work"
config() { # MEMBERS: of that section
        printf '%s\n[Members]\n%s\n' "$no_limits" "$1" >"$FTRACED_CONFIG"
}
begin() { # MEMBERS: a daemon, and a store that nothing is in
        rm -rf "$store"
        config "$1"
        ok "a daemon starts (${1//$'\n'/ })" start_ftraced --tracefs "$work/tracefs"
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
n_sessions() {
        find "$store/sessions" -mindepth 1 -maxdepth 1 | wc -l
}
has_sessions() { # N: at least
        (($(n_sessions) >= $1))
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

begin $'MaxStored=2M\nMaxSessions=2'
exits 'a member has a ring' 0 member start -n ring --ring --max-size=512K udp_sendmsg
feed 40
ok 'which stores' wait_until 10 has ring 40
repeat 30 member snapshot ring
ok "snapshots are made ($times)" test "$times" -ge 2
ok 'but not all' test "$times" -le 12
says 'the last was refused, with the way out' 'MaxStored= in \[Members\]\); remove some of them first'
exits 'so is another session' 7 member start -n more udp_sendmsg
says 'likewise' 'MaxStored='
exits 'one is removed' 0 member remove ring-snap-1
repeat 1 member snapshot ring
is 'and another one made' "$times" 1
exits 'the session is stopped' 0 member stop ring
ok 'the daemon ends in peace' stop_ftraced
ok 'the next one starts' start_ftraced --tracefs "$work/tracefs"
chgrp 64999 "$FTRACED_SOCKET" && chmod 660 "$FTRACED_SOCKET"
repeat 20 empty
ok "it knows what there is ($times)" test "$times" -le 2
says 'and refuses more' 'MaxStored='
ok 'the daemon ends in peace' stop_ftraced

# --- triggers ------------------------------------------------------------------------------------

patience=1 # nobody may be reading
for way in '--ring --do snapshot' '--do start --do stop:10ms' '--in-kernel --do snapshot'; do
        begin $'MaxStored=2M\nMaxSessions=1'
        read -ra words <<<"$way"
        exits "a session is armed ($way)" 0 member arm -n armed "${words[@]}" --on command --set=MinGap=1ms --max-size=512K udp_sendmsg
        for ((i = 0; i < 16; i++)); do
                member trigger armed >/dev/null 2>&1
                feed 10 # as many as a pipe takes: it may be stopped
                sleep 0.05
        done
        ok 'it has made snapshots' wait_until 10 has_sessions 2
        sleep 0.5
        ok "but not for each ($(n_sessions))" test "$(n_sessions)" -le 12
        says 'which is told' 'not kept.*MaxStored=' <(ftracectl show --json armed | jq -r '.warnings[]')
        member stop armed >/dev/null 2>&1
        ok 'the daemon ends in peace' stop_ftraced
done

patience=60

# --- sessions without data -----------------------------------------------------------------------

begin $'MaxStored=2M\nMaxSessions=1'
repeat 60 empty
ok "there are some ($times)" test "$times" -ge 2
ok 'and not many, however little they take' test "$(n_sessions)" -le 9
exits 'root is not held by it' 0 ftracectl start -n roots udp_sendmsg
exits 'he stops' 0 ftracectl stop roots
ok 'the daemon ends in peace' stop_ftraced

# --- data ----------------------------------------------------------------------------------------

has_ended() { # SESSION
        [[ $(session "$1" .state) == sealed ]]
}
begin $'MaxStored=1M\nMaxSessions=1'
exits 'a session without a size' 0 member start -n long udp_sendmsg
for ((i = 1; i <= 30; i++)); do # one after the other: what the kernel holds when it ends comes on top
        [[ $(session long .state) == recording ]] || break
        feed 30
        wait_until 60 eval 'has long $((30 * i)) || has_ended long'
done
ok 'ends' wait_until 20 has_ended long
ok "when it has what is left ($(sum_of long n_pages) pages)" test "$(sum_of long n_pages)" -le $(((1 << 20) / 4096 + 30))
ok 'the daemon ends in peace' stop_ftraced
done_testing
