#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: the same buffer in six forms
# kernels: 6.12
#
# The texts that the kernel prints of one buffer are the same calls to us: its trace file, what
# trace_pipe gives of it, and what "perf ftrace" prints of the same load.
# Only here: each of the kernel's own options, against the calls that it printed them of.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires jq

set_up() { # OPTION...: function_graph in the top-level buffer, with these options of its own
        echo 0 >"$tracefs/tracing_on"
        echo udp_sendmsg >"$tracefs/set_graph_function"
        echo function_graph >"$tracefs/current_tracer"
        for option; do
                case $option in
                latency-format) echo 1 >"$tracefs/options/latency-format" ;;
                no*) echo 0 >"$tracefs/options/funcgraph-${option#no}" ;;
                *) echo 1 >"$tracefs/options/funcgraph-$option" ;;
                esac
        done
        echo >"$tracefs/trace"
}
put_back() {
        echo nop >"$tracefs/current_tracer"
        echo >"$tracefs/set_graph_function"
        echo 0 >"$tracefs/options/latency-format"
        for option in cpu duration overhead irqs; do echo 1 >"$tracefs/options/funcgraph-$option"; done
        echo 1 >"$tracefs/options/irq-info" # which perf switches off
        for option in proc abstime tail overrun; do echo 0 >"$tracefs/options/funcgraph-$option"; done
        echo 1 >"$tracefs/tracing_on"
}
cleanup_fn put_back
counts='map({ (.function + " " + (.module // "")): .count }) | add'
counts_of() { # FILE: how often each function was called
        ftracectl top --json "$1" 2>"$err" | jq -cS "$counts"
}

begun_in() { # FILE: of each function how many lines say that it begins, as we draw them
        ftracectl report --no-legend "$1" 2>"$err" | grep -oE '[^ ]+( \[[^]]+\])?\(.*\)( \{|;)' | sort | uniq -c | md5sum
}

for options in '' 'proc abstime' 'noduration tail' 'latency-format proc' 'nocpu' 'nocpu noduration' \
        'nocpu noduration latency-format' 'nocpu proc abstime tail overrun latency-format'; do
        what=${options:-as they are}
        # shellcheck disable=SC2086
        set_up $options
        echo 1 >"$tracefs/tracing_on"
        "$udp_pairs" 10 >/dev/null
        echo 0 >"$tracefs/tracing_on"
        cp "$tracefs/trace" "$work/trace"
        timeout 5 cat "$tracefs/trace_pipe" >"$work/pipe"
        put_back
        # An interrupt that comes before the record of a return seems to lack its caller, which is said.
        ftracectl verify --json "$work/trace" >"$out" 2>"$err"
        calls=$(jq '.open + .leaf' "$out")
        is "$what: no line of it is taken for damage" "$(jq .damaged "$out")" 0
        ok "$what: it has calls" test "$calls" -gt 1000
        exits "$what: it is drawn again" 0 ftracectl report "$work/trace"
        ok "$what: as it was" cmp "$out" "$work/trace"
        # Without a column, and without a heading, it is no trace but a program.
        [[ $options != 'nocpu noduration' ]] || continue
        ftracectl verify --json "$work/pipe" >"$out" 2>"$err"
        is "$what: no line of trace_pipe is taken for damage" "$(jq .damaged "$out")" 0
        is "$what: trace_pipe has as many calls" "$(jq '.open + .leaf' "$out")" "$calls"
        is "$what: that begin with the same functions" "$(begun_in "$work/pipe")" "$(begun_in "$work/trace")"
        # trace_pipe loses the banner of a task at the end of a page: where no line says its CPU, nobody can
        # tell then whose a return is, which is another call if its own is another task's.
        [[ $options != *nocpu* ]] || continue
        is "$what: and are as many of each" "$(counts_of "$work/pipe")" "$(counts_of "$work/trace")"
done

if command -v perf >/dev/null && perf ftrace --help >/dev/null 2>&1; then
        # What the workload prints would be in the middle of perf's text.
        perf ftrace trace -G udp_sendmsg -- sh -c 'exec "$0" 10 >/dev/null' "$udp_pairs" \
                >"$work/perf" 2>"$work/perf.err"
        ftracectl verify --json "$work/perf" >"$out" 2>"$err"
        is 'perf: no line of its text is taken for damage' "$(jq .damaged "$out")" 0
        ok 'perf: it has calls' test "$(jq '.open + .leaf' "$out")" -gt 1000
        # Of the process that it started, which has one that answers.
        is 'perf: as many roots as datagrams' "$(grep -c '|  udp_sendmsg() {' "$work/perf")" 10
        exits 'perf: it is drawn' 0 ftracectl report "$work/perf"
        is 'perf: with all its calls' "$(grep -cE '\(\) \{|\(\);|\(\) \[' "$out")" \
                "$(grep -cE '\(\) \{|\(\);|\(\) \[' "$work/perf")"
        put_back
else
        skip_one 'perf: its text is read' 'perf is not installed'
fi
is_as_before 'the kernel is as it was'
done_testing
