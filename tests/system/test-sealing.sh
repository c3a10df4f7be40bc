#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Segments of an ended session are sealed behind everybody's back, and nobody can tell but by the size.
# Only here: what is sealed when, which worker dies or is stopped, and what others do meanwhile.
. "$(dirname "$0")/../functions.sh"
requires jq cmp

data=$top_srcdir/tests/data/sessions/udp_sendmsg-6.1
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2

# A session NAME of the recorded pages.
record() { # NAME
        local cpu pages=0

        ftracectl start -n "$1" udp_sendmsg >/dev/null || return 1
        for cpu in 0 1; do
                timeout 60 dd if="$data/cpu$cpu/00000000.seg" bs=4096 skip=1 conv=notrunc \
                        of="$work/tracefs/per_cpu/cpu$cpu/trace_pipe_raw" status=none || return 1
                pages=$((pages + $(stat -c %s "$data/cpu$cpu/00000000.seg") / 4096 - 1))
        done
        wait_until 60 eval "[[ \$(sum_of $1 n_pages) == $pages ]]"
}
# Puts a session NAME beside the first while no daemon runs: its pages N times over, not sealed.
make_session() { # NAME N
        local cpu pages dir=$store/sessions/$1

        cp -r "$store/sessions/first" "$dir"
        jq ".name = \"$1\"" "$store/sessions/first/session.json" >"$dir/session.json"
        for cpu in 0 1; do
                tail -c +4097 "$data/cpu$cpu/00000000.seg" >"$work/pages"
                pages=$(($2 * $(stat -c %s "$work/pages") / 4096))
                {
                        head -c 56 "$data/cpu$cpu/00000000.seg"
                        for i in 0 8 16 24 32 40 48 56; do
                                printf '%b' "\\x$(printf %x $((pages >> i & 255)))"
                        done
                        head -c 4032 /dev/zero
                        for ((i = 0; i < $2; i++)); do cat "$work/pages"; done
                } >"$dir/cpu$cpu/00000000.seg"
        done
}
has_no_temporaries() {
        [[ -z $(find "$store" -name '*.sealing') ]]
}

# --- a daemon that is stopped at once leaves the work to the next -------------------------------

ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
ok 'a session is recorded' record first
ok 'while it records its segments are raw' segments_are 1 first
exits 'it is stopped' 0 ftracectl stop first
ok 'its segments are sealed' wait_until 60 segments_are 2 first
ok 'nothing is left over' wait_until 20 has_no_temporaries
# The fake kernel's own counters stay at 0, which verify does not overlook.
exits 'it is verified' 6 ftracectl verify first
cp "$out" "$work/verified"
is 'nothing but the counters is wrong with it' \
        "$(grep -vc 'events are stored, but the kernel handed out 0' "$work/verified")" 1
exits 'a deeper look finds nothing else' 6 ftracectl verify --deep first
says 'every block is as it was' "2 of 2 blocks decode to the $(sum_of first n_pages) pages that they were made of" "$out"
is 'it adds nothing but that' "$(wc -l <"$out")" $(($(wc -l <"$work/verified") + 1))
exits 'it is drawn' 0 ftracectl report first
cp "$out" "$work/report"
is 'it is drawn whole' "$(wc -l <"$work/report")" "$(wc -l <"$top_srcdir/tests/data/udp_sendmsg-6.1.trace")"
exits 'it is fetched' 0 ftracectl fetch first -o "$work/first.dat"
raw=$(sum_of first n_bytes) disk=$(du -cB1 "$store"/sessions/first/cpu*/*.seg | tail -1 | cut -f1)
ok "$raw bytes take less than half of that on disk ($disk)" test $((disk * 2)) -lt "$raw"
ok 'the daemon ends' stop_ftraced

# --- the same recording, unsealed: the recorded pages with this session's headers ----------------

for cpu in 0 1; do
        segment=$store/sessions/first/cpu$cpu/00000000.seg
        cp "$segment" "$work/sealed$cpu"
        cp "$data/cpu$cpu/00000000.seg" "$segment"
done
ok 'raw segments are put in their place' segments_are 1 first
exits 'the raw one is drawn' 0 ftracectl report --store "$store" first
ok 'the two drawings are equal' cmp "$out" "$work/report"
exits 'the raw one is verified' 6 ftracectl verify --store "$store" first
ok 'verify says the same of both' cmp "$out" "$work/verified"
exits 'the raw one has nothing to compare' 6 ftracectl verify --deep --store "$store" first
says 'that is said' '2 of 2 files are not sealed and have no checksums' "$out"
exits 'the raw one is fetched' 0 ftracectl fetch --store "$store" first -o "$work/raw.dat"
ok 'the two files are equal' cmp "$work/first.dat" "$work/raw.dat"
ok 'the next daemon starts' start_ftraced --tracefs "$work/tracefs"
ok 'it seals what it finds' wait_until 100 segments_are 2 first

ok 'it ends' stop_ftraced

# --- a worker that is killed, and a session that is removed under its hands ----------------------

make_session second 200
make_session third 200
catch_worker second &
catcher=$!
ok 'a daemon starts on two longer sessions' start_ftraced --tracefs "$work/tracefs"
wait "$catcher"
worker=$(cat "$work/worker")
ok 'a worker was caught at its work' test -n "$worker"
is 'it has no capability' "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$worker/status")" 0000000000000000
is 'it has the two files and nowhere to talk to' \
        "$(find "/proc/$worker/fd" -type l -printf '%f ' | xargs)" '0 1 2'
exits 'the daemon answers meanwhile' 0 ftracectl list
catch_worker third &
catcher=$!
kill -KILL "$worker"
ok 'its death is one message' wait_until 60 grep -q \
        "segment cpu./00000000.seg of session \"second\": the worker was killed by signal 9 .* it stays as it is" \
        "$work/ftraced.log"
wait "$catcher"
worker=$(cat "$work/worker")
ok 'the daemon goes on with the next' test -n "$worker"
ok 'one of the session is sealed, one is not' eval \
        '[[ $(segment_version "$store/sessions/second/cpu0/00000000.seg") != $(segment_version "$store/sessions/second/cpu1/00000000.seg") ]]'
exits 'such a session is drawn' 6 ftracectl report second
is 'nothing but its repetition is wrong with it' "$(grep -vcE 'older than the page before|are stored, but the session.s account says' "$err")" 0
exits 'a session is removed while a worker seals it' 0 ftracectl remove third
kill -CONT "$worker"
ok 'the worker ends' wait_until 60 not test -e "/proc/$worker"
exits 'the daemon still answers' 0 ftracectl list
ok 'nothing of the session comes back' not test -e "$store/sessions/third"
is 'no more is said' "$(grep -c 'Cannot seal' "$work/ftraced.log")" 1
ok 'nothing is left over' wait_until 20 has_no_temporaries
ok 'the daemon ends in peace' stop_ftraced

# --- damage is named -----------------------------------------------------------------------------

segment=$store/sessions/first/cpu0/00000000.seg
size=$(stat -c %s "$segment")
printf '\377' | dd of="$segment" bs=1 seek=400 conv=notrunc status=none
exits 'verify refuses a damaged block' 6 ftracectl verify --store "$store" first
says 'it names the file, the block and what is wrong' \
        'cpu0/00000000.seg: block 0: the body does not match its checksum, [0-9]+ pages lost' "$out"
exits 'a deeper look says so, too' 6 ftracectl verify --deep --store "$store" first
says 'it counts the good ones' '1 of 2 blocks decode to the [0-9]+ pages that they were made of' "$out"
is 'it names the damage once' "$(grep -c 'block 0: the body' "$out")" 1
is 'it can be read by a program' "$(ftracectl verify --deep --json --store "$store" first | jq -c '[.complete, .deep.segments, .deep.segments_sealed, .deep.blocks, .deep.blocks_good]')" '[false,2,2,2,1]'
exits 'report draws the rest' 6 ftracectl report --store "$store" first
says 'it names the damage too' 'cpu0/00000000.seg: block 0'
cp "$work/sealed0" "$segment"
truncate -s $((size - 1)) "$segment"
exits 'verify tells of a lost index' 6 ftracectl verify --store "$store" first
says 'it was rebuilt' 'cpu0/00000000.seg: index: damaged; the blocks were found without it' "$out"
exits 'report draws all of it' 6 ftracectl report --store "$store" first
ok 'nothing is missing' cmp "$out" "$work/report"
# --- what cannot be sealed -----------------------------------------------------------------------

cp "$work/sealed0" "$store/sessions/first/cpu0/00000000.seg"
make_session hollow 1
make_session headless 1
for cpu in 0 1; do # as a disk leaves them that failed to write
        fallocate -p -o 8192 -l 8192 "$store/sessions/hollow/cpu$cpu/00000000.seg"
done
dd if=/dev/zero of="$store/sessions/headless/cpu0/00000000.seg" bs=4096 count=1 conv=notrunc status=none
ok 'a daemon starts on damaged segments' start_ftraced --tracefs "$work/tracefs"
ok 'each with holes is a message' wait_until 60 eval \
        '[[ $(grep -c "segment cpu./00000000.seg of session .hollow.: .*has holes" "$work/ftraced.log") == 2 ]]'
ok 'the others are sealed' wait_until 60 segments_are 2 first
ok 'also beside one without a header' wait_until 60 eval \
        '[[ $(segment_version "$store/sessions/headless/cpu1/00000000.seg") == 2 ]]'
ok 'the daemon ends' stop_ftraced
done_testing
