#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
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
# But for what a build in the source tree makes of lists: *-names.h.
mapfile -t headers < <(find lib daemon cli tests -name '*.h' ! -name '*-names.h' | sort)
mapfile -t sources < <(find lib daemon cli tests systemd -name '*.[ch]' ! -name '*-names.h' -o -name '*.sh' | sort)

bad=
for h in "${headers[@]}"; do
        [[ $(grep -c '^#pragma once$' "$h") == 1 ]] || bad+="$h"$'\n'
done
report 'every header has one #pragma once' "$bad"

bad=
for f in "${sources[@]}"; do
        licence=GPL-2.0-or-later
        [[ $f != lib/* ]] || licence=LGPL-2.1-or-later
        head -n 3 "$f" | grep -q "SPDX-License-Identifier: $licence" || bad+="$f is not $licence"$'\n'
done
report 'every source file says its licence: LGPL below lib/, GPL elsewhere' "$bad"

bad=
for h in "${headers[@]}"; do
        "${cc[@]}" -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -Werror -fsyntax-only \
                -DRUNSTATEDIR='"/run"' -DLOCALSTATEDIR='"/var"' -DSYSCONFDIR='"/etc"' -DSBINDIR='"/sbin"' \
                -include "$top_builddir/config.h" -Ilib -I. "${libraries[@]}" -x c - <<<"#include \"$h\"" \
                >/dev/null 2>"${TMPDIR:-/tmp}/check-headers.$$" ||
                bad+="$h: $(head -n 3 "${TMPDIR:-/tmp}/check-headers.$$")"$'\n'
done
rm -f "${TMPDIR:-/tmp}/check-headers.$$"
report 'every header compiles alone' "$bad"
echo "1..$n"
