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
                printf ' 0)    client-16    |   %d.%d00 us    |  }\n' $((2 + $3)) $((i * 7 % 10))
        done
}
record SyS_write 30 0 >"$work/before.txt"
record __x64_sys_write 40 5 >"$work/now.txt"

exits 'two texts are compared' 0 ftracectl diff "$work/before.txt" "$work/now.txt"
says 'with the medians of both' '^SyS_write: median 2.40 us -> 7.40 us \(\+5.00 us, \+208.3 %\) over 30 and 40 calls, p <= 0.001$' "$out"
says 'and what is new' '^SyS_write: its calls take 7\.45 us instead of 2\.45 us; .* is audit_write below SyS_write, which the earlier ones do not have\.$' "$out"
says 'in a row' '^1[0-9.]*% +\+5\.00 us .* <=0\.001 +audit_write below SyS_write, which the earlier ones do not have$' "$out"
exits 'the other way round' 0 ftracectl diff "$work/now.txt" "$work/before.txt"
says 'it is gone' '^1[0-9.]*% +-5\.00 us .* <=0\.001 +audit_write below __x64_sys_write, which only the earlier ones have$' "$out"
exits 'in JSON' 0 ftracectl diff --json "$work/before.txt" "$work/now.txt"
is 'causes add up to the change of the roots' \
        "$(jq -c '.[0] | [(.usual_ns | round), (.slow_ns | round), (.causes | map(.change_ns) | add | round)]' "$out")" '[2450,7450,5000]'
cp "$out" "$work/diff.json"
exits 'of one root it is' 0 ftracectl why --json "$work/now.txt" --against="$work/before.txt"
is 'what is told why' "$(jq -S . "$out")" "$(jq -S '.[0]' "$work/diff.json")"
exits 'a recording is like itself' 0 ftracectl diff "$work/now.txt" "$work/now.txt"
is 'with nothing below' "$(wc -l <"$out")" 2
says 'which may be chance' 'over 40 and 40 calls, p = [01]\.[0-9]+$' "$out"
exits 'and what rounding leaves' 0 ftracectl diff --json --from=+7816200ns "$data/udp_sendmsg-6.1.trace" "$data/udp_sendmsg-6.1.trace"
is 'is no cause' "$(jq -c '.[0].causes' "$out")" '[]'

exits 'recordings of two kernels are compared' 0 \
        ftracectl diff --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12
says 'few calls are said to be few' 'over 4 and 4 calls, too few to tell' "$out"
exits 'with no more rows than asked for' 0 \
        ftracectl diff --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12 --limit=3
is 'but the others in one' "$(grep -c '%  *[-+][0-9]' "$out")" 5
exits 'all of them are' 0 ftracectl diff --json --store "$data" udp-pairs-6.1 udp-pairs-6.12
cp "$out" "$work/diff.json"
for root in udp_recvmsg udp_sendmsg; do
        exits "of $root it is" 0 ftracectl why --json --store "$data" udp-pairs-6.12 $root --against=udp-pairs-6.1
        is 'what is told why' "$(jq -S . "$out")" "$(jq -S ".[] | select(.function == \"$root\")" "$work/diff.json")"
done
is 'where waiting has a row' "$(jq -c '.[0].causes[0] | [.kind, .function, (.share * 100 | round)]' "$work/diff.json")" \
        '["waiting","schedule",83]'

# A verdict, as git bisect run wants it: 8 is bad, 125 skips.
verdict() { # DESCRIPTION STATUS PERCENT BEFORE NOW [OPTION...]
        exits "$1" "$2" ftracectl diff --no-pager "--fail-over=$3" "$work/$4" "$work/$5" "${@:6}"
}
verdict 'what is slower fails' 8 5% before.txt now.txt -q
one_sentence 'in one line'
says 'which says which and by how much' \
        '^ftracectl: SyS_write is slower than before by more than --fail-over=5%: median 2.40 us -> 7.40 us \(\+5.00 us, \+208.3 %\) over 30 and 40 calls, p <= 0.001\.$'
says 'and the comparison is printed all the same' 'audit_write below SyS_write' "$out"
verdict 'also in JSON' 8 5% before.txt now.txt --json
ok 'which is whole' jq -e '.[0].function == "SyS_write"' "$out"
verdict 'and with what is read' 8 5% before.txt now.txt
verdict 'what is faster does not' 0 5% now.txt before.txt
verdict 'nor what is the same' 0 0% now.txt now.txt
verdict 'nor what is slower by less' 0 209% before.txt now.txt
verdict 'but by a little more' 8 208% before.txt now.txt
is 'without it all is well' "$(ftracectl diff "$work/before.txt" "$work/now.txt" >"$out" 2>&1; echo $?)" 0
for n in 4 9 10; do # with fewer than 10 calls no change is too great for chance
        record SyS_write $n 0 >"$work/before$n.txt"
        record SyS_write $n 90 >"$work/now$n.txt"
done
verdict 'of 4 calls nothing can be told' 125 5% before4.txt now4.txt
says 'which is said' 'have too few calls to tell a change from chance'
verdict 'nor of 9, however slow they are' 125 5% before9.txt now9.txt
verdict '10 are enough for what is much slower' 8 5% before10.txt now10.txt
verdict 'and for what is not' 0 5% before10.txt before10.txt
verdict 'many on one side are not' 125 5% before4.txt now.txt
# Slower by 10 %, which may be chance: every second call.
for ((i = 0; i < 20; i++)); do printf ' 0)    client-16    |   %d.000 us    |  f();\n' $((10 + i % 2 * 2)); done >"$work/even.txt"
for ((i = 0; i < 20; i++)); do printf ' 0)    client-16    |   %d.000 us    |  f();\n' $((10 + (i % 20 > 8) * 2)); done >"$work/odd.txt"
verdict 'what looks slower and may be chance cannot be told' 125 5% even.txt odd.txt -q
one_sentence 'in one line'
says 'which says so, with its figures' \
        '^ftracectl: f may be slower than before by more than --fail-over=5%, or that is chance: median 10.0 us -> 12.0 us \(\+2.00 us, \+20.0 %\) over 20 and 20 calls, p = [01]\.[0-9]+; more calls would tell\.$'
verdict 'what would not be too slow is not' 0 20% even.txt odd.txt
verdict 'nor what looks faster' 0 5% odd.txt even.txt
cat "$work/even.txt" "$work/before.txt" >"$work/even-before.txt"
cat "$work/odd.txt" "$work/now.txt" >"$work/odd-now.txt"
verdict 'a root that is slower goes before one that may be' 8 5% even-before.txt odd-now.txt
# Several roots: the slower one counts, and what is rare counts only alone.
cat "$work/before.txt" "$work/before4.txt" <(sed 's/SyS_write/SyS_read/' "$work/before.txt") >"$work/several-before.txt"
cat "$work/now.txt" <(sed 's/SyS_write/SyS_read/' "$work/before.txt") >"$work/several-now.txt"
verdict 'one of several roots fails' 8 5% several-before.txt several-now.txt
says 'and is named' '^ftracectl: SyS_write is '
verdict 'the other one alone does not' 0 5% several-before.txt several-now.txt --root=SyS_read
sed 's/SyS_write/SyS_read/' "$work/now.txt" | sed 's/__x64_sys_write/SyS_read/' >>"$work/several-now.txt"
verdict 'all that are slower' 8 5% several-before.txt several-now.txt
verdict 'without a common root it cannot be told' 125 5% before.txt even.txt
verdict 'nor without a recording' 125 5% before.txt nosuch.txt
# git bisect run takes 2 for a slow revision, and ends at 128 and above.
verdict 'a share that is none is wrong usage' 129 fast before.txt now.txt
one_sentence 'in one sentence'
verdict 'so is an option that there is not' 129 5% before.txt now.txt --no-such-option
verdict 'and a filter that is none' 129 5% before.txt now.txt --cpus=x
exits 'and one recording' 129 ftracectl diff --fail-over=5% "$work/before.txt"
exits 'and the option misspelt' 129 ftracectl diff --fail-above=5% "$work/before.txt" "$work/now.txt"
exits 'without it wrong usage is what it is everywhere' 2 ftracectl diff --no-such-option "$work/before.txt" "$work/now.txt"
exits 'other verbs do not judge' 2 ftracectl top --fail-over=5% "$work/now.txt"
printf 'CPU:0 [LOST 17 EVENTS]\n' | cat - "$work/now.txt" >"$work/lossy.txt"
verdict 'what is incomplete is judged' 8 5% before.txt lossy.txt
verdict 'by its whole calls' 0 5% now.txt lossy.txt
says 'and the loss is told' 'had lost 17 events'

# git itself: five revisions, of which the fourth is slow.
if command -v git >/dev/null; then
        bisect() {
                cd "$work" && rm -rf repo && mkdir repo && cd repo || return
                export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
                git init -q . && git config user.name t && git config user.email t@example.org || return
                for i in 1 2 3 4 5 6; do
                        case $i in
                        3) cp "$work/before4.txt" recording.txt ;; # too few to tell
                        [56]) cp "$work/now.txt" recording.txt ;;
                        *) cp "$work/before.txt" recording.txt ;;
                        esac
                        echo $i >revision
                        git add . && git commit -q -m "revision $i" || return
                done
                git bisect start HEAD HEAD~5 &&
                        git bisect run "$top_builddir/ftracectl" diff -q --fail-over=5% "$work/before.txt" recording.txt &&
                        echo && git log -1 --format=%s refs/bisect/bad
        }
        top_builddir=$(cd "$top_builddir" && pwd)
        (bisect) >"$out" 2>&1
        is 'git bisect run finds the revision that is slow' "$(tail -n 1 "$out")" 'revision 5'
else
        skip_one 'git bisect run finds the revision that is slow' 'git is not installed'
fi

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
