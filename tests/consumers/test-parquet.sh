#!/bin/bash
# Touches: nothing; reads recordings of tests/data, and installs readers of Parquet below its own directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files of calls are read by databases: DuckDB, hyparquet and, in the long form, a current ClickHouse (chdb, 540 MB).
# All read the same, row by row what ndjson has, and what top adds up; calls are nested as left and right say.
. "$(dirname "$0")/../functions.sh"
requires jq node npm python3
! declare -F jq >/dev/null || unset -f jq # gojq sorts keys, and lines are compared

data=$top_srcdir/tests/data
export FTRACED_STORE=$data
packages=(@duckdb/node-api hyparquet hyparquet-compressors)
[[ ! ${FTRACED_LONG:-} ]] || packages+=(chdb)
modules=${FTRACED_NODE_MODULES:-$work/npm/node_modules}
if [[ ! -d $modules ]] &&
        ! npm install --no-audit --no-fund --prefix "$work/npm" "${packages[@]}" >"$work/npm.log" 2>&1; then
        fail 'readers are installed'
        show_file "$work/npm.log"
        done_testing
        exit
fi
cp "$top_srcdir/tests/consumers/read-parquet.mjs" "$work/read.mjs"
ln -s "$modules" "$work/node_modules"

read_with() { # READER FILE: rows as ndjson has them, in the order of the file
        node "$work/read.mjs" rows "$1" "$2"
}
# What ndjson has, tree by tree: its rows come as calls end, and ids count as they begin.
rows_of() { # WORD...: recordings and filters
        local word filters=()

        for word in "$@"; do
                [[ $word != -* ]] || filters+=("$word")
        done
        for word in "$@"; do
                [[ $word == -* ]] || ftracectl export --quiet --format=ndjson "${filters[@]}" "$word"
        done 2>"$err" |
                jq -c '{recording, host, start_ns, duration_ns, self_ns, blocked_ns, irq_ns, cpu, pid, task, function, module: .module, root, cut, retval}' |
                sort
}
# Of one that has lost events, too.
exported() { # WORD...
        local status=0

        ftracectl export --quiet --format=parquet "$@" -o "$work/x.parquet" 2>"$err" || status=$?
        [[ $status == 0 || $status == 6 ]]
}
same() { # NAME WORD...
        local name=$1 file=$work/x.parquet reader

        shift
        ok "$name: is exported" exported "$@"
        rows_of "$@" >"$work/rows"
        for reader in duckdb hyparquet ${FTRACED_LONG:+chdb}; do
                exits "$name: $reader reads it" 0 read_with "$reader" "$file"
                ok "$name: $reader has each row that ndjson has" cmp <(sort "$out") "$work/rows"
                exits "$name: $reader finds calls nested" 0 node "$work/read.mjs" nested "$reader" "$file"
        done
}

python3 - "$work" <<'END'
import sys
work = sys.argv[1]
with open(f"{work}/names.txt", "wb") as f:
    for i, name in enumerate((b"a,b", b"a$b@c", b"a.b-c:d", b"x" * 300)):
        f.write(b"   1.%06d |   0)  t:u/v-%-5d |   %d.234 us    |  %s();\n" % (i, i + 1, i, name))
with open(f"{work}/one.txt", "w") as f:
    f.write(" 0)   1.234 us    |  kfree();\n")
with open(f"{work}/cut.txt", "w") as f:
    f.write("   1.000001 |   0)  a-1  |               |  one() {\n   1.000002 |   0)  a-1  |   1.000 us    |    two();\n"
            "   1.000009 |   0)  a-1  |   8.000 us    |  }\n   1.000010 |   0)  a-1  |               |  one() {\n")
END
for recording in udp_sendmsg-6.1 udp_sendmsg-6.12 udp_sendmsg-new udp_sendmsg-arm64-16k-6.12 udp-pairs-6.12; do
        same $recording $recording
done
same 'a trace.dat' "$data/tracecmd/split.dat"
same 'a text with an interrupt' "$data/text/SyS_write-loopback.trace.txt"
same 'a text without times' "$data/text/udp_sendmsg-fragmented.funcgraph.txt"
same 'tasks and functions of odd names' "$work/names.txt"
for seed in ${FTRACED_SEED:-$RANDOM $RANDOM ${FTRACED_LONG:+$RANDOM $RANDOM $RANDOM $RANDOM}}; do
        for recording in udp-pairs-6.12 udp_sendmsg-6.1; do
                ftracectl fetch --quiet $recording -o "$work/even.dat"
                exits "seed $seed: $recording gets names of any bytes" 0 \
                        "$top_srcdir/tests/consumers/odd-names.py" "$work/even.dat" "$work/odd.dat" "$seed"
                ok 'some hundred' test "$(sed 's/ .*//' "$out")" -gt 200
                same "seed $seed" "$work/odd.dat"
        done
done
same 'one call' "$work/one.txt"
same 'a call that was cut' "$work/cut.txt"
same 'no call' --slower=100s udp_sendmsg-6.12
same 'two recordings' udp_sendmsg-6.1 udp_sendmsg-6.12

exits 'what DuckDB adds up' 0 node "$work/read.mjs" self duckdb "$work/x.parquet"
is 'top has added up, to the nanosecond' "$(sort "$out")" \
        "$(for r in udp_sendmsg-6.1 udp_sendmsg-6.12; do
                ftracectl top --json "$r" | jq -r '.[] | "\(.function) \(.self_ns)"'
        done | awk '{ sum[$1] += $2 } END { for (f in sum) printf "%s %d\n", f, sum[f] }' | sort)"

# More rows than a group has, in several groups.
python3 - >"$work/many.txt" <<'END'
for i in range(150000):
    print("%12.6f | %3d)  a-%-4d |   1.%03d us    |  f%d();" % (1 + i / 1e5, i % 4, 100 + i % 7, i % 1000, i % 300))
END
same 'several groups of rows' "$work/many.txt"

# Arguments that are others in each call are not kept for longer than their rows.
python3 - >"$work/args.txt" <<'END'
for i in range(2000000):
    print(" 0)   0.%03d us    |  f%d(len=0x%x, ptr=0x%x);" % (100 + i % 800, i % 300, i, 0xffff888000000000 + 64 * i))
END
cat >"$work/measured.py" <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)
END
exits 'calls with arguments of their own are exported' 0 python3 "$work/measured.py" "$top_builddir/ftracectl" export --quiet \
        --format=parquet "$work/args.txt" -o "$work/args.parquet"
ok "in bounded memory ($(<"$out") MiB)" test "$(<"$out")" -lt 150
echo "SELECT count(*), count(DISTINCT args), bool_and(args = printf('(len=0x%x, ptr=0x%x)', tree - 1, 18446612682070032384::UBIGINT + 64 * (tree - 1)))
        FROM '$work/args.parquet';" >"$work/args.sql"
exits 'DuckDB reads them' 0 eval "node '$top_srcdir/tests/consumers/ask-duckdb.mjs' '$work' <'$work/args.sql'"
is 'each in its row' "$(<"$out")" $'2000000\t2000000\t1'

# A tree of ten million calls, which is written when all of it is known: until then its rows are in a file.
if [[ ${FTRACED_LONG:-} ]]; then
        n=10000000
        python3 - $n >"$work/tree.txt" <<'END'
import sys
n = int(sys.argv[1])
out, count = sys.stdout, 1
out.write(" 0)               |  root() {\n")
while count < n:
    out.write(" 0)               |    a%d() {\n" % (count % 50))
    count += 1
    for _ in range(min(20, n - count)):
        out.write(" 0)   0.%03d us    |      f%d();\n" % (100 + count % 800, count % 300))
        count += 1
    out.write(" 0) + 20.000 us   |    }\n")
out.write(" 0) ! %d.000 us   |  }\n" % (n // 21 * 21))
END
        exits 'a tree of ten million calls is exported' 0 python3 "$work/measured.py" "$top_builddir/ftracectl" export --quiet \
                --format=parquet "$work/tree.txt" -o "$work/tree.parquet"
        ok "in bounded memory ($(<"$out") MiB)" test "$(<"$out")" -lt 200
        cat >"$work/tree.sql" <<END
SELECT count(*), min("left"), max("left"), count(DISTINCT "left"), sum("right" - "left") = sum(depth - 1), count(DISTINCT tree),
        sum(self_ns) = max(duration_ns), max(depth) FROM '$work/tree.parquet';
END
        exits 'DuckDB reads it' 0 eval "node '$top_srcdir/tests/consumers/ask-duckdb.mjs' '$work' <'$work/tree.sql'"
        is 'all of it' "$(<"$out")" "$n"$'\t1\t'"$n"$'\t'"$n"$'\t1\t1\t1\t3'
fi

mkdir "$work/lake"
exits 'recordings become partitions' 0 \
        ftracectl export --quiet --format=parquet udp_sendmsg-6.12 udp-pairs-6.12 "$work/one.txt" -o "$work/lake"
is 'of a day and a root each' "$(cd "$work/lake" && find date=* -type f | sed 's|[^/]*$||; s|date=20..-..-..|date=D|' | sort -u | paste -sd' ')" \
        'date=D/root=udp_recvmsg/ date=D/root=udp_sendmsg/ date=unknown/root=kfree/'
ok 'with waits beside' test "$(find "$work/lake/_waits" -name '*udp-pairs*.parquet' | wc -l)" = 1
exits 'which are the waits that are known' 0 node "$work/read.mjs" waits duckdb "$(find "$work/lake/_waits" -name '*udp-pairs*.parquet')"
is 'all of them' "$(cat "$out")" "$(ftracectl waits --json udp-pairs-6.12 | jq -r 'map(select(.between_calls | not)) | [(map(.count) | add), (map(.waited_ns) | add)] | @tsv')"
exits 'a file gets its waits beside it' 0 ftracectl export --quiet --format=parquet udp-pairs-6.12 -o "$work/p.parquet"
ok 'by name' test -s "$work/p.waits.parquet"
exits 'and its losses' 0 eval "echo \"SELECT count(*) FROM '$work/p.losses.parquet';\" | node '$top_srcdir/tests/consumers/ask-duckdb.mjs' '$work'"
is 'of which there are none' "$(<"$out")" 0
for ((i = 0; i < 300; i++)); do
        printf ' 0)   0.%03d us    |  root_%d();\n' $((i + 1)) $((i % 100))
done >"$work/roots.txt"
exits 'more roots than are open at the same time become partitions' 0 ftracectl export --quiet --format=parquet "$work/roots.txt" -o "$work/roots/"
echo "SELECT count(*), count(DISTINCT tree), count(DISTINCT root), bool_and(start_ns = tree * (tree - 1) // 2 AND self_ns = tree AND function = root)
        FROM read_parquet('$work/roots/date=*/root=*/*.parquet', hive_partitioning = false);" >"$work/roots.sql"
exits 'DuckDB reads them' 0 eval "node '$top_srcdir/tests/consumers/ask-duckdb.mjs' '$work' <'$work/roots.sql'"
is 'with each call' "$(<"$out")" $'300\t300\t100\t1'
exits 'names too long for a file system become partitions' 0 \
        ftracectl export --quiet --format=parquet "$work/names.txt" -o "$work/lake"
is 'with a hash' "$(find "$work/lake" -path '*/root=xxx*' -type f -printf '%h\n' | sed 's/.*~//; s/[0-9a-f]/h/g')" hhhhhhhhhhhhhhhh
mkdir "$work/sampled"
cp -r "$data/sessions" "$data/symbols" "$work/sampled"
meta=$work/sampled/sessions/udp_sendmsg-6.1/session.json
jq '.spec.sample_ppm = 10000' "$meta" >"$work/session.json" && cp "$work/session.json" "$meta"
exits 'a host of a sample, and one of none' 0 \
        ftracectl export --store "$work/sampled" --quiet --format=parquet udp_sendmsg-6.1 udp_sendmsg-6.12 -o "$work/s.parquet"
exits 'have their weights' 0 node "$work/read.mjs" weights duckdb "$work/s.parquet"
is 'which are the hosts that each stands for' "$(sed 's/-[0-9a-f]\{16\} / /' "$out" | paste -sd' ')" 'udp_sendmsg-6.1 100 udp_sendmsg-6.12 1'
exits 'what cannot be written is named' 1 ftracectl export --quiet --format=parquet udp-pairs-6.12 -o "$work/none/p.parquet"
says 'with its path' 'none/p\.parquet'
exits 'of a recording that is not there nothing is written' 3 \
        ftracectl export --quiet --format=parquet udp-pairs-6.12 nobody -o "$work/half.parquet"
ok 'not even half' test ! -e "$work/half.parquet" -a ! -e "$work/half.waits.parquet"
exits 'other formats take no more than they did' 2 ftracectl export --format=csv udp-pairs-6.12 udp_sendmsg-6.12
done_testing
