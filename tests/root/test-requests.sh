#!/bin/bash
# Touches: function_graph, trace_marker, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
#
# A program writes to a trace_marker which request it works at, and the calls that it makes meanwhile are
# exported as spans of that request, those of another process at the same time as spans of the other one's.
# Only here: the files that a program writes to, who may, and a uprobe.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

requests=$top_builddir/tests/workload/requests
n=20
# Few functions are armed ten times as fast.
printf '%s\n' udp_sendmsg ip_make_skb udp_send_skb >"$work/some"

# Of each request: the process, both ids, and that it has two spans.
spans_of() { # FILE
        jq -r '.resourceSpans[].scopeSpans[].spans[] |
                (.attributes | map({ (.key): .value }) | add) as $a |
                select(.name == "udp_sendmsg" and .kind == 1) |
                "\($a["thread.id"].intValue) \(.traceId) \(.parentSpanId)"' "$1" |
                sort | uniq -c | awk '{ print $2, $3, $4, $1 }'
}

run_program() { # MARKER-FILE COMMAND...: standard input is the marker, for writing
        local file=$1

        shift
        "$@" 0>"$file"
}

try() { # NAME MARKER-FILE|own COMMAND-WORDS -- START-OPTION...
        local name=$1 file=$2 as=()

        shift 2
        while [[ $1 != -- ]]; do
                as+=("$1")
                shift
        done
        shift
        exits "$name: the session starts" 0 ftracectl start -n "$name" "$@" udp_sendmsg
        [[ $file != own ]] || file=$(buffer_of "$name")/trace_marker
        exits "$name: the program runs" 0 run_program "$file" "${as[@]}" "$requests" - $n
        sort "$out" >"$work/$name.requests"
        stops "$name: stop works" "$name"
        exits "$name: it is exported as spans" 0 ftracectl export "$name" --format=otlp -o "$work/$name.otlp"
        says "$name: calls of no request are counted" "$((2 * n)) of $((6 * n)) outermost calls belong to no request"
        is "$name: each request has its own two calls, in the process that said it" \
                "$(spans_of "$work/$name.otlp")" "$(sed 's/$/ 2/' "$work/$name.requests")"
        is "$name: there are as many requests as were made" "$(wc -l <"$work/$name.requests")" $((2 * n))
        is "$name: spans lie in the recording's time" "$(jq -s --argjson now "$(date +%s)" '
                [.[].resourceSpans[].scopeSpans[].spans[] | (.startTimeUnixNano | tonumber / 1e9) as $t |
                 (.endTimeUnixNano | tonumber / 1e9) as $e | $t <= $e and $t > $now - 600 and $e < $now + 5] |
                all' "$work/$name.otlp")" true
        ftracectl export "$name" --format=otlp --slowest=7 -o "$work/$name.some" 2>"$err"
        ok "$name: some of the seven slowest calls are of requests" grep -q spanId "$work/$name.some"
        is "$name: of the seven slowest those of requests have the same spans" \
                "$(jq -c '.resourceSpans[]?.scopeSpans[].spans[] | [.traceId, .spanId]' "$work/$name.some" | sort |
                        comm -23 - <(jq -c '.resourceSpans[].scopeSpans[].spans[] | [.traceId, .spanId]' \
                        "$work/$name.otlp" | sort))" ''
        is_as_before "$name: the kernel is as it was"
}

ok 'the daemon starts' start_ftraced

try own own -- --lean="$work/some"
if has_instances; then
        nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        if command -v setpriv >/dev/null; then
                # Who may not open the file may write to it if it was opened for them.
                try handed own "${nobody[@]}" -- --lean="$work/some"
                exits 'who is not root cannot open it' 1 "${nobody[@]}" "$requests" "$tracefs/trace_marker" 1
        fi
        if [[ -e $tracefs/options/copy_trace_marker ]]; then
                try copied "$tracefs/trace_marker" -- --lean="$work/some" --event=ftrace:print
        else
                exits 'a copy of the markers of the top level is refused' 77 \
                        ftracectl start --event=ftrace:print udp_sendmsg
                one_sentence 'the refusal is one line'
                says 'it says which kernels can' '6\.15'
                says 'and which file a program writes to here' 'instances/ftraced-.*/trace_marker'
                is_as_before 'the refusal leaves the kernel as it was'
        fi
else
        try asked "$tracefs/trace_marker" -- --lean="$work/some" --event=ftrace:print
fi
exits 'markers take no filter' 2 ftracectl start --event='ftrace:print:ip > 0' udp_sendmsg

# --- an event instead of a marker ---------------------------------------------------------------

probe_program() { # where on_request() is in the file; only what has no other segment in front is that simple
        cp "$requests" "$work/program"
        local at
        at=$(nm -D "$work/program" | awk '$3 == "on_request" { print $1 }')
        [[ -n $at ]] || at=$(nm "$work/program" | awk '$3 == "on_request" { print $1 }')
        [[ -n $at ]] || return 1
        echo "p:requests/on_request $work/program:0x$at traceparent=+0(%di):ustring" >>"$tracefs/uprobe_events"
        cleanup_fn remove_probe
}

remove_probe() {
        echo '-:requests/on_request' >>"$tracefs/uprobe_events" 2>/dev/null
}

if [[ ! -e $tracefs/uprobe_events || $(uname -m) != x86_64 ]] || ! command -v nm >/dev/null; then
        skip_one 'a uprobe says it as well' 'no uprobe events, or no nm'
else
        ok 'a uprobe is put into the program' probe_program
        exits 'uprobe: the session starts' 0 ftracectl start -n uprobe --lean="$work/some" --event=requests:on_request udp_sendmsg
        exits 'uprobe: the program runs' 0 "$work/program" /dev/null $n
        sort "$out" >"$work/uprobe.requests"
        stops 'uprobe: stop works' uprobe
        remove_probe
        exits 'uprobe: it is exported as spans' 0 ftracectl export uprobe --format=otlp -o "$work/uprobe.otlp"
        is 'uprobe: each request has its own two calls' "$(spans_of "$work/uprobe.otlp")" \
                "$(sed 's/$/ 2/' "$work/uprobe.requests")"
fi

exits 'without a marker' 0 ftracectl run --no-report -n silent --lean="$work/some" udp_sendmsg -- "$udp_pairs" 2
exits 'there are no spans' 0 ftracectl export silent --format=otlp
is 'but a request' "$(cat "$out")" '{"resourceSpans":[]}'
says 'and it is told how there can be' 'REQUESTS in ftracectl'
done_testing
