#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who waits gets what another one used; who overrides puts it back.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
tracer=$work/tracefs/current_tracer
controls() {
        # The clock is written as "local" and read, from a kernel, as "[local] global ...".  A plain file
        # keeps the list that was appended to; a kernel's is empty then and shows a line.
        (cd "$work/tracefs" && grep -r -D skip . . | grep -v set_graph_ | sed 's/\[\(local\)\] .*/\1/' | sort)
}
waiting() { # NAME OPTION...: begins to wait in the background, its talk in $work/NAME.err
        local name=$1

        shift
        "$top_builddir/ftracectl" start -n "$name" "$@" udp_sendmsg >"$work/$name.out" 2>"$work/$name.err" </dev/null &
        waiting_pid=$!
}
is_waiting() { # NAME
        grep -q '^Waiting' "$work/$1.err"
}
records() { # NAME
        [[ $(session "$1" .state) == recording ]]
}

declare -A waits # by name of a session: the client that waits for it
controls >"$work/before"
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$work/tracefs"

# --- one after the other ------------------------------------------------------------------------

exits 'a session starts' 0 ftracectl start -n first udp_sendmsg
exits 'the next one is refused' 5 ftracectl start -n no udp_sendmsg
says 'the refusal tells that one may wait' '\-\-wait'
waiting second --wait
waits[second]=$waiting_pid
ok 'the next one waits' wait_until 10 is_waiting second
says 'it says for whom' 'Waiting: .*session first ' "$work/second.err"
waiting third --wait
waits[third]=$waiting_pid
ok 'another one waits, too' wait_until 10 is_waiting third
waiting leaves --wait
leaves=$waiting_pid
ok 'and one that will not stay' wait_until 10 is_waiting leaves
kill -TERM "$leaves"
wait "$leaves" 2>/dev/null
exits 'the daemon answers others meanwhile' 0 ftracectl status
is 'it has said it once' "$(grep -c '^Waiting' "$work/second.err")" 1
exits 'the first stops' 0 ftracectl stop first
has_begun() { # who asks first begins: $now, and $later waits
        if records second; then
                now=second later=third
        elif records third; then
                now=third later=second
        else
                return 1
        fi
}
ok 'one of the two begins' wait_until 10 has_begun
ok 'it returns' wait "${waits[$now]}"
is 'its name is printed' "$(cat "$work/$now.out")" "$now"
ok 'the other one still waits' kill -0 "${waits[$later]}"
ok 'it says that it waits for another one' wait_until 10 grep -q "Waiting: .*session $now " "$work/$later.err"
exits 'the first of them stops' 0 ftracectl stop "$now"
ok 'the other one begins' wait "${waits[$later]}"
exits 'it stops' 0 ftracectl stop "$later"
exits 'whoever left was not recorded' 3 ftracectl show leaves

# --- not for ever -------------------------------------------------------------------------------

exits 'a session starts again' 0 ftracectl start -n first2 udp_sendmsg
exits 'a wait ends after its time' 5 ftracectl start --wait=500ms -n late udp_sendmsg
ok 'which is less than the second after which it would ask again' grep -Eq 'waiting for [5-9][0-9.]* ?ms:' "$err"
says 'it tells how long it waited, and for whom' 'gave up after waiting for [0-9.]+ ?m?s: .*session first2 '
exits 'a wrong name is told at once' 3 ftracectl start --wait udp_sendmesg
exits 'a time that is none is refused' 2 ftracectl start --wait=soon udp_sendmsg
waiting orphan --wait
orphan=$waiting_pid
ok 'one waits' wait_until 10 is_waiting orphan
ok 'the daemon ends although one waits' stop_ftraced
ok 'who waited is told' not wait "$orphan"
says 'that it is gone' 'the daemon' "$work/orphan.err"
controls >"$work/after"
ok 'every control is as it was' diff "$work/before" "$work/after"

# --- somebody else's ----------------------------------------------------------------------------

echo function >"$tracer"
echo 1 >"$work/tracefs/tracing_thresh"
controls >"$work/foreign"
ok 'the daemon starts beside a tracer of somebody else' start_ftraced --tracefs "$work/tracefs"
exits 'a session is refused' 5 ftracectl start udp_sendmsg
says 'the way out is named' '\-\-wait.*\-\-force'
waiting patient --wait
patient=$waiting_pid
ok 'one waits' wait_until 10 is_waiting patient
says 'it says for what' 'Waiting: current_tracer .*is function, set by somebody else' "$work/patient.err"
echo nop >"$tracer"
ok 'it begins when that tracer is gone' wait "$patient"
exits 'it stops' 0 ftracectl stop patient

echo function >"$tracer"
exits 'a session is started by force' 0 ftracectl start --force -n forced udp_sendmsg
says 'what is overridden is said' 'Note: function of .*switched off'
is 'the tracer is ours' "$(cat "$tracer")" function_graph
exits 'show says it, too' 0 ftracectl show forced
says 'show names the tracer' 'function of .*switched off' "$out"
exits 'it stops' 0 ftracectl stop forced
controls >"$work/after"
ok 'the other tracer is on again, with all its settings' diff "$work/foreign" "$work/after"

exits 'a session is started by force again' 0 ftracectl start --force -n killed udp_sendmsg
kill_ftraced
ok 'ftraced --restore succeeds' "$top_builddir/ftraced" --store "$store" --tracefs "$work/tracefs" --restore
controls >"$work/after"
ok 'it sets the other tracer again' diff "$work/foreign" "$work/after"

mkfifo "$work/tracefs/trace_pipe"
sleep 300 <>"$work/tracefs/trace_pipe" &
reader=$!
cleanup_fn kill "$reader"
ok 'the daemon starts beside a reader of trace_pipe' start_ftraced --tracefs "$work/tracefs"
exits 'no force takes its events away' 5 ftracectl start --force udp_sendmsg
says 'the reader is named' "sleep \\(pid $reader\\)"
controls >"$work/after"
ok 'nothing has changed' diff "$work/foreign" "$work/after"
ok 'the daemon ends' stop_ftraced
# --- two private daemons, one store ------------------------------------------------------------

kill "$reader"
rm "$work/tracefs/trace_pipe"
echo nop >"$tracer"
export FTRACED_TRACEFS=$work/tracefs
own=$work/own
mkfifo "$work/end-of-one"
"$top_builddir/ftracectl" run --store "$own" -n one udp_sendmsg -- cat "$work/end-of-one" >"$work/one.log" 2>&1 &
one=$!
ok 'a private daemon records' wait_until 10 grep -q ^Armed "$work/one.log"
exits 'another command does not get its store' 5 ftracectl run --store "$own" -n two udp_sendmsg -- true
says 'and is told who has it, and that one may wait' 'another ftraced \(pid [0-9]+\) has the store.*--wait'
exits 'that is all it says' 0 test "$(grep -c . "$err")" -le 2
exits 'nor in a short time' 5 ftracectl run --wait=300ms --store "$own" -n two udp_sendmsg -- true
for i in 1 2; do
        "$top_builddir/ftracectl" run --wait --store "$own" -n "late$i" udp_sendmsg -- true >"$work/late$i.log" 2>&1 &
        late[i]=$!
        ok "another one waits ($i)" wait_until 10 grep -q ^Waiting "$work/late$i.log"
done
: >"$work/end-of-one"
for i in 1 2; do
        ok "who waits gets it ($i)" wait "${late[i]}"
done
ok 'after the first one' wait "$one"
is 'and all are kept' "$(cd "$own/sessions" && echo *)" 'late1 late2 one'
done_testing
