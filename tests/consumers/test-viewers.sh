#!/bin/bash
# Touches: nothing; reads the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is exported is opened in the programs that it is for, and the numbers that these show are those
# of `top`.  It takes a browser, so it is no part of `make check`; tests/run-all runs it once.
. "$(dirname "$0")/../functions.sh"
requires jq chromium python3

data=$top_srcdir/tests/data
export FTRACED_STORE=$data
recording=udp_sendmsg-6.12

# The document that is shown, after its scripts have run.
show() { # URL [OPTION...]
        local url=$1

        shift
        timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
                --disable-background-networking --window-size=1300,900 --dump-dom "$@" "$url" 2>"$work/chromium.log"
}

attribute() { # NAME FILE: its first value
        grep -oE "$1=\"[^\"]*\"" "$2" | head -n 1 | cut -d'"' -f2
}

total_of() { # FUNCTION [OPTION...]
        local function=$1

        shift
        ftracectl top --json "$recording" "$@" | jq --arg f "$function" '.[] | select(.function == $f).total_ns'
}

# --- the flame graph, alone and in the page ------------------------------------------------------

ftracectl export $recording --format=flame -o "$work/flame.svg"
ftracectl export $recording --format=html -o "$work/page.html"
for file in flame.svg page.html; do
        exits "$file is opened, and searched" 0 show "file://$work/$file#search=udp_send_skb"
        is "$file: what matches is added up" "$(attribute data-matched "$out")" "$(total_of udp_send_skb)"
        is "$file: all of it is there" "$(attribute data-total "$out")" "$(total_of udp_sendmsg)"
        exits "$file is zoomed" 0 show "file://$work/$file#zoom=ip_make_skb"
        is "$file: into what was asked for" "$(attribute data-zoomed "$out")" ip_make_skb
        wide=$(tr '\n' ' ' <"$out" | grep -oE 'data-name="ip_make_skb">[^/]*/title><rect [^>]*' |
                grep -c ' width="1180.00"')
        is "$file: which is as wide as the picture then" "$wide" 1
        ok "$file: what is beside it is hidden" grep -q 'class="f gone"[^>]*data-name="udp_send_skb"' "$out"
done

# --- a page with names that look like scripts ----------------------------------------------------

# shellcheck disable=SC2016 # a script's backticks
printf '%s\n' ' 0)               |  x() {' \
        ' 0)   0.100 us    |    a</script><script>document.write`got`</script>();' \
        ' 0)   0.200 us    |    a<img/src/onerror>();' \
        ' 0)   1.000 us    |  }' >"$work/evil.txt"
for format in html flame; do
        file=$work/evil.${format/flame/svg}
        ftracectl export --quiet "$work/evil.txt" --format=$format -o "$file"
        exits "hostile names are shown as $format" 0 show "file://$file#search=document.write"
        is "as names, and found by them" "$(attribute data-matched "$out")" 100
        ok 'and do not run' not grep -qE '(^|>)got|<img' "$out"
done

# --- the page, used as a person does ---------------------------------------------------------------

# Prints what the commands of tests/consumers/browser.py answer, a line each; fails if anything went to the
# console or the network.
browse() { # FILE, commands in $work/commands
        timeout -k 5 120 python3 "$top_srcdir/tests/consumers/browser.py" "$work/driven" "$1" <"$work/commands"
}
answer() { # N
        sed -n "$1p" "$out"
}

cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
eval [...document.querySelectorAll('#tree .node')].reduce((sums, n) => { const name = n.querySelector('code').textContent; sums[name] = (sums[name] || 0) + +n.dataset.self; return sums; }, {})
eval [...document.querySelectorAll('#slowest > .slow')].map(s => +s.dataset.duration)
eval +document.querySelector('#total').dataset.value
eval [...document.querySelectorAll('.heat-grid .sum')].map(t => +t.textContent)
eval [...document.querySelectorAll('.heat-grid')].map(g => [...g.querySelectorAll('rect[data-n]')].reduce((n, r) => n + +r.dataset.n, 0))
eval document.querySelector('#total').textContent
END
exits 'the page is opened, without a word on the console' 0 browse "$work/page.html"
ftracectl top --json $recording >"$work/top.json"
is 'own times in the tree are those of top' "$(answer 1 | jq -cS 'with_entries(select(.value > 0))')" \
        "$(jq -cS 'map(select(.self_ns > 0) | { (.function + if .module then " [\(.module)]" else "" end): .self_ns }) | add' "$work/top.json")"
is 'the slowest are those of slow' "$(answer 2 | jq -c .)" "$(ftracectl slow --json $recording | jq -c 'map(.duration_ns)')"
is 'the whole is what top adds up to' "$(answer 3)" "$(jq 'map(.self_ns) | add' "$work/top.json")"
is 'rows of the heat map are the ranges of hist' "$(answer 4 | jq -c .)" \
        "$(ftracectl hist --json $recording | jq -c '[.roots[0].ranges[].count]')"
is 'and its cells all calls' "$(answer 5)" "[$(ftracectl hist --json $recording | jq .all.count)]"
is 'times are as people write them' "$(answer 6)" '"107.4 ms"'

for file in page.html heat.svg; do
        [[ $file == page.html ]] || ftracectl export $recording --function=__rcu_read_lock --format=heatmap -o "$work/$file"
        cat >"$work/commands" <<'END'
wait document.querySelector('.heat-grid')
click .heat-grid rect[data-n]
eval document.querySelector('.heat-grid').dataset.copied
eval +document.querySelector('.heat-grid').dataset.picked
eval document.querySelectorAll('.slow.picked').length
eval navigator.clipboard.readText()
eval [...document.querySelectorAll('.heat-grid rect[data-n]')].slice(-1)[0].id = 'last'
drag .heat-grid rect[data-n] -> #last
eval document.querySelector('.heat-grid').dataset.copied
eval document.activeElement.getAttribute('class')
key ArrowLeft
key ArrowRight
key ArrowUp shift
key Enter
eval document.querySelector('.heat-grid').dataset.copied
END
        exits "$file: cells are clicked, dragged over, and chosen by keys" 0 browse "$work/$file"
        for i in 1 6 8; do
                ok 'which copies a window' grep -qE '^"--from=[0-9]+\.[0-9]{9} --to=[0-9]+\.[0-9]{9}"$' <(answer $i)
        done
        ok 'a dragged one is another' test "$(answer 1)" != "$(answer 6)"
        is 'it is in the clipboard' "$(answer 4)" "$(answer 1)"
        is 'the map has the keyboard then' "$(answer 7)" '"heat-grid"'
        read -ra words < <(answer 1 | tr -d '"')
        function=udp_sendmsg
        [[ $file == page.html ]] || function=__rcu_read_lock
        n=$(ftracectl calls --json $recording $function "${words[@]}" | jq 'map(select(.cut | not)) | length')
        [[ $file != page.html ]] || is 'those of the slowest are marked' "$(answer 3)" "$(answer 2)"
        ok 'the words leave the calls of the cell' test "$n" -ge "$(answer 2)"
done

cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
key /
eval document.activeElement.id
type udp_send_skb
eval +document.querySelector('svg.flame').dataset.matched
eval [...document.querySelectorAll('#tree .hit > summary code, #tree div.hit > code')].map(c => c.textContent)
eval document.getElementById('found').textContent
key Escape
eval document.querySelectorAll('#tree .hit, svg.flame .hit').length
eval document.querySelector('#tree summary').focus()
key ArrowDown
eval document.activeElement.querySelector('code').textContent
key ArrowLeft
eval document.activeElement.parentElement.open
key ArrowRight
eval document.activeElement.parentElement.open
key ArrowRight
eval document.activeElement.querySelector('code').textContent
key ArrowLeft
key ArrowLeft
key ArrowLeft
key ArrowUp
eval document.activeElement.querySelector('code').textContent
eval document.querySelector('svg.flame').focus()
key ArrowUp
key ArrowUp
eval document.querySelector('svg.flame').dataset.at
key Enter
eval document.querySelector('svg.flame').dataset.zoomed
key Escape
eval document.querySelector('svg.flame').dataset.zoomed
click .slow > summary
click .slow .show
eval document.activeElement.closest('#timeline') !== null
eval document.activeElement.dataset.spans > 100
key ArrowRight
key ArrowDown
eval document.activeElement.dataset.at
key Enter
eval document.activeElement.dataset.to - document.activeElement.dataset.from
key Escape
eval +document.activeElement.dataset.to
eval getComputedStyle(document.body).backgroundColor
dark
eval getComputedStyle(document.body).backgroundColor
click #theme
eval getComputedStyle(document.body).backgroundColor
light
click #theme
eval getComputedStyle(document.body).backgroundColor
END
exits 'the page is used with the keyboard' 0 browse "$work/page.html"
first_below() { # LEVELS
        local path='.tree[0]' i

        for ((i = 0; i < $1; i++)); do
                path+='.children[0]'
        done
        ftracectl tree --json $recording | jq -c "$path.function"
}
is '/ searches' "$(answer 1)" '"search"'
is 'in the flame graph' "$(answer 2)" "$(total_of udp_send_skb)"
is 'and in the tree' "$(answer 3)" '["udp_send_skb"]'
is 'and counts' "$(answer 4)" '"1 place in the tree"'
is 'until Escape' "$(answer 5)" 0
is 'arrows go down the tree' "$(answer 7)" "$(first_below 1)"
is 'and close' "$(answer 8)" false
is 'and open' "$(answer 9)" true
is 'and go in' "$(answer 10)" "$(first_below 2)"
is 'and out' "$(answer 11)" '"udp_sendmsg"'
is 'arrows go up the flame graph' "$(answer 13)" '"udp_sendmsg"'
is 'Enter zooms' "$(answer 14)" '"udp_sendmsg"'
is 'Escape shows all' "$(answer 15)" '"all"'
is 'a button leads to the timeline' "$(answer 16)" true
is 'of many calls' "$(answer 17)" true
below=$(answer 18)
ok 'arrows go into it' test "${#below}" -gt 4
ok 'Enter zooms to less than all' test "$(answer 19)" -lt "$(answer 20)"
is 'Escape shows all of the call' "$(answer 20)" "$(ftracectl slow --json -n 1 $recording | jq '.[0].duration_ns')"
ok 'a dark system has a dark page' test "$(answer 21)" != "$(answer 22)"
is 'the button makes it light' "$(answer 23)" "$(answer 21)"
is 'or dark on a light one' "$(answer 24)" "$(answer 22)"

ftracectl export --quiet "$data/text/udp-client-server.stap.txt" --format=html -o "$work/waits.html"
cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
eval document.querySelectorAll('svg.flame .w').length > 0
click .mode[data-mode=running]
eval +document.querySelector('svg.flame g.f rect').getAttribute('width')
eval [...document.querySelectorAll('g.f')].filter(g => g.dataset.name === '__skb_wait_for_more_packets').every(g => +g.querySelector('rect').getAttribute('width') < 1 || g.classList.contains('gone'))
click .mode[data-mode=waiting]
eval [...document.querySelectorAll('g.f:not(.gone)')].map(g => g.dataset.name).includes('__skb_wait_for_more_packets')
eval [...document.querySelectorAll('g.f:not(.gone)')].map(g => g.dataset.name).includes('__x64_sys_sendto')
END
exits 'a page with waits' 0 browse "$work/waits.html"
is 'has them in another colour' "$(answer 1)" true
is 'what ran is as wide as the picture' "$(answer 2)" 1180
is 'without them' "$(answer 3)" true
is 'what waited alone' "$(answer 4)" true
is 'has nothing else' "$(answer 5)" false

cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
click .slow > summary
click .slow .show:nth-of-type(2)
eval document.querySelector('#which').selectedOptions[0].textContent
eval +document.querySelector('#timeline svg').dataset.to
END
exits 'a slow call is compared with a usual one' 0 browse "$work/waits.html"
usual=$(ftracectl slow --quiet --json "$data/text/udp-client-server.stap.txt" 2>/dev/null | jq '.[0].usual_ns')
is 'whose timeline is shown' "$(answer 2)" "$usual"
answer 1 >"$work/title"
says 'by its name' "$(ftracectl slow --quiet --json "$data/text/udp-client-server.stap.txt" 2>/dev/null | jq -r '.[0] | "\(.function), \(.usual_ns / 1000 | floor)"')" "$work/title"

echo 'wait document.documentElement.dataset.ready' >"$work/commands"
exits 'hostile names are nothing to complain of' 0 browse "$work/evil.html"

# --- the source beside the tree ------------------------------------------------------------------

# A source that has each function where the kernel had it, and else the names and numbers of lines.
cat >"$work/make-source.py" <<'END'
import json, pathlib, re, sys
page, source = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
names = [f["name"] for f in json.loads(re.search(r'id="excerpts">(.*?)</script>', page, re.S)[1])]
defined = re.findall(r'data-def="([0-9]+):([0-9]+)"[^>]*>(?:<summary>)?<code>([^ .<]+)', page)
functions = {(names[int(i)], int(line)): re.sub("^(__x64_sys_|_*)", "", name) for i, line, name in defined}
for name in names[:-1]:
    (source / name).parent.mkdir(parents=True, exist_ok=True)
    (source / name).write_text("".join(f"\t{name}:{n} {functions.get((name, n), '')}\n" for n in range(1, 9000)))
END
with_source() {
        ftracectl export --quiet $recording --format=html --lines --vmlinux="$data/$recording.lines" --source="$work/linux" -o "$work/source.html"
}
mkdir "$work/linux"
printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n' >"$work/linux/Makefile"
with_source
python3 "$work/make-source.py" "$work/source.html" "$work/linux"
with_source
cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
eval [...document.querySelectorAll('#source h3')].map(h => h.textContent)
eval [...document.querySelectorAll('#source .at')].map(e => e.textContent.trim()).includes('net/ipv4/udp.c:1332')
eval document.querySelectorAll('#source .line').length < 80
click #source .call button
eval [...document.querySelectorAll('#source h3')].map(h => h.textContent.replace(/^udp_sendmsg calls /, ''))
eval document.querySelector('.here') === document.activeElement.closest('.node')
eval document.querySelector('.here').dataset.at.split(':')[1] === document.querySelector('#source .at').dataset.n
key ArrowUp
eval document.querySelector('.here') === document.activeElement.closest('.node')
eval [...document.querySelectorAll('#tree .node')].find(n => n.dataset.in && n.querySelector('code').textContent.startsWith('dst_output ')).id = 'inlined'
click #inlined > summary
eval [...document.querySelectorAll('#source details.call[open] > summary')].map(s => s.textContent.split(' ')[1])
click #source details.call > summary
eval [...document.querySelectorAll('#source details.call[open] > summary')].filter(s => s.checkVisibility()).length
eval [...document.querySelectorAll('#source nav button')].map(b => b.textContent)
click #source nav button
eval document.querySelector('.here code').textContent
eval document.querySelectorAll('#source .lack').length
eval [...document.querySelectorAll('#layers tr[data-self]')].reduce((n, r) => n + +r.dataset.self, 0)
END
exits 'a page with the source' 0 browse "$work/source.html"
ok 'has less than two megabytes' test "$(stat -c %s "$work/source.html")" -lt 2000000
is 'begins with the longest tree' "$(answer 1)" '["udp_sendmsg"]'
is 'and the lines that it calls from' "$(answer 2)" true
is 'and no others' "$(answer 3)" true
is 'a button leads to what is called' "$(jq 'unique | length' <<<"$(answer 4)")" 1
is 'in the tree, too' "$(answer 5)" true
is 'with the line that calls it' "$(answer 6)" true
is 'arrow keys choose' "$(answer 7)" true
is 'what is inlined unfolds in its function' "$(answer 9)" '["ip_local_out", "dst_output"]'
is 'and folds' "$(answer 10)" 0
is 'below its callers' "$(answer 11)" '["udp_sendmsg", "udp_send_skb", "ip_send_skb"]'
is 'to which one returns' "$(answer 12)" '"udp_sendmsg"'
is 'nothing lacks there' "$(answer 13)" 0
is 'layers add up to the whole' "$(answer 14)" "$(jq 'map(.self_ns) | add' "$work/top.json")"

printf ' 0)               |  x() {\n 0)   0.100 us    |    %0300d();\n 0)   1.000 us    |  }\n' 7 >"$work/long.txt"
ftracectl export --quiet "$work/long.txt" --format=html -o "$work/long.html"
ftracectl export --quiet udp-pairs-6.12 --format=html -o "$work/pairs.html"
for file in page.html long.html pairs.html source.html; do
        cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
size 390 844
click .slow > summary
eval document.documentElement.scrollWidth <= 390
eval document.querySelector('#flame').scrollWidth > 800
size 1300 900
eval document.documentElement.scrollWidth <= 1300
END
        exits "$file is shown on a telephone" 0 browse "$work/$file"
        is 'which shows its whole width' "$(answer 1)" true
        is 'but that of the pictures, which stay large enough to read' "$(answer 2)" true
        is 'on a large screen it is no wider than that' "$(answer 3)" true
done

# A million calls, by functions that call each other in any order.
awk 'function call(depth,    kids, i, begin, blanks) {
                n++
                blanks = sprintf("%*s", 2 * depth, "")
                begin = at
                kids = depth > 12 ? 0 : depth == 0 ? 4 : int(rand() * 3.3)
                if (kids == 0) {
                        at += 100 + int(rand() * 900)
                        printf "%.6f |  0)  task-10  | %.3f us |  %sf%d();\n", begin / 1e9, (at - begin) / 1e3, blanks, rand() * 300
                        return
                }
                printf "%.6f |  0)  task-10  |  |  %sf%d() {\n", begin / 1e9, blanks, rand() * 300
                for (at += 200; i < kids; i++)
                        call(depth + 1)
                at += 200
                printf "%.6f |  0)  task-10  | %.3f us |  %s}\n", at / 1e9, (at - begin) / 1e3, blanks
        }
        BEGIN { srand(7); at = 1e9; while (n < 1000000) { call(0); at += 1000 } }' >"$work/million.txt"
exits 'a million calls are exported' 0 ftracectl export --quiet "$work/million.txt" --format=html -o "$work/million.html"
size=$(stat -c %s "$work/million.html")
ok "in less than two megabytes ($size)" test "$size" -lt 2000000
cat >"$work/commands" <<'END'
wait document.documentElement.dataset.ready
eval +document.querySelector('#calls').dataset.value
eval document.querySelector('#left-out').textContent
END
exits 'and opened' 0 browse "$work/million.html"
ok 'all are counted' test "$(answer 1)" -ge 1000000
ok 'and what is left out is said' grep -qE '^"Of [0-9,]+ places in the tree those are shown that took .* of all' <(answer 2)

# --- pprof ---------------------------------------------------------------------------------------

pprof() { # OPTION...
        env HOME="$work" PPROF_TMPDIR="$work" go tool pprof -unit=ns -nodefraction=0 -nodecount=100000 "$@" "$work/x.pprof"
}
if command -v go >/dev/null; then
        for source in $recording udp_sendmsg-new "$data/text/udp-client-server.stap.txt"; do
                ftracectl export "$source" --format=pprof -o "$work/x.pprof"
                exits "${source##*/} is opened by pprof" 0 pprof -top
                is 'and has the own times and totals of top, to the nanosecond' \
                        "$(awk '$1 == "flat" { rows = 1; next } rows { sub(/ns$/, "", $1); sub(/ns$/, "", $4); print $6 $7, $1, $4 }' "$out" | sort)" \
                        "$(ftracectl top --limit=1000000 --json "$source" | jq -r '.[] | select(.total_ns > 0) |
                                "\(.function)\(if .module then "[\(.module)]" else "" end) \(.self_ns) \(.total_ns)"' | sort)"
        done
        ftracectl export $recording --format=pprof -o "$work/x.pprof"
        exits 'pprof knows callers' 0 pprof -peek '^ip_send_skb$'
        says 'as tree does' '^ .* udp_send_skb$' "$out"
        exits 'pprof knows how often each was called' 0 pprof -top -unit=count -sample_index=calls
        says 'as top does' "^ *$(ftracectl top --json $recording | jq '.[] | select(.function == "ip_send_skb").count') .* ip_send_skb$" "$out"
        exits 'pprof knows what is cut' 0 pprof -tags
else
        skip_one 'pprof opens a profile' 'go is not installed'
fi

# --- protobuf ------------------------------------------------------------------------------------

decode() {
        protoc --decode_raw <"$work/x.perfetto"
}
ftracectl export $recording --format=perfetto -o "$work/x.perfetto"
if command -v protoc >/dev/null; then
        exits 'protoc decodes the trace' 0 decode
        is 'packet by packet' "$(grep -c '^1 {' "$out")" "$(grep -cE '^  (12|11|60) {' "$out")"
else
        skip_one 'protoc decodes the trace' 'protoc is not installed'
fi
done_testing
