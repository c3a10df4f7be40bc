#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A source file is short enough to be read in one go, a room to be known, and the whole to be kept.
set -euo pipefail

file_limit=700 room_limit=20 product_limit=109205 tests_limit=46707
cd "${top_srcdir:-$(dirname "$0")/..}"

# What a build in the source tree makes is read where it comes from.
lines() { # DIRECTORY...: of each source file, and its name
        find "$@" -name '*.[ch]' ! -path lib/export/scripts.c ! -path lib/wire/interface.c -exec wc -l {} + | awk '$2 != "total"'
}
n=0
report() { # NAME BAD
        n=$((n + 1))
        if [[ -z $2 ]]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                printf '# %s\n' "${2//$'\n'/$'\n'# }"
        fi
}
no_more_than() { # LIMIT DIRECTORY...
        local limit=$1

        shift
        lines "$@" | awk -v limit="$limit" '{ n += $1 } END { if (n > limit) print "they have " n }'
}

report "no source file has more than $file_limit lines" \
        "$(lines lib daemon cli tests | awk -v limit=$file_limit '$1 > limit { print $2 " has " $1 " lines" }')"
report "no room has more than $room_limit files" \
        "$(lines lib daemon cli | sed 's|/[^/]*$||' |
                awk -v limit=$room_limit '{ n[$2]++ } END { for (room in n) if (n[room] > limit) print room " has " n[room] }' | sort)"
report "daemon, cli and lib have no more than $product_limit lines" "$(no_more_than $product_limit lib daemon cli)"
report "the tests have no more than $tests_limit lines of C" "$(no_more_than $tests_limit tests)"
echo "1..$n"
