#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What was told as kept stays for MinRetentionSec=, whatever room is wanted and whatever the clock on the
# wall says; what is removed next, when and why is told before, and what went afterwards.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
raw=$work/tracefs/per_cpu/cpu0/trace_pipe_raw
preload=$top_builddir/tests/system/world.so
[[ -e $preload ]] || skip "$preload is not built"
export WORLD_DIR=$work/world
mkdir "$WORLD_DIR"
cat >"$work/noise.py" <<'END'
import os, struct, sys
for i in range(int(sys.argv[1])):
    sys.stdout.buffer.write(struct.pack("=QQ", 1000 * (i + 1), 4080) + os.urandom(4080))
END
feed() { # PAGES, of noise so that sealing does not make them smaller
        python3 "$work/noise.py" "$1" >"$raw"
}
stored() { # NAME: pages that arrived, those that a ring dropped as well
        echo $(($(sum_of "$1" n_pages) + $(sum_of "$1" pages_dropped)))
}
fed() { # NAME PAGES
        local before

        before=$(stored "$1")
        feed "$2"
        wait_until 20 eval "[[ \$(stored $1) == $((before + $2)) ]]" || fail "$1: pages do not arrive"
}
record() { # NAME [PAGES]
        exits "$1 starts" 0 ftracectl start -n "$1" udp_sendmsg
        fed "$1" "${2:-100}"
        exits "$1 is stopped" 0 ftracectl stop "$1"
}
names() {
        ftracectl list --json | jq -r '[.[].name] | sort | join(" ")'
}
names_are() {
        [[ $(names) == "$1" ]]
}
settle() { # nothing has to go as things are, whether the daemon has looked or not
        is 'nothing has to go' "$(ftracectl vacuum --dry-run --json | jq -r '[.removed[].name] | join(" ")')" ''
}
config() { # LINE...: of [Store]
        printf '%s\n' '[Guard]' Lean=off '[Store]' KeepFree=0 "$@" >"$FTRACED_CONFIG"
}
clean() {
        ftracectl vacuum --max-size=1 >/dev/null
        ok 'nothing is left of that' wait_until 10 names_are ''
}

# --- the grace time ----------------------------------------------------------------------------
config MaxUse=600K
ok 'a daemon with little room starts' start_ftraced --tracefs "$work/tracefs"
record r1
record r2
settle
is 'what was told as kept is there though both together take too much' "$(names)" 'r1 r2'
exits 'a list says which is removed next' 0 ftracectl list
says 'with its size, the moment and the rule' \
        '^r1 \([0-9.]+K\) is removed next, at [0-9]{4}-[0-9-]+ [0-9:]+: all recordings take [0-9]+K, of 600K \(MaxUse=\)\.$' "$out"
exits 'without a legend it says nothing but the sessions' 0 ftracectl list --no-legend
is 'two of them' "$(wc -l <"$out")" 2
exits 'a list as JSON' 0 ftracectl list --json
conforms 'conforms' '[]Session'
is 'has it with the session that goes' "$(jq -r '.[] | select(.goes) | "\(.name) \(.goes.rule) \(.goes.going | join(","))"' "$out")" 'r1 MaxUse r1'
ok 'and with each until when it stays' jq -e 'all(.stays_until_ns > 1000000000 * now + 3000000000000)' "$out"
exits 'status' 0 ftracectl status
says 'says it' '^  r1 \(.*is removed next, at' "$out"
exits 'status as JSON' 0 ftracectl status --json
is 'has it' "$(jq -r '.retention | "\(.next) \(.rule) \(.full)"' "$out")" 'r1 MaxUse false'
"$top_builddir/ftracectl" doctor --json >"$out" 2>"$err"
is 'doctor warns' "$(jq -r '.[] | select(.name == "retention") | "\(.state) \(.text)"' "$out" | cut -c1-12)" 'warning r1 ('
says 'with a way out' 'ftracectl pin r1' "$out"
exits 'show says until when it stays' 0 ftracectl show r2
says 'in a line' '^ +Stays: until .*, regardless of space' "$out"
exits 'a third starts' 0 ftracectl start -n r3 udp_sendmsg
says 'and it is said what will go' '^Note: r1 .* is removed next, at .*, of 600K \(MaxUse=\)\.$'
fed r3 100
exits 'it is stopped' 0 ftracectl stop r3
says 'that says what is removed next, and what then' '^r1 .* is removed next, at .*, then r2: all' "$out"
exits 'one is pinned' 0 ftracectl pin r1
exits 'then' 0 ftracectl list
says 'another is the next' '^r2 .*is removed next' "$out"
exits 'unpinned' 0 ftracectl pin --off r1
exits 'a vacuum by the settings removes nothing that stays' 0 ftracectl vacuum
says 'it says why' '^Kept r1 .*: it was kept a short while ago \(MinRetentionSec=\)' "$out"
is 'all are there' "$(names)" 'r1 r2 r3'
exits 'what somebody asks for goes at once' 0 ftracectl vacuum --limit=2
is 'the oldest' "$(names)" 'r2 r3'
exits 'one that was removed cannot be shown' 3 ftracectl show r1
says 'who asked for it is said' "session \"r1\" \([0-9]+K\) was removed on [0-9-]+ [0-9:]+: [^ ]+ asked for it \(ftracectl vacuum\)"
exits 'another is removed' 0 ftracectl remove r2
exits 'nor can that be drawn' 3 ftracectl report r2
says 'the same is said' 'asked for it \(ftracectl remove\)'
clean

# --- all orders of the ends ----------------------------------------------------------------------
exits 'a large one starts' 0 ftracectl start -n large --max-size=400K udp_sendmsg
python3 "$work/noise.py" 110 >"$raw"
ok 'it ends by itself' wait_until 20 eval '[[ $(session large .state) == sealed ]]'
exits 'a small one starts' 0 ftracectl start -n small udp_sendmsg
fed small 80
exits 'all are stopped' 0 ftracectl stop --all
says 'the one that ended by itself is told of' '^large: sealed,' "$out"
says 'and why' '^large: it had ended by itself: max-size reached' "$out"
says 'with the other' '^small: sealed,' "$out"
settle
is 'both are there' "$(names)" 'large small'
exits 'who stops all when nothing records' 0 ftracectl stop --all --json
is 'is told of it, too' "$(jq -r '.[].name' "$out")" large
clean

exits 'a ring starts' 0 ftracectl start -n ring --ring --max-size=400K udp_sendmsg
for i in 1 2 3 4; do
        fed ring 40
        exits "snapshot $i is made" 0 ftracectl snapshot ring
done
exits 'the ring is stopped' 0 ftracectl stop ring
settle
is 'all are there' "$(names)" 'ring ring-snap-1 ring-snap-2 ring-snap-3 ring-snap-4'
clean

exits 'a command is recorded' 0 ftracectl run -n r1 udp_sendmsg -- bash -c "python3 '$work/noise.py' 100 >'$raw'"
says 'and kept' '^Kept as r1 '
says 'what others pay is said' '^Note: every function of the kernel is hooked meanwhile'
exits 'another is' 0 ftracectl run -n r2 udp_sendmsg -- bash -c "python3 '$work/noise.py' 100 >'$raw'"
says 'it is said what goes for it' '^Note: r1 .* is removed next, at '
settle
is 'the first is there' "$(names)" 'r1 r2'
ok 'the daemon ends in peace' stop_ftraced

# --- ages --------------------------------------------------------------------------------------
year=$((366 * 24 * 3600))
config MaxUse=0 MaxRetentionSec=5y
ok 'a daemon starts that keeps for years' start_ftraced --tracefs "$work/tracefs"
is 'both are there' "$(names)" 'r1 r2'
echo $((10 * year)) >"$WORLD_DIR/ahead"
exits 'the clock is set ten years ahead: a session starts' 0 ftracectl start -n future udp_sendmsg
fed future 10
exits 'and is stopped' 0 ftracectl stop future
settle
is 'nothing went' "$(names)" 'future r1 r2'
is 'and it is not said that one goes for its age' "$(session future .goes_at_ns)" null
exits 'a vacuum' 0 ftracectl vacuum --time=1y
says 'says why' '^Kept r1 .*: the clock was set by more than a day' "$out"
is 'nothing went' "$(names)" 'future r1 r2'
ok 'the daemon is restarted' eval 'stop_ftraced && start_ftraced --tracefs "$work/tracefs"'
settle
is 'nothing went' "$(names)" 'future r1 r2'
rm "$WORLD_DIR/ahead"
ok 'the clock is set back' eval 'stop_ftraced && start_ftraced --tracefs "$work/tracefs"'
settle
is 'nothing went' "$(names)" 'future r1 r2'
ok 'the daemon ends' stop_ftraced

# As if the host had been off.
later() { # YEARS BOOT
        echo $(($1 * year)) >"$WORLD_DIR/ahead"
        echo "00000000-0000-0000-0000-00000000000$2" >"$WORLD_DIR/boot_id"
}
later 3 1
ok 'three years later it boots' start_ftraced --tracefs "$work/tracefs"
settle
is 'all is there' "$(names)" 'future r1 r2'
exits 'a list says what goes when' 0 ftracectl list
says 'for its age' '^Next to be removed: r1 .*, at 2.*, 18..d.* after it was kept \(MaxRetentionSec=\)' "$out"
ok 'it ends' stop_ftraced
later 6 2
ok 'and three more' start_ftraced --tracefs "$work/tracefs"
ok 'they go' wait_until 10 names_are future
ok 'it ends' stop_ftraced
later 16 3
ok 'and ten more' start_ftraced --tracefs "$work/tracefs"
ok 'the last one goes' wait_until 10 names_are ''
exits 'and it is known' 3 ftracectl show future
says 'by which rule' "session \"future\" .* was removed on .*: it was kept longer than 18..d.* ago \(MaxRetentionSec=\)"
ok 'it ends' stop_ftraced
exits 'without a daemon it is known as well' 3 ftracectl --store "$store" show future
says 'by which rule' 'MaxRetentionSec='
rm "$WORLD_DIR/ahead" "$WORLD_DIR/boot_id"

# What nobody noted it of is as old as its end.
config MaxUse=0 MaxRetentionSec=5y
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
record old 10
record older 10
ok 'it ends' stop_ftraced
for name in old older; do
        jq 'del(.kept_realtime_ns) | if .name == "older" then .stop.realtime_ns = 1000000000 else . end' \
                "$store/sessions/$name/session.json" >"$work/old.json"
        cp "$work/old.json" "$store/sessions/$name/session.json"
done
ok 'a daemon starts where an older one kept something' start_ftraced --tracefs "$work/tracefs"
ok 'what ended long ago goes' wait_until 10 names_are old
clean
ok 'it ends' stop_ftraced

# --- a disk that others fill ---------------------------------------------------------------------
printf '%s\n' '[Guard]' Lean=off '[Store]' MaxUse=600K KeepFree=10M MinRetentionSec=10s >"$FTRACED_CONFIG"
echo $((50 << 20)) >"$WORLD_DIR/free"
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
record a 10
record b 10
exits 'a list' 0 ftracectl list
says 'names both limits' '^Next to be removed: a .*, if all recordings exceed 600K \(MaxUse=; now [0-9]+K\), or if less than 10M is free \(KeepFree=; now 50M\)\.$' "$out"
echo $((5 << 20)) >"$WORLD_DIR/free"
exits 'when others have filled the disk a start' 0 ftracectl start -n c udp_sendmsg
says 'says what goes' '^Note: a \([0-9]+K\) is removed next.*: 5[.0]*M of the disk is free, and 10M should be \(KeepFree=\)'
feed 10
ftracectl stop c >"$out"
says 'so does a stop' '^(a|b) .* is removed next.*KeepFree=' "$out"
ok 'they go' wait_until 60 names_are c
exits 'and it is known' 3 ftracectl show a
says 'why' 'was removed on .*: 5[.0]*M of the disk was free, and 10M should be \(KeepFree=\)'
clean
ok 'it ends' stop_ftraced

printf '%s\n' '[Guard]' Lean=off '[Store]' MaxUse=600K KeepFree=10M >"$FTRACED_CONFIG"
echo $((50 << 20)) >"$WORLD_DIR/free"
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
record a
record a2
exits 'a ring starts' 0 ftracectl start -n ring --ring --max-size=400K --segment-size=64K udp_sendmsg
fed ring 60
echo 4096 >"$WORLD_DIR/free"
exits 'when the disk is full a start is refused' 1 ftracectl start -n b udp_recvmsg
says 'with the way out' 'cannot record in .*: No space left on device: the store is full, 4K is free: no recording begins; .*a .*next.*ftracectl remove a"'
exits 'status' 0 ftracectl status
says 'says so' 'The store is full' "$out"
"$top_builddir/ftracectl" doctor >"$out" 2>&1
says 'doctor, too' 'The store is full|the store is full' "$out"
ok 'the ring drops its oldest' wait_until 90 eval '(($(sum_of ring pages_dropped) > 0))'
is 'what was kept stays' "$(names)" 'a a2 ring'
rm "$WORLD_DIR/free"
exits 'it ends' 0 ftracectl stop ring
ok 'the daemon ends in peace' stop_ftraced
done_testing
