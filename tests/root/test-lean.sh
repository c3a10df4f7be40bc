#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# What was learned is what is hooked; with --lean=full no call is missing, with auto others pay little.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

filter_of() { # NAME: the file that says what is hooked for it
        if has_instances; then
                echo "$tracefs/instances/ftraced-$1/set_ftrace_filter"
        else
                echo "$tracefs/set_ftrace_filter"
        fi
}

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
        # What is learned is weighed afterwards, in an instance of its own.
        [[ $hooked != 0 || "$*" != --lean=* ]] || wait_until 60 has_learned
        is_as_before "$name: the kernel is as it was"
        is "$name: all trees are there" "$(ftracectl verify --json "$name" | jq .trees)" $((2 * pairs))
}

learned() {
        grep -ls '^roots udp' "$store"/lean/*
}

# Which functions the process's own calls were, without what interrupts did meanwhile.
functions_in() { # NAME
        ftracectl report --no-pager -q "$1" 2>/dev/null | sed -n 's/^.*|   *\([a-zA-Z_][a-zA-Z0-9_.]*\)().*/\1/p' | sort -u
}

sed -i '/^Lean=/d' "$FTRACED_CONFIG" # which is auto by default
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
says 'show says what is not hooked' '(Not hooked: |^ +)(__rcu_read_lock|_raw_spin_lock)[a-z_]* \(in ' "$out"

# --- while it records ----------------------------------------------------------------------------
rm "$file"
exits 'long: start succeeds' 0 ftracectl start -n long udp_sendmsg
says 'long: what others call is not hooked' 'all functions but [0-9,]+ that ordinary work calls are hooked until it is learned'
not_hooked=$(filter_of long) not_hooked=${not_hooked%filter}notrace
ok 'long: that is much' test "$(grep -vc '^#' "$not_hooked")" -gt 500
ok 'long: but no root' not grep -qx udp_sendmsg "$not_hooked"
n_pairs=0
is_narrowed() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && n_pairs=$((n_pairs + pairs)) && grep -q '^[^#]' "$(filter_of long)"
}
ok 'long: the filter is narrowed while it records' wait_until 120 is_narrowed
is 'long: and is all there is' "$(grep -vc '^#' "$not_hooked")" 0
ok 'long: the workload goes on' "$udp_pairs" $pairs
n_pairs=$((n_pairs + pairs))
stops 'long: stop succeeds' long
is_as_before 'long: the kernel is as it was'
exits 'long: verify is content' 0 ftracectl verify --json long
is 'long: all trees are there' "$(jq .trees "$out")" $((2 * n_pairs))
is 'long: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is 'long: nobody is said to have meddled' "$(session long '.gaps // [] | length')" 0
ok 'long: it is said when it was narrowed' test "$(session long .narrowed_ns)" -gt 0

# --- others --------------------------------------------------------------------------------------
# Keys are nobody's ordinary work.  What a host calls often is found out while a session records.
python3 -c 'import ctypes
keyctl = ctypes.CDLL(None).syscall
while True: keyctl(250, 0, -2, 1)' & # keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING)
keys_pid=$!
exits 'others: start succeeds' 0 ftracectl start -q -n others vfs_fsync_range
not_hooked=$(filter_of others) not_hooked=${not_hooked%filter}notrace
ok 'others: what none of our lists has is hooked' not grep -qx lookup_user_key "$not_hooked"
is_spared() {
        grep -qx lookup_user_key "$not_hooked"
}
ok 'others: until it is seen how often they call it' wait_until 120 is_spared
is 'others: which is noted' "$(session others '.hook_changes | map(.reason) | unique | join(" ")')" spared
ok 'others: by name' test "$(session others '.left_out | index("lookup_user_key")')" != null
exits 'others: show succeeds' 0 ftracectl show others
says 'others: show says since when' 'without what others call often' "$out"
is 'others: nobody is said to have meddled' "$(session others '.gaps // [] | length')" 0
stops 'others: stop succeeds' others
exits 'others: the next start, of another function' 0 ftracectl start -q -n next vfs_fallocate
not_hooked=$(filter_of next) not_hooked=${not_hooked%filter}notrace
ok 'others: spares them from the beginning' is_spared
stops 'others: it stops' next
kill "$keys_pid"
wait "$keys_pid" 2>/dev/null
is_as_before 'others: the kernel is as it was'

# --- a death meanwhile ---------------------------------------------------------------------------
look=$tracefs/instances/ftraced.weigh
exits 'death: start succeeds' 0 ftracectl start -q -n death vfs_fallocate
ok 'death: others are looked at' wait_until 120 test -d "$look"
inode=$(stat -c %i "$look")
kill_ftraced
ok 'death: the next daemon starts' start_ftraced
ok 'death: and has removed what that look needed' test "$(stat -c %i "$look" 2>/dev/null)" != "$inode"
stops 'death: stop succeeds' death
is_as_before 'death: the kernel is as it was'

# --- what was never seen -------------------------------------------------------------------------
sed -i '/^ip_make_skb\b/,/^[^ ]/{/^ip_make_skb\b/d; /^ /d}' "$file"
ok 'the daemon ends' stop_ftraced
sed -i 's/^MaxCPU=0/&\nRelearnSec=15/' "$FTRACED_CONFIG"
ok 'one starts that looks every 15 s' start_ftraced
exits 'again: start succeeds' 0 ftracectl start -q -n again udp_sendmsg
filter=$(filter_of again)
ok 'again: what was learned is hooked' grep -qx udp_send_skb "$filter"
ok 'again: a call that was never seen is not' not grep -qx ip_make_skb "$filter"
is_learned_again() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && grep -qx ip_make_skb "$filter"
}
ok 'again: it is hooked when it was looked for' wait_until 200 is_learned_again
is 'again: which is noted' "$(session again '.hook_changes[:2] | map(.reason) | join(" ")')" 'widened narrowed'
exits 'again: show succeeds' 0 ftracectl show again
says 'again: show says when' 'widened, to learn what is called by now' "$out"
stops 'again: stop succeeds' again
exits 'again: verify is content' 0 ftracectl verify --json again
is 'again: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is 'again: nobody is said to have meddled' "$(session again '.gaps // [] | length')" 0
is_as_before 'again: the kernel is as it was'

# --- a shipped profile ---------------------------------------------------------------------------
rm -f "$store"/lean/*
mkdir -p "$work/root/usr/lib/ftraced/profiles.d"
cp "$top_srcdir/systemd/profiles.d/udp-send.conf" "$work/root/usr/lib/ftraced/profiles.d"
exits 'profile: start succeeds' 0 ftracectl --root "$work/root" start -q -n guess --profile udp-send
filter=$(filter_of guess)
ok 'profile: what it called elsewhere is hooked' grep -qx udp_send_skb "$filter"
is 'profile: which is said' "$(session guess '.warnings | map(select(test("called elsewhere are hooked"))) | length')" 1
is_learned_here() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && [[ $(session guess '.hook_changes // [] | map(.reason) | join(" ")') == 'widened narrowed'* ]]
}
ok 'profile: then nearly everything, until it is learned' wait_until 120 is_learned_here
ok 'profile: which is kept' learned
stops 'profile: stop succeeds' guess
is_as_before 'profile: the kernel is as it was'
exits 'profile: verify is content' 0 ftracectl verify --json guess
is 'profile: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
file=$(learned)

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
