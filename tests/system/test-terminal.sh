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

# One host, on a terminal: ssh's output is what is hostile.  Some of it comes in pieces.
on_terminal() { # COMMAND...
        timeout 60 python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
                "$@" </dev/null
}
cat >"$work/hostile" <<'END'
echo "$@" >"$SSH_LOG"
printf '\033[1;31mred\033[0m \303\251 \033]0;title\007 \2335m \033[8mhidden \033[?1049h \302\2335m \033[6n\bx\n'
printf '\rwritten over\033[K\033[H\033[J\t.\r\n\303'
sleep 0.2
printf '\251\033[3'
sleep 0.2
printf '1mlate\033[0m\n\033[1;3'
printf '\033]0;title\007\303\n' >&2
sleep 200 <&- >&- & # as ControlPersist does: it keeps our standard error
echo $! >>"$SSH_LOG.left"
exit 6
END
printf '#!/bin/bash\n. "%s"\n' "$work/hostile" >"$work/ssh"
export FTRACED_SSH=$work/ssh SSH_LOG=$work/ssh.log
cleanup_fn eval 'xargs -r kill <"$SSH_LOG.left"'
exits 'a hostile host is heard to its end on a terminal' 6 on_terminal "$top_builddir/ftracectl" -H one list
python3 - "$out" >"$work/tried" <<'END'
import re, sys
text = open(sys.argv[1], "rb").read().replace(b"\r\n", b"\n").replace(b"\r\n", b"\n")
for what in (b"\x1b[1;31mred\x1b[0m \xc3\xa9 ", rb"\x1b]0;title\x07 ", rb" \x9b5m", rb"\x1b[8mhidden", rb"\x1b[?1049h",
             rb"\xc2\x9b5m", rb"\x1b[6n\x08x", b"\rwritten over\x1b[K\x1b[H\x1b[J\t.", b"\n\xc3\xa9\x1b[31mlate\x1b[0m\n",
             rb"\x1b[1;3", rb"\x1b]0;title\x07\xc3"):
    if what not in text:
        print("is not there:", what, text)
rest = re.sub(rb"\x1b\[(?:0|31|1;31)m|\x1b\[K|\x1b\[H\x1b\[J|\r", b"", text)
if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", rest.decode()):
    print("is there:", rest)
END
is 'colours, lines written over and names in all languages come through, and nothing else' "$(cat "$work/tried")" ''
ok 'no pager is asked to run there' grep -q -- "-xt .*'--no-pager'" "$SSH_LOG"
ftracectl -H one list >"$out" 2>"$err"
bash "$work/hostile" >"$work/plain" 2>"$work/plain.err"
ok 'what goes into a file is as it came' cmp "$out" "$work/plain"
ok 'and so is stderr there' cmp "$err" "$work/plain.err"
done_testing
