#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two recordings are compared, and what was changed on purpose is what is found.
. "$(dirname "$0")/../functions.sh"
requires jq

data=$top_srcdir/tests/data

# Outermost calls of two eras' write(), one with a new function.
record() { # FUNCTION CALLS EXTRA-US
        local i

        for ((i = 0; i < $2; i++)); do
                printf ' 0)    client-16    |               |  %s() {\n' "$1"
                printf ' 0)    client-16    |   0.%d00 us    |    vfs_write.isra.%d();\n' $((1 + i % 3)) "$2"
                [[ $3 == 0 ]] || printf ' 0)    client-16    |   %d.000 us    |    audit_write [audit]();\n' "$3"
                printf ' 0)    client-16    |   %d.%d00 us    |  }\n' $((2 + $3)) $((i % 10))
        done
}
record SyS_write 30 0 >"$work/before.txt"
record __x64_sys_write 40 5 >"$work/now.txt"

exits 'two texts are compared' 0 ftracectl diff "$work/before.txt" "$work/now.txt"
says 'with the medians of both' '^__x64_sys_write: median 2.40 us -> 7.40 us \(\+5.00 us, \+208 %\) over 30 and 40 calls, p < 0.001$' "$out"
says 'and what is new' '^ +\+ new +audit_write \[audit\] +\+5.00 us' "$out"
is 'and nothing else' "$(grep -c '^ *[-~+<>]' "$out")" 1
exits 'the other way round' 0 ftracectl diff "$work/now.txt" "$work/before.txt"
says 'it is gone' '^ +- gone +audit_write \[audit\] +-5.00 us' "$out"
exits 'in JSON' 0 ftracectl diff --json "$work/before.txt" "$work/now.txt"
is 'own times add up to what the roots took' \
        "$(jq -c '.[0] | [(.functions | map(.before.self_ns // 0) | add | round),
                (.functions | map(.now.self_ns // 0) | add | round)]' "$out")" '[2450,7450]'
is 'with what may be chance' "$(jq -c '.[0].functions | map(select(.kind == "same") | .function) | sort' "$out")" \
        '["__x64_sys_write","vfs_write.isra.40"]'
exits 'a recording is like itself' 0 ftracectl diff "$work/now.txt" "$work/now.txt"
is 'with nothing below' "$(wc -l <"$out")" 1
says 'which may be chance' 'may be chance: p = 1.000' "$out"

exits 'recordings of two kernels are compared' 0 \
        ftracectl diff --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12
says 'few calls are said to be few' 'over 4 and 4 calls, too few to tell' "$out"
exits 'with no more rows than asked for' 0 \
        ftracectl diff --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12 --limit=3
is 'of functions' "$(grep -c '^ *[-~+] ' "$out")" 3

# Bad input.
exits 'recordings without a common root are refused' 3 \
        ftracectl diff "$data/text/SyS_write-loopback.trace.txt" "$data/text/udp_sendmsg-fragmented.funcgraph.txt"
one_sentence 'in one sentence'
says 'which names the roots' '\(SyS_write; udp_sendmsg\)'
exits 'unless one is chosen that both have' 0 \
        ftracectl diff --root=__ip_append_data "$data/udp_sendmsg-6.1.trace" \
        "$data/text/udp_sendmsg-fragmented.funcgraph.txt"
exits 'one recording is not enough' 2 ftracectl diff "$work/now.txt"
exits 'a recording that does not exist is an error' 3 ftracectl diff "$work/now.txt" "$work/none.txt"
done_testing
