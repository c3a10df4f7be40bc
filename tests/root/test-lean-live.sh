#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: its waits are for what the daemon looks at every 15 s
# kernels: 6.12
#
# With --lean=auto what is hooked changes while a session records: without what others call often, and with what was
# never seen.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

lean_by_default
ok 'the daemon starts' start_ftraced
exits 'everything: start succeeds' 0 ftracectl start -q -n everything --lean=off udp_sendmsg
ok 'everything: the workload succeeds' "$udp_pairs" "$pairs"
stops 'everything: stop succeeds' everything
ok 'everything: teaches' wait_until 120 learned
file=$(learned)

# --- others --------------------------------------------------------------------------------------
# Keys are nobody's ordinary work.  What a host calls often is found out while a session records.
python3 -c 'import ctypes
keyctl = ctypes.CDLL(None).syscall
while True: keyctl(250, 0, -2, 1)' & # keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING)
keys_pid=$!
exits 'others: start succeeds' 0 ftracectl start -q -n others vfs_fsync_range
is_spared() {
        not is_hooked lookup_user_key
}
ok 'others: what none of our lists has is hooked' is_hooked lookup_user_key
ok 'others: what ordinary work calls is not' not is_hooked vfs_write
ok 'others: until it is seen how often they call it' wait_until 120 is_spared
is_noted() {
        [[ $(session others '.hook_changes // [] | map(.reason) | unique | join(" ")') == spared ]]
}
ok 'others: which is noted' wait_until 60 is_noted
ok 'others: by name' test "$(session others '.left_out | index("lookup_user_key")')" != null
exits 'others: show succeeds' 0 ftracectl show others
says 'others: show says since when' 'without what others call often' "$out"
is 'others: nobody is said to have meddled' "$(session others '.gaps // [] | length')" 0
stops 'others: stop succeeds' others
exits 'others: the next start, of another function' 0 ftracectl start -q -n next vfs_fallocate
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
        "$udp_pairs" "$pairs" && [[ $(session again '.hook_changes // [] | map(.reason) | join(" ")') == 'widened narrowed'* ]]
}
ok 'again: it is looked for, which is noted' wait_until 200 is_learned_again
ok 'again: it is hooked from then on' is_hooked ip_make_skb
exits 'again: show succeeds' 0 ftracectl show again
says 'again: show says when' 'widened, to learn what is called by now' "$out"
stops 'again: stop succeeds' again
exits 'again: verify is content' 0 ftracectl verify --json again
is 'again: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is 'again: nobody is said to have meddled' "$(session again '.gaps // [] | length')" 0
is_as_before 'again: the kernel is as it was'
done_testing
