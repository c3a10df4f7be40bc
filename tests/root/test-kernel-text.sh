#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 5.10 6.1 new 6.12-rt new-rt arm64-6.12 arm64-16k-6.12
#
# The drawing is the kernel's own: what `report` prints equals, byte for byte, what the kernel's
# `trace` file printed of the same events before they were drained.
. "$(dirname "$0")/../functions.sh"
require_kernel

# What the test itself did to tracing_on is a gap, and in the top-level buffer it stays as it was left.
stops_switched_off() { # NAME BUFFER
        stops "$1: stop works" "$1"
        [[ $2 != "$tracefs" ]] || echo 1 >"$2/tracing_on"
}

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
        stops_switched_off "$name" "$buffer"
        report_unmarked "$name" >"$work/$name.all" 2>"$err"
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

# The same buffer in every combination of options: columns that are on by default and are off, and
# the other way round.
options='cpu duration overhead proc abstime tail irqs overrun'
combine() { # N: the N-th combination, a bit for each option
        local option bit=0

        for option in $options; do
                if (($1 >> bit++ & 1)); then
                        case $option in
                        cpu | duration | overhead | irqs) echo "no$option" ;;
                        *) echo "$option" ;;
                        esac
                fi
        done
}
set_options() { # OPTIONS-DIR WORD...: those, or without any the defaults
        local dir=$1 word

        shift
        for word in cpu duration overhead irqs noproc noabstime notail nooverrun "$@"; do
                [[ -e $dir/funcgraph-${word#no} ]] || continue
                if [[ $word == no* ]]; then echo 0; else echo 1; fi >"$dir/funcgraph-${word#no}"
        done
}
compare_options() { # NAME PAIRS "COMBINATION..." START-OPTION...
        local name=$1 pairs=$2 combinations=$3 n words differ='' lines=0 buffer dir

        shift 3
        exits "$name: the session starts" 0 ftracectl start -n "$name" "$@"
        buffer=$(buffer_of "$name")
        dir=$buffer/options
        [[ -e $dir/funcgraph-proc ]] || dir=${buffer%/instances/*}/options
        kill -STOP "$ftraced_pid"
        "$udp_pairs" "$pairs" >/dev/null
        echo 0 >"$buffer/tracing_on"
        for n in $combinations; do
                # shellcheck disable=SC2046  # words
                set_options "$dir" $(combine "$n")
                cp "$buffer/trace" "$work/$name.$n"
        done
        set_options "$dir"
        kill -CONT "$ftraced_pid"
        stops_switched_off "$name" "$buffer"
        for n in $combinations; do
                words=$(combine "$n" | sed 's/^no/nofuncgraph-/; /^no/!s/^/funcgraph-/' | paste -sd,)
                ftracectl report ${words:+-O "$words"} "$name" >"$work/$name.ours" 2>"$err"
                lines=$((lines + $(wc -l <"$work/$name.$n")))
                cmp -s "$work/$name.$n" "$work/$name.ours" && continue
                differ+=" $words"
                diff "$work/$name.$n" "$work/$name.ours" | head -n 20 >"$work/diff"
                show_file "$work/diff"
        done
        is "$name: report equals the kernel's text with all options" "$differ" ''
        ok "$name: $lines lines of it" test "$lines" -gt 10000
        is_as_before "$name: the kernel is as it was"
}

ok 'the daemon starts' start_ftraced
without_loss='^never$'
# All functions of the kernel, once with one root and once with several; always, with FTRACED_LONG.
compare plain 50 udp_sendmsg
hooks_some
compare deep-roots 20 udp_sendmsg udp_recvmsg
compare shallow 200 --depth=2 udp_sendmsg
# The pages say that events were lost before them; `trace` cannot know it, as it begins behind the loss.
without_loss='^CPU:[0-9]+ \[LOST( [0-9]+)? EVENTS\]$'
compare overflow 1000 --buffer-size=256K udp_sendmsg
says 'overflow: the loss is drawn' "$without_loss" "$work/overflow.all"
without_loss='^never$'
# The server's and the client's system calls, with what interrupts them and what they wait for.
compare with-sleep 20 '*_sys_sendto' '*_sys_recvfrom'
# On x86 only assembly is in .irqentry.text, which is not traced.
[[ $(uname -m) != aarch64 ]] ||
        says 'with-sleep: where an interrupt begins is drawn' '==========> \|' "$work/with-sleep.kernel"
# Each option alone, all of them, and some; with FTRACED_LONG all that change a column, over more.
if [[ -n ${FTRACED_LONG:-} ]]; then
        compare_options long-options 60 "$(seq -s ' ' 0 63)" udp_sendmsg
        compare_options long-rest 60 '64 128 192 255 191 127' '*_sys_sendto' '*_sys_recvfrom'
else
        hooks_all
        compare_options options 5 '1 2 4 8 16 32 64 128 255 56 63 26' '*_sys_sendto' '*_sys_recvfrom'
fi
done_testing
