#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The drawing is the kernel's own: what `report` prints equals, byte for byte, what the kernel's
# `trace` file printed of the same events before they were drained.
. "$(dirname "$0")/../functions.sh"
require_kernel

compare() { # NAME PAIRS START-OPTION...
        local name=$1 pairs=$2 buffer

        shift 2
        exits "$name: the session starts" 0 ftracectl start -n "$name" "$@"
        buffer=$(buffer_of "$name")
        kill -STOP "$ftraced_pid"
        "$udp_pairs" "$pairs" >/dev/null
        echo 0 >"$buffer/tracing_on"
        cp "$buffer/trace" "$work/$name.kernel"
        kill -CONT "$ftraced_pid"
        exits "$name: stop works" 0 ftracectl stop "$name"
        ftracectl report "$name" >"$work/$name.all" 2>"$err"
        grep -vE "$without_loss" "$work/$name.all" >"$work/$name.ours"
        ok "$name: the kernel drew more than a header" test "$(grep -vc '^#' "$work/$name.kernel")" -gt 10
        if cmp -s "$work/$name.kernel" "$work/$name.ours"; then
                pass "$name: report equals the kernel's text"
        else
                fail "$name: report equals the kernel's text"
                diff "$work/$name.kernel" "$work/$name.ours" >"$work/diff"
                note "$(grep -c '^[<>]' "$work/diff") lines differ of $(wc -l <"$work/$name.kernel")"
                show_file "$work/diff"
        fi
        is_as_before "$name: the kernel is as it was"
}

ok 'the daemon starts' start_ftraced
without_loss='^never$'
compare plain 50 udp_sendmsg
compare deep-roots 20 udp_sendmsg udp_recvmsg
compare shallow 200 --depth=2 udp_sendmsg
# The pages say that events were lost before them; `trace` cannot know it, as it begins behind the loss.
without_loss='^CPU:[0-9]+ \[LOST( [0-9]+)? EVENTS\]$'
compare overflow 1000 --buffer-size=256K udp_sendmsg
says 'overflow: the loss is drawn' "$without_loss" "$work/overflow.all"
without_loss='^never$'
# The server's and the client's system calls, with what interrupts them and what they wait for.
compare with-sleep 20 '*_sys_sendto' '*_sys_recvfrom'
done_testing
