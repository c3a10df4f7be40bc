#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the store removes by itself or when asked, and what it never removes.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
cat >"$work/noise.py" <<'END'
import os, struct, sys
for i in range(100):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 4080) + os.urandom(4080))
END
record() { # NAME [OPTION...]: a session of 100 pages, of noise so that sealing does not make it smaller
        local name=$1

        shift
        exits "session $name starts" 0 ftracectl start -n "$name" "$@" udp_sendmsg
        python3 "$work/noise.py" >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw"
        wait_until 10 eval "[[ \$(sum_of $name n_pages) == 100 ]]" || fail "$name: pages do not arrive"
        exits "it is stopped" 0 ftracectl stop "$name"
}
names() {
        ftracectl list --json | jq -r '[.[].name] | sort | join(" ")'
}
names_are() {
        [[ $(names) == "$1" ]]
}

# --- the configuration -------------------------------------------------------------------------
mkdir -p "$work/root/etc/ftraced/ftraced.conf.d" "$work/root/usr/lib/ftraced/ftraced.conf.d"
printf '[Store]\nMaxUse=7M\nMaxUsed=1\n' >"$work/root/usr/lib/ftraced/ftraced.conf"
printf '[Store]\nKeepFree=10%%\n' >"$work/root/usr/lib/ftraced/ftraced.conf.d/10-a.conf"
printf '[Store]\nMaxUse=8M\n' >"$work/root/etc/ftraced/ftraced.conf.d/20-b.conf"
exits 'the configuration is shown' 0 env -u FTRACED_CONFIG "$top_builddir/ftraced" --cat-config --config-root="$work/root"
says 'the last assignment counts' '^MaxUse=8M$' "$out"
says 'it is said where it is' '^# .*/etc/ftraced/ftraced.conf.d/20-b.conf:2$' "$out"
says 'a drop-in counts' '^KeepFree=10%$' "$out"
says 'defaults are said' '^#MaxSegmentSec= \(by default 1h\)$' "$out"
says 'an unknown key is named with file and line' 'usr/lib/ftraced/ftraced.conf:3: unknown key MaxUsed='
exits 'an installed example changes nothing' 0 "$top_builddir/ftraced" --version

# --- when asked --------------------------------------------------------------------------------
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
for name in a b c d; do
        record $name
done
exits 'a session is pinned' 0 ftracectl pin a
exits 'it is listed' 0 ftracectl list
says 'the pinned one has a mark' '^a \* ' "$out"
says 'sizes on disk are listed' '400K +[45]..K' "$out"
exits 'a pinned session is not removed' 5 ftracectl remove a
says 'the way out is named' 'pin --off a'
exits 'a dry run says what would go' 0 ftracectl vacuum --limit=2 --dry-run
says 'the oldest that may' '^Would remove b ' "$out"
says 'and what stays, and why' '^Kept a .* pinned' "$out"
is 'it removes nothing' "$(names)" 'a b c d'

# A reader of the directory, as `fetch` is one: it stands still until the FIFO is read.
mkfifo "$work/fetched"
ftracectl fetch b -o - >"$work/fetched" 2>/dev/null &
reader=$!
exec 7<"$work/fetched"
ok 'somebody fetches a session' wait_until 10 eval '[[ $(ftracectl vacuum --limit=1 --dry-run) == *"Kept b"*reads* ]]'
exits 'a session that is being fetched is not removed' 5 ftracectl remove b
says 'it says why' 'being read'
exits 'nor by vacuum' 0 ftracectl vacuum --limit=1 --json
is 'the others go' "$(jq -r '[.removed[].name] | sort | join(" ")' "$out")" 'c d'
is 'it stays with the pinned one' "$(names)" 'a b'
cat <&7 >"$work/b.dat"
exec 7<&-
wait $reader
exits 'it can be fetched again, noise as it is' 6 ftracectl fetch b -o "$work/again.dat"
ok 'what was fetched is whole' cmp "$work/b.dat" "$work/again.dat"
touch "$store/sessions/b/notes.txt"
exits 'a session with a file of somebody else is not removed' 1 ftracectl remove b
says 'the file is named' "holds \"notes.txt\""
rm "$store/sessions/b/notes.txt"
exits 'without it it is removed' 0 ftracectl remove b
exits 'the pin is taken off' 0 ftracectl pin --off a
exits 'sessions of the future are not too old' 0 ftracectl vacuum --time=1h
is 'nothing went' "$(names)" a
exits 'it is removed' 0 ftracectl vacuum --max-size=1
is 'nothing is left' "$(names)" ''

# How far it is is told to who asks for that, and who hangs up wants no more of it.
for name in e f g h; do
        record $name
done
cat >"$work/vacuum.py" <<'END'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
call = {"method": "org.ftraced.Vacuum", "parameters": {"max_sessions": int(sys.argv[2])}, "more": True}
s.sendall(json.dumps(call).encode() + b"\0")
if sys.argv[3] == "leave":
    sys.exit()
data = b""
while True:
    data += s.recv(65536)
    *whole, data = data.split(b"\0")
    for text in whole:
        print(text.decode())
        if "continues" not in json.loads(text):
            sys.exit()
END
python3 "$work/vacuum.py" "$FTRACED_SOCKET" 3 stay >"$work/replies"
is 'before the first session it is told how many there are' \
        "$(head -1 "$work/replies" | jq -c '[.continues, (.parameters | keys), .parameters.progress.done, .parameters.progress.total]')" \
        '[true,["progress"],0,1]'
is 'the last reply tells what went' "$(tail -1 "$work/replies" | jq -r '.parameters.removed[].name')" e
python3 "$work/vacuum.py" "$FTRACED_SOCKET" 1 leave
ok 'the others are whole or gone when a client hangs up' wait_until 30 eval \
        '[[ -z $(find "$store/sessions" -maxdepth 1 -name ".removed-*") && $(names) == "$(ls "$store/sessions" | xargs)" ]]'
exits 'the daemon goes on' 0 ftracectl vacuum --max-size=1
is 'nothing is left in the end' "$(names)$(ls -A "$store/sessions")" ''
ok 'the daemon ends in peace' stop_ftraced

# --- by itself ---------------------------------------------------------------------------------
printf '[Store]\nMaxUse=900K\nMinRetentionSec=1s\nKeepFree=0\nMaxSessionSize=350K\nMaxSegmentSize=128K\nNonsense=1\n[Guard]\nLean=off\n' >"$FTRACED_CONFIG"
ok 'a daemon with limits starts' start_ftraced --tracefs "$work/tracefs"
ok 'what it does not know it says' grep -q 'ftraced.conf:7: unknown key Nonsense=' "$work/ftraced.log"
exits 'a session without a size starts' 0 ftracectl start -n first udp_sendmsg
head -c $((100 * 4096)) /dev/urandom >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw"
ok 'it ends at the size that is configured' wait_until 10 eval '[[ $(session first .state) == sealed ]]'
is 'it says so' "$(session first .reason)" 'max-size reached: 350K'
set -- "$store/sessions/first/cpu0"/*
ok 'its segments have the size that is configured' test $# -ge 3
exits 'another that asks for more starts' 0 ftracectl start -n second --max-size=1G udp_sendmsg
says 'it is told that it gets less' MaxSessionSize
ftracectl stop second >/dev/null 2>&1
for name in third fourth; do
        exits "$name starts" 0 ftracectl start -n $name --ring udp_sendmsg
        is 'a ring has a size' "$(session $name .spec.max_bytes)" 358400
        head -c $((80 * 4096)) /dev/urandom >"$work/tracefs/per_cpu/cpu0/trace_pipe_raw"
        wait_until 10 eval "[[ \$((\$(sum_of $name n_pages) + \$(sum_of $name pages_dropped))) == 80 ]]" || fail "$name: pages do not arrive"
        exits 'it is stopped' 0 ftracectl stop $name
done
ok 'the oldest went when all took too much' wait_until 10 names_are 'fourth second third'
ok 'the daemon ends in peace' stop_ftraced

printf '[Guard]\nLean=off\n[Store]\nMaxUse=0\nKeepFree=0\nMaxRetentionSec=4s\n' >"$FTRACED_CONFIG"
ok 'a daemon that keeps nothing for long starts' start_ftraced --tracefs "$work/tracefs"
record last
is 'it is there at first' "$(ftracectl list --json | jq -r '[.[].name] | contains(["last"])')" true
ok 'what is too old goes without anybody asking' wait_until 90 names_are ''
ok 'the daemon ends in peace' stop_ftraced

# --- without a daemon --------------------------------------------------------------------------
printf '[Guard]\nLean=off\n[Store]\nMaxUse=0\nKeepFree=0\n' >"$FTRACED_CONFIG"
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
record x
record y
record z
ok 'it ends' stop_ftraced
exits 'a session is pinned in a store' 0 ftracectl --store "$store" pin x
exits 'it is not removed' 5 ftracectl --store "$store" remove x
exits 'nor vacuumed' 0 ftracectl --store "$store" vacuum --limit=1 --json
is 'the others are' "$(jq -r '[.removed[].name] | sort | join(" ")' "$out")" 'y z'
exits 'unpinned' 0 ftracectl --store "$store" pin --off x
exits 'it is removed' 0 ftracectl --store "$store" remove x
is 'nothing is left' "$(ls "$store/sessions")" ''
done_testing
