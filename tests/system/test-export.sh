#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is exported is read as other programs read it, and says what `top` says, to the nanosecond.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
graph=$data/text/SyS_write-loopback.trace.txt

read_export() { # FORMAT FILE
        local schema=()

        [[ $1 != ndjson ]] || schema=("$top_srcdir/lib/export/calls.schema.json")
        python3 "$top_srcdir/tests/read-export.py" "$1" "$2" "${schema[@]}"
}

# Of each function how often it was called, and its own time.
functions_of() { # FILE: of top --json, or of read_export
        # shellcheck disable=SC2016 # jq's dollars
        jq -cS 'def name: .function + if .module then " [\(.module)]" else "" end;
                if type == "array" then map({ (name): [.count, .self_ns] }) | add
                else .functions | map_values([.count, .self_ns]) end' "$1"
}

for source in udp_sendmsg-6.12 "$graph" "$data/text/udp-client-server.stap.txt"; do
        name=${source##*/}
        ftracectl top --quiet --json --store "$data" "$source" >"$work/top.json" 2>/dev/null
        wanted=$(functions_of "$work/top.json")
        total=$(jq 'map(.self_ns) | add' "$work/top.json")
        for format in csv json ndjson perfetto pprof; do
                exits "$name is exported as $format" 0 \
                        ftracectl export --quiet --store "$data" "$source" --format=$format -o "$work/$format"
                exits "$name as $format is well-formed" 0 read_export $format "$work/$format"
                is "$name as $format has the calls and own times of top" "$(functions_of "$out")" "$wanted"
                is "$name as $format: outermost calls took all that was added up" \
                        "$(jq .roots_ns "$out")" "$total"
        done
done

for source in udp_sendmsg-6.1 udp_sendmsg-new; do
        name=${source##*/}
        ftracectl top --quiet --json --store "$data" "$source" >"$work/top.json" 2>/dev/null
        wanted=$(jq -cS 'map(select(.self_ns > 0) | { (.function): .self_ns }) | add' "$work/top.json")
        for format in folded flame html; do
                exits "$name is exported as $format" 0 \
                        ftracectl export --quiet --store "$data" "$source" --format=$format -o "$work/$format"
                exits "$name as $format is well-formed" 0 read_export $format "$work/$format"
                is "$name as $format has the own times of top" \
                        "$(jq -cS '[.functions | to_entries[] | select(.value.self_ns > 0) |
                                { (.key | split(" [")[0]): .value.self_ns }] | add' "$out")" "$wanted"
        done
done
# What was left out, now or when a file was made of it, is said by whatever can.
ftracectl fetch -q --cpus=1 --store "$data" udp_sendmsg-6.12 -o "$work/part.dat"
for format in html flame heatmap json perfetto pprof; do
        for source in udp_sendmsg-6.12:--depth=3 "$work/part.dat:--cpus=1 --depth=3"; do
                ftracectl export -q --depth=3 --store "$data" "${source%%:*}" --format=$format -o "$work/part"
                ok "$format of ${source##*/} says what was asked for" grep -aqF -e "${source#*:}" "$work/part"
        done
        ftracectl export -q --store "$data" udp_sendmsg-6.12 --format=$format -o "$work/part"
        ok "$format says nothing of the kind if nothing was" not grep -aqE -e '(with |filters":")--' "$work/part"
done
# A profile begins when the clock on the wall showed it, however often that was set.
mkdir -p "$work/set/sessions"
cp -r "$data/sessions/udp_sendmsg-6.12" "$work/set/sessions/set"
ln -s "$data/symbols" "$work/set/symbols"
jq '.name = "set" | .clock_steps = [.start | .realtime_ns += 3600000000000]' \
        "$data/sessions/udp_sendmsg-6.12/session.json" >"$work/set/sessions/set/session.json"
ftracectl export -q --store "$work/set" set --format=tsv -o "$work/set.tsv"
ftracectl export -q --store "$work/set" set --format=pprof -o "$work/set.pprof"
exits 'a profile of a recording during which the clock was set' 0 read_export pprof "$work/set.pprof"
is 'begins when its first call does' "$(jq .time_ns "$out")" \
        "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } { print $column["start_unix_ns"] }' "$work/set.tsv" | sort -n | head -n 1)"
exits 'a profile of nothing' 0 ftracectl export -q --store "$data" udp_sendmsg-6.12 --from=+1h --format=pprof -o "$work/none.pprof"
exits 'is one' 0 read_export pprof "$work/none.pprof"
is 'and was at no time' "$(jq -c '[.time_ns, .functions]' "$out")" '[null,{}]'
ftracectl export -q "$data/tracecmd/x86-tsc.dat" --format=pprof -o "$work/ticks.pprof"
exits 'a profile by a clock of ticks' 0 read_export pprof "$work/ticks.pprof"
is 'has no nanoseconds' "$(jq -r .unit "$out")" count
ftracectl export --store "$data" udp_sendmsg-new --format=perfetto -o "$work/late"
exits 'calls that ended before what is recorded below them are exported' 0 read_export perfetto "$work/late"
is 'with what outermost calls took' "$(jq '[.functions[].self_ns] | add == 34062986' "$out")" true
printf ' 0)               |  udp_sendmsg(sk=0xff, len=10) {\n 0)   1.000 us    |    ip_make_skb();\n 0)   5.000 us    |  }\n' >"$work/given"
ok 'calls have what they were given' ftracectl export -q "$work/given" --format=perfetto -o "$work/given.perfetto"
ok 'in Perfetto, too' grep -aqF '(sk=0xff, len=10)' "$work/given.perfetto"
# What is cut is known late, if more was called than is held.
awk 'BEGIN { print " 0)               |  never_ends() {"; print " 0)               |    nor_does() {"
        for (i = 0; i < 70000; i++) print " 0)   0.100 us    |      b();" }' >"$work/long.txt"
ftracectl export --quiet "$work/long.txt" --format=perfetto -o "$work/long" 2>"$err"
exits 'a timeline of many calls in one that was cut is well-formed' 0 read_export perfetto "$work/long"
is 'and says which' "$(jq -cS .cut "$out")" '{"never_ends":1,"nor_does":1}'

exits 'two recordings are compared' 0 \
        ftracectl export --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12 --format=flame -o "$work/changes.svg"
exits 'in a picture that is well-formed' 0 read_export flame "$work/changes.svg"
ok 'which says what is new' grep -q '^new$' "$work/changes.svg"
printf ' 0)   %s us    |  %s();\n' 3.000 f 4.000 g 4.000 g >"$work/before.txt"
printf ' 0)   %s us    |  %s();\n' 5.000 f 4.000 g >"$work/now.txt"
ftracectl export -q "$work/before.txt" "$work/now.txt" --format=flame -o "$work/roots.svg"
is 'for each call of its own root' "$(grep -oE 'outermost call [^<]*' "$work/roots.svg" | paste -sd' ')" \
        'outermost call 5.00 us, before 3.00 us (+2.00 us) outermost call 4.00 us, before 4.00 us (+0.000 us)'
exits 'other formats take one' 2 \
        ftracectl export --store "$data" udp_sendmsg-6.1 udp_sendmsg-6.12 --format=csv
one_sentence 'in one sentence'

exits 'standard output takes it too' 0 ftracectl export --store "$data" udp_sendmsg-6.12 --format=csv
is 'with a heading and a line for each call' "$(wc -l <"$out")" 1960
exits 'a part of it can be taken' 0 \
        ftracectl export --store "$data" udp_sendmsg-6.12 --format=csv --function=__rcu_read_lock
ok 'which has nothing else' not grep -vE '^id,|,__rcu_read_lock,' "$out"
exits 'a text without times says so' 0 ftracectl export "$graph" --format=json
is 'in the file' "$(jq .approximate_start "$out")" true
ftracectl export --store "$data" udp_sendmsg-6.12 --format=perfetto -o "$work/perfetto"
exits 'interrupts are apart' 0 read_export perfetto "$work/perfetto"
is 'with all their time' "$(jq '.interrupts_ns > 1000000' "$out")" true

# Wake-ups.
cat >"$work/wakes.txt" <<'END'
 0)    client-16    |               |  sock_def_readable() {
 0)    client-16    |               |    __wake_up() {
 0)    client-16    |               |      /* sched_wakeup: comm=server pid=17 prio=120 target_cpu=001 */
 0)    client-16    |   3.000 us    |    }
 0)    client-16    |   5.000 us    |  }
 1)    <idle>-0     |               |  /* sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=17 next_prio=120 */
 1)    server-17    |   0.500 us    |  finish_task_switch();
END
exits 'a text with wake-ups is exported' 0 \
        ftracectl export "$work/wakes.txt" --format=perfetto -o "$work/wakes.perfetto"
exits 'and well-formed' 0 read_export perfetto "$work/wakes.perfetto"
is 'an arrow leads from who wakes to who runs' \
        "$(jq -c '.wakes | map(map(.[1]))' "$out")" '[["client 16","server 17"]]'

# The task of CPU 1 gets its name while the one of CPU 0 has it.
cat >"$work/named.txt" <<'END'
# tracer: function_graph
#
#     TIME        CPU  DURATION                  FUNCTION CALLS
#      |          |     |   |                     |   |   |   |
    1.000001 |   1)   1.000 us    |  f0();
 ------------------------------------------
   1)   x-9    =>  taskA-1   
 ------------------------------------------

    1.000100 |   1) ! 500.000 us  |  f1();
    1.000110 |   0)   1.000 us    |  g();
 ------------------------------------------
   0)  taskA-1    =>   b-2    
 ------------------------------------------

    1.000112 |   0)   1.000 us    |  b();
    1.000120 |   1)   1.000 us    |  h();
    1.000130 |   1)   1.000 us    |  h();
END
exits 'a task that is named late is exported' 0 ftracectl export --quiet "$work/named.txt" --format=perfetto -o "$work/named.perfetto"
exits 'and nothing begins before what it follows has ended' 0 read_export perfetto "$work/named.perfetto"

exits 'and as a page' 0 ftracectl export "$top_srcdir/tests/data/text/udp-client-server.stap.txt" --quiet --format=html -o "$work/page.html"
exits 'which is well-formed' 0 read_export html "$work/page.html"
cat >"$work/waits.txt" <<'END'
     1.000000 |   1)    server-17    |               |  __x64_sys_recvfrom() {
     1.000010 |   1)    server-17    |               |    schedule() {
     1.000020 |   1)    server-17    |               |      /* sched_switch: prev_comm=server prev_pid=17 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120 */
     1.000300 |   0)    client-16    |               |  sock_def_readable() {
     1.000310 |   0)    client-16    |               |    /* sched_waking: comm=server pid=17 prio=120 target_cpu=001 */
     1.000350 |   0)    client-16    | + 50.000 us   |  }
     1.000353 |   1)    <idle>-0     |               |  /* sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=17 next_prio=120 */
     1.000360 |   1)    server-17    | ! 350.000 us  |    }
     1.000370 |   1)    server-17    | ! 370.000 us  |  }
END
exits 'a page of a text with switches' 0 ftracectl export --quiet --root='*' "$work/waits.txt" --format=html -o "$work/page.html"
exits 'is well-formed' 0 read_export html "$work/page.html"
says 'and says in the timeline who woke the task' '"off the CPU, woken by client-16 in sock_def_readable"' "$work/page.html"
says 'in time' '"spans":\[0,370000,0,0,0,10000,350000,1,1,.,20000,333000,2,2,2\]' "$work/page.html"

# Names that mean something to the formats.
printf '%s\n' ' 0)  e",;<b>-7   |               |  do_it() {' \
        ' 0)  e",;<b>-7   |   0.100 us    |    a.b$<script>alert(1)</script>();' \
        ' 0)  e",;<b>-7   |   1.000 us    |  }' >"$work/evil.txt"
for format in csv json ndjson perfetto pprof folded flame html; do
        exits "hostile names are exported as $format" 0 \
                ftracectl export --quiet "$work/evil.txt" --format=$format -o "$work/evil.$format"
        exits "and well-formed as $format" 0 read_export $format "$work/evil.$format"
done

# As many functions as a kernel has: what is looked up is not looked for.  A second of CPU time is
# enough for each; a minute is not for what compares each with each.
many() { # FIRST
        awk -v first="$1" 'BEGIN {
                print " 0)               |  root() {"
                for (i = first; i < first + 100000; i++)
                        printf " 0)   0.100 us    |    f%d();\n", i
                print " 0) ! 90000.00 us |  }" }'
}
many 0 >"$work/many.txt"
many 50000 >"$work/more.txt"
limited() {
        bash -c 'ulimit -t 20 && exec "$@"' limited "$top_builddir/ftracectl" "$@"
}
for format in csv ndjson perfetto pprof folded flame html; do
        exits "100,000 functions are exported as $format" 0 \
                limited export --quiet "$work/many.txt" --format=$format -o "$work/many.$format"
done
exits 'and compared in a picture' 0 \
        limited export "$work/many.txt" "$work/more.txt" --format=flame -o "$work/compared.svg"
exits 'and in a table' 0 limited diff --json "$work/many.txt" "$work/more.txt"
is 'with who came and who went' "$(grep -oE '"kind": ?"[a-z]+"' "$out" | tr -d ' ' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" \
        '50000 "kind":"never" 50000 "kind":"only"'

# Databases.
if command -v sqlite3 >/dev/null; then
        ftracectl export --store "$data" udp_sendmsg-6.12 --format=csv -o "$work/calls.csv"
        exits 'a database loads the table' 0 sqlite3 -csv :memory: ".import $work/calls.csv calls" \
                'SELECT count(*), sum(self_ns) FROM calls'
        is 'whole' "$(<"$out")" "1959,107367875"
else
        skip_one 'a database loads the table' 'sqlite3 is not installed'
fi

# What is lost anywhere: spans nest all the same, and no file grows beyond measure.
printf ' 0)               |  a() {\n 0)   0.668 us    |  b();\n 0)   0.650 us    |    c();\n' >"$work/sibling.txt"
awk 'NR < 20 || NR % 7 && NR % 11' "$graph" >"$work/holes.txt"
for format in $(ftracectl export "$graph" 2>&1 | sed 's/.*: //; s/[.,]//g'); do
        for name in sibling holes; do
                exits "a text with holes ($name) is exported as $format" 0 timeout 60 \
                        "$top_builddir/ftracectl" export --quiet --keep-going "$work/$name.txt" --format="$format" -o "$work/$name.$format"
                ok 'in proportion' test "$(stat -c %s "$work/$name.$format")" -le \
                        $((100000 + 50 * $(stat -c %s "$work/$name.txt")))
        done
done
exits 'holes in a timeline are well-formed' 0 read_export perfetto "$work/holes.perfetto"

# No death leaves anything.
mkdir "$work/empty"
(
        ulimit -f 8
        exec "$top_builddir/ftracectl" export "$graph" --format=json -o "$work/empty/x"
) >"$work/limited" 2>&1
is 'a file that gets too large is an error' $? 1
is 'that leaves nothing' "$(ls -A "$work/empty")" ''

# Bad input.
exits 'a format that does not exist is refused' 2 ftracectl export "$graph" --format=xls
says 'with those that do' 'is not one of flame, heatmap, html,'
exits 'one that is gone is refused' 2 ftracectl export "$graph" --format=chrome
says 'with what to use' '^ftracectl: --format: there is no "chrome": perfetto '
exits 'no format is refused' 2 ftracectl export "$graph"
one_sentence 'in one sentence'
exits 'a directory that does not exist is an error' 1 \
        ftracectl export "$graph" --format=csv -o "$work/no-such-directory/x.csv"
one_sentence 'in one sentence'
exits 'a session that does not exist is an error' 3 \
        ftracectl export --store "$data" no-such-session --format=csv -o "$work/none.csv"
ok 'and leaves no file' test ! -e "$work/none.csv"
head -c 5000 "$graph" >"$work/cut.txt"
exits 'a text that is cut off is an error' 1 ftracectl export "$work/cut.txt" --format=csv -o "$work/cut.csv"
ok 'and leaves no file' test ! -e "$work/cut.csv"
exits 'unless it is to be stepped over' 1 \
        ftracectl export --keep-going "$work/cut.txt" --format=csv -o "$work/cut.csv"
for format in parquet tsv; do
        exits "damage ends $format" 1 ftracectl export "$work/cut.txt" --format=$format -o "$work/cut.$format"
        ok 'and leaves no file' test ! -e "$work/cut.$format"
        exits 'with --keep-going its status is told' 1 ftracectl export --keep-going "$work/cut.txt" --format=$format -o "$work/cut.$format"
        ok 'and what can be read is written' test -s "$work/cut.$format"
done
is 'as many rows as csv has' "$(wc -l <"$work/cut.tsv")" "$(wc -l <"$work/cut.csv")"
exits 'it goes to a pipe, too' 1 ftracectl export -q --keep-going "$work/cut.txt" --format=tsv
ok 'as it goes into a file' cmp "$out" "$work/cut.tsv"
pid=200
for task in '=1+1' '+1' '-1' '@SUM(1)' $'csi\xc2\x9b31m' plain; do
        printf ' 1)  %s-%u  |   1.000 us    |  ip_make_skb();\n' "$task" $((++pid))
done >"$work/names.txt"
exits 'names that a spreadsheet or a terminal would obey' 0 ftracectl export "$work/names.txt" --format=csv
is 'are texts of csv' "$(grep -o ',"'"'"'[^"]*"' "$out" | paste -sd' ')" ",\"'=1+1\" ,\"'+1\" ,\"'-1\" ,\"'@SUM(1)\""
exits 'as of tsv' 0 ftracectl export "$work/names.txt" --format=tsv
is 'in which they are whole' "$(grep -Po '[^\t]*\\x[^\t]*' "$out" | paste -sd' ')" '\x3D1+1 \x2B1 \x2D1 \x40SUM(1) csi\xC2\x9B31m'
: >"$work/empty.txt"
printf ' 0)   0.668 us    |  one();\n' >"$work/good.txt"
exits 'a SOURCE that cannot be read ends it' 1 ftracectl export -q "$work/empty.txt" "$work/good.txt" --format=tsv
is 'before any row' "$(grep -c good "$out")" 0
exits 'with --keep-going its status is told' 1 ftracectl export -q --keep-going "$work/empty.txt" "$work"/{good,nowhere,cut}.txt --format=tsv
is 'and the others are there' "$(cut -f4 "$out" | sed 's/-.*//' | sort -u | paste -sd' ')" 'cut.txt good.txt recording'
exits 'where none can be read' 3 ftracectl export -q --keep-going "$work"/{nowhere,empty}.txt --format=parquet -o "$work/none.parquet"
ok 'no file is left' test ! -e "$work/none.parquet"
exits 'the same one twice is still wrong' 2 ftracectl export -q --keep-going "$work"/{good,good}.txt --format=tsv
# Two of one name are two recordings, in a file, among partitions, and from one export to the next.
mkdir -p "$work"/{rack1,rack2,lake}
printf ' 0)   0.668 us    |  one();\n' >"$work/rack1/web.txt"
printf ' 0)   0.%d us    |  one();\n' 700 800 >"$work/rack2/web.txt"
exits 'two texts of one name become one file' 0 ftracectl export -q --format=tsv "$work"/rack?/web.txt
is 'of two recordings, each with a first tree' "$(cut -f4,6 "$out" | sed '1d; s/-[0-9a-f]*\t/ /' | paste -sd,)" 'web.txt 1,web.txt 1,web.txt 2'
is 'so that no two rows are of one call' "$(cut -f1,4,6,7 "$out" | sort | uniq -d)" ''
is 'ndjson has the same names' "$(ftracectl export -q --format=ndjson "$work/rack1/web.txt" | jq -r .recording)" "$(sed -n 2p "$out" | cut -f4)"
cp "$work/rack1/web.txt" "$work/rack1/web.log"
exits 'one under another name is another' 0 ftracectl export -q --format=tsv "$work"/rack1/web.*
exits 'the same one twice is refused' 2 ftracectl export -q --format=tsv "$work"/rack1/web.txt "$work/rack1/../rack1/web.txt"
says 'by its name' 'is the same recording as another SOURCE: web\.txt-[0-9a-f]{16}'
parts() {
        find "$work/lake/date=unknown" -type f -printf '%f\n' | sort
}
exits 'partitions of the first' 0 ftracectl export -q --format=parquet "$work/rack1/web.txt" -o "$work/lake"
parts >"$work/parts"
exits 'once more' 0 ftracectl export -q --format=parquet "$work/rack1/web.txt" -o "$work/lake"
is 'replace themselves' "$(parts)" "$(<"$work/parts")"
first=$(sha256sum "$work"/lake/date=unknown/*/*)
exits 'those of the other of that name' 0 ftracectl export -q --format=parquet "$work/rack2/web.txt" -o "$work/lake"
is 'do not' "$(parts | wc -l)" 2
ok 'they leave them as they were' sha256sum -c --quiet <<<"$first"
exits 'of two with waits and without' 0 ftracectl export -q --format=parquet --store "$data" udp_sendmsg-6.12 udp-pairs-6.12 -o "$work/two/"
is 'each has its waits and losses' "$(find "$work"/two/_* -type f -printf '%P\n' | sed 's|.*/||; s/-[0-9a-f]*\.parquet$//' | sort | uniq -c | xargs)" \
        '2 ftraced-vm-udp-pairs-6.12 2 ftraced-vm-udp_sendmsg-6.12'
ok 'which are there' test "$(stat -c %s "$work"/two/_waits/*/*udp-pairs*)" -gt 2000
cat "$work"/rack?/web.txt >"$work/several.txt"
printf '# cat trace\n 0)   0.668 us    |  one();\n' >>"$work/several.txt"
for nth in 1 2; do
        exits "trace number $nth of a text" 0 ftracectl export -q --format=parquet --nth-trace=$nth "$work/several.txt" -o "$work/lake"
done
is 'is a recording of its own' "$(parts | grep -c several)" 2
# --- into more files than may be open at the same time ---------------------------------------------

for ((i = 0; i < 300; i++)); do
        printf ' 0)   0.500 us    |  root_%d();\n' $((i % 100))
done >"$work/roots.txt"
exits 'a recording has more roots than files may be open' 0 bash -c 'ulimit -n 64 && exec "$0" export -q --format=parquet "$1" -o "$2"' \
        "$top_builddir/ftracectl" "$work/roots.txt" "$work/roots/"
is 'each has its file' "$(find "$work/roots/date=unknown" -path '*/root=root_*' -name '*.parquet' -size +0 | wc -l)" 100
is 'and nothing else is left' "$(cd "$work/roots" && find . -mindepth 1 -maxdepth 1 | sort | paste -sd' ')" './_losses ./_waits ./date=unknown'
piped() { # WITH: what the text is read with
        $1 "$work/roots.txt" | "$top_builddir/ftracectl" export -q --format=parquet - -o "$work/pipes/"
}
exits 'a pipe is exported' 0 piped cat
exits 'what may be another one does not replace it' 2 piped tac
says 'which is told' 'is there already'

# To a pipe as much as could be read, and never half a line of it.
{
        for ((i = 0; i < 1500; i++)); do
                printf ' 0)   0.668 us    |  some_function();\n'
        done
        printf ' 0)   0.66'
} >"$work/torn.txt"
for format in ndjson csv; do
        exits "a long text that is torn as $format is an error" 1 \
                ftracectl export "$work/torn.txt" --format="$format"
        is 'behind its last whole line' "$(tail -c 1 "$out" | od -An -c | tr -d ' ')" '\n'
        ok 'and every call before is there' test "$(grep -c some_function "$out")" -ge 1499
done

# Roots that were hardly called take little of a page's memory.
took=()
for n in 10 10000; do
        awk -v n=$n 'BEGIN { for (i = 0; i < 20000; i++) {
                printf " %12.6f |   0)               |  root_%05d() {\n", i / 1e4, i % n
                printf " %12.6f |   0)   1.000 us    |    leaf();\n %12.6f |   0)   2.000 us    |  }\n", i / 1e4, (i + 1) / 1e4
        } }' >"$work/roots.txt"
        took[n]=$(peak_kb "$top_builddir/ftracectl" export --format=html "$work/roots.txt" 2>/dev/null)
done
of_each='a page of 10,000 roots takes no 2.5 KiB for each more than one of 10'
if is_sanitized ftracectl; then
        skip_one "$of_each" 'the sanitizer keeps something of each allocation'
else
        ok "$of_each (${took[*]} KB)" test "${took[10000]}" -lt $((took[10] + 25000))
fi

# The head of the page says what somebody asks who was not there, and figures are those of "list" and "show".
ftracectl export --store "$top_srcdir/tests/data" udp-pairs-6.12 --format=html -o "$work/head.html" 2>"$err"
sed -n '/id="facts"/,/<\/div>/p' "$work/head.html" >"$out"
for row in 'Host</th><td>ftraced-vm' 'Recorded</th><td>2026-11-2' 'Roots</th><td>udp_recvmsg, udp_sendmsg' 'Options</th><td>lean off, events sched:sched_switch, sched:sched_waking<' \
        'Length</th><td>1\.6 s' 'Page made by</th><td>ftraced' '>nothing lost<'; do
        says "the page has $row" "$row" "$out"
done
is 'the slowest call is on the clock of the heat map' "$(grep -oE ', at [0-9]+\.[0-9]+' "$work/head.html" | head -n 1)" \
        "$(ftracectl slow --store "$top_srcdir/tests/data" udp-pairs-6.12 -n 1 2>/dev/null | grep -oE ', at [0-9]+\.[0-9]+')"
for format in flame heatmap; do
        ftracectl export --store "$top_srcdir/tests/data" udp-pairs-6.12 --format=$format 2>"$err" | grep -m 1 '<svg' >"$out"
        says "$format: it is as wide as what it is in" 'width="100%" viewBox="0 0 ' "$out"
done
done_testing
