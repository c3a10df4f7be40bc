#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The whole way of the data without a kernel: pages that one gave, through the daemon, into a store.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
cp "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/tracing/saved_cmdlines" "$work/tracefs/"
controls() {
        # The clock is written as "local" and read, from a kernel, as "[local] global ...".
        (cd "$work/tracefs" && grep -r -D skip . . | sed 's/\[\(local\)\] .*/\1/' | sort)
}
controls >"$work/before"
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$work/tracefs"

exits 'functions are listed' 0 ftracectl functions 'udp_*'
is 'functions are listed, a line each' "$(wc -l <"$out")" 3
exits 'a function that is not there is refused' 3 ftracectl start udp_sendmesg
says 'its neighbours are suggested' 'udp_sendmsg'
exits 'a session starts' 0 ftracectl start -n fake udp_sendmsg
is 'its name is printed' "$(cat "$out")" fake
exits 'a second one is refused where there is one buffer' 5 ftracectl start udp_recvmsg
says 'the holder is named' fake
is 'the filter names the root' "$(grep -v '^#' "$work/tracefs/set_graph_function")" udp_sendmsg
is 'the tracer is on' "$(cat "$work/tracefs/current_tracer")" function_graph
exits 'removing it while it records is refused' 1 ftracectl remove fake

# What a 6.1 kernel gave, page by page, into the FIFOs that stand for trace_pipe_raw.
pages=0
for cpu in 0 1; do
        for segment in "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu$cpu"/*.seg; do
                [[ -e $segment ]] || continue
                timeout 100 dd if="$segment" of="$work/tracefs/per_cpu/cpu$cpu/trace_pipe_raw" bs=4096 \
                        skip=1 conv=notrunc status=none || fail "CPU $cpu takes no pages"
                pages=$((pages + $(stat -c %s "$segment") / 4096 - 1))
        done
done
ok 'the pages arrive' wait_until 10 eval "[[ \$(sum_of fake n_pages) == $pages ]]"
for cpu in 0 1; do
        for segment in "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu$cpu"/*.seg; do
                [[ -e $segment ]] || continue
                ok "the pages of CPU $cpu are the ones that the kernel gave" \
                        cmp -i 4096 -n $(($(stat -c %s "$segment") - 4096)) "$segment" \
                        "$store/sessions/fake/cpu$cpu/00000000.seg"
        done
done
exits 'it is drawn while it records' 0 ftracectl report --no-legend -O funcgraph-proc fake
is 'with the names of its tasks' "$(grep -c '<\.\.\.>' "$out")" 0
exits 'it is fetched while it records' 0 ftracectl fetch -q fake -o "$work/live.dat"
exits 'what was fetched is drawn' 0 ftracectl report --no-legend -O funcgraph-proc "$work/live.dat"
is 'with their names, too' "$(grep -c '<\.\.\.>' "$out")" 0
exits 'it is stopped' 0 ftracectl stop fake
is 'it is sealed' "$(session fake .state)" sealed
is 'no page is missing' "$(sum_of fake n_pages)" "$pages"
exits 'it is drawn' 0 ftracectl report fake
is 'it is drawn whole' "$(wc -l <"$out")" "$(wc -l <"$top_srcdir/tests/data/udp_sendmsg-6.1.trace")"

exits 'it is removed' 0 ftracectl remove fake
exits 'it is gone' 3 ftracectl show fake
exits 'names that are paths are refused' 2 ftracectl start -n ../x udp_sendmsg
exits 'functions that are commands are refused' 2 ftracectl start udp_sendmsg:traceoff

# What narrows a recording, down to the control files and up to what is shown.
clocks='[local] global counter mono boot' # which a plain file forgets when it is written
echo "$clocks" >"$work/tracefs/trace_clock"
exits 'a narrowed session starts' 0 ftracectl start -n narrow --cpus=1 --slower=4999001ns --set=NoIRQs=yes --set=NoSleepTime=yes \
        --clock=boot udp_sendmsg
is 'the CPU alone is recorded' "$(cat "$work/tracefs/tracing_cpumask")" 2
is 'the time is in whole microseconds, rounded up' "$(cat "$work/tracefs/tracing_thresh")" 5000
is 'interrupts are not recorded' "$(cat "$work/tracefs/options/funcgraph-irqs")" 0
is 'sleep is not counted' "$(cat "$work/tracefs/options/sleep-time")" 0
is 'the clock is set' "$(cat "$work/tracefs/trace_clock")" boot
is 'the session says all of it' "$(session narrow '[.spec.cpus[], .spec.slower_ns, .spec.no_irqs,
        .spec.no_sleep_time, .spec.clock, .clock] | map(tostring) | join(" ")')" '1 4999001 true true boot boot'
exits 'it is shown in words' 0 ftracectl show narrow
for line in 'Slower: only returns of calls that took 4.9 ms or more|Slower: only returns of calls that took 5 ms' 'On CPUs: 1' 'Interrupts: not' 'Sleep: not' 'clock boot'; do
        says "a line says ${line%%:*}" "$line" "$out"
done
exits 'it is stopped' 0 ftracectl stop narrow
echo "$clocks" >"$work/tracefs/trace_clock"
exits 'a clock that is not there is refused' 2 ftracectl start --clock=sundial udp_sendmsg
says 'the clocks that there are are listed' 'local, global, counter'

# Killed while it records: the next one goes on (more of it in test-restart.sh).
exits 'another session starts' 0 ftracectl start -n killed udp_sendmsg
kill_ftraced
is 'a killed daemon leaves the tracer on' "$(cat "$work/tracefs/current_tracer")" function_graph
ok 'the next daemon starts' start_ftraced --tracefs "$work/tracefs"
is 'it goes on with the session' "$(session killed .state)" recording
exits 'the session is stopped, and may not be complete' 6 ftracectl stop killed
is 'the tracer is put back' "$(cat "$work/tracefs/current_tracer")" nop
ok 'the daemon ends in peace' stop_ftraced

controls >"$work/after"
# A plain file keeps the list that was appended to; a kernel's is empty then and shows this line.
ok 'every control is as it was' diff <(grep -v set_graph "$work/before") <(grep -v set_graph "$work/after")
done_testing
