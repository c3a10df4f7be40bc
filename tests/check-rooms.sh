#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every test belongs to a room and every room has tests that are quick; tests/rooms.txt is the table.
# Stories of one name in system/ and root/ say what they alone show.
set -euo pipefail

top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/..}" && pwd)

rooms() {
        bash "$here/rooms" "$@"
}

violations() { # of the tree in $top_srcdir
        local pairs story twin room test

        pairs=$(rooms --pairs)
        cd "$top_srcdir"
        comm -23 <(find tests | grep -E '^tests/((unit|system|root)/test-[^/]*\.(c|sh)|fuzz/fuzz-[^/]*\.c)$' | sort -u) \
                <(cut -d' ' -f2 <<<"$pairs" | sort -u) | sed 's/$/: belongs to no room/'
        comm -23 <(find lib daemon cli -name '*.c' | sed 's,/[^/]*$,,' | sort -u) \
                <(awk 'NR == FNR { quick[$1]; next }
                        $2 in quick { print $1 }' <(cut -d' ' -f2 <<<"$pairs" | rooms --quick) - <<<"$pairs" | sort -u) |
                sed 's/$/: has no quick test/'
        for story in tests/system/test-*.sh; do
                twin=tests/root/${story##*/}
                [[ ! -e $twin ]] || grep -L '^# Only here: ' "$story" "$twin" | sed 's/$/: does not say what it shows that its twin does not/'
        done
        while read -r room test; do
                [[ -d $room ]] || echo "tests/rooms.txt: there is no room $room"
                [[ -e $test ]] || echo "tests/rooms.txt: there is no $test"
        done <<<"$pairs" | sort -u
}

report() { # NUMBER NAME BAD
        if [[ -z $3 ]]; then
                echo "ok $1 - $2"
        else
                echo "not ok $1 - $2"
                printf '# %s\n' "${3//$'\n'/$'\n'# }"
        fi
}

here=$top_srcdir/tests
export top_srcdir
echo 1..2
report 1 'every test is in a room, and every room has quick tests' "$(violations)"

# The check itself: a planted violation of each kind is found.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted"/lib/base "$planted"/daemon/{tracefs,watch} "$planted"/cli "$planted"/tests/{unit,fuzz,system,root}
touch "$planted"/lib/base/buf.c "$planted"/daemon/{tracefs/control,watch/guard}.c \
        "$planted"/tests/{unit/test-buf.c,unit/test-nobody.c,system/test-guard.sh,root/test-guard.sh,root/test-control.sh}
echo '# Only here: this' >"$planted/tests/root/test-guard.sh"
printf '%s\n' 'daemon/tracefs: root/control' 'daemon/watch: system/guard root/guard' 'daemon/none: system/none' 'slow: system/guard' \
        >"$planted/tests/rooms.txt"
top_srcdir=$planted
found=$(violations)
report 2 'what is planted is found' "$(diff - <(echo "$found") <<'END'
tests/unit/test-nobody.c: belongs to no room
daemon/tracefs: has no quick test
daemon/watch: has no quick test
tests/system/test-guard.sh: does not say what it shows that its twin does not
tests/rooms.txt: there is no room daemon/none
tests/rooms.txt: there is no tests/system/test-none.sh
END
)"
