#!/bin/bash
# Touches: nothing; installs DuckDB and ClickHouse (chdb, 540 MB) below its own directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The eight questions of ftraced-fleet(7), and what was waited for and lost, have the same answers in ClickHouse and in
# DuckDB, to the nanosecond; and what each recording has there is what tsv, `top` and `waits` say of it.
# FTRACED_RECORDINGS: more that are loaded, trace.dats or texts, with blanks between their names.
# No part of `make check`, for what it installs; tests/run-all runs it in the long form.
. "$(dirname "$0")/../functions.sh"
requires jq python3 npm node

data=$top_srcdir/tests/data
export FTRACED_STORE=$data LC_ALL=C
n_trees=${FTRACED_LONG:+2000} # of more, an answer is longer than a string of node may be
n_trees=${n_trees:-300}
views=(time_by_function roots_by_host merged_tree slowest_trees tail_by_path callers heat_map)
page=$top_srcdir/cli/ftraced-fleet.7.scd

# FTRACED_NODE_MODULES: a directory where they are, for whoever runs this often.
modules=${FTRACED_NODE_MODULES:-$work/npm/node_modules}
if [[ ! -d $modules ]] &&
        ! npm install --no-audit --no-fund --prefix "$work/npm" @duckdb/node-api chdb >"$work/npm.log" 2>&1; then
        fail 'DuckDB and ClickHouse are installed'
        show_file "$work/npm.log"
        done_testing
        exit
fi
ln -s "$modules" "$work/node_modules"

# --- the rows of a fleet: each source on two hosts, with names that must be quoted --------------------

sources=()
for dir in "$data"/sessions/*; do sources+=("${dir##*/}"); done
ftracectl fetch --quiet udp-pairs-6.12 -o "$work/even.dat"
seed=${FTRACED_SEED:-$RANDOM}
note "seed $seed"
"$here/consumers/odd-names.py" "$work/even.dat" "$work/odd.dat" "$seed" >"$work/said"
sources+=("$work/odd.dat")
for seed in 1 2 3; do
        "$here/consumers/make-calls.py" "$seed" "$n_trees" >"$work/made-$seed.txt"
        sources+=("$work/made-$seed.txt")
done

printf '%s\n' ' 0)   1.5 us    |  kfree();' 'CPU:0 [LOST 13 EVENTS]' ' 1)   0.5 us    |  kfree();' 'CPU:1 [LOST 29 EVENTS]' \
        ' 0)   1.5 us    |  kfree();' >"$work/lost.txt"
sources+=("$work/lost.txt")
read -ra more <<<"${FTRACED_RECORDINGS:-}"
sources+=("${more[@]}")

mkdir "$work/rows"
n=0
for source in "${sources[@]}"; do
        for copy in a "b's"; do
                n=$((n + 1))
                ftracectl export --quiet --format=tsv "$source" 2>/dev/null |
                        awk -F'\t' -v OFS='\t' -v host="host$n$copy" 'NR > 1 { $1 = host; print }' >>"$work/calls.tsv"
                ftracectl export --quiet --format=parquet "$source" -o "$work/rows/$n.parquet" 2>/dev/null
                for table in calls waits losses; do
                        file=$work/rows/$n.${table/calls/}.parquet
                        file=${file/../.}
                        [[ ! -e $file ]] ||
                                echo "SELECT * REPLACE ('host$n${copy//\'/\'\'}' AS host) FROM read('$file')" >>"$work/$table.union"
                done
                printf 'host%s%s\t%s\n' "$n" "$copy" "$source" >>"$work/hosts"
        done
done

# --- loading: as the page says, but from these files --------------------------------------------------

rows() { # TABLE FUNCTION
        sed "s/FROM read(/FROM $2(/; 2,\$s/^/UNION ALL /" "$work/$1.union"
}
{
        echo "CREATE VIEW files AS $(rows calls read_parquet);"
        cat "$top_srcdir/lib/export/calls.sql"
        for table in waits losses; do echo "CREATE VIEW $table AS $(rows $table read_parquet);"; done
} >"$work/duckdb.sql"
ask_duckdb() { # QUERY
        { cat "$work/duckdb.sql" && echo "$1;"; } | node "$here/consumers/ask-duckdb.mjs" "$work"
}
ask_chdb() { # of statements on standard input
        node "$here/consumers/ask-chdb.mjs" "$work" "$work/chdb"
}
shown() { # HEADING: its first block of code
        sed -n "/^# $1\$/,\$p" "$page" | awk '/^```$/ { n++; next } n == 1' | sed 's,\\,,g'
}
{
        shown CLICKHOUSE | sed '/^  AS SELECT/,$d'
        echo "AS $(rows calls file);"
        shown CLICKHOUSE | grep '^CREATE FUNCTION'
        cat "$top_srcdir/lib/export/calls.sql"
        for table in waits losses; do echo "CREATE VIEW $table AS $(rows $table file);"; done
} >"$work/chdb.sql"
exits 'ClickHouse takes the files, and the questions' 0 eval "ask_chdb <'$work/chdb.sql'"

both_answer() { # DESCRIPTION QUERY
        ask_chdb <<<"$2;" >"$work/clickhouse" 2>"$work/clickhouse.err"
        ask_duckdb "$2" >"$work/duckdb" 2>"$work/duckdb.err"
        [[ $2 == *'ORDER BY'* ]] || sort -o "$work/clickhouse" "$work/clickhouse"
        [[ $2 == *'ORDER BY'* ]] || sort -o "$work/duckdb" "$work/duckdb"
        ok "$1: both have the same answer" cmp "$work/clickhouse" "$work/duckdb"
        ok "of $(wc -l <"$work/duckdb") rows" test -s "$work/duckdb"
        diff "$work/clickhouse" "$work/duckdb" >"$work/difference" || show_file "$work/difference"
        show_file "$work/clickhouse.err"
        show_file "$work/duckdb.err"
}

both_answer 'the rows' 'SELECT host, machine_id, boot_id, recording, kernel, tree, "left", "right", parent, depth, path, caller_path, start_unix_ns,
        start_ns, duration_ns, self_ns, blocked_ns, irq_ns, cpu, pid, task, tgid, user, unit, container, pod, cgroup, function, caller, module, root, CAST(cut AS TINYINT),
        retval, args, what, callers, stack, trace_id, weight, not_hooked_below FROM calls'
# No cell of tsv is a formula: what begins as one is written as its code, and so are signs that nobody sees.
perl -pe 's/(?<!\\)((?:\\\\)*)\\x([0-9A-F]{2})/$1 . chr(hex($2))/ge' "$work/calls.tsv" | sort -o "$work/calls.tsv"
sed "s/\\\\'/'/g" "$work/duckdb" | sort >"$work/rows.tsv"
ok 'which are those of tsv' cmp "$work/calls.tsv" "$work/rows.tsv"
diff "$work/calls.tsv" "$work/rows.tsv" | grep "^[<>]" | sort -k1.3 | head -n 4 | cut -c190-390 >"$work/difference"
show_file "$work/difference"
both_answer 'the waits' 'SELECT host, recording, tree, "left", start_unix_ns, start_ns, woken_ns, back_ns, state, cpu, pid, task, function,
        waker_task, waker_pid, waker_function, CAST(waker_interrupt AS TINYINT) FROM waits'
both_answer 'the losses' 'SELECT host, recording, at_unix_ns, at_ns, cpu, events FROM losses'
is 'which are those of the text' "$(awk -F'\t' '{ n++; sum += $6 } END { print n, sum }' "$work/duckdb")" '4 84'

# --- the page's own lines, of partitions --------------------------------------------------------------

exits 'recordings become partitions' 0 ftracectl export --quiet --format=parquet udp_sendmsg-6.12 udp-pairs-6.12 "$work/made-1.txt" \
        -o "$work/lake/"
for heading in CLICKHOUSE DUCKDB; do
        shown $heading | sed "s|/srv/calls|$work/lake|; s/^\\\$.*//; s/^D //; /^\\.read/,\$d" >"$work/$heading.sql"
        echo 'SELECT count(*), sum(self_ns), min(root), max(root) FROM files;' >>"$work/$heading.sql"
done
exits "the page's lines for ClickHouse" 0 eval "node '$here/consumers/ask-chdb.mjs' '$work' '$work/chdb-of-page' <'$work/CLICKHOUSE.sql'"
cp "$out" "$work/of-page"
exits 'and for DuckDB' 0 eval "node '$here/consumers/ask-duckdb.mjs' '$work' <'$work/DUCKDB.sql'"
ok 'load the same' cmp "$out" "$work/of-page"

# --- each recording, and what top says of it ----------------------------------------------------------

ask_duckdb "SELECT host, function, module, count(*), sum(self_ns) FROM calls GROUP BY ALL" | sed "s/\\\\'/'/g" >"$work/loaded"
ask_duckdb "SELECT host, count(*), sum(back_ns - start_ns) FROM waits GROUP BY ALL" | sed "s/\\\\'/'/g" >"$work/waiting"
while IFS=$'\t' read -r host source; do
        ftracectl top --json "$source" 2>/dev/null |
                jq -r 'group_by([.function, .module // ""])[] | # several functions may have one name
                        [.[0].function, .[0].module // "", (map(.count) | add), (map(.self_ns) | add)] | @tsv' | sort >"$work/top"
        ok "$host has what top says of ${source##*/}" cmp "$work/top" <(sed -n "s/^$host\t//p" "$work/loaded" | sort)
        ok 'which is something' test -s "$work/top"
        is "and what waits says" "$(sed -n "s/^$host\t//p" "$work/waiting" | grep . || printf '0\t0\n')" \
                "$(ftracectl waits --json "$source" 2>/dev/null | jq -r 'map(select(.between_calls | not)) | [(map(.count) | add // 0), (map(.waited_ns) | add // 0)] | @tsv')"
done <"$work/hosts"

# --- the questions ----------------------------------------------------------------------------------

for view in "${views[@]}"; do
        both_answer "$view" "SELECT * FROM $view"
done
for view in roots_by_host merged_tree tail_by_path heat_map; do
        both_answer "$view of one root" "SELECT * FROM $view WHERE root = 'udp_sendmsg'"
done
both_answer 'callers of one function' "SELECT * FROM callers WHERE function = 'kfree'"
both_answer 'all pairs' 'SELECT above, function, sum(calls), sum(self_sum_ns) FROM below GROUP BY above, function'
both_answer 'a function below another' "SELECT * FROM below WHERE above = 'udp_sendmsg' AND function = 'kfree'"
both_answer 'a function below itself' "SELECT * FROM below WHERE above = 'ip_make_skb' AND function = 'ip_make_skb'"

# Those that the manual page shows, as they are there.
n=0
while IFS= read -r -d ';' query; do
        n=$((n + 1))
        both_answer "the page's question $n" "${query#$'\n'}"
done < <(awk '/^```$/ { is_shown = !is_shown; next } is_shown && /^SELECT/ { is_asked = 1 } is_shown && is_asked
        /;$/ { is_asked = 0 }' "$page")
is 'the page shows eight' "$n" 8

# --- by other ways ----------------------------------------------------------------------------------

both_answer 'the planted cause' "SELECT name FROM tail_by_path WHERE root = 'made_sendmsg' ORDER BY more_ns DESC LIMIT 1"
is 'is found' "$(cat "$work/duckdb")" shrink_slab
both_answer 'all that roots take' 'SELECT sum(self_sum_ns) FROM merged_tree'
is 'is the self time of what is below them' "$(cat "$work/duckdb")" "$(ask_duckdb 'SELECT sum(duration_sum_ns) FROM roots_by_host')"
both_answer 'every path but a root has a caller' 'SELECT count(*) FROM merged_tree WHERE level > 1 AND path_of_caller NOT IN
        (SELECT path FROM merged_tree)'
is 'that is there' "$(cat "$work/duckdb")" 0
done_testing
