#!/bin/bash
# Touches: nothing; reads copies of the recordings in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Any local user can name a task, and a stranger's file can hold anything: whatever the names, no verb
# lets through what a terminal would obey, and what is a table for programs stays one.
. "$(dirname "$0")/../functions.sh"
requires python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
((n_failed == 0)) || done_testing
mkdir "$work/evil"
timeout 500 python3 "$(dirname "$0")/terminal.py" "$top_builddir/ftracectl" "$top_srcdir/tests/data" "$work/evil" \
        >"$work/tried" 2>&1
show_file "$work/tried"
ok 'nothing that a terminal obeys comes out of any verb' grep -qE '^tried [0-9]{4,} bad 0$' "$work/tried"

# What is harmless is the kernel's, byte for byte.
cp -r "$top_srcdir/tests/data/sessions/udp_sendmsg-6.12" "$work/names"
chmod -R u+w "$work/names"
sed -i $'s/udp-server/\xc3\xa9t\xc3\xa9-\xe6\xbc\xa2/' "$work/names/tracing/saved_cmdlines"
mkdir -p "$work/kept/sessions"
mv "$work/names" "$work/kept/sessions/names"
cp -r "$top_srcdir/tests/data/symbols" "$work/kept/symbols"
ftracectl report --store "$work/kept" names --format=indent >"$out" 2>"$err"
ok 'names in all languages stay' grep -q $'\xc3\xa9t\xc3\xa9-\xe6\xbc\xa2(189):' "$out"

# Hosts that answer with what they like.
printf '#!/bin/sh\nprintf "\\033[31mred\\302\\2335m\\n"\nprintf "\\033]0;title\\007\\n" >&2\nexit ${STATUS:-0}\n' >"$work/ssh"
chmod +x "$work/ssh"
printf 'one\ntwo\n' >"$work/hosts"
for status in 0 1; do
        STATUS=$status FTRACED_SSH=$work/ssh ftracectl status --hosts="$work/hosts" >"$out" 2>&1
        ok "hosts' answers, status $status, are made harmless" not grep -qP '[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]' "$out"
        ok 'and are told' grep -q '^one: ' "$out"
done
done_testing
