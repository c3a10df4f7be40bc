#!/bin/bash
# Touches: function_graph, events; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 6.1 new
#
# Sleeps that are planted along a chain of five tasks are what the path of the last one's read() consists of,
# and who holds a lock is whom the path of another one's write() goes through.
. "$(dirname "$0")/../functions.sh"
require_kernel
chain=$top_builddir/tests/workload/chain
requires "$chain"

# Few functions, so that tracing costs little; each kernel has its own names.
cat >"$work/wanted" <<'END'
vfs_read
vfs_write
pipe_read
pipe_write
anon_pipe_read
anon_pipe_write
__wake_up_sync_key
try_to_wake_up
hrtimer_nanosleep
do_nanosleep
schedule
shmem_file_write_iter
generic_perform_write
down_write
rwsem_down_write_slowpath
up_write
rwsem_wake
END
sed 's/ .*//' "$tracefs/available_filter_functions" | grep -xFf "$work/wanted" | sort -u >"$work/some"
readonly ROOTS='vfs_read vfs_write hrtimer_nanosleep'

figure() { # JQ-FILTER: of the path in $work/path.json
        jq -r ".[0] | $1" "$work/path.json"
}
path_is_exact() { # NAME
        is "$1: the segments add up to the nanosecond" "$(figure '.segments | map(.duration_ns) | add')" "$(figure .duration_ns)"
        is "$1: each begins where the one before it ends" \
                "$(figure '.start_ns as $t | [foreach .segments[] as $s ($t; . + $s.duration_ns; . - $s.duration_ns == $s.start_ns)] | all')" true
}
said_by() { # TASK COLUMN
        awk -v task="$1" -v column="$2" '$1 == task { print $column }' "$work/said.txt"
}

# Calls are timed by another clock than the one that processes read: on an emulated machine the two differ by a
# few parts in 10,000.
is_within() { # NS OF
        test "$1" -le $(($2 + $2 / 1000))
}

ok 'the daemon starts' start_ftraced

# --- a chain ------------------------------------------------------------------------------------

planted=(60 90 120 150 180) # milliseconds
# shellcheck disable=SC2086 # words
exits 'a chain is recorded' 0 ftracectl run --sched --format=none -n chain --lean="$work/some" $ROOTS -- "$chain" "${planted[@]}"
cp "$out" "$work/said.txt"
is_as_before 'the kernel is as it was'
exits 'the path of the longest read' 0 ftracectl path --json --task=chain chain vfs_read
cp "$out" "$work/path.json"
path_is_exact chain
is "chain: it is the parent's" "$(figure .pid)" "$(said_by chain 2)"
ok "chain: it takes no longer than the parent saw ($(figure .duration_ns) of $(said_by chain 3) ns)" \
        is_within "$(figure .duration_ns)" "$(said_by chain 3)"
all=0
for i in 1 2 3 4 5; do
        ns=$((planted[i - 1] * 1000000)) seen=$(said_by "link-$i" 3) all=$((all + seen))
        # From where it sets the timer to where it runs again; a busy machine makes each of these longer.
        read -r slept span depths pids there < <(figure "[.segments[] | select(.task == \"link-$i\")] as \$all |
                (\$all | map(select(.kind == \"interrupt\"))) as \$slept |
                (\$all | map(select(.function // \"\" | test(\"nanosleep\")))) as \$around |
                [(\$slept | map(.duration_ns) | add // 0),
                        ((\$around | map(.start_ns + .duration_ns) | max) - (\$around | map(.start_ns) | min)),
                        (\$slept | map(.depth) | unique | join(\",\")), (\$slept | map(.pid) | unique | join(\",\")),
                        (\$slept | map(.function | test(\"nanosleep\")) | unique | join(\",\"))] | map(tostring) | join(\" \")")
        ok "chain: link-$i slept as long as planted ($slept, with what is around it $span, planted $ns ns)" \
                test $((span + span / 1000)) -ge "$ns" -a "$slept" -ge $((ns * 9 / 10))
        ok "chain: link-$i slept no longer than it saw itself ($seen ns)" is_within "$span" "$seen"
        ok "chain: and hardly less ($((seen - span)) ns)" test $((seen - span)) -lt 5000000
        is "chain: link-$i is where it was woken from" "$depths" $((6 - i))
        is "chain: link-$i is that process" "$pids" "$(said_by "link-$i" 2)"
        is "chain: link-$i slept there" "$there" true
done
is 'chain: one link after the other' \
        "$(figure '[.segments[] | select(.kind == "interrupt" and .duration_ns > 20000000) | .task] | join(" ")')" \
        'link-1 link-2 link-3 link-4 link-5'
rest=$(($(figure .duration_ns) - all))
note "all but the sleeps: $rest ns; $(figure '[.segments[] | select(.kind == "unknown") | .duration_ns] | add // 0') of them not known"
ok 'chain: what is not planted is little' test "$rest" -lt $((all / 10))
is 'chain: nothing is unknown' "$(figure '[.segments[] | select(.kind == "unknown" and .duration_ns > 1000000)] | length')" 0
nth=$(figure .number)
is 'chain: its number is that of the filter' "$(ftracectl path --json --task=chain --nth="$nth" chain vfs_read | jq '.[0].start_ns')" "$(figure .start_ns)"
exits 'a sentence' 0 ftracectl path --task=chain chain vfs_read
# On a busy machine that need not be the one that was to sleep longest.
longest=$(figure '[.segments[] | select(.depth > 0)] | group_by(.task) | max_by(map(.duration_ns) | add)[0].task')
says 'names the link that was waited for longest, and where it slept' \
        "^vfs_read, call [0-9,]+, took [0-9.]+ m?s: [0-9]+ % waiting for $longest-$(said_by "$longest" 2), which waited in [a-z_]*nanosleep( or below it [^;]*)?, woken by an interrupt \\(timer\\); " "$out"
note "$(head -1 "$out")"
sed -n '3,$s/^/# /p' "$out"

# --- a lock -------------------------------------------------------------------------------------

# shellcheck disable=SC2086 # words
exits 'a lock that is held is recorded' 0 ftracectl run --sched --format=none -n lock --lean="$work/some" $ROOTS -- "$chain" -l 64
cp "$out" "$work/said.txt"
exits 'the path of who waited for it' 0 ftracectl path --json --task=waiter lock vfs_write
cp "$out" "$work/path.json"
path_is_exact lock
held=$(figure '[.segments[] | select(.lock_released_in != null) | .duration_ns] | add // 0')
note "held $held of $(figure .duration_ns) ns"
is 'lock: one task held it' "$(figure '[.segments[] | select(.lock_released_in != null) | [.task, .pid]] | unique | map(join(" ")) | join(", ")')" \
        "holder $(said_by holder 2)"
ok 'lock: which is most of the time' test "$held" -gt $(($(figure .duration_ns) / 2))
ok 'lock: it let go of it there' grep -qE '^(up_write|rwsem_wake)' <(figure '.segments[].lock_released_in // empty')
exits 'a sentence of that' 0 ftracectl path --task=waiter lock vfs_write
says 'names the holder' "% waiting for holder-$(said_by holder 2), which .* and let go of a lock in (up_write|rwsem_wake)" "$out"
note "$(head -1 "$out")"
sed -n '3,$s/^/# /p' "$out"

# --- what is not there --------------------------------------------------------------------------

exits 'a recording without switches' 0 ftracectl run --format=none -n plain --lean="$work/some" vfs_read -- "$chain" 1
exits 'has no path' 1 ftracectl path plain
says 'and what would give one is said' 'record with --sched'
exits 'one without the time that is slept' 0 ftracectl run --sched --set=NoSleepTime=yes --format=none -n awake --lean="$work/some" vfs_read -- "$chain" 1
exits 'has none either' 1 ftracectl path awake
says 'for calls lack what they waited' 'record without it'
is_as_before 'the kernel is as it was, still'
done_testing
