#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A test that no makefile names is never run, and nobody sees that.
set -euo pipefail

cd "${top_srcdir:-$(dirname "$0")/..}/tests"
n=0
for ring in system:sh root:sh unit:c fuzz:c; do
        dir=${ring%:*} bad=
        for file in "$dir"/test-*."${ring#*:}" "$dir"/fuzz-*."${ring#*:}"; do
                name=$(basename "${file%.*}")
                [[ ! -e $file ]] || grep -qE "(^|[^a-z0-9-])$name([^a-z0-9-]|\$)" "$dir"/*.mk || bad+="# tests/$file"$'\n'
        done
        n=$((n + 1))
        [[ -z $bad ]] || echo -n 'not '
        echo "ok $n - a makefile names every test in tests/$dir"
        echo -n "$bad"
done
echo "1..$n"
