#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whoever may only read holds no lock that keeps a daemon from starting or a recording from going.
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/member.sh"
requires jq flock

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
pages() { # of noise, which sealing does not make smaller
        timeout 100 python3 -c 'import os, struct, sys
for i in range(100):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 4080) + os.urandom(4080))' \
                >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw"
}
record() { # NAME
        exits "session $1 starts" 0 ftracectl start -n "$1" udp_sendmsg
        pages
        wait_until 10 eval "[[ \$(sum_of $1 n_pages) == 100 ]]" || fail "$1: pages do not arrive"
        exits 'it is stopped' 0 ftracectl stop "$1"
}
locker_pid=
lock_all() { # MODE [SESSION...]: what a member can get, and all that comes
        local mode=$1

        shift
        rm -f "$work/held"
        exec_member "$python" -c "$(<"$(dirname "$0")/locker.py")" "$store" "$mode" "$FTRACED_SOCKET" "$@" >"$work/held" 2>"$work/locker.err" &
        locker_pid=$!
        wait_until 20 grep -q held "$work/held"
}
let_go() {
        [[ -n $locker_pid ]] || return 0
        kill "$locker_pid"
        wait "$locker_pid" 2>/dev/null
        locker_pid=
}
cleanup_fn let_go
names() {
        ftracectl list --json | jq -r '[.[].name] | sort | join(" ")'
}

# --- a member with all the locks that he can get --------------------------------------------------

for mode in shared exclusive ranges all; do
        ok "$mode: the daemon starts" daemon
        for name in a b c; do
                record $name
        done
        ok "$mode: a member holds what he can" lock_all $mode a b c
        ok "of which there is something" test "$(sed 's/held //' "$work/held")" -gt 20
        exits "$mode: root removes what a member holds" 0 ftracectl remove a
        exits "$mode: so does vacuum" 0 ftracectl vacuum --sessions=1
        is 'nothing that is too much is left' "$(names)" c
        ok "$mode: the daemon ends in peace" stop_ftraced
        exits "$mode: what is left in the kernel can be undone" 0 "$top_builddir/ftraced" --store "$store" \
                --tracefs "$work/tracefs" --restore
        exits "$mode: root removes without a daemon" 0 ftracectl --store "$store" remove c
        ok "$mode: the next daemon starts" daemon
        record d
        ok "$mode: it ends in peace" stop_ftraced
        let_go
        ok "$mode: and the next" daemon
        exits "$mode: root removes what is left" 0 ftracectl remove d
        ok "$mode: it ends" stop_ftraced
done
printf '[Guard]\nLean=off\n[Store]\nMaxUse=1200K\nMinRetentionSec=0\nKeepFree=0\n' >"$FTRACED_CONFIG"
ok 'a daemon with limits starts' daemon
record a
ok 'a member holds what there is and what comes' lock_all all a
record b
record c
ok 'what is too much goes all the same' wait_until 20 eval '[[ $(names) == "b c" ]]'
let_go
ok 'the daemon ends in peace' stop_ftraced
echo "$no_limits" >"$FTRACED_CONFIG"

# --- who may is waited for -----------------------------------------------------------------------

ok 'a daemon starts' daemon
mkfifo "$work/fetched"
ftracectl fetch b -o - >"$work/fetched" 2>/dev/null &
reader=$!
exec 7<"$work/fetched"
ok 'what root reads stays' wait_until 10 eval '[[ $(ftracectl vacuum --sessions=1 --dry-run) == *"Kept b"*reads* ]]'
exits 'and is not removed' 5 ftracectl remove b
member timeout 60 "$top_builddir/ftracectl" fetch c -o - 2>"$work/member.err" | { sleep 2; cat >/dev/null; } &
exits 'what a member reads is' 0 ftracectl remove c
cat <&7 >/dev/null
exec 7<&-
wait $reader
exits 'when root has read it it goes' 0 ftracectl remove b
ok 'the daemon ends in peace' stop_ftraced
is 'its locks are for nobody else' "$(stat -c %a "$store/lock" "$store/readers" | xargs)" '600 600'

# --- a store of an older ftraced ------------------------------------------------------------------

older() { # as one: the lock is for the group to read
        rm -f "$store/lock" "$store/readers"
        (umask 027 && echo 1234567 >"$store/lock")
        chmod 640 "$store/lock"
        chgrp $group "$store/lock"
}
older
ok 'a member holds the lock of an older store' lock_all shared
ok 'a daemon starts' daemon
is 'and has made it its own' "$(stat -c %a "$store/lock")" 600
ok 'it ends in peace' stop_ftraced
let_go
older
cat >"$work/take.py" <<'END'
# LOCK TOLD [orphan]: takes it as a daemon of an older version does; or leaves it to a child, and dies
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
text = b"%d\n" % os.getpid()
os.pwrite(fd, text, 0)
os.ftruncate(fd, len(text))
if len(sys.argv) > 3 and os.fork() != 0:
    sys.exit()
with open(sys.argv[2] + ".new", "w") as f:
    f.write(str(os.getpid()))
os.rename(sys.argv[2] + ".new", sys.argv[2])
time.sleep(600)
END
python3 "$work/take.py" "$store/lock" "$work/taken" &
old=$!
ok 'an older daemon has the store' wait_until 10 test -e "$work/taken"
exits 'it keeps it' 1 timeout 100 "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --socket "$work/other"
says 'and is named' "Another ftraced \\(pid $old\\) owns the store"
ok 'a member holds it as well' lock_all shared
exits 'it keeps it all the same' 1 timeout 100 "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --socket "$work/other"
kill "$old"
wait "$old" 2>/dev/null
ok 'when it has gone the next one starts' daemon
exits 'and an older one would find it locked' 1 flock -n "$store/lock" true
exits 'a member reads the store beside it' 0 member "$top_builddir/ftracectl" --store "$store" list
let_go
ok 'it ends in peace' stop_ftraced

# --- who holds it is said ------------------------------------------------------------------------

python3 "$work/take.py" "$store/lock" "$work/orphan" orphan >/dev/null 2>&1 </dev/null
ok 'a lock outlives who took it' wait_until 10 test -e "$work/orphan"
exits 'no daemon starts' 1 timeout 100 "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --socket "$work/other"
says 'a process is named that lives' "\\(pid $(<"$work/orphan")\\)"
kill "$(<"$work/orphan")"
ok 'when it has gone a daemon starts' daemon
ok 'it ends in peace' stop_ftraced
done_testing
