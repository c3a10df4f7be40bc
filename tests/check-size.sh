#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Source files are short enough to be read in one go.
set -euo pipefail

limit=700
cd "${top_srcdir:-$(dirname "$0")/..}"
echo 1..1
# What a build in the source tree makes of lists (*-names.h) is read there.
bad=$(find lib daemon cli tests -name '*.[ch]' ! -name '*-names.h' -exec wc -l {} + |
        awk -v limit=$limit '$2 != "total" && $1 > limit { print "# " $2 " has " $1 " lines" }')
if [[ -z $bad ]]; then
        echo "ok 1 - no source file has more than $limit lines"
else
        echo "not ok 1 - no source file has more than $limit lines"
        echo "$bad"
fi
