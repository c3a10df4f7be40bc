#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What ftraced-questions(7) and ftraced-reading(7) show is what their commands print; of a page that shows
# anything else, this is said.  After a change on purpose: tests/questions.py --update, as HACKING says.
. "$(dirname "$0")/../functions.sh"
requires python3

page=$top_srcdir/cli/ftraced-questions.7.scd
asks() { # PAGE
        python3 "$top_srcdir/tests/questions.py" "$1" "$top_builddir/ftracectl" "$top_srcdir/tests/data"
}

exits 'every command prints what the page shows' 0 asks "$page"
is 'of nineteen questions' "$(grep -c '^ok' "$out")" 19
grep '^not ok' -A 8 "$out" | sed 's/^/# /'
reading=$top_srcdir/cli/ftraced-reading.7.scd
exits 'and what ftraced-reading(7) shows' 0 asks "$reading"
is 'in its two drawings' "$(grep -c '^ok' "$out")" 2
grep '^not ok' -A 8 "$out" | sed 's/^/# /'
sed '/irq_enter_rcu();/s/[0-9]/0/g' "$reading" >"$work/reading.scd"
exits 'which is refused with another figure' 1 asks "$work/reading.scd"

# What would not be true is found.
sed 's/2,884 entries/6,000 entries/' "$page" >"$work/wrong.scd"
exits 'a page with another figure is refused' 1 asks "$work/wrong.scd"
says 'where it is' '^not ok 14 - ' "$out"
sed 's/^\$ ftracectl waits .*/$ ftracectl waits no-such-session/' "$page" >"$work/none.scd"
exits 'so is one whose recording is not there' 1 asks "$work/none.scd"
says 'with what was said of it' '^# .*no-such-session.*prints nothing' "$out"
sed '/^## 7\. /,/^## 8\. /{/^```$/,/^```$/d}' "$page" >"$work/bare.scd"
exits 'and a question without a command' 1 asks "$work/bare.scd"
says 'is one' '^not ok 7 - ' "$out"

# It says of itself that nothing but ftracectl is needed.
ok 'every verb that it names is one' not grep -vxFf <(ftracectl --help | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p') \
        <(sed -nE 's/^\$ ftracectl ([a-z]+).*/\1/p' "$page")
done_testing
