#!/bin/bash
# Touches: sysctls, the tracefs mount, current_tracer; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1
#
# doctor finds each thing that can stand in the way, and says what to do about it.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires setpriv sysctl umount

finds() { # DESCRIPTION STATUS PATTERN FIX-PATTERN
        exits "$1: doctor's status is $2" "$2" ftracectl doctor
        says "$1: doctor says so" "$3" "$out"
        says "$1: doctor tells the fix" "$4" "$out"
}

exits 'without a daemon root can record' 0 ftracectl doctor --store "$store"
says 'doctor says that no daemon runs' 'no daemon' "$out"
says 'doctor tells how to have one' 'systemctl' "$out"
mkdir "$work/public"
cp "$top_builddir/ftracectl" "$work/public/"
chmod 755 "$work" "$work/public"
exits 'no daemon, nobody: nothing can be recorded' 1 \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$work/public/ftracectl" doctor
says 'no daemon, nobody: doctor says so' 'no daemon' "$out"
says 'no daemon, nobody: doctor tells the fix' 'sudo systemctl' "$out"

ok 'the daemon starts' start_ftraced
exits 'nothing stands in the way' 0 ftracectl doctor
says 'the kernel is named' "$(uname -r | sed 's/[.+]/\\&/g').*function_graph|function_graph.*$(uname -r | sed 's/[.+]/\\&/g')" "$out"
says 'tracefs is named' "$tracefs" "$out"
says 'a recording is tried' 'a recording of emergency_sync (was begun and ended|can be begun)' "$out"
says 'what this kernel can record is a table' '^yes +--sched: .* 4\.3$' "$out"
exits 'somebody records' 0 ftracectl start -q -n theirs udp_recvmsg
exits 'doctor works beside that' 0 ftracectl doctor
says 'and disturbs nobody' 'a recording of emergency_sync can be begun|function_graph is in use: session theirs' "$out"
stops 'it ends' theirs
is 'there is nothing in it' "$(session theirs '[(.gaps | length), ([.cpus[].read_events] | add)] | join(" ")')" '0 0'
exits 'not permitted: doctor fails' 1 \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$work/public/ftracectl" doctor
says 'not permitted: doctor tells the fix' 'usermod|group' "$out"
# What the table of ftraced-reading(7) tells to record is there on each kernel.
sed -nE '/^SYMPTOM/,/^```/s/^.{33}(([a-z0-9_]+ ?)+)$/\1/p' "$top_srcdir/cli/ftraced-reading.7.scd" | tr ' ' '\n' | sort -u >"$work/roots"
ok 'the page names roots' test "$(wc -l <"$work/roots")" -gt 30
is 'this kernel has all of them' "$(ftracectl functions | awk '{ print $1 }' | sort -u | comm -23 "$work/roots" - | xargs)" ''
exits 'doctor speaks JSON' 0 ftracectl doctor --json=short
ok 'every check has a name, a state and a text' \
        jq -e 'all(.[]; has("name") and has("text") and (.state | IN("good", "warning", "bad", "absent")))' "$out"
ok 'what is absent has the version that has it' jq -e 'all(.[]; .state != "absent" or has("since"))' "$out"

sysctl -q kernel.ftrace_enabled=0
cleanup_fn sysctl -q kernel.ftrace_enabled=1
finds 'ftrace_enabled is 0' 1 'ftrace_enabled' 'sysctl.*kernel.ftrace_enabled=1'
exits 'ftrace_enabled is 0: start is refused' 77 ftracectl start udp_sendmsg
says 'ftrace_enabled is 0: start tells the fix' 'kernel.ftrace_enabled=1'
sysctl -q kernel.ftrace_enabled=1

echo 2 >/proc/sys/kernel/kptr_restrict
cleanup_fn bash -c 'echo 0 >/proc/sys/kernel/kptr_restrict'
exits 'symbols are hidden: doctor works' 0 ftracectl doctor
says 'symbols are hidden: doctor says so' 'symbols|kptr_restrict' "$out"
says 'symbols are hidden: doctor tells the fix' 'kptr_restrict=[01]' "$out"
echo 0 >/proc/sys/kernel/kptr_restrict

# No kernel here was booted with memory that stays (test-black-box.sh).
exits 'no memory stays over a crash' 1 ftracectl doctor --black-box
if [[ $(printf '%s\n' 6.12 "$(uname -r)" | sort -V | head -n1) == 6.12 ]]; then
        says 'doctor tells how to boot' 'reserve_mem=.*trace_instance=' "$out"
else
        says 'doctor says that this kernel cannot' 'black box: Linux .* cannot keep a trace over a crash' "$out"
        says 'doctor tells what comes nearest' 'arm --in-kernel' "$out"
fi
exits 'so a black box is refused' 77 ftracectl start --black-box udp_sendmsg
says 'with the way out' 'doctor --black-box.*--in-kernel'
one_sentence 'in one sentence'
exits 'what comes nearest works' 0 ftracectl arm -n nearest --in-kernel --on='event:printk:console:msg ~ "*BUG: *"' udp_sendmsg
stops 'and ends' nearest

echo function >"$tracefs/current_tracer"
cleanup_fn bash -c "echo nop >$tracefs/current_tracer"
if has_instances; then
        exits 'another tracer in the top-level buffer does not matter here' 0 ftracectl doctor
else
        finds 'another tracer is on' 1 'current_tracer|function' 'nop'
fi
echo nop >"$tracefs/current_tracer"
mount -o remount,ro "$tracefs"
finds 'tracefs is read-only' 1 'mounted read-only at' 'mount -o remount,rw'
says 'tracefs is read-only: nothing is left to be put back' 'every change was put back' "$out"
exits 'tracefs is read-only: start is refused' 77 ftracectl start udp_sendmsg
says 'tracefs is read-only: start tells the fix' 'mount -o remount,rw'
mount -o remount,rw "$tracefs"
exits 'tracefs can be written again' 0 ftracectl doctor
stop_ftraced

umount "$tracefs"
ok 'the daemon starts without tracefs' start_ftraced
finds 'no tracefs' 1 'tracefs' 'mount -t tracefs'
exits 'no tracefs: start is refused' 77 ftracectl start udp_sendmsg
says 'no tracefs: start tells the fix' 'mount'
mount -t tracefs nodev "$tracefs"
exits 'tracefs is found as soon as it is there' 0 ftracectl doctor
is_as_before 'the kernel is as it was'
done_testing
