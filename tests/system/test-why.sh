#!/bin/bash
# Touches: nothing; reads texts that it makes.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Why slow calls are slow is told of recordings whose cause is known, for it was planted; bench-why does that
# a hundred times as often.
# Only here: ftracectl why as a user runs it.
. "$(dirname "$0")/../functions.sh"
requires jq python3

# A root whose lookup is slow in each 50th call, and whose calls on CPU 1 are as fast as others.
make() { # SLOW-US
        awk -v slow="$1" 'BEGIN {
                for (i = 0; i < 400; i++) {
                        lookup = 2 + i * 7919 % 10 / 100
                        if (i % 50 == 7)
                                lookup += slow
                        task = i % 3 ? "client-17" : "worker-18"
                        at = 1 + i / 1000
                        printf "%12.6f | %3d)  %-13s |               |  send() {\n", at, i % 4, task
                        printf "%12.6f | %3d)  %-13s | %s %7.3f us    |    lookup();\n", at + 1e-6, i % 4, task, (lookup > 10 ? "+" : " "), lookup
                        printf "%12.6f | %3d)  %-13s |   %6.3f us    |    copy();\n", at + 2e-4, i % 4, task, 1 + i * 104729 % 13 / 100
                        printf "%12.6f | %3d)  %-13s | %s %7.3f us    |  }\n", at + 3e-4, i % 4, task, (lookup + 3 > 10 ? "+" : " "), lookup + 3
                }
        }'
}
make 40 >"$work/planted.txt"
make 0 >"$work/before.txt"

exits 'a planted cause is named' 0 ftracectl why "$work/planted.txt"
says 'in one sentence' \
        '^send: the slowest 2 % take 45\.. us instead of 5\... us; (99 %|all) of that is own time of lookup \(called by send\): 42\.. us instead of 2\... us\.$' "$out"
says 'with its share and its p' '^(99\.[0-9]|100\.0)% +\+.* <=0\.001 +own time of lookup \(called by send\)$' "$out"
says 'and the sum' '^100\.0% +\+.* all of the difference$' "$out"
exits 'in JSON' 0 ftracectl why "$work/planted.txt" --json
is 'the causes add up' \
        "$(jq '([.causes[].change_ns] | add) - .difference_ns | fabs < 0.001' "$out")" true
is 'and the means are those of calls' "$(jq -c '[.named, .cause.function, .cause.path, .slow_calls, .usual_calls, .calls]' "$out")" \
        '["cause","lookup",["send"],8,200,400]'

exits 'slow is what is asked for' 0 ftracectl why "$work/planted.txt" --slower=40us --json
is 'and no other call' "$(jq -c '[.slow_calls, .cause.function]' "$out")" '[8,"lookup"]'
exits 'a window is compared with the rest' 0 ftracectl why "$work/planted.txt" --from=+100ms --to=+199.9ms --json
is 'by calls that began in it' "$(jq -c '[.slow_calls, .usual_calls, .named]' "$out")" '[100,300,"nothing"]'
exits 'a recording is compared with an earlier one' 0 ftracectl why "$work/before.txt" --against="$work/before.txt"
says 'that is the same' '^send: its calls take 5\... us instead of 5\... us, which may be chance \(p = [01]\.[0-9]*\)\.$' "$out"
exits 'two ways to choose are too many' 2 ftracectl why "$work/planted.txt" --slower=40us --keep-failed
says 'which is said' 'give one of them\.$'
exits 'a text has no return values' 0 ftracectl why "$work/planted.txt" --keep-failed
says 'which is said' '^send: what its calls returned was not recorded; "ftracectl start --retval" does\.$' "$out"
exits 'another function can be the root' 0 ftracectl why "$work/planted.txt" lookup
says 'of its own calls' '^lookup: the slowest 2 % take .* is own time of lookup: ' "$out"
exits 'one that is not there' 3 ftracectl why "$work/planted.txt" tcp_sendmsg
says 'is named' 'there are no calls of "tcp_sendmsg"'
exits 'as much is shown as asked for' 0 ftracectl why "$work/planted.txt" --limit=1
ok 'the rest is one line' test "$(grep -c ' others$' "$out")" = 1

# Of several roots the one with the most time may have too few calls to tell anything.
{ cat "$work/planted.txt"; printf '%12.6f | %3d)  %-13s | @ 9000000 us   |  rare();\n' 11 0 client-17; } >"$work/two.txt"
exits 'a root that has something to tell is chosen' 0 ftracectl why "$work/two.txt"
says 'and told of' '^send: the slowest 2 % take ' "$out"
says 'and that several were tried' '^2 roots were tried, .* P does not count that\.$'
exits 'if none is asked for' 0 ftracectl why "$work/two.txt" rare
says 'else it is that one' '^rare: 1 call is too few to compare' "$out"
is 'and no other was tried' "$(grep -c 'were tried' "$err")" 0

exits 'what has no humps, in JSON' 0 ftracectl why "$work/planted.txt" --json
is 'slow are the slowest, which have no humps and no error' "$(jq -c '[.by, .humps, .error]' "$out")" '["slowest",null,null]'

# Humps of 2 us, 60 us and, if it says so, 2 ms; every fifth call of the last one fails.
humps() { # N
        awk -v n="$1" 'BEGIN {
                split("2 60 2000", took)
                for (i = 0; i < 300; i++) {
                        lookup = took[1 + i % n] * (1 + i * 7919 % 10 / 100)
                        failed = i % n == n - 1 && i % 5 == 0 ? "/* ret=-105 */" : "/* ret=0 */"
                        printf "%12.6f |   0)  client-17     |               |  send() {\n", 1 + i / 100
                        printf "%12.6f |   0)  client-17     |   %.3f us    |    lookup(); %s\n", 1 + i / 100 + 1e-6, lookup, failed
                        printf "%12.6f |   0)  client-17     |   %.3f us    |  } %s\n", 1 + i / 100 + 3e-3, lookup + 3, failed
                }
        }'
}
humps 2 >"$work/humps-2.txt"
humps 3 >"$work/humps-3.txt"
for n in 2 3; do
        exits "$n humps are told" 0 ftracectl why "$work/humps-$n.txt"
        says "as $n" "^send: durations have $([[ $n == 2 ]] && echo 'two humps, and the upper 50' || echo 'several humps, and the uppermost 33') %" "$out"
        exits "$n humps in JSON" 0 ftracectl why "$work/humps-$n.txt" --json
        ok "with $n humps conforms" python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" why "$out"
        is "$n humps are a member" \
                "$(jq -c '[.by, .humps.several, .humps.chosen, (.humps.upper_from_ns | . > 60000 and . < 66000), .slow_calls]' "$out")" \
                "$([[ $n == 2 ]] && echo '["hump",false,true,true,150]' || echo '["hump",true,true,false,100]')"
done
exits 'what failed, in JSON' 0 ftracectl why "$work/humps-3.txt" --keep-failed --json
ok 'with an error conforms' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" why "$out"
is 'has the error, and where it is from' "$(jq -c '[.by, .humps, .error.value, .error.calls, .error.deepest.function]' "$out")" \
        '["failed",null,-105,20,"lookup"]'

# Two functions call wait(), which calls lock(): which of the two says where.
python3 - >"$work/twice.txt" <<'END'
for i in range(400):
    one = 2 + i * 7919 % 10 / 100
    two = one + (40 if i % 50 == 7 else 0)
    lines = [(0, "send() {", 0), (1, "route() {", 0), (2, "wait() {", 0), (3, "lock();", one), (2, "}", one + 1), (1, "}", one + 2),
             (1, "copy() {", 0), (2, "wait() {", 0), (3, "lock();", two), (2, "}", two + 1), (1, "}", two + 2), (0, "}", one + two + 6)]
    for k, (depth, text, took) in enumerate(lines):
        column = " %s %7.3f us    " % ("+" if took > 10 else " ", took) if took else " " * 17
        print("%12.6f | %3d)  client-17     |%s|  %s%s" % (1 + i / 1000 + k * 1e-5, i % 4, column, "  " * depth, text))
END
exits 'what two call is one of two' 0 ftracectl why "$work/twice.txt"
says 'by the caller that tells which' ' of that is own time of lock \(called by wait below copy\): 42\.. us instead of 2\... us\.$' "$out"

# What the slow ones were given and returned stands in the text.
sed -E 's/send\(\) \{/send(len=0x10) {/; /lookup\(\)/ { s/ ([0-9])\.([0-9]+) us(.*)\(\);/ \1.\2 us\3(n=0x1\2); \/* ret=0x\2 *\//; s/4([0-9])\.([0-9]+) us(.*)\(\);/4\1.\2 us\3(n=0x9); \/* ret=-105 *\// }' \
        "$work/planted.txt" >"$work/values.txt"
exits 'values that slow calls have are named' 0 ftracectl why "$work/values.txt"
says 'behind the cause' ' is own time of lookup \(called by send\): .*; 100 % of them have n < [0-9]* in lookup below send, 0 % of the usual ones\.$' "$out"
says 'others follow' '^100 % of them have ret < [0-9-]* in lookup below send, 0 % of the usual ones\.$' "$out"
exits 'in JSON' 0 ftracectl why "$work/values.txt" --json
is 'with their numbers' "$(jq -c '[.named, (.value | .name, .relation, .slow_part), (.values | length)]' "$out")" '["cause","n","below",1,2]'

# Two causes in the slowest hundredth of 1600 calls, each in about half of them.
awk 'BEGIN {
        for (i = 0; i < 1600; i++) {
                a = 2 + i * 7919 % 10 / 100 + (i % 200 == 7 ? 40 : 0); b = 1 + i * 104729 % 13 / 100 + (i % 200 == 107 ? 38 : 0)
                printf "%12.6f | %3d)  client-17     |               |  send() {\n", 1 + i / 1000, i % 4
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |    lookup();\n", 1 + i / 1000, i % 4, (a > 10 ? "+" : " "), a
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |    copy();\n", 1 + i / 1000 + 1e-4, i % 4, (b > 10 ? "+" : " "), b
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |  }\n", 1 + i / 1000 + 2e-4, i % 4, (a + b + 2 > 10 ? "+" : " "), a + b + 2
        }
}' >"$work/two.txt"
exits 'two causes at once' 0 ftracectl why "$work/two.txt"
says 'are both named' '; 51 % of that is own time of lookup \(called by send\): 22\.. us instead of 2\... us; 49 % is own time of copy \(called by send\)\.$' "$out"

# Of calls that last as long as each other, none is slow.
awk 'BEGIN { for (i = 0; i < 100; i++) printf "%12.6f | %3d)  client-17     |   2.000 us    |  same();\n", 1 + i / 1000, i % 4 }' >"$work/same.txt"
exits 'where all calls are the same' 0 ftracectl why "$work/same.txt"
says 'there is no difference' '^same: the slowest 8 % take 2\.00 us instead of 2\.00 us: there is no difference\.$' "$out"

# All of a call takes longer alike in 1 of 20, in lookup and copy.
awk 'BEGIN {
        for (i = 0; i < 600; i++) {
                times = 1 + (i % 20 == 3) * (4 + i % 7)
                a = times * (2 + i * 7919 % 10 / 50); b = times * (3 + i * 104729 % 13 / 50); c = times * (2 + i * 31 % 11 / 50)
                printf "%12.6f | %3d)  client-17     |               |  send() {\n", 1 + i / 1000, int(i / 3) % 4
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |    lookup();\n", 1 + i / 1000, int(i / 3) % 4, (a > 10 ? "+" : " "), a
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |    copy();\n", 1 + i / 1000 + 1e-4, int(i / 3) % 4, (b > 10 ? "+" : " "), b
                printf "%12.6f | %3d)  client-17     | %s %7.3f us    |  }\n", 1 + i / 1000 + 2e-4, int(i / 3) % 4, (a + b + c > 10 ? "+" : " "), a + b + c
        }
}' >"$work/alike.txt"
exits 'where everything takes longer alike' 0 ftracectl why "$work/alike.txt"
says 'no function is named' 'take .* us instead of .* us; all parts take longer in proportion, and no function stands out\.$' "$out"
exits 'a window long after the end' 0 ftracectl why "$work/alike.txt" --from=+100s
says 'has no call' '^send: none of its 600 calls began within the window\.$' "$out"
exits 'what no call takes' 0 ftracectl why "$work/alike.txt" --slower=1s
says 'none has taken' '^send: none of its 600 calls takes 1\.00 s\.$' "$out"
exits 'what all calls take' 0 ftracectl why "$work/alike.txt" --slower=1us
says 'leaves nothing usual' '^send: 600 of its 600 calls are slow ones, and of the usual ones none is left' "$out"
exits 'recordings without a common root' 3 ftracectl why "$work/alike.txt" --against="$work/same.txt"
says 'cannot be compared' 'have no calls of the same root\.$'
{
        cat "$work/same.txt"
        awk 'BEGIN { for (i = 0; i < 30; i++) printf "%12.6f | %3d)  client-17     |   0.%d00 us    |  send();\n", 2 + i / 1000, i % 4, 1 + i % 9 }'
} >"$work/both.txt"
exits 'of two roots' 0 ftracectl why "$work/alike.txt" --against="$work/both.txt"
says 'that is compared which both have' '^send: its calls take ' "$out"
sed 's/client-17/others-19/' "$work/both.txt" >"$work/other.txt"
exits 'another task did the same' 0 ftracectl why "$work/other.txt" send --against="$work/both.txt"
says 'which differs in nothing' '^send: its calls take (.*) instead of \1' "$out"
ok 'that its task is another explains nothing' not grep -q 'were in task' "$out"
printf '    1.000000 |   0)  client-17     |   2.000 us    |  only();\n' >"$work/one.txt"
exits 'one call' 0 ftracectl why "$work/one.txt"
says 'is too few' '^only: 1 call is too few to compare\.$' "$out"
printf '    1.000000 |   0)  client-17     |               |  only() {\n' >"$work/cut.txt"
exits 'a call without its end' 3 ftracectl why "$work/cut.txt"
says 'is said to be that' 'was recorded from its beginning to its end\.$'
exits 'a window of one call' 0 ftracectl why "$work/alike.txt" --from=+3ms --to=+3.05ms
says 'is of one' '^send: the only call within the window takes ' "$out"
exits 'one without a call' 0 ftracectl why "$work/alike.txt" --from=+3.1ms --to=+3.2ms --json
is 'has no difference either' "$(jq -c '[.named, (.difference_ns | round), .causes]' "$out")" '["too-few",0,[]]'

exits 'twelve kinds of causes are found at random places, and nothing in halves of the same' 0 \
        env FTRACECTL="$top_builddir/ftracectl" "$top_srcdir/tests/bench/bench-why" -n 1 -p 4 -s 5
done_testing
