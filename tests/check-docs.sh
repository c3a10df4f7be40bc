#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What --help offers is in the manual pages and in the completion, and the pages are short enough to be read.
set -euo pipefail

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$PWD}
n=0

report() { # NAME WHAT-IS-WRONG
        n=$((n + 1))
        if [[ -z $2 ]]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                printf '# %s\n' "${2//$'\n'/$'\n'# }"
        fi
}

# The long options that a help text lists.
options_of() {
        grep -oE '^ +(-[a-zA-Z],? ?)?--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

verbs_of() {
        sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Words of stdin that FILE does not have; scdoc writes "\-" and "\_" for some.
missing_in() { # FILE
        awk -v name="${1#"$top_srcdir"/}" 'NR == FNR { gsub(/\\/, ""); text = text "\n" $0; next }
                text !~ "(^|[^a-z-])" $0 "([^a-z-]|$)" { print name ": " $0 }' "$1" -
}

client=$top_srcdir/cli/ftracectl.1.scd daemon=$top_srcdir/daemon/ftraced.8.scd
completion=$top_srcdir/cli/completion.bash

help=$("$top_builddir/ftracectl" --help=all)
verbs=$(verbs_of <<<"$help")
[[ $(wc -l <<<"$verbs") -ge 10 ]] && bad= || bad="ftracectl --help lists only: $verbs"
report 'ftracectl --help lists the verbs' "$bad"

bad=
options=$(options_of <<<"$help")
for verb in $verbs; do
        text=$("$top_builddir/ftracectl" "$verb" --help=all) || bad+="ftracectl $verb --help fails"$'\n'
        options+=$'\n'$(options_of <<<"$text" || true)
done
report 'every verb has a --help' "$bad"
options=$(sort -u <<<"$options" | grep .)

report 'ftracectl(1) has every verb' "$(missing_in "$client" <<<"$verbs")"
report 'ftracectl(1) has every option' "$(missing_in "$client" <<<"$options")"
report 'the completion has every verb' "$(missing_in "$completion" <<<"$verbs")"
report 'the completion has every option' "$(missing_in "$completion" <<<"$options")"
report 'ftraced(8) has every option' \
        "$("$top_builddir/ftraced" --help | options_of | missing_in "$daemon")"

# What ftraced.conf(5) says, against the keys that there are; and the journal's ids against the catalog.
keys=$("$top_builddir/ftraced" --cat-config --config-root=/nonexistent 2>/dev/null | sed -n 's/^#\{0,1\} *\([A-Z][A-Za-z]*\)=.*/\1/p' | sort -u)
[[ $(wc -l <<<"$keys") -ge 15 ]] && bad= || bad="ftraced --cat-config lists only: $keys"
report 'ftraced --cat-config lists the keys' "$bad"
report 'ftraced.conf(5) has every key' "$(while read -r key; do echo "$key="; done <<<"$keys" | missing_in "$top_srcdir/daemon/ftraced.conf.5.scd")"
report 'ftraced.conf has every key' "$(missing_in "$top_srcdir/systemd/ftraced.conf" <<<"$keys")"
report 'ftraced.conf(5) has no other' "$(sed -n 's/^\*\([A-Za-z]*\)=\*$/\1/p' "$top_srcdir/daemon/ftraced.conf.5.scd" | sort -u | comm -23 - <(echo "$keys"))"
report 'every setting that a sentence names is there' \
        "$(grep -rohE --include='*.c' '\b(Max|Keep)[A-Za-z]+=' "$top_srcdir"/{daemon,cli} | tr -d = | sort -u |
                comm -23 - <({ echo "$keys"; grep -oE '\*[A-Za-z]+=\*' "$top_srcdir/daemon/ftraced.profile.5.scd" | tr -d '*='; } | sort -u))"
report 'the catalog has every message of the journal, and no other' \
        "$(diff <(grep -oE '\b[0-9a-f]{32}\b' "$top_srcdir/daemon/process/journal.c" | sort) \
                <(sed -n 's/^-- //p' "$top_srcdir/systemd/ftraced.catalog" | sort))"

# A page that is longer says something twice.  Those that are made of a format or an interface are not counted.
too_long() { # LIMIT WHAT FILE...
        local limit=$1 what=$2 count

        shift 2
        count=$(cat "$@" | wc "-${what:0:1}")
        [[ $count -le $limit ]] || echo "they have $count $what"
}
report 'the manual pages have no more than 15,500 words' \
        "$(too_long 15500 words "$top_srcdir"/{cli,daemon}/*.scd)"
report 'ftracectl(1) has no more than 7,000 of them' "$(too_long 7000 words "$client")"
report 'ftraced-reading(7) has no more than 400 lines' "$(too_long 400 lines "$top_srcdir/cli/ftraced-reading.7.scd")"
report "it is the first in README's list" \
        "$(grep -m 1 -oE '^    ftrace[a-z.-]*\([1-8]\)' "$top_srcdir/README" | grep -vF 'ftraced-reading(7)' || true)"
echo "1..$n"
