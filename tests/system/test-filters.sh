#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a filter leaves of a recording it leaves of the kernel's text of the same calls, and every
# verb that reads takes the same filters.
# Only here: the filters of whoever reads: --task, --function, --slower and so on.
. "$(dirname "$0")/../functions.sh"
requires jq

data=$top_srcdir/tests/data
graph=$data/text/SyS_write-loopback.trace.txt
stap=$data/text/udp-client-server.stap.txt

for filter in --notrace=__ip_append_data --fold=ip_make_skb --fold=irq --depth=3 --nth=2 --slowest=1 \
        --slower=5us --keep-slower=800us --keep-slower=p50 --function=kfree '--root=ip_*' --cpus=0; do
        differ=''
        for kernel in 6.1 6.12 new; do
                ftracectl report --no-legend --store "$data" "udp_sendmsg-$kernel" "$filter" \
                        >"$work/recording" 2>"$err"
                ftracectl report --no-legend "$data/udp_sendmsg-$kernel.trace" "$filter" \
                        >"$work/text" 2>"$err"
                cmp -s "$work/recording" "$work/text" || differ+=" $kernel"
                [[ -s $work/text ]] || differ+=" $kernel: nothing"
                [[ $(wc -l <"$work/text") -lt $(wc -l <"$data/udp_sendmsg-$kernel.trace") ]] ||
                        differ+=" $kernel: everything"
        done
        is "$filter leaves the same of a recording and of a text" "$differ" ''
done

# Slow trees are whole, and the others are gone.
exits 'slow calls are kept' 0 \
        ftracectl report --no-legend --store "$data" udp_sendmsg-6.12 --keep-slower=p99
ok 'with all that they call' cmp -s "$out" \
        <(ftracectl report --no-legend --store "$data" udp_sendmsg-6.12 --slowest=1)

exits 'tasks of a text are told apart' 0 ftracectl report --task=server "$stap"
ok 'and the others are gone' test "$(grep -c 'client(' "$out")" = 0
says 'what is left is drawn' 'server\(' "$out"
exits 'so are its processes' 0 ftracectl report --pid="$(sed -n 's/.*server(\([0-9]*\)).*/\1/p' "$stap" |
        head -n 1)" "$stap"
ok 'and the others are gone' test "$(grep -c 'client(' "$out")" = 0

exits 'a part is added up' 0 ftracectl top --json --root=ip_queue_xmit "$graph"
is 'from its root down' "$(jq '[.[] | select(.function == "tcp_sendmsg")] | length' "$out")" 0
is 'completely' "$(jq '[.[] | select(.function == "ip_queue_xmit")] | .[0].count' "$out")" \
        "$(grep -c ' ip_queue_xmit() {' "$graph")"
exits 'what is folded is its own time' 0 ftracectl top --json --fold=ip_queue_xmit "$graph"
is 'all of it' "$(jq '.[] | select(.function == "ip_queue_xmit") | .self_ns == .total_ns' "$out")" true

# What filters leave nothing of has not been without calls.
for verb in report tree top slow hist calls; do
        exits "$verb: nothing is left" 0 ftracectl $verb --store "$data" udp_sendmsg-6.12 --root=udp_sendmsg --from=+1h
        says "$verb: it is told by what" '^There are no calls in it with --root=udp_sendmsg --from=\+1h\.$'
done
# Of a name that it does not have at all it is told which may have been meant, whoever is asked.
for words in 'report --root=' 'top --root=' 'top --json --root=' 'tree --root=' 'tree --callers=' 'slow --root=' 'hist --root=' 'hist ' \
        'calls --function=' 'calls ' 'why --root=' 'why ' 'path ' 'waits --root=' 'export --format=csv --root=' 'export --format=html --root='; do
        read -ra words <<<"${words/ / udp_sendmsg-6.12 }udp_sendmesg"
        exits "${words[*]}: it is not there" 3 ftracectl "${words[@]}" --store "$data"
        says "${words[*]}: what may have been meant" \
                'no calls of "udp_sendmesg" in "udp_sendmsg-6.12". Did you mean "udp_sendmsg"\?$'
done
exits 'a text does not have it either' 3 ftracectl report "$graph" --root=tcp_sendmgs
says 'and what may have been meant is told' 'Did you mean "tcp_sendmsg"\?$'
exits 'nor has a task called' 3 ftracectl top "$stap" --task=clinet
says 'what another one is called' 'no calls of task "clinet" in .* Did you mean "client"\?$'
exits 'nothing is written then' 3 ftracectl export --format=csv --task=nobody -o "$work/no.csv" "$stap"
ok 'not even a file' test ! -e "$work/no.csv"
for format in csv tsv; do
        exits "export as $format: nothing is left" 0 ftracectl export --format=$format --pid=1 "$stap"
        says "export as $format: it is told by what" '^There are no calls in it with --pid=1\.$'
done
exits 'of nothing there is no reason' 3 ftracectl why --store "$data" udp_sendmsg-6.12 --pid=1
says 'and the filter is named' 'there are no calls in "udp_sendmsg-6.12" with --pid=1\.$'

# What tracing costs is one figure for a recording, and what is left of a call does not depend on what is shown below it.
for source in udp_sendmsg-6.12 udp-pairs-6.12 "$graph"; do
        cost=$(ftracectl top -q --store "$data" "$source" | sed -n '1s/^Shown //p')
        net=$(ftracectl tree -q --store "$data" --corrected --json --depth=1 "$source" | jq -c '[.tracing, [.tree[].total_ns]]')
        says "${source##*/}: it costs something" '% less\)' <(echo "$cost")
        for filter in --depth=1 --depth=3 --slower=2us --notrace=kfree '--function=*_*' --fold=irq --nth=1 --slowest=2; do
                is "${source##*/}: $filter does not change it" \
                        "$(ftracectl top -q --store "$data" "$source" "$filter" | sed -n '1s/^Recorded //p')" "$cost"
        done
        for filter in --depth=3 --slower=1us --notrace=kfree; do
                is "${source##*/}: nor what is left with $filter" "$(ftracectl tree -q --store "$data" --corrected \
                        --json "$source" "$filter" | jq -c '[.tracing, [.tree[].total_ns]]')" "$net"
        done
done

# That a task is back is told by an event of the task before it, which is not part of any tree.
blocked() { # FILTER...
        ftracectl top --store "$data" -q --json udp-pairs-6.12 --by=root "$@" |
                jq -c '[.[] | select(.function == "udp_recvmsg") | .blocked_ns]'
}
for filter in --root=udp_recvmsg '--root=*msg' --slowest=32 --keep-slower=1us; do
        is "$filter leaves how long was waited" "$(blocked "$filter")" "$(blocked)"
done
is 'so do filters of tasks and processes, together' "$(jq -nc --argjson a "$(blocked --task=udp-client)" \
        --argjson b "$(blocked --pid=205)" '[$a[0] + $b[0]]')" "$(blocked)"
exits 'one task waits for another' 0 ftracectl waits --store "$data" --json udp-pairs-6.12 --task=udp-client
is 'and is told from it' "$(jq -c '[.[] | [.count, .waker.task]]' "$out")" '[[7,"udp-server"]]'
for filter in --root=udp_recvmsg --task=udp-server --cpus=1 --depth=1 --nth=1 '--root=udp_recvmsg --slowest=3'; do
        read -ra words <<<"$filter"
        ftracectl waits --store "$data" --json udp-pairs-6.12 "${words[@]}" | jq -r '.[] | .waker.function // empty' >"$out"
        is "who wakes is known with $filter" "$(sort -u "$out")" sock_def_readable
done
exits 'what never waits has no waits' 0 ftracectl waits --store "$data" udp-pairs-6.12 --root=udp_sendmsg
ok 'and it is not told that nobody looked' not grep -q 'record with --sched' "$err"
is 'nor are events of others drawn' "$(ftracectl report --store "$data" -q udp-pairs-6.12 --root=udp_sendmsg \
        --no-legend --depth=1 --function=udp_sendmsg | grep -c sched)" 0
ftracectl export --store "$data" --format=json udp-pairs-6.12 --root=udp_sendmsg >"$out" 2>"$err"
is 'a part begins with its first call' "$(jq -c '[.begin_ns, ([.calls[].start_ns] | min)]' "$out")" '["41340842823",0]'

# How it is drawn besides.
exits 'colours can be had anywhere' 0 ftracectl report --color=always --store "$data" udp_sendmsg-6.12
ok 'and change nothing else' cmp <(sed 's/\x1b\[[0-9;]*m//g' "$out") "$data/udp_sendmsg-6.12.trace"
ok 'every duration with a mark has one' test "$(grep -c $'\x1b' "$out")" = \
        "$(grep -cE '^ [0-9]+\) [-+!#*@$] ' "$data/udp_sendmsg-6.12.trace")"
exits 'a file is no terminal' 0 env NO_COLOR= "$top_builddir/ftracectl" report "$graph"
ok 'and has none' cmp "$out" "$graph"
exits 'a colour is not a time to have them' 2 ftracectl report --color=red "$graph"
exits 'calls become objects' 0 ftracectl report --json --root=ip_queue_xmit "$graph"
is 'one a line' "$(jq -r 'select(.depth == 0 or .function == "ip_queue_xmit") | .function' "$out" |
        sort -u)" ip_queue_xmit
exits 'arguments that were not recorded are missed' 0 \
        ftracectl report --args --store "$data" udp_sendmsg-6.12
says 'which is said' 'udp_sendmsg-6.12 has no arguments'

# A part that is cut out is a recording, with the same calls: here the second of four outermost ones, and the third.
calls_between() { # FROM TO: those of calls' JSON that are not cut
        jq -c --argjson from "$1" --argjson to "$2" '.[] | select(.cut or .start_ns < $from or .start_ns + .duration_ns > $to | not) |
                [.start_ns, .duration_ns, .cpu, .function]' "$out" | sort
}
for kernel in 6.1 6.12 new; do
        exits "$kernel: outermost calls are listed" 0 ftracectl calls --json --store "$data" "udp_sendmsg-$kernel"
        read -r from to < <(jq -r 'sort_by(.start_ns) | "\(.[1].start_ns) \(.[2].start_ns + .[2].duration_ns)"' "$out")
        exits "$kernel: a part is fetched" 0 ftracectl fetch --store "$data" "udp_sendmsg-$kernel" -o "$work/part.dat" \
                --from="$(jq -n "$from / 1e9")" --to="$(jq -n "$to / 1e9")"
        exits "$kernel: all calls are listed" 0 ftracectl calls --json --store "$data" "udp_sendmsg-$kernel" '*'
        n=$(jq length "$out")
        calls_between "$from" "$to" >"$work/wanted"
        exits "$kernel: those of the part are" 0 ftracectl calls --json "$work/part.dat" '*'
        ok "$kernel: which is no half" test "$(jq length "$out")" -lt $((n / 2))
        ok "$kernel: there are some" test "$(wc -l <"$work/wanted")" -gt 100
        is "$kernel: the part has all of them" "$(calls_between "$from" "$to" | comm -13 - "$work/wanted")" ''
done

exits 'what only the whole tells needs it twice' 2 \
        bash -c 'exec "$0" report --slowest=1 - <"$1"' "$top_builddir/ftracectl" "$graph"
says 'which is said' 'standard input can be read only once'
exits 'a text has no time of day' 1 ftracectl report --from=10:42 "$graph"
exits 'a percentile is one below 100' 2 ftracectl report --keep-slower=p100 "$graph"
for option in retval args; do
        exits "a function at --$option is refused" 2 ftracectl report --$option=udp_sendmsg "$graph"
        says 'for it chooses what is recorded' "--$option=udp_sendmsg chooses whose values are recorded; report draws all that were" "$err"
done
exits 'what a text does not have is refused' 2 ftracectl report --keep-failed "$graph"
exits 'and what a recording does not have' 1 \
        ftracectl report --keep-failed --store "$data" udp_sendmsg-6.1
# Where there are returns alone.
slower=$top_srcdir/tests/data/numbers/funcslower.txt
for filter in --slowest=1 --nth=1 --keep-slower=350us '--root=a --slowest=1' '--depth=1 --task=client'; do
        # shellcheck disable=SC2086 # they are words
        exits "$filter: of returns alone" 0 ftracectl calls -q --json $filter "$slower"
        is 'are their calls' "$(jq -c '[.[] | [.function, .duration_ns, .cut]]' "$out")" '[["a",390000,false]]'
done
exits 'a root may be anywhere' 0 ftracectl calls -q --json --root=c "$slower" c
is 'each is one' "$(jq -c '[.[] | [.function, .duration_ns]] | sort' "$out")" '[["c",20000],["c",70000]]'
done_testing
