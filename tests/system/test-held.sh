#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each way to hold a file
#
# What somebody reads, a member of the group, too, is read to its end whatever becomes of it meanwhile; and what members
# can lock keeps no daemon from starting.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/member.sh"
requires jq flock

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
pipe=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
data=$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg
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

# --- a daemon that is killed while it removes -----------------------------------------------------

ok 'a daemon starts' daemon
for ((i = 0; i < 30; i++)); do
        ftracectl start -n "many-$i" udp_sendmsg >/dev/null 2>&1
        noise 40
        wait_until 10 has "many-$i" 40
        ftracectl stop "many-$i" >/dev/null 2>&1
done
mapfile -t names < <(ftracectl list --json | jq -r '.[].name')
timeout 100 "$top_builddir/ftracectl" remove "${names[@]}" >/dev/null 2>&1 &
remover=$!
wait_until 60 eval 'compgen -G "$store/sessions/.removed-many*" || ! kill -0 $remover'
kill_ftraced
wait $remover
ok 'another daemon starts after one that was killed' daemon
nothing_hidden() {
        not compgen -G "$store/sessions/.removed-*"
}
ok 'nothing is left of what that had begun to remove' wait_until 20 nothing_hidden

# --- who reads ------------------------------------------------------------------------------------

# A reader that stands still in the middle, for a pipe takes no more: of 64 KiB it has most.
has_filled_its_pipe() {
        python3 -c 'import fcntl, struct, sys, termios
sys.exit(struct.unpack("i", fcntl.ioctl(7, termios.FIONREAD, b"0000"))[0] < 0xc000)'
}
stand() { # SESSION
        rm -f "$work/reader.status"
        exec 7< <(as_member report "$1" 2>"$work/reader.err"; echo "status $?" >"$work/reader.status")
        IFS= read -ru 7 _
        IFS= read -ru 7 _
        wait_until 20 has_filled_its_pipe
}
go_on() { # DESCRIPTION
        cat <&7 >"$work/reader.out"
        exec 7<&-
        wait_until 10 grep -q status "$work/reader.status"
        is "$1: the reader ends by itself" "$(grep -cE 'status (0|1|6)$' "$work/reader.status")" 1
        ok "$1: and calls nothing damaged" not grep -iE 'damage|corrupt|torn|not a segment' "$work/reader.err"
}
exits 'a session is recorded' 0 ftracectl start -n read udp_sendmsg
events 20
ok 'it stores' wait_until 20 has read $((20 * pages_of_data))
stand read
exits 'it is stopped while somebody reads it' 0 ftracectl stop read
ok 'and sealed' wait_until 60 segments_are 2 read
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
exits 'a third is recorded' 0 ftracectl start -n kept --segment-size=64K udp_sendmsg
events 10
ok 'it stores' wait_until 20 has kept $((10 * pages_of_data))
exits 'it is stopped' 0 ftracectl stop kept
ok 'and sealed' wait_until 60 segments_are 2 kept
stand kept
exits 'it is not removed while somebody reads it' 5 ftracectl remove kept
go_on 'kept'
is 'all of it is drawn' "$(grep -c . "$work/reader.out")" "$(($(as_member report kept 2>/dev/null | grep -c .) - 2))"
exits 'when it has been read it goes' 0 ftracectl remove kept

# --- who locks ------------------------------------------------------------------------------------

is 'the lock is for nobody else' "$(stat -c %a "$store/lock")" 600
ok 'the daemon ends in peace' stop_ftraced
exits 'a member cannot have it' 66 member flock -n "$store/lock" true
chmod 640 "$store/lock"
ok 'the next daemon starts' daemon
is 'and takes it from those who could read it' "$(stat -c %a "$store/lock")" 600
exits 'a second one is refused' 1 timeout 100 "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --socket "$work/other"
says 'and told by whom' "Another ftraced \\(pid $ftraced_pid\\) owns the store"
exits 'a member reads the store beside it' 0 member "$top_builddir/ftracectl" --store "$store" list
ok 'it ends in peace' stop_ftraced
done_testing
