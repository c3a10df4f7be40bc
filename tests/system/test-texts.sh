#!/bin/bash
# Touches: nothing; reads the texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What other tracers have printed is read, drawn again, counted and added up; whatever is wrong
# with it is named with its place, and what is good is used.
# Only here: damage, pasted texts, and those of other tracers.
. "$(dirname "$0")/../functions.sh"
requires jq

texts=$top_srcdir/tests/data/text
graph=$texts/SyS_write-loopback.trace.txt
banner=$texts/udp_sendmsg-fragmented.funcgraph.txt
stap=$texts/udp-client-server.stap.txt

# A drawing ends its last line.
lines_of() { # FILE FIRST
        tail -n "+$2" "$1"
        [[ -z $(tail -c 1 "$1") ]] || echo
}

# COMMAND with FILE as its standard input
reads() { # FILE COMMAND [WORD...]
        local file=$1

        shift
        "$@" <"$file"
}

exits 'a trace file is drawn' 0 ftracectl report "$graph"
ok 'as it was' cmp "$out" "$graph"
exits 'a text of funcgraph is drawn' 0 ftracectl report "$banner"
ok 'its trace as it was, its banner not' cmp "$out" <(lines_of "$banner" 3)
says 'the banner is said to be left out' '2 lines are not of a trace'
exits 'a text of SystemTap is drawn' 0 ftracectl report "$stap"
ok 'as it was' cmp "$out" <(lines_of "$stap" 1)
exits 'standard input is drawn' 0 reads "$graph" ftracectl report -
ok 'as it was' cmp "$out" "$graph"
# With a sibling before a late return, with tails, and interleaved threads.
while read -r function text cut; do
        exits "the calls of $function are left out" 0 ftracectl report --notrace="$function" "$text"
        ok 'exactly their lines are' cmp "$out" <(lines_of "$text" 1 | sed "$cut")
done <<END
smp_reschedule_interrupt $graph 141,143d;119,121d
nf_conntrack_in $graph 236d;100,144d
SyS_write $graph 5,457d
nf_conntrack_in $banner 73,119d;1,2d
__sys_socket $stap 83,112d;2,31d
END
exits 'a graph is drawn indented' 0 \
        ftracectl report --format=indent "$top_srcdir/tests/data/udp_sendmsg-6.12.dat"
ok 'with the names of tasks' grep -qE '^ +0 [^ ]+\([0-9]+\): -> udp_sendmsg$' "$out"

for kernel in 6.1 6.12 new; do
        text=$top_srcdir/tests/data/udp_sendmsg-$kernel.trace
        exits "$kernel: the kernel's text is drawn" 0 ftracectl report "$text"
        ok "$kernel: as it was" cmp "$out" "$text"
        exits "$kernel: it is added up" 0 ftracectl top --json "$text"
        counts='map({ (.function): .count }) | add'
        from_text=$(jq -cS "$counts" "$out")
        exits "$kernel: so is the recording" 0 \
                ftracectl top --json --store "$top_srcdir/tests/data" "udp_sendmsg-$kernel"
        is "$kernel: both have the same calls" "$from_text" "$(jq -cS "$counts" "$out")"
done

exits 'functions are added up' 0 ftracectl top --json "$graph"
is 'the one with the most time of its own is first' \
        "$(jq -r '.[0] | "\(.function) \(.self_ns) \(.count)"' "$out")" 'enqueue_entity 6613 4'
exits 'modules are added up' 0 ftracectl top --by=module --json "$banner"
is 'and one has its time' \
        "$(jq '.[] | select(.module == "nf_conntrack") | .self_ns' "$out")" 19412
exits 'tasks are added up' 0 ftracectl top --by=task --json "$stap"
is 'and their waits' "$(jq 'map(.blocked_ns) | add' "$out")" 2522255000

printf '# DURATION     TID     FUNCTION\n            [  4422] | main() {\n   9.000 us [  4422] | } /* main */\n' \
        >"$work/uftrace.txt"
exits "uftrace's text is refused" 1 ftracectl report "$work/uftrace.txt"
says 'by its name' 'line 1 looks like the text of uftrace: that is not read; record'

exits 'a whole text is complete' 0 ftracectl verify --json "$graph"
is 'its lines are counted by kinds' "$(jq -c '[.open, .leaf, .close, .headers]' "$out")" \
        '[146,161,146,4]'
is 'a late return is remarked' "$(jq -c '.anomalies | map([.line, .kind])' "$out")" \
        '[[119,"late_returns"]]'
exits 'a recording is complete' 0 \
        ftracectl verify --store "$top_srcdir/tests/data" udp_sendmsg-6.12

# Damage.
head -c 5000 "$graph" >"$work/cut.txt"
exits 'a text that is cut off is an error' 1 ftracectl report "$work/cut.txt"
says 'with its place and the reason' 'cut.txt:97: the text ends in the middle'
is 'what is good of it is drawn' "$(wc -l <"$out")" 96
exits 'it is not complete' 6 ftracectl verify "$work/cut.txt"
exits 'it is not added up' 1 ftracectl top "$work/cut.txt"
is 'not even in part' "$(wc -c <"$out")" 0
exits 'unless that is asked for' 1 ftracectl top --keep-going "$work/cut.txt"
ok 'which shows the good part' grep -q lock_sock_nested "$out"
sed '50s/us/xs/;60s/|/!/' "$graph" >"$work/flipped.txt"
exits 'flipped bits are an error' 1 ftracectl report "$work/flipped.txt"
says 'in their line' 'flipped.txt:60: '
head -c 100000 /dev/urandom >"$work/random.txt"
: >"$work/empty.txt"
for name in random empty; do
        exits "a text that is $name is refused" 1 ftracectl report "$work/$name.txt"
        is "nothing is drawn of what is $name" "$(wc -c <"$out")" 0
done
says 'an empty one is said to be empty' 'empty.txt is empty'
ln -s loop.txt "$work/loop.txt"
exits 'a link to itself is refused' 1 ftracectl report "$work/loop.txt"
exits 'a directory is refused' 1 ftracectl report "$work/"
exits 'a file that is not there is not found' 3 ftracectl report "$work/nosuch.txt"
exits 'a line without an end is given up' 1 \
        reads /dev/zero timeout 100 "$top_builddir/ftracectl" report -

# As long as a test can afford; memory is what counts.
long() {
        head -n 20 "$graph"
        head -c 200M /dev/zero | tr '\0' x
        echo
        tail -n +21 "$graph"
}
if grep -q __asan_init "$top_builddir/ftracectl"; then
        skip_one 'a line of 200 MiB is stepped over in 100 MiB' 'AddressSanitizer takes terabytes of addresses'
else
        # shellcheck disable=SC2016 # expanded by the shell that is limited
        exits 'a line of 200 MiB is stepped over in 100 MiB' 1 \
                reads <(long) bash -c 'ulimit -v 100000; exec "$0" report -' "$top_builddir/ftracectl"
        ok 'and all others are drawn' cmp "$out" "$graph"
fi

# A file needs no slash.
mkdir "$work/here"
cp "$graph" "$work/here/trace"
cp "$graph" "$work/here/paste.md"
cp "$graph" "$work/here/udp_sendmsg-6.1"
cd "$work/here" || exit
for name in trace paste.md; do
        exits "$name is a file without a slash" 0 ftracectl top --store "$top_srcdir/tests/data" "$name"
done
exits 'a session is not hidden by a file' 0 ftracectl top --store "$top_srcdir/tests/data" udp_sendmsg-6.1
says 'which is said' '"udp_sendmsg-6.1" is the session; the file of that name is "./udp_sendmsg-6.1"'
exits 'what is neither is not found' 3 ftracectl top --store "$top_srcdir/tests/data" nosuch
exits 'what is named as a file is not found as one' 3 ftracectl top --store "$top_srcdir/tests/data" nosuch.log
says 'which is said' 'there is no file "nosuch.log"'
cd - >/dev/null || exit

# Without durations there is nothing to add up.
cat >"$work/untimed.txt" <<'EOT'
# tracer: function_graph
#
# CPU                FUNCTION CALLS
# |                  |   |   |   |
 1) a() {
 1)   b();
 1) }
EOT
exits 'a text without durations is drawn' 0 ftracectl report "$work/untimed.txt"
ok 'as it was' cmp "$out" "$work/untimed.txt"
is 'and nothing more is said of it' "$(wc -l <"$err")" 1
for verb in top hist calls tree; do
        exits "$verb: its calls are counted" 0 ftracectl $verb "$work/untimed.txt"
        says "$verb: that there are no durations is said" 'untimed.txt has no durations .*all times are 0'
done
sed '/^#/d;s/^/    1.000001 | /;$s/01 /09 /' "$work/untimed.txt" >"$work/timed.txt"
exits 'times of day make durations' 0 ftracectl top --json "$work/timed.txt"
is 'of calls that have a return' "$(jq -c 'map([.function, .total_ns])' "$out")" '[["a",8000],["b",0]]'
says 'which is said' 'timed.txt has no durations: they are taken from the times of day'

# What texts come in.
plain=$work/plain.txt
cat >"$plain" <<'EOT'
 1)               |  a() {
 1)   0.289 us    |    b();
 1) ! 1000131 us |    c();  
 1)   1.000 us    |  } /* a() */
EOT
exits 'blanks, marks and comments are not the usual ones' 0 ftracectl report "$plain"
ok 'and are drawn as they were' cmp "$out" "$plain"
says 'one line says what was read' 'plain.txt: function_graph, 4 of 4 lines\.'
exits 'an option changes them' 0 ftracectl report -O nofuncgraph-cpu "$plain"
is 'and only then they are as the kernel has them' "$(sed -n 4p "$out")" '  1.000 us    |  } /* a */'
exits 'nobody asks for more than the trace' 0 ftracectl report -q "$plain"
is 'and nothing is said' "$(cat "$err")" ''

while IFS=$'\t' read -r name script; do
        sed "$script" "$plain" >"$work/wrapped.txt"
        exits "$name: it is drawn" 0 ftracectl report "$work/wrapped.txt"
        ok "$name: as it was inside" cmp "$out" "$plain"
done <<'EOT'
a mail	s/^/> >> /
CRLF	s/$/\r/
an oops	s/^/[  210.412454] /
syslog	s/^/Nov 22 18:30:01 host kernel: [  210.412454] /
a mail about syslog	s/^/> Nov 22 18:30:01 host kernel: /;s/$/\r/
EOT
while IFS=$'\t' read -r name script said; do
        sed "$script" "$plain" >"$work/coded.txt"
        exits "$name is refused" 1 ftracectl report "$work/coded.txt"
        says "$name: by its name" "coded.txt: line 1 looks like $name: $said"
        { cat "$plain"; sed "$script" "$plain"; } >"$work/coded.txt"
        exits "$name in a text is damage" 1 ftracectl report "$work/coded.txt"
        says "$name: with its place" "coded.txt:5: it is $name: $said"
        ok "$name: what is none of it is drawn" cmp "$out" "$plain"
done <<'EOT'
HTML	s/&/\&amp;/g;s/^/\&gt; /;s/|/\&#124;/	save the page as text
quoted-printable	s/=/=3D/g;s/  /=20=20/g	decode it first
EOT
fold -w 22 "$plain" >"$work/broken.txt"
exits 'lines that a terminal has broken are damage' 1 ftracectl top "$work/broken.txt"
says 'and are said to be broken' 'broken.txt:1: it is broken, as mailers and terminals break long lines'

# 6 MB of prose, in memory that does not grow with it.
{
        seq 1 400000 | sed 's/^/item /;s/$/: a(b);/' | head -c 6M
        echo
        cat "$plain"
} >"$work/late.txt"
exits 'a trace begins behind 6 MB of prose' 0 ftracectl report "$work/late.txt"
ok 'and is found' cmp "$out" "$plain"
says 'what was skipped is said with its first line' 'lines are not of a trace, and were skipped, the first is line 1: "item 1: a'

# Two traces.
{
        cat "$plain"
        echo '[...]'
        echo 'The same with times:'
        sed 's/^/  1.000001 | /' "$plain"
        printf '# tracer: function_graph\n#\n'
        sed 's/a()/z()/' "$plain"
} >"$work/three.txt"
exits 'of three traces one is read' 0 ftracectl report "$work/three.txt"
ok 'the first' cmp "$out" "$plain"
says 'the others are said' 'it has 3 traces, and this is number 1 .--nth-trace.: number 2 begins at line 7, number 3 begins at line 11'
says 'so is what was left out' '2 lines are not of a trace, and were skipped, the first is line 5: "\[...\]"'
exits 'another one is asked for' 0 ftracectl report --nth-trace=2 "$work/three.txt"
is 'and read' "$(cat "$out")" "$(sed 's/^/  1.000001 | /' "$plain")"
exits 'each is added up by itself' 0 ftracectl top --json --nth-trace=3 "$work/three.txt"
is 'with its own functions' "$(jq -r 'map(.function) | sort | join(" ")' "$out")" 'b c z'
exits 'all are drawn' 0 ftracectl report --nth-trace=all "$work/three.txt"
is 'one behind the other' "$(wc -l <"$out")" 12
exits 'a fourth is not there' 3 ftracectl top --nth-trace=4 "$work/three.txt"
says 'which is said' 'there are only 3 traces in'
exits 'a recording is one' 2 ftracectl top --nth-trace=2 --store "$top_srcdir/tests/data" udp_sendmsg-6.12
exits 'its number is a number' 2 ftracectl top --nth-trace=0 "$work/three.txt"
exits 'a text is counted' 6 ftracectl verify --json "$work/three.txt"
is 'with the traces that are not read' "$(jq -c '[.traces, .lines_elsewhere]' "$out")" '[3,10]'

# What stands amid a trace may stand for anything.
printf '%s\n' ' 0)               |  f_a() {' ' 0)               |    f_b() {' ' 0)   1.000 us    |      f_c();' '```' \
        'and at the end of another one:' '```' ' 0)   5.000 us    |      f_d();' ' 0)   7.000 us    |    }' \
        ' 0) + 20.000 us   |  }' >"$work/blocks.txt"
exits 'two blocks of a page are not whole' 6 ftracectl verify --json "$work/blocks.txt"
is 'calls that were open are cut there' "$(jq -c '[.complete, .gaps, .calls_cut, .returns_cut]' "$out")" '[false,1,2,2]'
exits 'they are added up' 6 ftracectl top --json "$work/blocks.txt"
is 'and no call is of both' "$(jq -c 'map([.function, .self_ns]) | sort' "$out")" \
        '[["?",15000],["f_a",0],["f_b",0],["f_c",1000],["f_d",5000]]'
says 'which is said' 'blocks.txt: foreign lines interrupt the trace in 1 place'
exits 'a filter keeps to that' 6 ftracectl top --json --notrace=f_b "$work/blocks.txt"
is 'too' "$(jq -c 'map([.function, .self_ns]) | sort' "$out")" '[["?",15000],["f_a",1000],["f_d",5000]]'
exits 'they are drawn' 6 ftracectl report "$work/blocks.txt"
is 'with the gap' "$(sed -n 4p "$out")" '[...]'
cp "$out" "$work/drawn.txt"
exits 'what is drawn has it as well' 6 ftracectl verify "$work/drawn.txt"

# As traces are attached, and whatever their names are.
for name in gzip zstd; do
        command -v $name >/dev/null || continue
        $name -c "$graph" >"$work/packed"
        exits "$name: a text is drawn" 0 ftracectl report "$work/packed"
        ok "$name: as it was" cmp "$out" "$graph"
        $name -c "$top_srcdir/tests/data/udp_sendmsg-6.12.dat" >"$work/packed"
        exits "$name: a trace.dat is drawn" 0 ftracectl report "$work/packed"
        ok "$name: as the kernel did" cmp "$out" "$top_srcdir/tests/data/udp_sendmsg-6.12.trace"
        truncate -s -20 "$work/packed"
        exits "$name: what is cut off is refused" 1 ftracectl report "$work/packed"
        says "$name: which is said" "packed\" is compressed by $name, and cut off"
done
printf '\3757zXZ\0' >"$work/packed"
exits 'xz is refused' 1 ftracectl report "$work/packed"
says 'with the way out' 'packed" is compressed by xz, which is not read: "xz -dk" unpacks it'
printf '\377\376 \0001\0' >"$work/utf16.txt"
exits 'UTF-16 is refused' 1 ftracectl report "$work/utf16.txt"
says 'by its name' 'is in UTF-16'

# Bytes that may be signs of UTF-8 take about as long as others that are damaged.
took=()
for bytes in 'b"x" * 51200' 'bytes(range(128, 256)) * 400'; do
        python3 -c "import sys
sys.stdout.buffer.write(b' 0)   1.234 us    |  f();\n' + ($bytes + b'\n') * 200)" >"$work/damaged.txt"
        took+=("$(cpu_ms "$top_builddir/ftracectl" report "$work/damaged.txt" 2>/dev/null)")
done
ok "10 MB of damaged text take no more than twice as long for being no ASCII (${took[*]} ms)" \
        test "${took[1]}" -lt $((2 * took[0] + 50))
printf ' 0)               |  udp_sendmsg(sk=0x1, len=0x40) {\n 0)   3.000 us    |  }\n' >"$work/given.txt"
exits 'arguments of a text are compared' 0 ftracectl calls "$work/given.txt" --where 'len == 64'
says 'and stand in their parentheses' 'udp_sendmsg\(sk=0x1, len=0x40\)$' "$out"

done_testing
