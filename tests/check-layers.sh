#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every `#include "layer/..."` is an edge, between layers and between the rooms of daemon/ and cli/;
# tests/layers.txt lists the edges that are allowed, and who may include the headers of some libraries.
set -euo pipefail

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}

violations() { # of the tree in the current directory
        # shellcheck disable=SC2016 # awk's dollars
        find lib daemon cli -name '*.[ch]' | sort | xargs awk -v law="$top_srcdir/tests/layers.txt" '
                BEGIN {
                        while ((getline line <law) > 0) {
                                if (line ~ /^#/ || line == "")
                                        continue
                                n = split(line, w, /:?[ \t]+/)
                                sub(/:$/, "", w[1])
                                if (line ~ /^</)
                                        restricted[w[1]] = 1
                                for (i = 2; i <= n; i++)
                                        allowed[w[1], w[i]] = 1
                        }
                }
                function room_of(path) {
                        sub(/\/[^\/]*$/, "", path)
                        return path ~ /\// ? path : path "/*"
                }
                FNR == 1 {
                        split(FILENAME, p, "/")
                        from = p[1] == "lib" ? p[2] : p[1]
                        room = room_of(FILENAME)
                }
                /^#include "/ {
                        split($2, q, /["\/]/)
                        if (q[3] == "")
                                next
                        to = room_of(substr($2, 2))
                        if (from != q[2] && !((from, q[2]) in allowed))
                                print FILENAME ":" FNR ": from " from " may not include " q[2]
                        else if (from == q[2] && p[1] != "lib" && room != to && !((room, to) in allowed))
                                print FILENAME ":" FNR ": from " room " may not include " to
                }
                /^#include </ && $2 in restricted {
                        if (!(($2, FILENAME) in allowed) && !(($2, p[1] "/") in allowed))
                                print FILENAME ":" FNR ": may not include " $2
                }'
}

report() { # NUMBER NAME BAD
        if [[ -z $3 ]]; then
                echo "ok $1 - $2"
        else
                echo "not ok $1 - $2"
                printf '# %s\n' "${3//$'\n'/$'\n'# }"
        fi
}

echo 1..2
cd "$top_srcdir"
report 1 'every include is one that tests/layers.txt allows' "$(violations)"

# The check itself: a planted violation of each kind is found.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted"/{lib/store,daemon/tracefs,cli}
echo '#include "daemon/tracefs/control.h"' >"$planted/lib/store/a.c"
echo '#include "daemon/session/session.h"' >"$planted/daemon/tracefs/a.c"
echo '#include <pthread.h>' >"$planted/cli/b.c"
cd "$planted"
found=$(violations | wc -l)
report 2 'a planted include against the layers is found' \
        "$([[ $found == 3 ]] || echo "$found of 3 were found")"
