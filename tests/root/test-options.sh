#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each option is recorded by itself, for what seldom changes
# kernels: 6.12
#
# Each option of a recording shows in what is recorded.
. "$(dirname "$0")/../functions.sh"
require_kernel

record() { # NAME OPTION... -- COMMAND...: to $work/NAME.text
        local name=$1

        shift
        exits "$name: run succeeds" 0 ftracectl run --format=none -n "$name" "$@"
        ftracectl report "$name" >"$work/$name.text" 2>"$err"
        is_as_before "$name: the kernel is as it was"
}

# Deepest indentation of a drawing: 0 for roots.
deepest() { # FILE
        sed -n '/^#/d; s/^.*|  \( *\)[^ ].*/\1/p' "$1" | awk '{ if (length > n) n = length } END { print n / 2 }'
}

ended() { # NAME
        [[ $(session "$1" .state) == sealed ]]
}

ok 'the daemon starts' start_ftraced

# Where it is not about how many functions are hooked, few are: that is armed ten times as fast.
printf '%s\n' udp_sendmsg ip_make_skb __ip_append_data udp_send_skb ip_send_skb >"$work/some"
some=--lean=$work/some

# --- which functions ----------------------------------------------------------------------------

record several "$some" udp_sendmsg udp_recvmsg -- "$udp_pairs" 20
is 'several: all calls of the one root are there' "$(count_roots udp_sendmsg "$work/several.text")" 40
ok 'several: calls of the other root are there' test "$(count_roots udp_recvmsg "$work/several.text")" -ge 40

record wildcard "$some" 'udp_*msg' -- "$udp_pairs" 20
is 'wildcard: its roots are what the kernel lists' "$(session wildcard '.roots | join(" ")')" \
        "$(sed 's/ .*//' "$tracefs/available_filter_functions" | grep '^udp_.*msg$' | LC_ALL=C sort -u | paste -sd' ')"
is 'wildcard: calls of udp_sendmsg are there' "$(count_roots udp_sendmsg "$work/wildcard.text")" 40
ok 'wildcard: calls of udp_recvmsg are there' test "$(count_roots udp_recvmsg "$work/wildcard.text")" -ge 40

record whole udp_sendmsg -- "$udp_pairs" 20
ok 'whole: ip_make_skb is called' grep -q 'ip_make_skb()' "$work/whole.text"
ok 'whole: calls are nested' test "$(deepest "$work/whole.text")" -gt 5

record without "$some" --notrace=ip_make_skb udp_sendmsg -- "$udp_pairs" 20
is 'notrace: the roots are all there' "$(count_roots udp_sendmsg "$work/without.text")" 40
is 'notrace: the function is not' "$(grep -c 'ip_make_skb' "$work/without.text")" 0
is 'notrace: what it calls is not' "$(grep -c '__ip_append_data' "$work/without.text")" 0

# --- how deep -----------------------------------------------------------------------------------

record depth1 "$some" --depth=1 udp_sendmsg -- "$udp_pairs" 20
is 'depth 1: the roots are there' "$(count_roots udp_sendmsg "$work/depth1.text")" 40
is 'depth 1: nothing is below them' "$(deepest "$work/depth1.text")" 0
record depth2 "$some" --depth=2 udp_sendmsg -- "$udp_pairs" 20
is 'depth 2: the roots are there' "$(count_roots udp_sendmsg "$work/depth2.text")" 40
is 'depth 2: one level is below them' "$(deepest "$work/depth2.text")" 1

# --- whose --------------------------------------------------------------------------------------

mkfifo "$work/go"
bash -c 'read -r <"$1"; exec "$2" 25' - "$work/go" "$udp_pairs" >/dev/null &
client=$!
exits 'pid: start works' 0 ftracectl start -n pid "$some" --pid=$client udp_sendmsg
"$udp_pairs" 10 >/dev/null
echo >"$work/go"
wait $client
exits 'pid: stop works' 0 ftracectl stop pid
is_as_before 'pid: the kernel is as it was'
ftracectl report pid >"$work/pid.text" 2>"$err"
is 'pid: the calls of that process and of its child are there, no others' \
        "$(count_roots udp_sendmsg "$work/pid.text")" 50

# --- how long, how much -------------------------------------------------------------------------

exits 'duration: start works' 0 ftracectl start -n brief "$some" --duration=2s udp_sendmsg
"$udp_pairs" 10 >/dev/null
ok 'duration: it ends by itself' wait_until 30 ended brief
is_as_before 'duration: the kernel is as it was'
is 'duration: what happened is recorded' \
        "$(ftracectl verify --json brief | jq .trees)" 20
ok 'duration: it lasted about so long' \
        test "$(session brief '(.stop.monotonic_ns - .start.monotonic_ns) / 1e8 | floor')" -ge 19
ok 'duration: it did not last much longer' \
        test "$(session brief '(.stop.monotonic_ns - .start.monotonic_ns) / 1e8 | floor')" -lt 60
exits 'duration: show tells why it ended' 0 ftracectl show brief
says 'duration: the reason is in plain words' 'sealed.*(2 ?s|duration)' "$out"

hooks_some
exits 'max-size: start works' 0 ftracectl start -n bounded --max-size=1M udp_sendmsg
"$udp_pairs" 800 >/dev/null
ok 'max-size: it ends by itself' wait_until 30 ended bounded
is_as_before 'max-size: the kernel is as it was'
size=$(sum_of bounded n_bytes)
ok "max-size: so much is stored ($size bytes)" test "$size" -ge $((1 << 20))
ok "max-size: not much more is stored" test "$size" -lt $((3 << 20))
says 'max-size: the reason is in plain words' '1 ?M|max-size|size' <(session bounded .reason)

exits 'buffer-size: start works' 0 ftracectl start -n buffer "$some" --buffer-size=3M udp_sendmsg
for cpu in "$(buffer_of buffer)"/per_cpu/cpu*; do
        kib=$(sed 's/ .*//' "$cpu/buffer_size_kb")
        ok "buffer-size: ${cpu##*/} has it ($kib KiB)" test "$kib" -ge 3072 -a "$kib" -lt 3200
done
exits 'buffer-size: stop works' 0 ftracectl stop buffer
is_as_before 'buffer-size: the kernel is as it was'
done_testing
