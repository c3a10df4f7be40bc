#!/bin/bash
# Touches: a fake tracefs and a store, both of its own; a pseudo-terminal.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A terminal of 80 columns: nothing that a verb prints is wider, and no name is cut, with names of 40 characters.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
name=a-session-whose-name-has-40-characters--
root=a_function_whose_name_has_40_characters_
client=$(cd "$top_builddir" && pwd)/ftracectl
export LC_ALL=C.UTF-8 SYSTEMD_PAGER=
unset COLUMNS

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
echo "$root" >>"$work/tracefs/available_filter_functions"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
for source in udp-pairs-6.12 udp-pairs-6.1; do
        ftracectl fetch -q --store "$data" "$source" -o "$work/$source.dat"
        ok "$source: names become long" python3 "$top_srcdir/tests/long-names.py" "$work/$source.dat" "$work/long-$source.dat"
done
cp -r "$data/sessions/udp_sendmsg-6.12" "$store/sessions/$name" 2>/dev/null
long=$work/long-udp-pairs-6.12.dat other=$work/long-udp-pairs-6.1.dat

# stdout and stderr, both on it.
fits() { # WHAT COMMAND...
        local what=$1

        shift
        python3 "$top_srcdir/tests/on-terminal.py" 80 "$client" "$@" >"$out" 2>"$err" || :
        ok "$what: prints something" test -s "$out"
        is "$what: is no wider than 80 columns" "$(sed 's/\x1b\[[0-9]*m//g' "$out" | grep -E '^.{81,}')" ''
}
# On one line or on several.
has_whole_names() { # WHAT NAMES...
        local what=$1 text

        shift
        text=$(tr -d ' \n' <"$out")
        for n in "$@"; do
                [[ $text == *"$n"* ]] || { fail "$what: $n is not cut"; return; }
        done
        pass "$what: no name is cut"
}
names() { # FILTER: of JSON in $out, the first five
        jq -r "[$1 // empty] | unique | .[:5][]" "$out"
}

for words in top 'top --by=root' tree 'tree --depth=3' hist 'hist --over-time' 'slow -n 2' why 'why --slower=1ms' waits path 'path --all' \
        'calls -n 20' verify show; do
        read -ra words <<<"$words"
        fits "${words[*]}" "${words[0]}" "$long" "${words[@]:1}"
        not_cut=$(grep -c … "$out")
        is "${words[*]}: nothing is marked as cut" "$not_cut" 0
done
exits 'top has functions' 0 ftracectl top --json "$long" -n 5
mapfile -t functions < <(names '.[].function')
fits 'top' top "$long" -n 5
has_whole_names top "${functions[@]}"
exits 'a path has functions' 0 ftracectl path --json "$long" -n 3
mapfile -t functions < <(names '.[0].segments | sort_by(-.duration_ns)[:3][] | .function')
fits 'path' path "$long"
has_whole_names path "${functions[@]}"
fits diff diff "$other" "$long"

# What a daemon says.
fits 'a recording that begins' start -n "${name/-a/-b}2" --duration=1h "$root"
for words in status list doctor functions 'profile list' metrics "show $name"; do
        read -ra words <<<"$words"
        [[ ${words[0]} == metrics ]] || fits "${words[*]}" "${words[@]}"
done
fits list list
has_whole_names list "$name"
fits 'no such session' top "${name}x"
fits 'no such verb' recrod
fits 'no such option' top "$name" --such-an-option-as-nobody-knows-of
fits 'a recording that ends' stop --all
done_testing
