#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Profiles from their files to the session that was started with one, and what a dry run prints.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
root=$work/root vendor=$work/root/usr/lib/ftraced/profiles.d local=$work/root/usr/local/lib/ftraced/profiles.d
mkdir -p "$vendor" "$local"
cp "$top_srcdir"/systemd/profiles.d/*.conf "$vendor"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs" --config-root="$root"

# --- what there is ------------------------------------------------------------------------------

exits 'profiles are listed' 0 ftracectl profile list
is 'a line each' "$(tail -n +2 "$out" | awk '{ print $1 }' | paste -sd' ')" 'tcp-send udp-send vfs-read'
exits 'as JSON too' 0 ftracectl profile list --json
conforms 'of its type' '[]Profile'
is 'with their descriptions' "$(jq -r '.[1].description' "$out")" 'UDP: every datagram that is sent'
for profile in "$top_srcdir"/systemd/profiles.d/*.conf; do
        exits "what we ship is good: ${profile##*/}" 0 ftracectl profile check "$profile"
        ok 'it says what it is for' grep -q '^Description=..' "$profile"
done
exits 'one is shown' 0 ftracectl profile show udp-send
says 'with where each line is from' "^# $vendor/udp-send.conf:[0-9]+\$" "$out"
exits 'another name is not found' 3 ftracectl profile show udp-sned
says 'the nearest is suggested' 'udp-send'
exits 'without the daemon, below another root' 0 ftracectl profile list --config-root="$root"
exits 'what is no action is refused' 2 ftracectl profile shwo

# --- what is wrong with them --------------------------------------------------------------------

printf '[Profile]\nFuncions=udp_sendmsg\nDepth=99\n' >"$work/wrong.conf"
exits 'a file with errors fails the check' 1 ftracectl profile check "$work/wrong.conf"
says 'a key is named with the nearest' "^$work/wrong.conf:2: unknown key Funcions=; did you mean Functions=" "$out"
says 'a value is named' "^$work/wrong.conf:3: Depth=99 is" "$out"
printf '[Profile]\nFunctions=udp_sendmesg\n' >"$local/typo.conf"
exits 'a function that is not there is a warning' 0 ftracectl profile check typo
says 'with the nearest' 'typo.conf:2: .*"udp_sendmesg"; did you mean "udp_sendmsg".*warning' "$out"
exits 'as JSON too' 0 ftracectl profile check --json typo
conforms 'of its type' '[]ProfileChecked'
is 'a warning is no problem' "$(jq -c '.[0] | [(.warnings | length), (.problems | length)]' "$out")" '[1,0]'
cp "$work/wrong.conf" "$local"
exits 'a profile with errors is not used' 2 ftracectl start --profile wrong udp_sendmsg
says 'the first is said' 'wrong.conf:2: unknown key Funcions='
exits 'one that is not there neither' 3 ftracectl start --profile udp-sendd
says 'and the nearest is suggested' '"udp-send"'
rm "$local/wrong.conf"

# --- recording with one -------------------------------------------------------------------------

# The fake kernel's list has no tcp_sendmsg_locked and the like: only what is in it may be named.
printf '[Profile]\nFunctions=udp_sendmsg\nDepth=3\nDuration=1h\nMaxFunctions=5\n' >"$vendor/mine.conf"
mkdir "$local/mine.conf.d"
printf '[Profile]\nDepth=4\nNoTrace=ip_make_skb\n' >"$local/mine.conf.d/50-more.conf"
exits 'a session starts with a profile alone' 0 ftracectl start --profile=mine -n one
is 'its functions are the root' "$(session one '.roots | join(" ")')" udp_sendmsg
is 'a drop-in counts' "$(session one '[.spec.depth, .spec.notrace[0]] | @csv')" '4,"ip_make_skb"'
is 'session.json says which' "$(session one .profile)" mine
exits 'show says which' 0 ftracectl show one
says 'by its name' 'Profile: mine' "$out"
exits 'it is stopped' 0 ftracectl stop one
exits 'options go over a profile, even with their defaults' 0 \
        ftracectl start --profile mine -n two --depth 0 --duration 2h udp_recvmsg
is 'functions, too' "$(session two '.roots | join(" ")')" udp_recvmsg
is 'all of them' "$(session two '[.spec.depth, .spec.duration_ns / 1e9] | @csv')" ',7200'
is 'but what was not said' "$(session two '.spec.notrace[0]')" ip_make_skb
exits 'it is stopped' 0 ftracectl stop two
ln -s /dev/null "$local/mine.conf"
exits 'a link to /dev/null switches one off' 3 ftracectl start --profile mine
says 'and that is said' 'switched off'
exits 'without functions or a profile nothing starts' 2 ftracectl start

# --- a dry run ----------------------------------------------------------------------------------

(cd "$work/tracefs" && find . -type f -exec md5sum {} + | sort) >"$work/before"
exits 'a dry run prints' 0 ftracectl start --dry-run -n dry --depth 3 udp_sendmsg
cp "$out" "$work/script"
says 'where' "^cd $work/tracefs\$" "$work/script"
says 'what, and what it replaces' '^echo udp_sendmsg > set_graph_function +# was #### all functions' "$work/script"
says 'the way back' '^echo nop > current_tracer$' "$work/script"
ok 'a shell can read it' sh -n "$work/script"
exits 'as steps too' 0 ftracectl start --dry-run --json -n dry --depth 3 udp_sendmsg
conforms 'of their type' DryRun
is 'each with a file' "$(jq '[.steps[], .undo[] | select(.file == null)] | length' "$out")" 0
is 'the last one records' "$(jq -r '.steps[-1] | .file + " " + .text' "$out")" 'tracing_on 1'
exits 'run has it' 0 ftracectl run --dry-run -n dry --depth 3 udp_sendmsg -- false
ok 'with the same lines' cmp "$out" "$work/script"
exits 'follow has it' 0 ftracectl follow --dry-run -n dry --depth 3 udp_sendmsg
ok 'with the same lines' cmp "$out" "$work/script"
exits 'it is refused as a start is' 3 ftracectl start --dry-run udp_sendmesg
exits 'a profile can be tried' 0 ftracectl start --dry-run --profile udp-send udp_sendmsg
(cd "$work/tracefs" && find . -type f -exec md5sum {} + | sort) >"$work/after"
ok 'nothing was written' cmp "$work/before" "$work/after"
is 'no session is left' "$(ftracectl list --json | jq 'map(select(.name == "dry")) | length')" 0
ok 'nor a ledger' not test -e "$(ledger_of "$store")"
ok 'the daemon ends in peace' stop_ftraced
done_testing
