#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: its waits are for what the daemon looks at every 15 s
# kernels: 6.12
#
# With --lean=auto what is hooked changes while a session records: without what others call too often until they do not
# any more, and with what was never seen.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

lean_by_default
ok 'the daemon starts' start_ftraced
exits 'everything: start succeeds' 0 ftracectl start -q -n everything --lean=off udp_sendmsg
ok 'everything: the workload succeeds' "$udp_pairs" "$pairs"
stops 'everything: stop succeeds' everything
ok 'everything: teaches' wait_until 120 learned

# --- others --------------------------------------------------------------------------------------
# Somebody writes as much as he can to a pipe, and others see that after a second, whenever he begins.
exits 'others: start succeeds' 0 ftracectl start -q -n others udp_sendmsg
ok 'others: the workload succeeds' "$udp_pairs" 10
sleep 20 # the next look at others is not due for a while
bash -c 'while :; do read -r -N 1; done < <(while :; do printf x; done)' &
busy_pid=$!
is_thinned() { # while the root is called, which is told from what usual work might call
        "$udp_pairs" 10 && [[ $(session others '.left_out_why | index("cost")') != null ]]
}
ok 'others: what they call often is not hooked any more' wait_until 120 is_thinned
is 'others: which is told' "$(session others '[.hook_changes[].reason] | index("thinned") != null')" true
ok 'others: the root stays' is_hooked udp_sendmsg
ok 'others: and what calls others' is_hooked udp_send_skb
exits 'others: show succeeds' 0 ftracectl show others
says 'others: show says since when' 'thinned to spare other work' "$out"
n_restored() {
        session others '[.hook_changes[] | select(.reason == "restored")] | length'
}
n=$(n_restored)
kill "$busy_pid"
wait "$busy_pid" 2>/dev/null
is_restored() { # asked rarely: on a slow machine asking is as much work as what has ended
        sleep 15
        "$udp_pairs" 10 && [[ $(n_restored) -gt $n || $(session others '.hook_changes | last.reason') == restored ]]
}
ok 'others: when they do not any more it comes back' wait_until 400 is_restored
is 'others: nobody is said to have meddled' "$(session others '.gaps // [] | length')" 0
stops 'others: stop succeeds' others
is_as_before 'others: the kernel is as it was'

# --- while the root is not called ----------------------------------------------------------------
# Programs begin all the while, this story's own, and are recorded.
last_is() { # REASON
        [[ $(session quiet '.hook_changes // [] | last.reason') == "$1" ]]
}
exits 'quiet: start succeeds' 0 ftracectl start -q -n quiet --whose udp_sendmsg
ok 'quiet: what usual work calls is not hooked' wait_until 60 last_is thinned
is 'quiet: for that reason' "$(session quiet '.left_out_why | unique | join(" ")')" usual
kill_ftraced
ok 'quiet: the next daemon starts' start_ftraced
ok 'quiet: which begins with all' wait_until 60 last_is restored
ok 'quiet: and finds that it is quiet' wait_until 60 last_is thinned
ok 'quiet: the root is called' "$udp_pairs" 10
ok 'quiet: then all is hooked' wait_until 60 last_is restored
stops 'quiet: stop succeeds' quiet
is_as_before 'quiet: the kernel is as it was'

# --- a death meanwhile ---------------------------------------------------------------------------
look=$tracefs/instances/ftraced.weigh
exits 'death: start succeeds' 0 ftracectl start -q -n death udp_sendmsg
ok 'death: others are looked at' wait_until 120 test -d "$look"
inode=$(stat -c %i "$look")
kill_ftraced
ok 'death: the next daemon starts' start_ftraced
ok 'death: and has removed what that look needed' test "$(stat -c %i "$look" 2>/dev/null)" != "$inode"
stops 'death: stop succeeds' death
is_as_before 'death: the kernel is as it was'

# --- what was never seen -------------------------------------------------------------------------
ok 'the daemon ends' stop_ftraced
sed -i 's/^MaxCPU=0/&\nRelearnSec=15/' "$FTRACED_CONFIG"
ok 'one starts that looks every 15 s' start_ftraced
exits 'again: start succeeds' 0 ftracectl start -q -n again udp_sendmsg
is_learned_again() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && [[ $(session again '.hook_changes // [] | map(.reason) | join(" ")') == *'widened narrowed'* ]]
}
ok 'again: it is looked for, which is noted' wait_until 200 is_learned_again
ok 'again: the tree is hooked from then on' wait_until 60 is_hooked ip_make_skb
ok 'again: our own work is written down' test "$(session again '.own_work | length')" -gt 0
exits 'again: show succeeds' 0 ftracectl show again
says 'again: show says when' 'widened, to learn new calls' "$out"
stops 'again: stop succeeds' again
exits 'again: verify is content' 0 ftracectl verify --json again
is 'again: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is 'again: nobody is said to have meddled' "$(session again '.gaps // [] | length')" 0
is_as_before 'again: the kernel is as it was'
done_testing
