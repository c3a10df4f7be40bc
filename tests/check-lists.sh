#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A test that no makefile names is never run, and nobody sees that; a file that one names and that has gone is
# missed by who makes a tarball.
set -euo pipefail

cd "${top_srcdir:-$(dirname "$0")/..}"
built=${top_builddir:-.}
n=0
report() { # DESCRIPTION WHAT-IS-BAD
        n=$((n + 1))
        [[ -z $2 ]] || echo -n 'not '
        echo "ok $n - $1"
        [[ -z $2 ]] || echo "# $2"
}
for ring in system:sh root:sh packaging:sh unit:c fuzz:c; do
        dir=tests/${ring%:*}
        bad=$(comm -23 <(find "$dir" -maxdepth 1 -name "*-*.${ring#*:}" -printf '%f\n' | grep -E '^(test|fuzz)-' | sed 's/\.[a-z]*$//' | sort) \
                <(grep -ohE '[a-z0-9-]+' "$dir"/*.mk | sort -u))
        report "a makefile names every test in $dir" "$bad"
done
bad=
for makefile in */local.mk */*/local.mk; do
        while read -r file; do
                [[ -e $file || -e $built/$file ]] || bad+="$makefile: $file "
        done < <(grep -oE '%D%/[A-Za-z0-9/_.-]+\.(c|h|sh|py|in)\b' "$makefile" | sed "s|%D%|${makefile%/*}|")
done
report 'every file that a makefile names is there' "$bad"
echo "1..$n"
