#!/bin/bash
# Touches: nothing; reads copies of the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: hundreds of damaged files; the fuzz targets read their corpora
#
# Whatever is wrong with a file of a recording, in whatever kind of file: it is said with the file and
# the reason, in little memory and time, and what is good is drawn.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
seed=${SEED:-$((RANDOM * 32768 + RANDOM))} share=${SHARE:-10}
[[ ${SHARE:-} || ! ${FTRACED_LONG:-} ]] || share=6
note "SEED=$seed SHARE=$share: every so manieth of about a thousand is tried; SHARE=1 tries all"
RANDOM=$seed
mkdir "$work/broken"
cp -r "$data/sessions/udp_sendmsg-6.12" "$work/sealed"
chmod -R u+w "$work/sealed"
ok 'a copy is sealed' "$top_builddir/tests/bench/seal-session" "$work/sealed"
for form in v6 'v7 --compress=none' 'zstd --compress=zstd'; do
        read -ra words <<<"$form"
        ftracectl fetch -q --store "$data" udp_sendmsg-6.12 -o "$work/broken/${words[0]}.dat" "${words[@]:1}"
done
ok 'damaged copies are made' \
        python3 "$(dirname "$0")/damage.py" "$data" "$work/sealed" "$work/broken" "$seed"

addresses=200000
! is_sanitized ftracectl || addresses=unlimited # it takes terabytes of them
in_little_memory() { # ARGUMENT...: of ftracectl
        (
                ulimit -v $addresses
                exec timeout 100 "$top_builddir/ftracectl" "$@"
        )
}
survives() { # ARGUMENT...: of ftracectl; whether it ends in order, and tells what is wrong if anything is
        local status=0

        in_little_memory "$@" >"$out" 2>"$err" </dev/null || status=$?
        case $status in
        0) return 0 ;;
        1 | 6) [[ -s $err || $1 == verify ]] && return 0 ;;
        esac
        echo "exit status $status: ftracectl $*"
        head -n 3 "$err"
        return 1
}
all_survive() { # WHAT VERB FILE...: each of them
        local what=$1 verb=$2 file bad=

        shift 2
        for file in "$@"; do
                [[ $((RANDOM % share)) == 0 ]] || continue
                case $file in
                */sessions/*) set -- --store "${file%/sessions/*}" "${file##*/}" ;;
                *) set -- "$file" ;;
                esac
                [[ $verb != fetch ]] || set -- "$@" -o "$work/again.dat" -q --compress=zstd
                survives "$verb" "$@" >>"$work/bad" || bad=1
        done
        if [[ -z $bad ]]; then
                pass "$what"
        else
                fail "$what"
                show_file "$work/bad"
        fi
        : >"$work/bad"
}

for verb in report verify fetch; do
        all_survive "$verb: damaged sessions" "$verb" "$work"/broken/store/sessions/* "$work"/broken/symbols/*/sessions/it
        all_survive "$verb: damaged files of trace-cmd's" "$verb" "$work"/broken/files/*.dat
done
for verb in report verify top; do
        all_survive "$verb: damaged texts" "$verb" "$work"/broken/files/*.txt
done

# The place and the reason.
store=$work/broken/store
for kind in raw sealed; do
        exits "$kind: a segment that was cut is incomplete" 6 ftracectl verify --store "$store" "$kind-cut-1"
        exits "$kind: its good part is drawn" 6 ftracectl report --no-legend --store "$store" "$kind-cut-1"
        ok "$kind: and the other CPU's" test "$(wc -l <"$out")" -gt 500
        exits "$kind: an empty one is incomplete" 6 ftracectl verify --store "$store" "$kind-empty"
done
# What claims 900 GB is neither read nor taken for a recording.
for kind in raw-sparse raw-hole raw-claims raw-claims-far raw-unclosed sealed-sparse sealed-hole \
        sealed-headless sealed-headless-far; do
        for verb in report top verify 'verify --deep' 'export --format=csv' 'fetch -q -o again.dat'; do
                [[ $verb != fetch* ]] || verb="fetch -q -o $work/again.dat"
                # shellcheck disable=SC2086
                in_little_memory $verb --store "$store" "$kind" >"$out" 2>"$err" </dev/null
                case $?:$kind:${verb%% *} in
                6:*) ;;
                *) echo "status $?: $verb $kind" >>"$work/bad" ;;
                esac
                cat "$out" "$err" | grep -qE 'cpu0/00000000.seg|CPU 0' ||
                        echo "$verb $kind: no word of the file" >>"$work/bad"
                [[ $verb != report ]] || [[ $(grep -c '^ 1)' "$out") -gt 500 ]] ||
                        echo "$kind: CPU 1 is not drawn" >>"$work/bad"
        done
        ftracectl verify "$work/again.dat" >"$out"
        [[ $? == 6 && $(<"$out") =~ 'of the recording that was fetched: '(cpu0/00000000.seg|CPU 0) ]] ||
                echo "$kind: the fetched file does not tell" >>"$work/bad"
        is "$kind: is told by its name, and the other CPU is read" "$(cat "$work/bad")" ''
        : >"$work/bad"
done
# What nothing in the files tells, the session's account does: an end that is missing.  What of it is fetched tells, too,
# also when that is fetched again.
mkdir -p "$work/ends/sessions"
for way in gone short empty zeroes; do
        end=$work/ends/sessions/$way/cpu1/00000000.seg
        cp -r "$data/sessions/udp_sendmsg-6.12" "$work/ends/sessions/$way"
        chmod -R u+w "$work/ends"
        case $way in
        gone) rm "$end" ;;
        short) truncate -s -4096 "$end" ;;
        empty) : >"$end" ;;
        zeroes) dd if=/dev/zero of="$end" bs=4096 seek=3 count=1 conv=notrunc status=none ;;
        esac
        for verb in report 'report --cpus=0' 'report --to=+1us' top tree why 'export --format=json' verify \
                "fetch -o $work/once.dat" "fetch --cpus=1 -o $work/part.dat"; do
                [[ $way:$verb != zeroes:*--to* ]] || continue # which does not read so far
                # shellcheck disable=SC2086
                ftracectl -q $verb --store "$work/ends" "$way" >"$out" 2>"$err"
                [[ $? == 6 ]] || echo "status: $verb" >>"$work/bad"
                cat "$out" "$err" | grep -qE 'account says|page never written' ||
                        echo "no word of it: $verb" >>"$work/bad"
        done
        ftracectl fetch -q "$work/once.dat" -o "$work/twice.dat" >"$out" 2>&1 || [[ $? == 6 ]] ||
                echo 'fetched again: status' >>"$work/bad"
        for file in once twice part; do
                for verb in report top verify "fetch -o $work/again.dat"; do
                        # shellcheck disable=SC2086
                        ftracectl -q $verb "$work/$file.dat" >"$out" 2>"$err"
                        [[ $? == 6 ]] && cat "$out" "$err" | grep -q 'of the recording that was fetched: CPU 1:' ||
                                echo "$file.dat: $verb" >>"$work/bad"
                done
        done
        is "$way: every reader tells of an end that is missing" "$(cat "$work/bad")" ''
        : >"$work/bad"
done
exits 'a window is whole' 0 ftracectl fetch -q --cpus=1 --from=+1us --store "$data" udp_sendmsg-6.12 -o "$work/part.dat"
exits 'what is made of it is, too' 0 ftracectl fetch -q --to=+1s "$work/part.dat" -o "$work/twice.dat"
exits 'and complete' 0 ftracectl verify "$work/twice.dat"
says 'but tells what was asked for' 'a part of its recording: it was made with --cpus=1 --from=\+1us --to=\+1s' "$out"

# What is no file, whose place ever it takes: it is named, nobody waits for it, and the rest is drawn.
try() { # STORE SESSION PATTERN STATUS: verbs that read, of segments all of them
        local verbs=(report top verify "fetch -q -o $work/again.dat")

        [[ $2 != raw-* ]] || verbs+=(tree slow calls 'verify --deep' 'export --format=csv'
                "diff $2")
        for verb in "${verbs[@]}"; do
                # shellcheck disable=SC2086
                timeout 100 "$top_builddir/ftracectl" $verb --store "$1" "$2" >"$out" 2>"$err" </dev/null
                case $? in
                "$4") grep -qE "$3" "$out" "$err" || echo "$verb $1 $2: no word of it" >>"$work/bad" ;;
                6) [[ $4 == 1 && $verb =~ verify ]] || echo "status 6: $verb $1 $2" >>"$work/bad" ;;
                *) echo "status $?: $verb $1 $2" >>"$work/bad" ;;
                esac
                [[ $verb != report || $4 != 6 ]] || [[ $(grep -c '^ 1)' "$out") -gt 500 ]] ||
                        echo "$1 $2: CPU 1 is not drawn" >>"$work/bad"
        done
}
for way in fifo link directory socket device; do
        [[ -e $store/sessions/raw-$way ]] || continue # a device takes root
        for kind in raw:cpu0/00000000.seg sealed:cpu0/00000000.seg tasks:tracing/saved_cmdlines cpu:cpu0 cuts:cuts; do
                [[ $kind:$way == cpu:*:directory ]] ||
                try "$store" "${kind%%:*}-$way" "${kind#*:}: not a file that ftraced has made" 6
        done
        try "$store" "page-$way" 'header_page is missing or no regular file' 1
        try "$store" "meta-$way" 'session.json is not valid' 1
        try "$work/broken/symbols/$way" it 'symbols in the store are damaged' 6
        [[ $way == directory ]] || try "$work/broken/symbols/all-$way" it 'symbols in the store are damaged' 6
        is "a $way in a file's place is named, and the others are read" "$(cat "$work/bad")" ''
        : >"$work/bad"
done
exits 'a list without those that cannot be read is not whole' 6 ftracectl list --store "$store"
says 'it names them' 'session "meta-fifo" is damaged'
for kind in page entry exit; do
        exits "$kind: an empty format is an error" 1 ftracectl report --store "$store" "$kind-empty"
        says "$kind: that names the file" 'header_page|funcgraph_(entry|exit)|format'
done
for verb in report verify; do
        exits "$verb: symbols that are damaged are said" 6 ftracectl $verb --store "$work/broken/symbols/zeros" it
        ok "$verb: by their name" grep -q 'symbols in the store are damaged' "$out" "$err"
done
exits 'they cost the names alone' 6 ftracectl report --no-legend --store "$work/broken/symbols/zeros" it
is 'every line is drawn' "$(wc -l <"$out")" \
        "$(ftracectl report --no-legend --store "$data" udp_sendmsg-6.12 | wc -l)"
mkdir -p "$work/none/sessions"
cp -r "$data/sessions/udp_sendmsg-6.12" "$work/none/sessions/it"
chmod -R u+w "$work/none"
for segment in "$work"/none/sessions/it/cpu*/*.seg; do
        echo 'no segment' >"$segment"
done
exits 'of segments that cannot be read' 6 ftracectl report --store "$work/none" it
ok 'it is not said that nothing was called' not grep -q 'has no calls' "$err"
done_testing
