#!/bin/bash
# Touches: nothing; reads copies of recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What was not hooked is part of its callers' time: nobody says of such a function that it is slow itself.
. "$(dirname "$0")/../functions.sh"
requires jq

data=$work/data verbs=('top' 'top --by=module' 'tree --min=0' 'slow' 'waits' 'path udp_recvmsg' 'why udp_sendmsg' 'calls')
formats=(flame html folded csv json ndjson tsv)
mkdir "$data"
cp -r "$top_srcdir/tests/data/sessions" "$top_srcdir/tests/data/symbols" "$data/"
chmod -R u+w "$data"

edit() { # RECORDING FILTER: session.json as jq's FILTER makes it of the original
        jq "$2" "$top_srcdir/tests/data/sessions/$1/session.json" >"$data/sessions/$1/session.json"
}

# Of every view and export of both recordings: one with waits, one with calls enough to compare.
check_all() { # DESCRIPTION PHRASE MARK NUMBER
        for recording in requests-6.12 udp-pairs-6.12; do
                for verb in "${verbs[@]}"; do
                        # shellcheck disable=SC2086
                        ftracectl $verb --store "$data" $recording >"$out" 2>"$err" || continue # it has no such calls
                        ok "$1: ${verb%% *} of $recording calls nothing itself" not grep -qwE 'itself|own time of' "$out"
                        [[ $verb$recording =~ ^why|^waitsrequests ]] ||
                                says "$1: $verb of $recording has marks" "  \\($3\\)|$2" "$out"
                        says "$1: $verb of $recording says what it lacks" "^$recording: hooked " "$err"
                done
                for format in "${formats[@]}"; do
                        ftracectl export --format="$format" --store "$data" $recording >"$out" 2>"$err"
                        ok "$1: --format=$format of $recording calls nothing itself" not grep -qawE 'itself|own time of' "$out"
                        says "$1: --format=$format of $recording says what it lacks" "^$recording: hooked " "$err"
                        says "$1: --format=$format of $recording says it" "$2|${4:-no number}" "$out"
                done
        done
        exits "$1: why names something" 0 ftracectl why --store "$data" requests-6.12 udp_sendmsg
        says "$1: and what is below it" "netdev_core_pick_tx$2, below __dev_queue_xmit" "$out"
        exits "$1: an export for Perfetto" 0 ftracectl export --format=perfetto --store "$data" -o "$work/p" requests-6.12
        ok "$1: has it" grep -qaF "${5:-callees not known}" "$work/p"
}

# Its only callers are not known, so it may be below any function.
below_all='.n_hooked = 129 | .n_known = 286 | .tree_from = "learned" | .left_out = ["nosuch"] |
        .left_out_in = ["..."] | .left_out_why = ["cost"] | .spec.lean = "auto"'
edit requests-6.12 "$below_all"
edit udp-pairs-6.12 "$below_all"
check_all below ' or below it \(1 function not hooked\)' '\+1' \
        '1 not hooked below|,1$|"not_hooked_below":1[,}]|	1$' '1 not hooked below'
exits 'verify succeeds' 0 ftracectl verify --store "$data" udp-pairs-6.12
says 'and says for what' 'complete for the 129 functions that were hooked of 286 known, ' "$out"
says 'and what is missing' 'hooked 129 of 286 known functions; left out: 1 for their cost \(nosuch\); "ftracectl start --lean=off \.\.\." records all' "$out"
exits 'in JSON, too' 0 ftracectl verify --json --store "$data" udp-pairs-6.12
is 'hooked of known' "$(jq -c '[.hooked, .known]' "$out")" '[129,286]'
exits 'show lists why' 0 ftracectl show --store "$data" udp-pairs-6.12
says 'for each' 'Not hooked: nosuch .*: cost$' "$out"

# As nobody knows what is called, and as earlier versions recorded it.
for how in '.n_hooked = 12 | .tree_from = "unknown" | .callees_unknown = true' '.n_ordinary = 1780' \
        '.n_hooked = 269 | .learned_ns = 1795267200000000000'; do
        edit requests-6.12 "$how"
        edit udp-pairs-6.12 "$how"
        check_all "unknown, ${how%% |*}" ' or below it \(its callees are not known\)' '\+\?' \
                'callees not known|,$|"not_hooked_below":null|\\N$'
done

# Functions whose callees are hooked are said to be slow themselves, and so are those of a text, which says nothing.
edit requests-6.12 '.n_hooked = 129 | .n_known = 130 | .tree_from = "learned" |
        .left_out = ["kfree"] | .left_out_in = ["dst_release"] | .left_out_why = ["cost"]'
exits 'why of one whose callees are hooked' 0 ftracectl why --store "$data" requests-6.12 udp_sendmsg
says 'calls it slow itself' 'own time of netdev_core_pick_tx \(called by __dev_queue_xmit below ip_finish_output2\)' "$out"

# The drawing has comments where something was not hooked, and nowhere else, and can be read again.
edit udp-pairs-6.12 '.n_hooked = 129 | .n_known = 286 | .tree_from = "learned" | .left_out = ["dst_release", "kfree"] |
        .left_out_in = ["ip_send_skb", "dst_release"] | .left_out_why = ["cost", "cost"]'
exits 'a drawing' 0 ftracectl report --store "$data" udp-pairs-6.12
cp "$out" "$work/drawing"
says 'has a mark where it lacks two' '\|  +ip_send_skb\(\) \{ /\* 2 not hooked below \*/$' "$work/drawing"
says 'and where it lacks one' '\|  +dst_release\(\)( \{|;) /\* 1 not hooked below \*/$' "$work/drawing"
is 'and nowhere else' "$(grep 'not hooked below' "$work/drawing" | grep -cvE ' (ip_send_skb|dst_release)\(\)')" 0
exits 'it can be read' 0 ftracectl report "$work/drawing"
ok 'and is the same' cmp "$work/drawing" "$out"
exits 'without notes' 0 ftracectl report -O nonotes --store "$data" udp-pairs-6.12
ftracectl report --store "$top_srcdir/tests/data" udp-pairs-6.12 >"$work/all" 2>/dev/null
ok 'it is what the kernel draws' cmp "$work/all" "$out"
exits 'of SystemTap' 0 ftracectl report --format=indent --store "$data" udp-pairs-6.12
says 'it has marks, too' ' -> ip_send_skb /\* 2 not hooked below \*/$' "$out"

exits 'compared by layers' 0 ftracectl diff --store "$data" udp_sendmsg-6.12 udp-pairs-6.12 --by=layer --vmlinux="$top_srcdir/tests/data/udp_sendmsg-6.12.lines"
says 'it has the time of what is not hooked elsewhere' '^Not all functions were hooked: what these took counts where their callers are\.$' "$out"
exits 'compared by layers, as JSON' 0 ftracectl diff --store "$data" udp_sendmsg-6.12 udp-pairs-6.12 --by=layer --json --vmlinux="$top_srcdir/tests/data/udp_sendmsg-6.12.lines"
is 'that is told of those of the callers' "$(jq -c '[.[].areas[] | select(.not_hooked_below > 0).place] | unique' "$out")" '["IP","network core"]'

# Two recordings in which not the same is hooked: what one lacks need not be new.
edit udp_sendmsg-6.1 '.n_hooked = 129 | .n_known = 130 | .tree_from = "learned"'
exits 'a difference' 0 ftracectl diff --limit=1000 --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12
says 'may be one of hooks' ', which the earlier ones do not have, but it was not hooked all the time' "$out"
ok 'but not of what was hooked' not grep -q 'which only the earlier ones have, but' "$out"

# While ftraced changed hooks, calls are slow because of that.
edit udp-pairs-6.12 '.own_work = [{from_ns: 41350000000, to_ns: 41360000000}, {from_ns: 41394000000, to_ns: 41394800000}]'
exits 'the slowest calls' 0 ftracectl slow --store "$data" udp-pairs-6.12
says 'are told without those' '^6 outermost calls are left out, since ftraced changed hooks meanwhile\.$'
ok 'of which one was the slowest' not grep -q '^1\. .* took 43\.0 ms' "$out"
exits 'a histogram' 0 ftracectl hist --store "$data" --json udp-pairs-6.12
is 'lacks them' "$(jq .all.count "$out")" 26
exits 'why' 0 ftracectl why --store "$data" udp-pairs-6.12
says 'says so, too' '^6 outermost calls are left out'
exits 'calls' 0 ftracectl calls --json --store "$data" udp-pairs-6.12
is 'are marked' "$(jq '[.[] | select(.own_work)] | length' "$out")" 6
exits 'a drawing' 0 ftracectl report --store "$data" udp-pairs-6.12
is 'has marks' "$(grep -c '} /\* <- ftraced changed hooks \*/$' "$out")" 6
cp "$out" "$work/drawing"
exits 'it can be read' 0 ftracectl report "$work/drawing"
ok 'and is the same' cmp "$work/drawing" "$out"
exits 'the page' 0 ftracectl export --format=html --store "$data" udp-pairs-6.12
says 'counts them' 'id="own-work" data-value="6"' "$out"
done_testing
