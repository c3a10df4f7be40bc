#!/bin/bash
# Touches: a fake tracefs and a store, both of its own; a pseudo-terminal.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How ftracectl behaves towards people and programs, whatever the verb.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
ftracectl start -n first udp_sendmsg >/dev/null 2>&1
ftracectl stop -q first
ftracectl start -n a-session-with-a-long-name --duration=1h udp_sendmsg udp_recvmsg ip_make_skb >/dev/null 2>&1

client=$(cd "$top_builddir" && pwd)/ftracectl

# On a terminal of so many columns; what it prints goes to $out.
on_terminal() { # COLUMNS COMMAND...
        python3 "$top_srcdir/tests/on-terminal.py" "$@" >"$out"
}
widest() {
        LC_ALL=C.UTF-8 wc -L <"$out"
}
unset COLUMNS NO_COLOR SYSTEMD_PAGER PAGER

# --- habits of others ---------------------------------------------------------------------------

# VERB-or-words | what leads on
while IFS='|' read -r words wanted; do
        read -ra words <<<"$words"
        exits "${words[*]}: wrong usage" 2 ftracectl "${words[@]}"
        says "${words[*]}: leads on" "$wanted"
done <<'END'
record -p function_graph -g udp_sendmsg ls|no verb "record": "ftracectl run FUNCTION -- COMMAND" .*"ftracectl start FUNCTION"
rm first|no verb "rm": "ftracectl remove SESSION"
delete first|no verb "delete": "ftracectl remove SESSION"
info first|no verb "info": "ftracectl show SOURCE"
trace udp_sendmsg|no verb "trace": "ftracectl follow FUNCTION"
stat -e sched:sched_switch|no verb "stat": "ftracectl top SOURCE"
replay|no verb "replay": "ftracectl report SOURCE"
start -g udp_sendmsg|no option "-g": .*"ftracectl start udp_sendmsg"
start -l udp_sendmsg|no option "-l": .*--only=FUNCTION
start -p function_graph udp_sendmsg|-p is --pid, a process
start -e sched:sched_switch udp_sendmsg|no option "-e": "--event=SYSTEM:NAME"
start udp_sendmsg -- true|"ftracectl run udp_sendmsg -- true"
top -n 5|"ftracectl list" has the recordings
END
exits 'what cannot run is found out' 127 ftracectl run udp_sendmsg -- no-such-command
is 'before the kernel is touched' "$(cat "$err")" 'ftracectl: cannot run "no-such-command": No such file or directory'
exits 'as is what may not' 126 ftracectl run udp_sendmsg -- /etc/passwd
is 'before that, too' "$(wc -l <"$err")" 1

# --- tables -------------------------------------------------------------------------------------

export LC_ALL=C.UTF-8
exits 'list is a table' 0 ftracectl list
wide=$(widest)
ok 'which needs more than 80 columns' test "$wide" -gt 80
SYSTEMD_PAGER='' ok 'on a terminal' on_terminal 80 "$client" list
ok 'it takes what there is' test "$(widest)" -le 80
ok 'and marks what it cut' grep -q … "$out"
LC_ALL=C SYSTEMD_PAGER='' ok 'without UTF-8' on_terminal 80 "$client" list
ok 'the mark is ASCII' not grep -qP '[^\x00-\x7f]' "$out"
COLUMNS=76 SYSTEMD_PAGER='' ok 'COLUMNS counts more' on_terminal 200 "$client" list
ok 'than the terminal' test "$(widest)" -le 76
exits 'what is no terminal' 0 env COLUMNS=40 "$client" list
ok 'gets all of it' test "$(widest)" -eq "$wide"
LC_ALL=C exits 'status without UTF-8' 0 ftracectl status
ok 'is ASCII' not grep -qP '[^\x00-\x7f]' "$out"
exits '--no-legend leaves lines' 0 ftracectl list --no-legend
is 'and no titles' "$(awk '{ print $1 }' "$out" | sort | paste -sd' ')" 'a-session-with-a-long-name first'

SYSTEMD_PAGER='' FTRACED_STORE=$top_srcdir/tests/data ok 'a histogram on a terminal' on_terminal 80 "$client" hist udp-pairs-6.12 schedule
ok 'has bars as long as there is room' not grep -q … "$out"
exits 'elsewhere' 0 ftracectl hist --store "$top_srcdir/tests/data" udp-pairs-6.12 schedule
is 'they are as ever' "$(grep -oE '█+' "$out" | head -n 1 | wc -m)" 49
exits 'what a file does not tell' 0 ftracectl show "$top_srcdir/tests/data/tracecmd/split.dat"
ok 'is not asked' not grep -q '?' "$out"

# --- the pager ----------------------------------------------------------------------------------

SYSTEMD_PAGER="sed 's/^/paged: /'" ok 'a long output on a terminal' on_terminal 80 "$client" functions
ok 'goes through the pager' grep -q '^paged: ' "$out"
SYSTEMD_PAGER="sed 's/^/paged: /'" ok 'a short one' on_terminal 80 "$client" list --no-legend
ok 'does not' not grep -q '^paged: ' "$out"
SYSTEMD_PAGER="sed 's/^/paged: /'" ok 'nor with --no-pager' on_terminal 80 "$client" functions --no-pager
ok 'anything' not grep -q '^paged: ' "$out"
SYSTEMD_PAGER="sed 's/^/paged: /'" exits 'nor what is no terminal' 0 ftracectl functions
ok 'is paged' not grep -q '^paged: ' "$out"
NO_COLOR=1 SYSTEMD_PAGER='' ok 'NO_COLOR' on_terminal 80 "$client" status
ok 'has no colours' not grep -q $'\033' "$out"
SYSTEMD_PAGER='' ok 'a terminal' on_terminal 80 "$client" status
ok 'has' grep -q $'\033' "$out"

# --- JSON ---------------------------------------------------------------------------------------

# The type that its JSON is, and the verb.
while read -r type verb; do
        # shellcheck disable=SC2086 # words of a verb
        exits "$verb has JSON" 0 ftracectl $verb --json=short
        is 'on one line' "$(wc -l <"$out")" 1
        conforms "which is $type" "$type"
done <<'END'
GetStatus() status
[]Session list
Session show first
[]string functions
[]Profile profile list
[]CheckResult doctor
Verified verify first
Verified verify --deep first
Vacuum() vacuum --dry-run
[]Schedule schedule list
END
printf '[]' >"$out"
ok 'what is not of a type is told' not python3 "$top_srcdir/tests/json-tables.py" Session <"$out"
ok 'JSON on a terminal is for people' on_terminal 80 "$client" list --json --no-pager
ok 'one member a line' test "$(wc -l <"$out")" -gt 20

# --- help ---------------------------------------------------------------------------------------

exits 'help of an option that several verbs have' 0 ftracectl doctor --help
says 'is about that one' '--black-box +whether this host can record' "$out"
for verb in $(ftracectl --help | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
        ftracectl "$verb" --help >"$out"
        ok "$verb --help is one screen" test "$(wc -l <"$out")" -le 24
        ftracectl "$verb" --help=all >>"$out"
        is "$verb --help is no wider than 80 columns" "$(grep -E '^.{81,}' "$out")" ''
        ok "$verb --help says nothing of other verbs" not grep -E '; (report|vacuum|follow|slow|list|schedule|path|stop|run|doctor|recording): |[|]' <(sed -n '/^Options/,$s/^ \{6\}.*=[^ ]*//p' "$out")
done
exits 'help of what nobody knows' 2 ftracectl top --help=much
says 'is all there is' '"all" is one'
exits 'help of a long option' 0 ftracectl start --help=all
ok 'begins in the column where all begin' not grep -qE '^  (-.,|   ) --[^ ]{20,} +[^ ]' "$out"

# --- refusals -----------------------------------------------------------------------------------

exits 'a verb that is mistyped' 2 ftracectl lsit
says 'is guessed' 'Did you mean "list"'
exits 'the beginning of one' 2 ftracectl rep
says 'is taken for that' 'Did you mean "report"'
exits 'one that is like none' 2 ftracectl xyzzyx
says 'is not' 'see "ftracectl --help"'
exits 'a session that is mistyped' 3 ftracectl show frist
says 'is guessed by the daemon' "Did you mean \"first\""
exits 'and without it' 3 ftracectl show frist --store "$store"
says 'as well' 'Did you mean "first"'
exits 'the beginning of its name' 3 ftracectl show a-session --store "$store"
says 'is taken for it' 'Did you mean "a-session-with-a-long-name"'
exits 'a function that is mistyped' 3 ftracectl start udp_sendmesg
says 'too' 'Did you mean udp_sendmsg'
for verb in $(ftracectl --help | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
        exits "$verb refuses an option that nobody has" 2 ftracectl "$verb" --no-such-option
        is 'in one line' "$(wc -l <"$err")" 1
        is 'and prints nothing' "$(wc -c <"$out")" 0
done
exits 'nobody listens' 1 ftracectl --socket "$work/nothing" status
says 'and what to do is said' 'ftraced --socket'

# --- Ctrl-C, and who leaves ---------------------------------------------------------------------

ftracectl functions | head -n 1 >"$out"
is 'who reads one line gets one' "$(wc -l <"$out")" 1
python3 - "$client" watched <<'END' >"$out" 2>"$err"
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], 'follow', 'a-session-with-a-long-name'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def heeds(number):  # or a signal would only end it
    with open(f'/proc/{p.pid}/status') as f:
        masks = [int(line.split()[1], 16) for line in f if line.startswith(('SigBlk', 'SigCgt'))]
    return any(mask >> number - 1 & 1 for mask in masks)
while not heeds(signal.SIGINT):
    time.sleep(0.05)
p.send_signal(signal.SIGINT)
p.communicate(timeout=100)
print(p.returncode)
END
is 'Ctrl-C ends follow in peace' "$(<"$out")" 0
is 'and leaves the session alone' "$(session a-session-with-a-long-name .state)" recording

# --- one step to the next -----------------------------------------------------------------------

exits 'a bare ftracectl' 0 ftracectl
says 'says what one can do now' '^Next: ftracectl follow SESSION, or stop SESSION$'
exits 'one that names the verb' 0 ftracectl status
is 'has no more to say' "$(cat "$err")" ''
exits 'quietly' 0 ftracectl -q
is 'nothing is said of it' "$(cat "$err")" ''
stops 'a silent recording' a-session-with-a-long-name
says 'can be looked at' '^Next: ftracectl show a-session-with-a-long-name$'
exits 'without a recording' 0 ftracectl
says 'one can look at what is kept' '^Next: ftracectl list, why SESSION, or start FUNCTION$'
ok 'the daemon ends in peace' stop_ftraced
done_testing
