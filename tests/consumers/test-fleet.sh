#!/bin/bash
# Touches: nothing; runs two ClickHouse servers on loopback, and installs DuckDB below its own directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The eight questions of ftraced-fleet(7), and what was waited for and lost, have the same answers on two shards of
# ClickHouse, which were loaded from tsv, as in DuckDB on parquet, to the nanosecond; and what each recording has there
# is what `top` and `waits` say of it.
# FTRACED_RECORDINGS: more that are loaded, trace.dats or texts, with blanks between their names.
# No part of `make check`, for what it installs; tests/run-all runs it in the long form.
. "$(dirname "$0")/../functions.sh"
requires jq python3 clickhouse-server clickhouse-client npm node
. "$(dirname "$0")/two-servers.sh"

data=$top_srcdir/tests/data
export FTRACED_STORE=$data
export FTRACECTL=$top_builddir/ftracectl LC_ALL=C
n_trees=${FTRACED_LONG:+4000}
n_trees=${n_trees:-300}
views=(time_by_function roots_by_host merged_tree slowest_trees tail_by_path callers heat_map)

load() { # SOURCE...
        CLICKHOUSE_CLIENT=${client:-clickhouse-client} "$top_srcdir/cli/load-clickhouse" --host 127.0.0.1 \
                --port "${server_ports[0]}" -- "$@"
}

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
echo "CREATE VIEW files AS" >"$work/files.sql"
n=0 union=
for source in "${sources[@]}"; do
        for copy in a "b's"; do
                n=$((n + 1))
                ftracectl export --quiet --format=tsv "$source" 2>/dev/null |
                        awk -F'\t' -v OFS='\t' -v host="host$n$copy" 'NR > 1 { $1 = host } { print }' >"$work/rows/$n.tsv"
                for table in waits losses; do
                        ftracectl export --quiet --format=tsv-$table "$source" 2>/dev/null |
                                awk -F'\t' -v OFS='\t' -v host="host$n$copy" 'NR > 1 { $1 = host } { print }' >"$work/rows/$n.$table.tsv"
                done
                ftracectl export --quiet --format=parquet "$source" -o "$work/rows/$n.parquet" 2>/dev/null
                for table in waits losses; do
                        [[ ! -e $work/rows/$n.$table.parquet ]] ||
                                echo "SELECT * REPLACE ('host$n${copy//\'/\'\'}' AS host) FROM ${table}_in('$work/rows/$n.$table.parquet')" >>"$work/$table.union"
                done
                echo "${union}SELECT * REPLACE ('host$n${copy//\'/\'\'}' AS host) FROM '$work/rows/$n.parquet'" >>"$work/files.sql"
                union='UNION ALL '
                printf 'host%s%s\t%s\n' "$n" "$copy" "$source" >>"$work/hosts"
        done
done
echo ';' >>"$work/files.sql"
for table in waits losses; do
        printf 'CREATE VIEW %s AS %s;\n' $table "$(sed '2,$s/^/UNION ALL /' "$work/$table.union")"
done >"$work/beside.sql"
wanted=$(cat "$work"/rows/*[0-9].tsv | grep -cv '^host	machine_id	')
wanted_waits=$(cat "$work"/rows/*.waits.tsv | grep -cv '^host	recording	')

# --- loading --------------------------------------------------------------------------------------

cleanup_fn stop_servers
start_servers || {
        fail 'two servers run'
        show_file "$work/server0/errors"
        show_file "$work/server0.said"
        done_testing
}
exits 'all of it is loaded' 0 load "$work"/rows/*[0-9].tsv
is 'and counted' "$(awk '$3 == "calls" { n += $2 } END { print n }' "$out")" "$wanted"
is 'it is there' "$(ask_server -q 'SELECT count() FROM calls')" "$wanted"
is 'so are waits' "$(ask_server -q 'SELECT count() FROM waits')" "$wanted_waits"
ok 'of which there are some' test "$wanted_waits" -gt 10
is 'and losses' "$(ask_server -q 'SELECT count(), sum(events) FROM losses')" \
        "$(cat "$work"/rows/*.losses.tsv | awk -F'\t' '$1 != "host" { n++; sum += $6 } END { print n "\t" sum }')"
ok 'of which there are some' test "$(ask_server -q "SELECT sum(events) FROM losses WHERE recording LIKE 'lost.txt-%'")" = 84
local_hosts() {
        for port in "${server_ports[@]}"; do
                clickhouse-client --host 127.0.0.1 --port "$port" -q 'SELECT DISTINCT host FROM calls_local'
        done
}
local_hosts | sort >"$work/local"
for table in waits losses; do
        for port in "${server_ports[@]}"; do
                clickhouse-client --host 127.0.0.1 --port "$port" -q "SELECT DISTINCT host FROM ${table}_local
                        WHERE host NOT IN (SELECT host FROM calls_local)"
        done >"$work/elsewhere"
        is "$table are where their calls are" "$(<"$work/elsewhere")" ''
done
is 'each host is on one shard' "$(uniq -d "$work/local")" ''
is 'which has all of them' "$(wc -l <"$work/local")" "$n"
for port in "${server_ports[@]}"; do
        ok 'both shards have some' test "$(clickhouse-client --host 127.0.0.1 --port "$port" -q 'SELECT count() FROM calls_local')" -gt 0
done
exits 'what is there is not loaded again' 1 load "$work/rows/1.tsv"
says 'but told' 'are there already; nothing is loaded'
is 'and stays' "$(ask_server -q 'SELECT count() FROM calls')" "$wanted"

# A client that loses a row of what it inserts.
cat >"$work/loses" <<'END'
#!/bin/bash
if [[ "$*" == *INSERT* ]]; then
        awk 'NR == 1 { print; next } NR > 2 { print last } { last = $0 }' | clickhouse-client "$@"
else
        clickhouse-client "$@"
fi
END
chmod +x "$work/loses"
sed '2,$s/^[^\t]*/short/' "$work/rows/1.tsv" >"$work/short.tsv"
waiting=$(grep -l '^host[0-9]*a' "$work"/rows/*.waits.tsv | head -n 1)
sed '2,$s/^[^\t]*/fewer/' "$waiting" >"$work/fewer.waits.tsv"
head -n 1 "$work/rows/1.tsv" >"$work/fewer.tsv"
client=$work/loses exits 'so is a wait' 1 load "$work/fewer.tsv"
says 'by its name' '[0-9]+ waits of .* of fewer with [0-9]+ ns were sent, and there are [0-9]+ waits with [0-9]+ ns'
exits 'it is not loaded again' 1 load "$work/fewer.tsv"
says 'although there are none of its calls' 'waits of .* of fewer are there already; nothing is loaded'
for port in "${server_ports[@]}"; do
        clickhouse-client --host 127.0.0.1 --port "$port" -q "ALTER TABLE waits_local DELETE WHERE host = 'fewer'"
done
ok 'until what there is was removed' wait_until 30 eval "[[ \$(ask_server -q 'SELECT count() FROM waits') == $wanted_waits ]]"
client=$work/loses exits 'a row that is lost is noticed' 1 load "$work/short.tsv"
says 'and both counts are told' 'calls of .* of short with [0-9]+ ns were sent, and there are [0-9]+ calls'
for port in "${server_ports[@]}"; do
        clickhouse-client --host 127.0.0.1 --port "$port" -q "ALTER TABLE calls_local DELETE WHERE host = 'short'"
done
ok 'what was loaded of it is removed' wait_until 30 eval "[[ \$(ask_server -q 'SELECT count() FROM calls') == $wanted ]]"

head -n 1 "$work/rows/1.tsv" >"$work/none.tsv"
exits 'a recording without calls is loaded' 0 load "$work/none.tsv"
is 'and told' "$(cat "$out")" "$work/none.tsv: no calls"
exits 'one that is not there is not' 1 load "$work/nowhere"
says 'and told' 'not all of its calls were loaded'
CLICKHOUSE_CLIENT=false exits 'without a server nothing is loaded' 1 "$top_srcdir/cli/load-clickhouse" -- "$work/rows/1.tsv"
days() {
        ask_server -q "SELECT DISTINCT partition FROM system.parts WHERE active AND table = 'calls_local' ORDER BY partition"
}
is 'partitions are days' "$(days | grep -cvxE '[0-9]{4}-[0-9]{2}-[0-9]{2}')" 0

# --- each recording, and what top says of it ----------------------------------------------------------

while IFS=$'\t' read -r host source; do
        ftracectl top --json "$source" 2>/dev/null |
                jq -r 'group_by([.function, .module // ""])[] | # several functions may have one name
                        [.[0].function, .[0].module // "", (map(.count) | add), (map(.self_ns) | add)] | @tsv' | sort >"$work/top"
        ask_server -q "SELECT function, module, count(), sum(self_ns) FROM calls WHERE host = '${host//\'/\\\'}'
                GROUP BY function, module" | sed "s/\\\\'/'/g" | sort >"$work/loaded"
        ok "$host has what top says of ${source##*/}" cmp "$work/top" "$work/loaded"
        ok 'which is something' test -s "$work/top"
        ftracectl waits --json "$source" 2>/dev/null | jq -r '[([.[].count] | add // 0), ([.[].waited_ns] | add // 0)] | @tsv' >"$work/waited"
        is "and what waits says" "$(ask_server -q "SELECT count(), sum(back_ns - start_ns) FROM waits WHERE host = '${host//\'/\\\'}'")" "$(<"$work/waited")"
done <"$work/hosts"

# --- the questions ----------------------------------------------------------------------------------

# FTRACED_NODE_MODULES: a directory where they are, for whoever runs this often.
fetch() { # PACKAGE
        if [[ ${FTRACED_NODE_MODULES:-} ]]; then
                mkdir -p "$work/npm" && ln -sfn "$FTRACED_NODE_MODULES" "$work/npm/node_modules"
        else
                npm install --no-audit --no-fund --prefix "$work/npm" "$1" >"$work/npm.log" 2>&1
        fi
}
fetch @duckdb/node-api || {
        fail 'DuckDB is installed'
        show_file "$work/npm.log"
        done_testing
}
ask_duckdb() { # QUERY
        { cat "$work/files.sql" "$top_srcdir/lib/export/calls.duckdb.sql" "$work/beside.sql" && echo "$1;"; } |
                node "$here/consumers/ask-duckdb.mjs" "$work/npm"
}
both_answer() { # DESCRIPTION QUERY
        ask_server -q "$2" >"$work/clickhouse" 2>"$work/clickhouse.err"
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
        start_ns, duration_ns, self_ns, blocked_ns, irq_ns, cpu, pid, task, cgroup, function, caller, module, root, cut, retval, args,
        trace_id, weight FROM calls WHERE host LIKE '"'%a'"
both_answer 'the waits' 'SELECT host, recording, tree, "left", start_unix_ns, start_ns, woken_ns, back_ns, state, cpu, pid, task, function,
        waker_task, waker_pid, waker_function, waker_interrupt FROM waits'
both_answer 'the losses' 'SELECT host, recording, at_unix_ns, at_ns, cpu, events FROM losses'
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
        /;$/ { is_asked = 0 }' "$top_srcdir/cli/ftraced-fleet.7.scd")
is 'the page shows eight' "$n" 8

# --- a current ClickHouse, which reads the files, in one process, so that there is nothing to distribute ----

ask_chdb() {
        node "$here/consumers/ask-chdb.mjs" "$work/npm" "$work/chdb"
}
if [[ ! ${FTRACED_LONG:-} ]]; then
        skip_one 'a current ClickHouse has the same answers' 'FTRACED_LONG is not set'
elif ! fetch chdb; then
        fail 'chdb is installed'
        show_file "$work/npm.log"
else
        sed -e 's/^CREATE TABLE IF NOT EXISTS \(calls\|waits\|losses\|below\) AS \([a-z_]*\).*/CREATE VIEW \1 AS SELECT * FROM \2;/' \
                -e '/^ENGINE = Distributed/d' "$top_srcdir/lib/export/calls.clickhouse.sql" >"$work/schema.sql"
        sed -n "s/.*SELECT \\* REPLACE (\\('.*'\\) AS host) FROM \\('.*'\\)/INSERT INTO calls_local SELECT * REPLACE (\\1 AS host) FROM file(\\2);/p" \
                "$work/files.sql" >"$work/load.sql"
        cat "$work/schema.sql" "$work/load.sql" >"$work/chdb.sql"
        exits 'a current ClickHouse takes the schema, and the files' 0 eval "ask_chdb <'$work/chdb.sql'"
        for view in "${views[@]}" "below WHERE above = 'udp_sendmsg' AND function = 'kfree'"; do
                query="SELECT * FROM $view"
                ask_server -q "$query" | sort >"$work/clickhouse"
                ask_chdb <<<"$query;" 2>"$work/chdb.err" | sort >"$work/current"
                ok "a current ClickHouse has the same answer: $view" cmp "$work/clickhouse" "$work/current"
                ok "of $(wc -l <"$work/current") rows" test -s "$work/current"
                show_file "$work/chdb.err"
        done
fi

# --- by other ways ----------------------------------------------------------------------------------

both_answer 'the planted cause' "SELECT name FROM tail_by_path WHERE root = 'made_sendmsg' ORDER BY more_ns DESC LIMIT 1"
is 'is found' "$(cat "$work/duckdb")" shrink_slab
both_answer 'all that roots take' 'SELECT sum(self_sum_ns) FROM merged_tree'
is 'is the self time of what is below them' "$(cat "$work/duckdb")" "$(ask_server -q 'SELECT sum(duration_sum_ns) FROM roots_by_host')"
both_answer 'every path but a root has a caller' 'SELECT count(*) FROM merged_tree WHERE level > 1 AND path_of_caller NOT IN
        (SELECT path FROM merged_tree)'
is 'that is there' "$(cat "$work/duckdb")" 0
done_testing
