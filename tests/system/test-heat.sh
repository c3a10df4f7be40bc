#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each width of each map
#
# A heat map has the calls that the histogram and the list have, and its times can be passed on.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
export FTRACED_STORE=$data

agrees() { # SOURCE FUNCTION|- [OPTION...]
        python3 "$top_srcdir/tests/system/heat.py" "$top_builddir/ftracectl" "$@"
}

for source in udp_sendmsg-{6.12,new} "$data"/udp_sendmsg-6.1.{dat,trace} "$data"/text/*.txt "$data"/tracecmd/tsc2nsec.dat; do
        name=${source##*/}
        exits "$name: the heat map of roots is what the calls are" 0 agrees "$source" -
        exits "$name: and that of all functions" 0 agrees "$source" '*'
done

# Generated: many tasks that call in turn, from nanoseconds to seconds, with gaps in between.
generate() { # SEED
        awk -v seed="$1" 'BEGIN {
                srand(seed)
                at = 1000 + rand() * 1000
                for (i = 0; i < 3000; i++) {
                        cpu = int(rand() * 4)
                        if (free[cpu] > at)
                                at = free[cpu]
                        us = exp(rand() * 12 - 2)
                        name = rand() < .3 ? "ip_rcv" : "udp_rcv"
                        printf "%14.6f |  %d)  task%d-1%d  |               |  %s() {\n", at, cpu, cpu, cpu, name
                        printf "%14.6f |  %d)  task%d-1%d  |   0.%03d us    |    below();\n", at + us / 3e6, cpu, cpu, cpu, us % 1000
                        printf "%14.6f |  %d)  task%d-1%d  |  %.3f us  |  }\n", at + us / 1e6, cpu, cpu, cpu, us
                        free[cpu] = at + us / 1e6 + 1e-6
                        at += exp(rand() * 10 - 10) / 10
                }
        }' | sort -n -s -k1,1
}
seeds=($RANDOM)
[[ ! ${FTRACED_LONG:-} ]] || seeds+=($RANDOM $RANDOM)
for seed in "${seeds[@]}"; do
        generate "$seed" >"$work/generated.txt"
        exits "generated from $seed" 0 agrees "$work/generated.txt" -
        exits 'and a function below the roots' 0 agrees "$work/generated.txt" below
done

# --- drawn ---------------------------------------------------------------------------------------

widest() { # of the lines of the drawing
        sed -n '/^$/q; /^ /p; /a column; /p; /^Slowest/p' "$out" | LC_ALL=C.UTF-8 wc -L
}
sums() { # of the rows that are drawn
        sed -nE 's/^ +[0-9.]+ [mun]?s [|│].*[|│] +([0-9]+)$/\1/p' "$out" | tac | paste -sd' '
}
LC_ALL=C exits 'it is drawn without UTF-8' 0 ftracectl hist --over-time "$work/generated.txt" below
ok 'in ASCII' not grep -qP '[^\x00-\x7f]' "$out"
is 'each row with what the histogram has' "$(sums)" \
        "$(ftracectl hist --json "$work/generated.txt" below | jq -r '[.all.ranges[].count] | map(tostring) | join(" ")')"
ok 'no wider than 80 columns' test "$(widest)" -le 80
LC_ALL=C.UTF-8 exits 'with UTF-8' 0 ftracectl hist --over-time "$work/generated.txt" below
ok 'it has shades' grep -q '[░▒▓█]' "$out"
ok 'and no colours' not grep -q $'\033' "$out"
read -r from to < <(sed -nE 's/^Slowest: (--from=[0-9.]+) (--to=[0-9.]+)$/\1 \2/p' "$out")
least=$(ftracectl hist --json "$work/generated.txt" below | jq '.all.ranges[-1].from_ns')
most=$(ftracectl hist --over-time --json "$work/generated.txt" below |
        jq --argjson ns "$least" '[.all.cells[] | select(.from_ns == $ns).count] | max')
exits 'the window of the slowest' 0 ftracectl calls --json "$work/generated.txt" below "$from" "$to"
ok 'has as many of them as any cell' test \
        "$(jq --argjson ns "$least" 'map(select(.duration_ns >= $ns and (.cut | not))) | length' "$out")" -ge "$most"
terminal() { # WIDTH COMMAND [WORD...]
        script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r' >"$out"
}
if command -v script >/dev/null; then
        for width in 60 100 200; do
                TERM=xterm-256color LC_ALL=C.UTF-8 ok "on a terminal of $width columns" terminal $width \
                        "$top_builddir/ftracectl" hist --over-time --no-pager --color=never "$work/generated.txt" below
                ok 'it takes no more' test "$(widest)" -le $width || show_file "$out"
                ok 'and most of that' test "$(widest)" -gt $((width * 2 / 3))
        done
else
        skip_one 'on a terminal' 'script is not installed'
fi

exits 'a function is written as a picture' 0 ftracectl hist udp_sendmsg-6.12 __rcu_read_lock --over-time -o "$work/x.svg"
is 'with all its calls' "$(grep -oE ' data-n="[0-9]+"' "$work/x.svg" | awk -F'"' '{ n += $2 } END { print n }')" \
        "$(ftracectl hist udp_sendmsg-6.12 __rcu_read_lock --json | jq .all.count)"
exits 'and roots' 0 ftracectl hist udp_sendmsg-6.12 --over-time -o -
cp "$out" "$work/roots.svg"
exits 'which export writes, too' 0 cmp "$work/roots.svg" <(ftracectl export udp_sendmsg-6.12 --format=heatmap)
exits 'other histograms' 2 ftracectl hist udp_sendmsg-6.12 -o "$work/y.svg"
one_sentence 'are no pictures'
exits 'a place where nothing can be written' 1 ftracectl hist udp_sendmsg-6.12 --over-time -o "$work/none/x.svg"
one_sentence 'is named'

# --- edges ---------------------------------------------------------------------------------------

printf ' 0)   0.668 us    |  some_function();\n' >"$work/one.txt"
exits 'one call' 0 agrees "$work/one.txt" -
printf ' 0)               |  some_function() {\n 0)   0.100 us    |    b();\n' >"$work/cut.txt"
exits 'one that was cut' 0 ftracectl hist --over-time --json "$work/cut.txt"
is 'is in no cell' "$(jq -c '[.all.cut, .all.cells]' "$out")" '[1,[]]'
exits 'nor drawn' 0 ftracectl hist --over-time "$work/cut.txt"
exits 'nor in the picture' 0 ftracectl export --format=heatmap "$work/cut.txt"
says 'which says so' 'there are no calls' "$out"
printf '%s\n' ' 0.000000 |   0)   9.668 us    |  f();' ' 99999999.000000 |   0)   9223372036854.775 us |  f();' >"$work/far.txt"
exits 'times at the ends of what a clock has' 0 ftracectl hist --over-time --json "$work/far.txt"
exits 'are drawn' 0 ftracectl hist --over-time "$work/far.txt"
exits 'a clock that counts something else' 0 ftracectl hist --over-time "$data/tracecmd/x86-tsc.dat"
ok 'has its numbers for times' not grep -q -- '--from=[0-9]*\.' "$out"
exits 'and in the picture' 0 ftracectl export --format=heatmap "$data/tracecmd/x86-tsc.dat"
ok 'too' grep -q 'data-ticks="1"' "$out"
gunzip <"$data/tracecmd/loss.dat.gz" >"$work/loss.dat"
for source in udp_sendmsg-6.12 "$work/loss.dat"; do
        exits "JSON of ${source##*/}" 0 eval "ftracectl hist --over-time --json $source '*' >\$work/table.json || ((\$? == 6))"
        exits 'is as the schema has it' 0 python3 "$top_srcdir/tests/check-tables.py" \
                "$top_srcdir/cli/tables.schema.json" hist "$work/table.json"
done
done_testing
