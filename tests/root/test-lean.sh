#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.12-rt arm64-6.12 arm64-16k-6.12
#
# What was learned is what is hooked; with --lean=full no call is missing, with auto others pay little.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

has_learned() { # asked often, while others work for it
        local file first

        for file in "$store"/lean/*; do # the host's own list has no roots
                if [[ -e $file ]] && read -r first <"$file" && [[ $first == 'ftraced lean'* ]] &&
                        grep -q '^roots udp' "$file"; then
                        grep -q '^tasks ' "$file" && [[ ! -e $tracefs/instances/ftraced.weigh ]]
                        return
                fi
        done
        return 1
}

# Before what the last session saw can have been counted: that is waited for, a moment.
start_at_once() {
        exits 'at once: the next start succeeds' 0 ftracectl start -n at-once --lean=auto udp_sendmsg
        if grep -q '^[^#]' "$(filter_of at-once)"; then
                pass 'at once: what was just seen is what is hooked'
        else
                says 'at once: it is said what is hooked' \
                        'udp_sendmsg calls is still being learned; all functions but [0-9,]+ that ordinary work calls are hooked'
        fi
        stops 'at once: stop succeeds' at-once
}

record() { # NAME OPTION...: the workload, and how many are hooked, in $hooked
        local name=$1

        shift
        exits "$name: start succeeds" 0 ftracectl start -q -n "$name" "$@" udp_sendmsg
        hooked=$(grep -vc '^#' "$(filter_of "$name")")
        ok "$name: the workload succeeds" "$udp_pairs" $pairs
        stops "$name: stop succeeds" "$name"
        [[ $name != learning ]] || start_at_once
        # What is learned is weighed afterwards, in an instance of its own; what --lean=off teaches is not.
        [[ $hooked != 0 || "$*" == --lean=off ]] || wait_until 60 has_learned
        is_as_before "$name: the kernel is as it was"
        is "$name: all trees are there" "$(ftracectl verify --json "$name" | jq .trees)" $((2 * pairs))
}

# Which functions the process's own calls were, without what interrupts did meanwhile.
functions_in() { # NAME
        ftracectl report --no-pager -q "$1" 2>/dev/null | sed -n 's/^.*|   *\([a-zA-Z_][a-zA-Z0-9_.]*\)().*/\1/p' | sort -u
}

lean_by_default
ok 'the daemon starts' start_ftraced
record everything --lean=off
is 'off: no filter is set' "$hooked" 0
ok 'off: teaches all the same' wait_until 120 learned
rm -f "$store"/lean/*
# What was recorded with everything hooked, in another store and as a file.
mkdir "$work/elsewhere"
cp -r "$store"/sessions "$store"/symbols "$work/elsewhere/"
for way in store file; do
        case $way in
        store) exits 'learn: from another store' 0 ftracectl learn --store "$work/elsewhere" everything ;;
        file)
                exits 'learn: a file is written' 0 ftracectl fetch -q everything -o "$work/everything.dat"
                exits 'learn: from that' 0 ftracectl learn "$work/everything.dat"
                ;;
        esac
        says 'learn: it is said what' "^udp_sendmsg: [0-9]+ functions from [0-9,]+ calls of " "$out"
        exits 'learn: the first start succeeds' 0 ftracectl start -q -n "learned-$way" --lean=auto udp_sendmsg
        ok 'learn: and is lean' test "$(grep -vc '^#' "$(filter_of "learned-$way")")" -gt 20
        is 'learn: without a word of what is not known' "$(session "learned-$way" '.warnings // [] | map(select(test("not known"))) | length')" 0
        stops 'learn: stop succeeds' "learned-$way"
        is_as_before 'learn: the kernel is as it was'
        rm -f "$store"/lean/*
done
record learning --lean=full
is 'learning: no filter is set' "$hooked" 0
ok 'it is learned when the session has ended' wait_until 120 learned
is_as_before 'after learning the kernel is as it was'
file=$(learned)
n_learned=$(($(grep -vc '^ ' "$file") - 7)) # callers stand below each, indented
ok 'the root was learned' grep -q '^udp_sendmsg' "$file"
ok 'what it calls was learned' test "$n_learned" -gt 50
ok 'what others pay was weighed, with forking and with ticks' grep -Eq '^tasks read .* fork spawn spin( host)?$' "$file"

record full --lean=full
ok 'full: what was learned is hooked' test "$hooked" -ge "$n_learned"
functions_in learning >"$work/learning"
functions_in full >"$work/full"
missing=$(comm -23 "$work/learning" "$work/full" | wc -l)
# Interrupts differ from run to run.
ok "full: what was called is there ($missing of $(wc -l <"$work/learning") functions were not called again)" \
        test $((missing * 5)) -lt "$(wc -l <"$work/learning")"

exits 'full: verify is content' 0 ftracectl verify full
says 'full: and says from how many calls what is recorded was learned' \
        'Note: .* functions are hooked; any other, not seen in the [0-9,]+ calls that lean learned from, is not recorded' "$out"

record auto --lean=auto
ok 'auto: less is hooked' test "$hooked" -lt "$n_learned"
ok 'auto: something is left out' test "$(session auto '.left_out | length')" -gt 0
ok 'auto: the root is not' test "$(session auto '.left_out | index("udp_sendmsg")')" = null
exits 'report succeeds' 0 ftracectl report --no-pager auto
says 'report says that calls are folded' 'part of their callers'
exits 'show succeeds' 0 ftracectl show auto
says 'show says what is not hooked' "(Not hooked: |^ +|, )$(session auto '.left_out[0]')( |,|\$)" "$out"
says 'and in whose times it is' '^ +[a-z_0-9.]+ \(in [a-z_]' "$out"

# --- while it records ----------------------------------------------------------------------------
rm "$file"
exits 'long: start succeeds' 0 ftracectl start -n long udp_sendmsg
says 'long: what others call is not hooked' 'all functions but [0-9,]+ that ordinary work calls are hooked until it is learned'
not_hooked=$(filter_of long) not_hooked=${not_hooked%filter}notrace
ok 'long: that is much' test "$(grep -vc '^#' "$not_hooked")" -gt 500
ok 'long: but no root' not grep -qx udp_sendmsg "$not_hooked"
n_pairs=0
# After one more turn of the workload.  All but what turned out to be busy may be listed before.
is_narrowed() {
        "$udp_pairs" "$pairs" && n_pairs=$((n_pairs + pairs)) && [[ $(session long .narrowed_ns) -gt 0 ]] &&
                grep -q '^[^#]' "$(filter_of long)" && ! grep -q '^[^#]' "$not_hooked"
}
ok 'long: the filter is narrowed while it records, and is all there is' wait_until 240 is_narrowed
ok 'long: the workload goes on' "$udp_pairs" $pairs
n_pairs=$((n_pairs + pairs))
stops 'long: stop succeeds' long
is_as_before 'long: the kernel is as it was'
exits 'long: verify is content' 0 ftracectl verify --json long
is 'long: all trees are there' "$(jq .trees "$out")" $((2 * n_pairs))
is 'long: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is 'long: nobody is said to have meddled' "$(session long '.gaps // [] | length')" 0
ok 'long: it is said when it was narrowed' test "$(session long .narrowed_ns)" -gt 0

# --- damage -------------------------------------------------------------------------------------
ok "what was learned is kept" test -e "$file"
echo garbage >"$file"
record damaged --lean=auto
is 'what is damaged is not used' "$hooked" 0
ok 'and said' test "$(session damaged '.warnings | map(select(test("damaged"))) | length')" = 1

printf 'udp_sendmsg\nip_make_skb\nip_send_skb\n' >"$work/list"
record list "--lean=$work/list"
is 'a list is hooked as it is' "$hooked" 3
done_testing
