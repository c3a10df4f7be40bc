#!/bin/bash
# Touches: nothing; reads the recordings in tests/data, and installs speedscope below its own directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is exported is opened in the programs that it is for, and the numbers that these show are those
# of `top`.  It takes a browser, so it is no part of `make check`; tests/run-all runs it once.
. "$(dirname "$0")/../functions.sh"
requires jq chromium

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
        ' 0)   0.100 us    |    </script><script>document.write`got`</script>();' \
        ' 0)   0.200 us    |    <img/src/onerror>();' \
        ' 0)   1.000 us    |  }' >"$work/evil.txt"
for format in html flame; do
        file=$work/evil.${format/flame/svg}
        ftracectl export --quiet "$work/evil.txt" --format=$format -o "$file"
        exits "hostile names are shown as $format" 0 show "file://$file#search=document.write"
        is "as names, and found by them" "$(attribute data-matched "$out")" 100
        ok 'and do not run' not grep -qE '(^|>)got|<img' "$out"
done

# --- speedscope ----------------------------------------------------------------------------------

ftracectl export $recording --format=speedscope -o "$work/x.speedscope.json"
if ! command -v npm >/dev/null; then
        skip_one 'speedscope reads it' 'no npm'
elif ! npm install --no-audit --no-fund --prefix "$work/npm" speedscope >"$work/npm.log" 2>&1; then
        fail 'speedscope is installed'
        show_file "$work/npm.log"
else
        printf 'speedscope.loadFileFromBase64("x.speedscope.json", "%s")' "$(base64 -w 0 "$work/x.speedscope.json")" \
                >"$work/load.js"
        page=$work/npm/node_modules/speedscope/dist/release/index.html
        exits 'speedscope reads it' 0 show "file://$page#view=sandwich&localProfilePath=$work/load.js" \
                --enable-unsafe-swiftshader --allow-file-access-from-files --virtual-time-budget=10000
        sed 's/<[^>]*>/\n/g' "$out" | grep -v '^ *$' >"$work/texts"
        is 'with a profile for each task' "$(grep -cxE 'udp-(client|server) [0-9]+ ?' "$work/texts")" 3
        # Rows are: total, its own, the function's name.
        for function in __rcu_read_lock __ip_append_data udp_sendmsg; do
                shown=$(grep -xB 2 "$function" "$work/texts" | head -n 2 | sed 's/ (.*//' | paste -sd' ')
                wanted=$(ftracectl top --json --task=udp-client $recording |
                        jq -r --arg f $function '.[] | select(.function == $f) | .total_ns, .self_ns' |
                        awk '{ printf "%s%.2fms", (NR > 1) ? " " : "", $1 / 1e6 }')
                is "speedscope shows what top says of $function" "$shown" "$wanted"
        done
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
