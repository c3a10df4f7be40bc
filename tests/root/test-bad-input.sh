#!/bin/bash
# Touches: starts daemons; writes nothing to tracefs if all is well; needs root and function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# What cannot be done is refused in one sentence that tells the way out, and changes nothing.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires setpriv sysctl

refused() { # DESCRIPTION STATUS ARGUMENT...: of ftracectl
        local description=$1 status=$2

        shift 2
        exits "$description: exit status $status" "$status" ftracectl "$@"
        one_sentence "$description: one sentence"
        is_as_before "$description: tracefs is byte for byte as it was"
}

# --- no daemon, no permission -------------------------------------------------------------------

refused 'no daemon' 1 start udp_sendmsg
says 'no daemon: the way out is told' 'systemctl|sudo|ftraced'
refused 'no daemon, list' 1 list
says 'no daemon, list: the way out is told' 'systemctl|ftraced'

ok 'the daemon starts' start_ftraced
mkdir "$work/public"
cp "$top_builddir/ftracectl" "$work/public/"
chmod -R a+rX "$work"
chmod 755 "$work"
as_nobody() {
        setpriv --reuid=65534 --regid=65534 --clear-groups "$work/public/ftracectl" "$@"
}
exits 'no permission: exit status 4' 4 as_nobody start udp_sendmsg
one_sentence 'no permission: one sentence'
says 'no permission: the way out is told' 'group|root|sudo'
is_as_before 'no permission: tracefs is as it was'

# --- functions ----------------------------------------------------------------------------------

refused 'unknown function' 3 start udp_sendmesg
says 'unknown function: it is named' '"udp_sendmesg"'
says 'unknown function: the nearest are named' 'udp_sendmsg'
refused 'one unknown function of two' 3 start udp_sendmsg udp_recvmesg
says 'one of two: the unknown one is named' '"udp_recvmesg"'
refused 'unknown notrace function' 3 start --notrace=ip_make_skp udp_sendmsg
refused 'pattern without a match' 3 start 'no_such_*_thing'
says 'pattern without a match: it is named' 'no_such_\*_thing'
refused 'pattern with too many matches' 7 start '*lock*'
says 'too many matches: how many, and the way out' '[0-9,]+ functions.*MaxFunctions'
refused 'a pattern for everything is no pattern' 2 start '*'
refused 'more than MaxFunctions=' 7 start --set=MaxFunctions=2 'udp_*msg'

# --- names --------------------------------------------------------------------------------------

long=$(printf 'a%.0s' {1..10000})
declare -A names=([slash]='a/b' [dots]='..' [path]='../../etc/passwd' [newline]=$'udp_sendmsg\nudp_recvmsg'
        [colon]='udp_sendmsg:traceoff' [mod]=':mod:nf_conntrack' [control]=$'udp\001sendmsg' [escape]=$'\033[31mred'
        [space]='udp_sendmsg tcp_sendmsg' [not]='!udp_sendmsg' [comment]='#udp' [empty]='' [high]=$'udp\377'
        [long]=$long)
refused 'function name of dots, which might be a compiler-made name' 3 start ..
for what in slash path newline colon mod control escape space not comment empty high long; do
        name=${names[$what]}
        refused "function name with $what" 2 start -- "$name"
        ok "function name with $what: nothing raw reaches the terminal" not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$err"
        ok "function name with $what: the message is short" test "$(wc -c <"$err")" -lt 500
done
for what in slash dots path newline control escape space long; do
        name=${names[$what]}
        refused "session name with $what" 2 start -n "$name" udp_sendmsg
        refused "removal of a session named with $what" 2 remove "$name"
done
refused 'a session that does not exist' 3 show no-such
refused 'removal of a session that does not exist' 3 remove no-such
refused 'stop of a session that does not exist' 3 stop no-such
refused 'a pid that is none' 2 start --pid=0 udp_sendmsg
refused 'a pid that is no number' 2 start --pid=1x udp_sendmsg
refused 'a depth beyond what the kernel has' 2 start --depth=51 udp_sendmsg
refused 'a buffer that does not fit memory' 7 start --buffer-size=1T udp_sendmsg
refused 'an unknown option' 2 start --no-such udp_sendmsg
refused 'an unknown verb' 2 no-such-verb

# --- while one records --------------------------------------------------------------------------

# Which functions are hooked does not matter: an emulated CPU takes long for all.
echo udp_sendmsg >"$work/hooked"
exits 'a first session starts' 0 ftracectl start -n first --lean="$work/hooked" udp_sendmsg
dump_tracefs "$work/tracefs.before.first"
mv "$work/tracefs.before" "$work/tracefs.before.all"
cp "$work/tracefs.before.first" "$work/tracefs.before"
refused 'a second session of the same name' 5 start -n first tcp_sendmsg
refused 'removal of a session that records' 1 remove first
refused 'an unknown function, while one records' 3 start udp_sendmesg
if has_instances; then
        echo udp_recvmsg >"$work/hooked"
        exits 'a second session starts' 0 ftracectl start -n second --lean="$work/hooked" udp_recvmsg
        stops 'the second stops' second
        is_as_before 'second session: tracefs is as it was with the first alone'
        refused 'a second session with another depth' 5 start -n second --depth=3 udp_recvmsg
else
        refused 'a second session' 5 start -n second udp_recvmsg
        says 'second session: the holder is named' 'first'
fi
is 'the first still records' "$(session first .state)" recording
stops 'the first stops' first
mv "$work/tracefs.before.all" "$work/tracefs.before"
is_as_before 'tracefs is as it was at the end'

# --- another user's link or pipe where files are written -----------------------------------------

# Without the rule -o goes through both, with it the kernel refuses both.
mkdir "$work/sticky"
chmod 1777 "$work/sticky"
echo precious >"$work/target"
ln -s "$work/target" "$work/sticky/link"
mkfifo -m 666 "$work/sticky/pipe"
chown -h 65534:65534 "$work/sticky/link" "$work/sticky/pipe"
for rule in fs.protected_symlinks fs.protected_fifos; do
        cleanup_fn sysctl -q "$rule=$(sysctl -n $rule)"
done
sysctl -q fs.protected_fifos=0
exec {pipe_fd}<>"$work/sticky/pipe" # else whoever opens it waits for a reader
sysctl -q fs.protected_symlinks=1 fs.protected_fifos=1
for verb in fetch 'export --format=csv'; do
        for file in link pipe; do
                # shellcheck disable=SC2086
                exits "${verb%% *} -o of another user's $file is refused" 1 ftracectl $verb first -o "$work/sticky/$file"
                one_sentence "${verb%% *} -o of a $file: in one sentence"
                says "${verb%% *} -o of a $file: which names it" "sticky/$file.*Permission denied"
        done
done
is 'what the link leads to is as it was' "$(cat "$work/target")" precious
ok 'nothing is in the pipe' not read -rt 0 -u "$pipe_fd"
exec {pipe_fd}>&-
sysctl -q fs.protected_symlinks=0
exits 'without the rule the link is followed' 0 ftracectl fetch first -o "$work/sticky/link"
ok 'to what it leads to' not grep -q precious "$work/target"
done_testing
