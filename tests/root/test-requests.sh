#!/bin/bash
# Touches: function_graph, trace_marker, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
#
# A program writes to a trace_marker which request it works at, and the calls that it makes meanwhile are
# exported as that request's, those of another process at the same time as the other one's.
# Only here: the files that a program writes to, who may, and a uprobe.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

requests=$top_builddir/tests/workload/requests
n=20
# Few functions are armed ten times as fast.
printf '%s\n' udp_sendmsg ip_make_skb udp_send_skb >"$work/some"

# Of each request: the process, its id, and how many sends it has.
sends_of() { # FILE
        requests_of "$1" | awk '$3 == "udp_sendmsg" { n[$2 " " $1]++ } END { for (r in n) print r, n[r] }' | sort
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
        cut -d' ' -f1,2 "$out" | sort >"$work/$name.requests"
        stops "$name: stop works" "$name"
        exits "$name: it is exported as rows" 0 ftracectl export "$name" --format=tsv -o "$work/$name.tsv"
        is "$name: some outermost calls are of no request" \
                "$(columns_of "$work/$name.tsv" left trace_id | grep -cx '1 ')" $((2 * n))
        is "$name: each request has its own two calls, in the process that said it" \
                "$(sends_of "$work/$name.tsv")" "$(sed 's/$/ 2/' "$work/$name.requests")"
        is "$name: there are as many requests as were made" "$(wc -l <"$work/$name.requests")" $((2 * n))
        ftracectl export "$name" --format=tsv --slowest=7 -o "$work/$name.some" 2>"$err"
        columns_of "$work/$name.some" start_ns pid function trace_id | sort >"$work/some.rows"
        ok "$name: some of the seven slowest calls are of requests" grep -qE ' [0-9a-f]{32}$' "$work/some.rows"
        is "$name: of the seven slowest those of requests have the same" \
                "$(columns_of "$work/$name.tsv" start_ns pid function trace_id | sort | comm -23 "$work/some.rows" -)" ''
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
        cut -d' ' -f1,2 "$out" | sort >"$work/uprobe.requests"
        stops 'uprobe: stop works' uprobe
        remove_probe
        exits 'uprobe: it is exported as rows' 0 ftracectl export uprobe --format=tsv -o "$work/uprobe.tsv"
        is 'uprobe: each request has its own two calls' "$(sends_of "$work/uprobe.tsv")" \
                "$(sed 's/$/ 2/' "$work/uprobe.requests")"
fi

exits 'without a marker' 0 ftracectl run --format=none -n silent --lean="$work/some" udp_sendmsg -- "$udp_pairs" 2
exits 'there are rows' 0 ftracectl export silent --format=tsv -o "$work/silent"
is 'of no request' "$(requests_of "$work/silent")" ''
done_testing
