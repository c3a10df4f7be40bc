#!/bin/bash
# Touches: nothing but a directory of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# From which lines of the source calls were made, in each view, and where the time went by the source.
. "$(dirname "$0")/../functions.sh"
requires jq awk

data=$top_srcdir/tests/data
it=udp_sendmsg-6.12
of() { # VERB [OPTION...]: of the recording
        local verb=$1

        shift
        ftracectl "$verb" --store "$data" $it "$@"
}
with_lines() { # VERB [OPTION...]
        of "$@" --lines --vmlinux="$data/$it.lines"
}

# --- drawn --------------------------------------------------------------------------------------

exits 'it is drawn without lines' 0 of report -q
cp "$out" "$work/plain"
exits 'it is drawn with lines' 0 with_lines report
cp "$out" "$work/lines"
says 'what they are from is said' "Lines are from .*$it\.lines"
says 'a line stands behind a call' 'ip_make_skb\(\) \{ /\* <-net/ipv4/udp\.c:1332 \*/' "$work/lines"
says 'what was inlined stands between' \
        'ktime_get_update_offsets_now\(\); /\* <-kernel/time/hrtimer\.c:1861 \[hrtimer_update_base\] kernel/time/hrtimer\.c:644 \*/' "$work/lines"
says 'a static call is said to be one' 'apparmor_socket_sock_rcv_skb\(\); /\* <-static call: security/security\.c:4857 \*/' "$work/lines"
ok 'what is an interrupt'\''s has no line' not grep -qE '(irq_enter_rcu|__sysvec_[a-z_]+)\(.*<-' "$work/lines"
says 'several lines are all said' '/\* <-one of [0-9]+: [a-z/_0-9]+\.c:[0-9]+, :[0-9]+' "$work/lines"
sed 's, /\* <-[^*]* \*/,,' "$work/lines" >"$work/without"
ok 'and nothing else is drawn otherwise' cmp "$work/plain" "$work/without"
exits 'who reads it finds the same calls' 0 ftracectl top "$work/lines" --json
cp "$out" "$work/top"
ftracectl top -q "$work/plain" --json >"$work/top.plain"
ok 'with the same times' cmp "$work/top" "$work/top.plain"
exits 'a text has them by names' 0 ftracectl report -q "$work/plain" --lines --vmlinux="$data/$it.lines"
says 'behind its calls, too' 'ip_make_skb\(\) \{ /\* <-net/ipv4/udp\.c:1332 \*/' "$out"
sed 's, /\* <-[^*]* \*/,,' "$out" >"$work/without"
ok 'and is drawn as it was but for that' cmp "$work/plain" "$work/without"
# Of calls that are not shown nobody knows where they were.
single() { # FILE: each call with its time, and the line, if it is one
        sed -nE 's,^ *([0-9.]+) \|[^|]*\|? *.* ([^ (]+)\(\)[ ;{]*/\* <-(.*) \*/.*,\1 \2 \3,p' "$1" | sort
}
with_lines report -q -O abstime >"$work/all"
exits 'quick calls are left out' 0 with_lines report -q -O abstime --slower=3us
single "$out" | grep -vE 'one of|static call|by a pointer' >"$work/slow.single"
single "$work/all" >"$work/all.single"
ok 'there are calls with one line' test "$(wc -l <"$work/slow.single")" -gt 100
is 'which are those that they have among all' "$(comm -23 "$work/slow.single" "$work/all.single")" ''
exits 'SystemTap'\''s way of drawing has them, too' 0 with_lines report -q --format=indent
says 'behind a call, not behind its return' ' -> ip_make_skb /\* <-net/ipv4/udp\.c:1332 \*/$' "$out"
ok 'indeed' not grep -qE '<- [a-z_]+ /\*' "$out"

# --- added up -----------------------------------------------------------------------------------

exits 'the tree has lines' 0 with_lines tree --min=0
says 'behind a call' 'ip_make_skb \(net/ipv4/udp\.c:1332\)( >|$)' "$out"
says 'an inlined function has a total and nothing else' '^ *[0-9.]+ [mu]s +[0-9.]+% +> +ip_local_out \(inlined, net/ipv4/ip_output\.c:1513\)$|^ *[0-9.]+ [mu]s +[0-9.]+% +ip_local_out \(inlined' "$out"
exits 'as JSON' 0 with_lines tree --json
ok 'which is what the schema says' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" tree "$out"
cp "$out" "$work/tree.json"
of tree -q --json >"$work/tree.plain.json"
sums='[.tree[] | recurse(.children[]) | select((.code // "call") == "call")] | group_by(.function) | map([.[0].function, (map(.count) | add), (map(.self_ns) | add)])'
is 'calls and times are the same' "$(jq -c "$sums" "$work/tree.json")" "$(jq -c "$sums" "$work/tree.plain.json")"
is 'an inlined function took what it called, and nothing itself' \
        "$(jq '[.tree[] | recurse(.children[]) | select(.code == "inlined") | .self_ns + .count + .total_ns - ([.children[].total_ns] | add)] | unique | .[]' "$work/tree.json")" 0
ok 'there are some of them' test "$(jq '[.tree[] | recurse(.children[]) | select(.code == "inlined")] | length' "$work/tree.json")" -gt 100
exits 'upside down each line is a row' 0 with_lines tree --callers=kmem_cache_alloc_noprof
says 'with what was inlined among the callers' 'kmem_cache_alloc_noprof \(net/core/dst\.c:90\)' "$out"
exits 'calls are listed with lines' 0 with_lines calls kmem_cache_alloc_noprof
says 'behind the name' ' kmem_cache_alloc_noprof \(net/core/dst\.c:90\)$' "$out"
exits 'as JSON' 0 with_lines calls kmem_cache_alloc_noprof --json
ok 'which is what the schema says' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" calls "$out"
exits 'the slowest have lines' 0 with_lines slow --limit=1
says 'in their trees' 'ip_make_skb \(net/ipv4/udp\.c:1332\)( >|$)' "$out"
of slow -q --limit=1 | grep 'own time of __rcu_read_lock' >"$work/cause"
ok 'and the same causes' grep -qxFf "$work/cause" "$out"
exits 'so has why' 0 with_lines why --json
ok 'which is what the schema says' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" why "$out"
# Of the same kernel, and its waits; what it has alone has no lines in the file.
pairs() { # VERB [OPTION...]
        local verb=$1

        shift
        ftracectl "$verb" -q --store "$data" udp-pairs-6.12 "$@"
}
exits 'a path is told without lines' 0 pairs path udp_sendmsg
cp "$out" "$work/path"
exits 'the path has lines' 0 pairs path udp_sendmsg --lines --vmlinux="$data/$it.lines"
says 'where a task ran' ' ran +[a-z_]+ \(net/[a-z0-9]+/[a-z_]+\.c:[0-9]+\)' "$out"
is 'and the same pieces' "$(awk 'NR > 2 { print $1, $2, $3, $4, $5 }' "$out")" "$(awk 'NR > 2 { print $1, $2, $3, $4, $5 }' "$work/path")"
exits 'as JSON names alone' 0 pairs path udp_sendmsg --json --lines --vmlinux="$data/$it.lines"
cp "$out" "$work/path.json"
pairs path udp_sendmsg --json >"$work/path.plain.json"
functions='[.[].segments[] | [.function, .duration_ns]]'
ok 'there are some' test "$(jq '[.[].segments[]] | length' "$work/path.json")" -gt 20
is 'as without lines' "$(jq -c "$functions" "$work/path.json")" "$(jq -c "$functions" "$work/path.plain.json")"

# --- exported -----------------------------------------------------------------------------------

for format in folded flame html pprof; do
        exits "$format has lines" 0 with_lines export -q --format=$format -o "$work/it.$format"
        of export -q --format=$format -o "$work/plain.$format"
        not grep -qaE 'udp\.c' "$work/plain.$format" || fail "without --lines $format has none"
done
says 'folded: in the stack' '^udp_sendmsg;ip_make_skb \(net/ipv4/udp\.c:1332\);' "$work/it.folded"
sum() { # FILE
        awk '{ n += $NF } END { print n }' "$1"
}
is 'folded: all times are there' "$(sum "$work/it.folded")" "$(sum "$work/plain.folded")"
says 'flame: in the name' 'data-name="ip_make_skb \(net/ipv4/udp\.c:1332\)"' "$work/it.flame"
says 'html: in the tree' '<code>ip_local_out \(inlined, net/ipv4/ip_output\.c:1513\)</code>' "$work/it.html"
exits 'others have no place for them' 2 with_lines export --format=csv
one_sentence 'in one sentence'
if command -v go >/dev/null; then
        go tool pprof -traces -lines "$work/it.pprof" >"$work/traces" 2>/dev/null
        says 'pprof: a line of the caller' ' udp_sendmsg net/ipv4/udp\.c:1332$' "$work/traces"
        says 'pprof: an inlined function in its location' ' dst_output include/net/dst\.h:468 \(inline\)$' "$work/traces"
        says 'pprof: a function has its own line' ' __ip_append_data net/ipv4/ip_output\.c:[0-9]+$' "$work/traces"
        figures() { # FILE: self times by function
                go tool pprof -top -nodecount=10000 -nodefraction=0 -unit=ns "$1" 2>/dev/null |
                        awk '$1 ~ /ns$/ { n[$6] += $1 } END { for (f in n) print f, n[f] }' | sort
        }
        is 'pprof: times are as without lines' "$(figures "$work/it.pprof")" "$(figures "$work/plain.pprof")"
else
        skip_one 'pprof is read by others' 'go is not installed'
fi

# --- the page with the source -------------------------------------------------------------------

src=$work/linux
mkdir -p "$src"/net/ipv4 "$src"/net/core "$src"/include/linux "$src/mm"
printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n' >"$src/Makefile"
excerpts() { # FILE: of the page
        sed -n '/id="excerpts">/,/<\/script>/p' "$1" | sed 's/.*id="excerpts">//; s/<\/script>.*//'
}
page() { # OPTION...
        with_lines export --format=html -o "$work/source.html" "$@"
}
numbered() { # LINES FILE: each has its name and number
        seq "$1" | sed "s|.*|${2//&/}:&|" >"$src/$2"
}
numbered 4000 net/ipv4/udp.c
numbered 300 net/core/dst.c
exits 'the page takes a source' 0 page --source="$src"
excerpts "$work/source.html" >"$work/excerpts"
definition=$(grep -oE '^<details class="node"[^>]*><summary><code>udp_sendmsg</code>' "$work/source.html" | grep -oE 'data-def="[0-9]+:[0-9]+' | cut -d: -f2)
file_of() { # NAME: what is said of it
        jq -c ".[] | select(.name == \"$1\") | $2" "$work/excerpts"
}
is 'the lines around a call are in it' \
        "$(file_of net/ipv4/udp.c '[.parts | range(0; length; 2) as $i | .[$i] as $n | .[$i + 1] | split("\n")[:-1] | to_entries[] | [.key + $n, .value]] | map(select(.[0] == 1332))')" \
        '[[1332,"net/ipv4/udp.c:1332"]]'
is 'and no others' "$(file_of net/ipv4/udp.c '[.parts[] | strings | split("\n") | length - 1] | add < 400')" true
says 'the call tells which they are' 'class="node"[^>]* data-at="[0-9]+:1332"[^>]*><summary><code>ip_make_skb' "$work/source.html"
says 'what is inlined is no call' ' data-in="inlined"><summary><code>ip_local_out \(inlined' "$work/source.html"
is 'a function that is not where it should be is told' "$(file_of net/ipv4/udp.c ".other | contains([$definition])")" true
is 'and what is behind the end' "$(file_of net/core/dst.c .n)" 300
is 'and what is not there' "$(file_of net/ipv4/route.c .problem)" '"is not in the source"'
says 'which is summed up' 'The source is of Linux 6\.12\.117, the recording of 6\.12\.117\+deb12-amd64\. [0-9]+ of [0-9]+ files are not there\. [0-9]+ places do not fit: .*</p>' "$work/source.html"
sed -i "${definition}s/.*/int udp_sendmsg(struct sock *sk) { return \"<\/script>\"; }/" "$src/net/ipv4/udp.c"
exits 'where it is that function' 0 page --source="$src" -q
excerpts "$work/source.html" >"$work/excerpts"
is 'nothing is told' "$(file_of net/ipv4/udp.c ".other | contains([$definition])")" false
says 'and its text is no script' 'int udp_sendmsg\(struct sock \*sk\) \{ return \\"\\u003c/script' "$work/excerpts"
says 'a page without a source has none' '<main>$' "$work/it.html"
ok 'nor lines of it' not grep -qE 'id="excerpts"|data-at=' "$work/it.html"
sed -i 's/117/95/' "$src/Makefile"
exits 'another version is read' 0 page --source="$src"
says 'and told' 'linux has Linux 6\.12\.95, and .* was recorded on 6\.12\.117\+deb12-amd64: lines may be others\.'
exits 'a source without lines is refused' 2 of export --format=html --source="$src"
one_sentence 'in one sentence'
exits 'and for other formats' 2 with_lines export --format=flame --source="$src"
one_sentence 'in one sentence'
exits 'and what is none' 3 page --source="$src/net"
one_sentence 'in one sentence'
exits 'or not there' 1 page --source="$src/nowhere"
one_sentence 'in one sentence'

# --- by place -----------------------------------------------------------------------------------

all=$(of top -q --json | jq 'map(.self_ns) | add')
for by in file dir layer; do
        exits "time by $by" 0 of top --by=$by --vmlinux="$data/$it.lines" --json
        ok 'is what the schema says' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" top "$out"
        is 'and adds up' "$(jq 'map(.self_ns) | add' "$out")" "$all"
done
layers=$(grep -oE '<tr data-self="[0-9]+"><td>[^<]*' "$work/it.html" | sed 's/.*self="//; s/"><td>/ /' | sort)
is 'the page has the layers' "$layers" "$(jq -r '.[] | "\(.self_ns) \(.place)"' "$out" | sort)"
ok 'and without lines it has none' not grep -q 'id="layers"' "$work/plain.html"
says 'a layer has a name' '"place": ?"UDP"' "$out"
exits 'as a table' 0 of top --by=dir --vmlinux="$data/$it.lines"
says 'of directories' '^ *54\.8 ms +51\.1% .* net/ipv4$' "$out"

compare() { # OPTION...
        ftracectl diff --store "$data" "$it" "$it" --vmlinux="$data/$it.lines" "$@"
}
exits 'two recordings are compared by layer' 0 compare --by=layer --json
ok 'which is what the schema says' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" diff "$out"
is 'layers add up to a mean call' \
        "$(jq -c '.[] | [(.areas | map(.before_ns) | add | round), (.areas | map(.now_ns) | add | round)]' "$out")" \
        "$(jq -c '.[] | [(.usual_ns | round), (.slow_ns | round)]' "$out")"
is 'none changes between one and the same' "$(jq -c '[.[].areas[].change_ns] | unique' "$out")" '[0]'
exits 'as a table' 0 compare --by=layer
says 'with a row for each' '^ +[0-9.]+ [mu]s +[0-9.]+ [mu]s +\+0\.000 us +UDP$' "$out"
says 'and the sum' ' all$' "$out"
udp_calls() { # US: of ip_make_skb, a part of udp_sendmsg
        local i

        for ((i = 0; i < 30; i++)); do
                printf ' 0)    client-16    |               |  udp_sendmsg() {\n'
                printf ' 0)    client-16    |   %d.%d00 us    |    ip_make_skb();\n' "$1" $((i * 7 % 10))
                printf ' 0)    client-16    |   %d.%d00 us    |  }\n' $(($1 + 2)) $((i * 7 % 10))
        done
}
udp_calls 1 >"$work/before.txt"
udp_calls 6 >"$work/now.txt"
exits 'what is slower in one layer' 0 ftracectl diff "$work/before.txt" "$work/now.txt" --by=layer --vmlinux="$data/$it.lines"
says 'is found there' '^ *1\.45 us +6\.45 us +\+5\.00 us +<=0\.001 +IP$' "$out"
says 'and not in another' '^ *2\.00 us +2\.00 us +\+0\.000 us +1\.000 +UDP$' "$out"
says 'first' '^ *BEFORE +NOW +CHANGE +P +LAYER$' "$out"
exits 'functions are what diff compares anyhow' 2 compare --by=function
one_sentence 'in one sentence'
exits 'lines are of no use to it' 2 compare
one_sentence 'in one sentence'

# --- what cannot be -----------------------------------------------------------------------------

exits 'what is no vmlinux is refused' 3 of tree --lines --vmlinux="$data/$it.dat"
one_sentence 'in one sentence'
mkdir "$work/store"
cp -r "$data/sessions" "$data/symbols" "$work/store"
chmod -R u+w "$work/store"
jq '.build_id = "0123456789abcdef"' "$data/sessions/$it/session.json" >"$work/store/sessions/$it/session.json"
exits 'lines of another build are refused' 3 ftracectl tree --store "$work/store" $it --lines --vmlinux="$data/$it.lines"
one_sentence 'in one sentence'
says 'which names both builds' 'build ID 0123456789abcdef\) has no lines: .*build ID [0-9a-f]{40}, and not 0123456789abcdef'
ok 'a trace.dat of it has the build' ftracectl fetch -q --store "$work/store" $it -o "$work/it.dat"
ftracectl show "$work/it.dat" --json >"$work/show.json"
is 'as the recording has' "$(jq -r .build_id "$work/show.json")" 0123456789abcdef
if command -v go >/dev/null; then
        ftracectl export -q "$work/it.dat" --format=pprof -o "$work/dat.pprof"
        go tool pprof -raw "$work/dat.pprof" >"$work/raw" 2>/dev/null
        says 'and so has the mapping of a profile' '\[kernel\.kallsyms\] 0123456789abcdef ' "$work/raw"
fi
jq '.callees_unknown_of = ["udp_sendmsg"]' "$data/sessions/$it/session.json" >"$work/store/sessions/$it/session.json"
exits 'of a function whose callees nobody knows' 0 ftracectl report -q --store "$work/store" $it --lines --vmlinux="$data/$it.lines"
says 'its calls have no lines' 'ip_make_skb\(\) \{ /\* <-line not known \*/' "$out"
says 'but those of others have' '/\* <-net/ipv4/ip_output\.c:1579 \*/' "$out"
exits 'two recordings are not compared by lines' 2 with_lines why --against=udp_sendmsg-6.1
one_sentence 'in one sentence'
exits 'a lines file is of no use to rows of functions' 2 of top --vmlinux="$data/$it.lines"
head -c 1000 "$data/$it.lines" >"$work/cut.lines"
ok 'a lines file that is cut is an error' not of tree -q --lines --vmlinux="$work/cut.lines"

done_testing
