#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each header is compiled by itself; those that are included are by every build
#
# A header is complete: it compiles alone, once, and says its licence, as every source file does.
set -euo pipefail

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$PWD}
read -ra cc <<<"${CC:-cc}"
read -ra libraries <<<"$(pkg-config --cflags libtracefs libtraceevent libsystemd jansson check 2>/dev/null)"
n=0

report() { # NAME WHAT-IS-WRONG
        n=$((n + 1))
        if [[ -z $2 ]]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                echo "$2" | head -n 20 | sed 's/^/# /'
        fi
}

cd "$top_srcdir"
# But for what a build in the source tree makes.
mapfile -t headers < <(find lib daemon cli tests -name '*.h' | sort)
mapfile -t sources < <(find lib daemon cli tests systemd -name '*.[ch]' -o -name '*.sh' | sort)

report 'every header has one #pragma once' "$(grep -c '^#pragma once$' "${headers[@]}" | grep -v ':1$')"

not_of() { # LICENCE FILE...: those whose first lines do not say it
        comm -23 <(printf '%s\n' "${@:2}" | sort) \
                <(awk -v said="SPDX-License-Identifier: $1" 'FNR <= 3 && index($0, said) { print FILENAME }' "${@:2}" | sort -u) |
                sed "s/\$/ is not $1/"
}
mapfile -t in_lib < <(printf '%s\n' "${sources[@]}" | grep '^lib/')
mapfile -t elsewhere < <(printf '%s\n' "${sources[@]}" | grep -v '^lib/')
bad=$(not_of LGPL-2.1-or-later "${in_lib[@]}" && not_of GPL-2.0-or-later "${elsewhere[@]}")
report 'every source file says its licence: LGPL below lib/, GPL elsewhere' "$bad"

# A header is no main file: there #pragma once would be warned of.
work=$(mktemp -d "${TMPDIR:-/tmp}/check-headers.XXXXXX")
trap 'rm -rf "$work"' EXIT
for h in "${headers[@]}"; do
        echo "#include \"$h\"" >"$work/${h//\//+}.c"
done
"${cc[@]}" -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -Werror -fsyntax-only \
        -DRUNSTATEDIR='"/run"' -DLOCALSTATEDIR='"/var"' -DSYSCONFDIR='"/etc"' -DSBINDIR='"/sbin"' \
        -include "$top_builddir/config.h" -Ilib -I. "${libraries[@]}" "$work"/*.c 2>"$work/said" ||
        echo "exit status $? of ${cc[*]}" >>"$work/said"
report 'every header compiles alone' "$(cat "$work/said")"
echo "1..$n"
