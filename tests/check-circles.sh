#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No circles.  A file needs those whose headers it includes, and those whose symbols its object file uses; a .c
# and its .h are one file.  No room (a layer of lib/, a folder of daemon/ or cli/) needs itself by way of others,
# and in a room no two files do.  There includes and symbols count apart: a table of formats needs each format,
# and each format the header that says what a format is.
set -euo pipefail

top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/..}" && pwd)
top_builddir=$(cd "${top_builddir:-$PWD}" && pwd)
read -ra cc <<<"${CC:-cc}"

# The sources and the symbols of the tree in the current directory.  automake begins an object's name with the
# program or library that it is for; what a test compiles once more, with other parts, does not count.
collect() { # BUILDDIR
        # shellcheck disable=SC2016 # awk's dollars
        find lib daemon cli -name '*.[ch]' -exec awk '
                FNR == 1 { print "file", FILENAME }
                /^#include "[^"]*\// { print "include", FILENAME, $2 }' {} +
        (cd "$1" && find lib daemon cli -name '*.o' ! -name 'tests_*' -print0 |
                xargs -0 -r "${NM:-nm}" -A -P -g | sed 's|^|symbol |; s|: | |')
}

# From that: "include FILE FILE WHY", "symbol FILE FILE WHY", and "uncompiled FILE".
needs() {
        awk '
                function top_of(file) {
                        sub(/\/.*/, "", file)
                        return file
                }
                # daemon/room/libdaemon_a-file.o is of daemon/room/file; "": of none that there is.
                function source_of(object) {
                        sub(/\.o$/, "", object)
                        if (!(object in is_source) && match(object, /[^\/]*$/))
                                object = substr(object, 1, RSTART - 1) \
                                        substr(object, RSTART + index(substr(object, RSTART), "-"))
                        return object in is_source ? object : ""
                }
                $1 == "file" {
                        file = $2
                        if (sub(/\.c$/, "", file))
                                is_uncompiled[file] = 1
                        sub(/\.h$/, "", file)
                        is_source[file] = 1
                }
                $1 == "include" {
                        gsub(/"|\.h"$/, "", $3)
                        sub(/(-private)?\.[ch]$/, "", $2) # x-private.h is a part of x
                        sub(/-private$/, "", $3)
                        includes[$2, $3 ~ /^(daemon|cli)\// ? $3 : "lib/" $3] = 1
                }
                $1 == "symbol" && (file = source_of($2)) != "" {
                        delete is_uncompiled[file]
                        if ($4 == "U")
                                uses[file, $3] = 1
                        else if ($4 ~ /^[A-Z]$/)
                                owner[top_of(file), $3] = file
                }
                END {
                        for (pair in includes) {
                                split(pair, p, SUBSEP)
                                if (p[1] != p[2] && p[2] in is_source)
                                        print "include", p[1], p[2], "#include"
                        }
                        for (pair in uses) {
                                split(pair, p, SUBSEP)
                                top = (top_of(p[1]), p[2]) in owner ? top_of(p[1]) : "lib"
                                if ((top, p[2]) in owner && owner[top, p[2]] != p[1])
                                        print "symbol", p[1], owner[top, p[2]], p[2]
                        }
                        for (file in is_uncompiled)
                                print "uncompiled", file ".c"
                }'
}

# From "FROM TO WHY" the strongly connected components of more than MAX, as Tarjan finds them.
circles() { # MAX
        sort | awk -v max="$1" '
                function visit(v,   i, w) {
                        number[v] = low[v] = ++n_visited
                        stack[++n_stack] = v
                        on_stack[v] = 1
                        for (i = 1; i <= n_of[v]; i++) {
                                w = to_of[v, i]
                                if (!(w in number)) {
                                        visit(w)
                                        if (low[w] < low[v])
                                                low[v] = low[w]
                                } else if (on_stack[w] && number[w] < low[v])
                                        low[v] = number[w]
                        }
                        if (low[v] == number[v])
                                leave(v)
                }
                function leave(v,   n, i, j, line) {
                        do {
                                member[++n] = stack[n_stack]
                                on_stack[stack[n_stack]] = 0
                        } while (stack[n_stack--] != v)
                        if (n <= max)
                                return
                        line = "circle:"
                        for (i = n; i > 0; i--)
                                line = line " " member[i]
                        print line
                        for (i = n; i > 0; i--)
                                for (j = n; j > 0; j--)
                                        if ((member[i], member[j]) in why)
                                                print "    " member[i], "->", member[j] ":", why[member[i], member[j]]
                }
                {
                        pair = $1 SUBSEP $2
                        if (!(pair in why)) {
                                to_of[$1, ++n_of[$1]] = $2
                                order[++n] = $1
                        }
                        if (length(why[pair]) < 60)
                                why[pair] = why[pair] (why[pair] == "" ? "" : ", ") $3
                }
                END {
                        for (k = 1; k <= n; k++)
                                if (!(order[k] in number))
                                        visit(order[k])
                }'
}

# The needs of files become those of rooms.
circles_of_rooms() {
        awk '$1 != "uncompiled" {
                why = $2 "->" $3
                sub(/\/[^\/]*$/, "", $2)
                sub(/\/[^\/]*$/, "", $3)
                if ($2 != $3)
                        print $2, $3, why
        }' | circles 1
}

circles_of_files() { # KIND: within each room
        awk -v kind="$1" '$1 == kind {
                from = $2
                to = $3
                sub(/\/[^\/]*$/, "", from)
                sub(/\/[^\/]*$/, "", to)
                if (from == to)
                        print $2, $3, $4
        }' | circles 1
}

report() { # NUMBER NAME BAD
        if [[ -z $3 ]]; then
                echo "ok $1 - $2"
        else
                echo "not ok $1 - $2"
                printf '# %s\n' "${3//$'\n'/$'\n'# }"
        fi
}

echo 1..5
cd "$top_srcdir"
needs=$(collect "$top_builddir" | needs)
report 1 'every source file has an object with symbols' "$(sed -n 's/^uncompiled //p' <<<"$needs" | sort)"
report 2 'no room needs itself by way of others' "$(circles_of_rooms <<<"$needs")"
report 3 'no files of a room include each other in a circle' \
        "$(circles_of_files include <<<"$needs")"
report 4 'no files of a room use the symbols of each other in a circle' \
        "$(circles_of_files symbol <<<"$needs")"

# The check itself: what is planted is found, and nothing else.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cd "$planted"
plant() { # FILE LINE [OBJECT]
        mkdir -p "${1%/*}"
        echo "$2" >"$1"
        [[ $1 != *.c ]] || echo "$2" | grep -v '^#' | "${cc[@]}" -x c -c -o "${1%/*}/${3:-planted_a}-$(basename "$1" .c).o" -
}
# Two rooms, the one by an include and the other by a symbol.
plant daemon/api/a.c 'int serve(void); int answer(void) { return serve(); }'
plant daemon/api/b.h ''
plant daemon/server/a.c 'int serve(void) { return 0; }'
plant daemon/server/b.c $'#include "daemon/api/b.h"\nint b;'
# Three files of a room, by includes and by symbols.
plant lib/base/a.c $'#include "base/b.h"\nint a;'
plant lib/base/b.h '#include "base/c.h"'
plant lib/base/c.h '#include "base/a.h"'
plant lib/base/a.h ''
plant cli/files/a.c 'extern int b; int *a(void) { return &b; }'
plant cli/files/b.c 'int c(void); int b = 1; int use(void) { return c(); }'
plant cli/files/c.c 'int *a(void); int c(void) { return *a(); }'
# Two files of a room; what a test has in the place of one is none of them.
plant cli/views/a.c 'int y(void); int x(void) { return y(); }'
plant cli/views/b.c 'int z(void); int y(void) { return z(); }'
plant cli/views/c.c 'int x(void); int z(void) { return x(); }' tests_unit_test_c
plant cli/views/c.c 'int y(void); int z(void) { return y(); }'
# One that nobody compiles, and one whose object is empty.
plant lib/codec/a.c ''
echo 'int b;' >lib/codec/b.c
expected='circle: cli/files/a cli/files/b cli/files/c
circle: cli/views/b cli/views/c
circle: daemon/api daemon/server
circle: lib/base/a lib/base/b lib/base/c
uncompiled lib/codec/a.c
uncompiled lib/codec/b.c'
needs=$(collect "$planted" | needs)
found=$({
        grep ^uncompiled <<<"$needs"
        circles_of_rooms <<<"$needs"
        circles_of_files include <<<"$needs"
        circles_of_files symbol <<<"$needs"
} | grep -v '^ ' | sort)
report 5 'planted circles are found' "$([[ $found == "$expected" ]] || echo "what is found:"$'\n'"$found")"
