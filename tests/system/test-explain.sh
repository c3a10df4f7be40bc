#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the time of a recording went is told in several ways, and all of them agree.
. "$(dirname "$0")/../functions.sh"
requires jq

texts=$top_srcdir/tests/data/text
graph=$texts/SyS_write-loopback.trace.txt
banner=$texts/udp_sendmsg-fragmented.funcgraph.txt
stap=$texts/udp-client-server.stap.txt
recordings=(--store "$top_srcdir/tests/data")

exits 'a text is added up' 0 ftracectl top "$banner"
says 'the first line says what tracing costs' \
        '^Shown 78.5 us a call of udp_sendmsg; without the tracer about 12.9 to 13.7 us \(83 to 84 % less\)\.' "$out"
exits 'the same as a tree' 0 ftracectl tree "$banner"
says 'the hottest path is marked' '^ *34\.2 us +43\.5% +0\.556 us +1 +34\.2 us  > +ip_output$' "$out"
exits 'callers of a function' 0 ftracectl tree --callers=nf_hook_slow --depth=2 --json "$banner"
is 'add up to its calls' "$(jq -c '.tree[0] | [.count, ([.children[].count] | add)]' "$out")" '[2,2]'
exits 'without what tracing costs' 0 ftracectl top --corrected "$banner"
says 'it is said which figures are' '^SELF, TOTAL and AVG are corrected; MIN, MAX and the quantiles are as they were recorded\.$' "$out"
exits 'what it took without the tracer' 0 ftracectl tree --corrected --json "$banner"
is 'is in the middle of the range that was told' \
        "$(jq '.total_ns == ((.tracing.real_low_ns + .tracing.real_high_ns) / 2 | floor)' "$out")" true
exits 'a histogram is drawn' 0 ftracectl hist "$banner" nf_hook_slow
says 'with quantiles' '^nf_hook_slow: 2 calls, min .* p50 .* p99 .* max ' "$out"
exits 'calls are listed' 0 ftracectl calls "$stap" __skb_wait_for_more_packets --json
is 'each with its time' "$(jq -c 'map(.duration_ns / 1000)' "$out")" '[2521621,634]'
exits 'of interrupts the stolen time is told' 0 ftracectl top --json "$graph"
is 'gross and net' "$(jq -c '.[] | select(.function == "nf_iterate") | [.total_ns, .irq_ns, .net_ns]' "$out")" \
        '[29597,755,28842]'
is 'softirqs and wake-ups apart' \
        "$(jq -c '.[] | select(.function == "SyS_write") | [.irq_ns, .softirq_ns, .wake_ns, .net_of_all_ns]' "$out")" \
        '[755,41568,16396,58434]'
cat >"$work/all.txt" <<'END'
 0)               |  f() {
 0)   1.000 us    |    do_softirq();
 0)   1.000 us    |    try_to_wake_up();
 0)   1.000 us    |    schedule();
 0)   1.000 us    |    smp_reschedule_interrupt();
 0)   9.000 us    |  }
END
exits 'of all that keeps a call busy' 0 ftracectl top "$work/all.txt"
says 'six columns tell where the time went' '^ *SELF +SELF% +TOTAL +CALLS +P99 +FUNCTION$' "$out"
says 'and that there are more' '--columns=all shows them'
exits 'all columns' 0 ftracectl top --columns=all "$work/all.txt"
says 'each has a column' 'TOTAL +STOLEN +SOFTIRQ +WAKING +NET +BLOCKED +ON-CPU +CALLS .* MAX +FUNCTION$' "$out"
says 'and what they leave is told' '^5.00 us +[0-9.]+% +9.00 us +1.00 us +1.00 us +1.00 us +6.00 us +1.00 us +8.00 us ' "$out"
ok 'nothing more is offered' not grep -q 'columns=all' "$err"
exits 'some columns' 0 ftracectl top --columns=max,name,on-cpu,max "$work/all.txt"
is 'each once, in that order' "$(sed -n 's/^ *\(MAX.*\)/\1/p' "$out" | tr -s ' ')" 'MAX FUNCTION ON-CPU'
exits 'a name is always there' 0 ftracectl top --columns=count --no-legend "$work/all.txt"
is 'at the end' "$(awk '{ print $2 }' "$out" | head -n 1)" f
exits 'of a text without interrupts' 0 ftracectl top --columns=all "$banner"
ok 'their columns are left out' not grep -qE 'STOLEN|BLOCKED' "$out"
exits 'unless they are asked for' 0 ftracectl top --columns=stolen,self "$banner"
says 'by name' '^ *STOLEN +SELF +FUNCTION$' "$out"
exits 'what is sorted by is shown' 0 ftracectl top --sort=max "$work/all.txt"
says 'in the place of P99' 'CALLS +MAX +FUNCTION$' "$out"
exits 'also by what is no time of a function' 0 ftracectl top --sort=blocked --no-legend "$work/all.txt"
is 'who waited is first' "$(awk 'NR == 1 { print $NF }' "$out")" f
for list in self,tital '' self,,name all,every; do
        exits "the columns '$list' are refused" 2 ftracectl top "--columns=$list" "$work/all.txt"
        one_sentence 'in one sentence'
done
says 'that lists them' '"every" is not one of self, share, total, .*, name, all\.'
exits 'so is an unknown key' 2 ftracectl top --sort=tital "$work/all.txt"
says 'with the same list' '"tital" is not one of self, share, total, .*, name\.'
exits 'JSON has all' 0 ftracectl top --json --columns=self "$work/all.txt"
ok 'whatever is asked for' jq -e '.[0] | has("max_ns") and has("blocked_ns")' "$out"
exits 'folded' 0 ftracectl top --json --fold=try_to_wake_up "$graph"
is 'a wake-up is one function' "$(jq -c '.[] | select(.function == "try_to_wake_up") | [.self_ns, .total_ns]' "$out")" '[16396,16396]'
exits 'the slowest call' 0 ftracectl slow -n 1 --json --root=__x64_sys_recvfrom "$stap"
is 'differs by what it waited' \
        "$(jq -c '.[0] | [.function, .duration_ns, (.differences[0] | .kind, .function), (([.differences[].change_ns] | add) - (.duration_ns - .usual_ns) | fabs < 1)]' "$out")" \
        '["__x64_sys_recvfrom",2521806000,"waiting","__skb_wait_for_more_packets",true]'
exits 'a recording without switches' 0 ftracectl waits "$banner"
says 'does not tell who waited, and what would' 'record with --sched'
exits 'a function that was not called' 3 ftracectl hist "$banner" kfree_rcu_work
says 'is not found' 'there are no calls of "kfree_rcu_work"'

# One number, four ways.
for kernel in 6.1 6.12 new; do
        source=("${recordings[@]}" "udp_sendmsg-$kernel")
        exits "$kernel: functions" 0 ftracectl top --json "${source[@]}"
        self=$(jq 'map(.self_ns) | add' "$out") count=$(jq 'map(.count) | add' "$out")
        for by in module task cpu root; do
                exits "$kernel: by $by" 0 ftracectl top --json --by=$by "${source[@]}"
                is "$kernel: by $by the same time" "$(jq 'map(.self_ns) | add' "$out")" "$self"
        done
        exits "$kernel: a tree" 0 ftracectl tree --json "${source[@]}"
        is "$kernel: the same time in the tree" "$(jq '.total_ns' "$out")" "$self"
        is "$kernel: and in its nodes" "$(jq '[.tree[] | recurse(.children[]) | .self_ns] | add' "$out")" "$self"
        is "$kernel: each node is its self and its children" \
                "$(jq '[.tree[] | recurse(.children[]) | .total_ns == .self_ns + ([.children[].total_ns] | add)] | all' "$out")" true
        is "$kernel: and the same calls" "$(jq '[.tree[] | recurse(.children[]) | .count] | add' "$out")" "$count"
        exits "$kernel: calls" 0 ftracectl calls --json "${source[@]}" '*'
        is "$kernel: as many" "$(jq length "$out")" "$count"
        is "$kernel: as long" "$(jq 'map(.self_ns) | add' "$out")" "$self"
        exits "$kernel: a histogram" 0 ftracectl hist --json "${source[@]}" '*'
        is "$kernel: of as many" "$(jq '[.all.count + .all.cut, (.all.ranges | map(.count) | add)] | .[0]' "$out")" "$count"
done

# Who woke whom.
cat >"$work/wakes.txt" <<'END'
     1.000000 |   1)    server-17    |               |  __x64_sys_recvfrom() {
     1.000010 |   1)    server-17    |               |    schedule() {
     1.000020 |   1)    server-17    |               |      /* sched_switch: prev_comm=server prev_pid=17 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120 */
     1.000300 |   0)    client-16    |               |  sock_def_readable() {
     1.000310 |   0)    client-16    |               |    /* sched_waking: comm=server pid=17 prio=120 target_cpu=001 */
     1.000350 |   0)    client-16    | + 50.000 us   |  }
     1.000353 |   1)    <idle>-0     |               |  /* sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=17 next_prio=120 */
     1.000360 |   1)    server-17    | ! 350.000 us  |    }
     1.000370 |   1)    server-17    | ! 370.000 us  |  }
END
exits 'calls that waited are listed' 0 ftracectl calls "$work/wakes.txt" __x64_sys_recvfrom
says 'with who woke them, from where, and how long that took' \
        '__x64_sys_recvfrom  waited 333.0 us, woken by client-16 in sock_def_readable, ran 43.0 us later$' "$out"
exits 'and as JSON' 0 ftracectl calls --json "$work/wakes.txt" '*'
is 'the waits of a call are those of the calls below it' \
        "$(jq -c 'map([.function, (.waits[] | .away_ns, .latency_ns, .woken_by, .woken_by_pid, .woken_in)])' "$out")" \
        '[["sock_def_readable"],["schedule",333000,43000,"client",16,"sock_def_readable"],["__x64_sys_recvfrom",333000,43000,"client",16,"sock_def_readable"]]'

# What a call waited for.
exits 'a path is found' 0 ftracectl path "$work/wakes.txt" __x64_sys_recvfrom
says 'it begins with the answer' \
        '^__x64_sys_recvfrom, call 1, took 370\.0 us: 78 % waiting for client-16, which ran where nothing was recorded; 12 % waiting for a CPU that was idle; 10 % running\.$' "$out"
says 'what the waker ran stands below what waited' \
        '^300\.0 us +10\.0 us +2\.7% +client-16 +0 +ran +sock_def_readable +__x64_sys_recvfrom$' "$out"
exits 'and as JSON' 0 ftracectl path --json "$work/wakes.txt" __x64_sys_recvfrom
is 'its segments add up' "$(jq -c '.[0] | [.duration_ns, (.segments | map(.duration_ns) | add)]' "$out")" '[370000,370000]'
is 'and follow each other' \
        "$(jq -c '.[0] | .start_ns as $t | [foreach .segments[] as $s ($t; . + $s.duration_ns; . - $s.duration_ns == $s.start_ns)] | all' "$out")" true
is 'each with its task and what it did' \
        "$(jq -c '.[0].segments | map([.depth, .pid, .kind, .function])' "$out")" \
        '[[0,17,"ran","__x64_sys_recvfrom"],[0,17,"ran","schedule"],[1,16,"ran",null],[1,16,"ran","sock_def_readable"],[0,17,"queued","__x64_sys_recvfrom"],[0,17,"ran","schedule"],[0,17,"ran","__x64_sys_recvfrom"]]'
exits 'of another call' 0 ftracectl path --json --nth=2 "$work/wakes.txt"
is 'the number is that of the filter' "$(jq -c '.[0] | [.function, .number, .duration_ns]' "$out")" '["sock_def_readable",2,50000]'
is 'and calls are counted as it counts them' "$(ftracectl report --nth=2 "$work/wakes.txt" 2>/dev/null | grep -c 'sock_def_readable() {')" 1
exits 'of few rows' 0 ftracectl path --limit=2 "$work/wakes.txt" __x64_sys_recvfrom
says 'the others are one' '^ +47\.0 us +12\.7% +5 others$' "$out"
exits 'the slowest of all' 0 ftracectl slow -n 50 --json --store "$top_srcdir/tests/data" udp-pairs-6.12 --root='udp_*'
is 'are numbered by their beginnings, whichever ends first' "$(jq -c 'sort_by(.start_ns) | map(.number)' "$out")" "$(jq -nc '[range(1; 33)]')"
exits 'one of them' 0 ftracectl slow --store "$top_srcdir/tests/data" udp-pairs-6.12 --nth=2
says 'has the number that it is asked for by' '^1\. udp_sendmsg took 30\.1 ms, call 2, ' "$out"
exits 'waits' 0 ftracectl waits --store "$top_srcdir/tests/data" udp-pairs-6.12
says 'how long it took to run again is not known where nobody was seen to wake it' '666\.1 us +- +- +__skb_wait_for_more_packets +\?$' "$out"
sed 's/^\( *\)1\./\12./; s/server-17/server-27/; s/=server pid=17/=server pid=27/; s/prev_comm=server prev_pid=17/prev_comm=server prev_pid=27/; s/next_pid=17/next_pid=27/' \
        "$work/wakes.txt" >"$work/twice.txt"
cat "$work/wakes.txt" "$work/twice.txt" >"$work/both.txt"
exits 'of two calls the slowest hundredth is one' 0 ftracectl path --all --json "$work/both.txt" __x64_sys_recvfrom
is 'and is whole' "$(jq -c '.[0] | [.calls, .of_calls, .duration_ns]' "$out")" '[1,2,370000]'
for _ in {1..101}; do cat "$work/wakes.txt"; done | awk '{ $1 += int((NR - 1) / 9); printf "%15.6f %s\n", $1, substr($0, index($0, "|")) }' >"$work/many.txt"
exits 'of a hundred and one it is two' 0 ftracectl path --all --json "$work/many.txt" __x64_sys_recvfrom
is 'which are added up' "$(jq -c '.[0] | [.calls, .of_calls, .number, .duration_ns, (.segments | map(.duration_ns) | add)]' "$out")" '[2,101,null,740000,740000]'
is 'row by row' "$(jq -c '.[0].segments[0] | [.depth, .task, .count, .duration_ns]' "$out")" '[1,"client",2,560000]'
exits 'a table of them' 0 ftracectl path --all "$work/many.txt" __x64_sys_recvfrom
says 'has what one took' '^__x64_sys_recvfrom: the slowest 2 of 101 calls took 370\.0 us each: 78 % waiting for client' "$out"
exits 'without switches there is none' 1 ftracectl path "$banner"
says 'and what would tell is said' 'record with --sched'
exits 'standard input cannot be read twice' 2 ftracectl path -
says 'a file can' 'give a file'
exits 'a function that was not called has none' 3 ftracectl path "$work/wakes.txt" no_such_function
says 'which is said' 'there are no calls of "no_such_function"'

# What earlier versions measured when a session was armed.
cp -r "$top_srcdir/tests/data" "$work/data"
meta=$work/data/sessions/udp_sendmsg-6.12/session.json
chmod -R u+w "$work/data"
exits 'a recording without a calibration' 0 ftracectl top --json --store "$work/data" udp_sendmsg-6.12
cp "$out" "$work/without.json"
jq '.calibration = { calls: 1000, outer_ns: 1600, inner_low_ns: 1400, inner_ns: 1450, inner_high_ns: 1500, realtime_ns: 1 }' \
        "$meta" >"$work/meta.json" && cp "$work/meta.json" "$meta"
exits 'one with it is read' 0 ftracectl top --json --store "$work/data" udp_sendmsg-6.12
ok 'as if it were not there' cmp "$out" "$work/without.json"

# What is printed is what the schema says.
if command -v python3 >/dev/null; then
        conforms() { # NAME VERB [WORD...]
                ftracectl "${@:2}" --json >"$work/table.json" &&
                        python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" "$1" "$work/table.json"
        }
        # A recording with interrupts, a text with them and without times, one with waits that are
        # known by name, one with switches.
        for what in "${recordings[*]} udp_sendmsg-6.12" "$graph" "$stap" "$work/wakes.txt"; do
                read -ra words <<<"$what"
                for verb in top tree hist slow why; do
                        exits "$verb of ${words[-1]##*/} conforms" 0 conforms $verb $verb "${words[@]}"
                done
                exits "calls of ${words[-1]##*/} conform" 0 conforms calls calls "${words[@]}" '*'
                exits "${words[-1]##*/} compared with itself conforms" 0 conforms diff diff "${words[@]}" "${words[-1]}"
        done
        for by in module task cpu root; do
                exits "top by $by conforms" 0 conforms top top --by=$by "$graph"
        done
        exits 'waits conform' 0 conforms waits waits "$work/wakes.txt"
        exits 'a path conforms' 0 conforms path path "$work/wakes.txt"
        exits 'paths that are added up conform' 0 conforms path path --all "$work/many.txt"
        exits 'callers conform' 0 conforms tree tree --callers=nf_hook_slow "$banner"
        exits 'other functions: what came and went conforms' 0 \
                conforms diff diff --root=udp_sendmsg "${recordings[@]}" udp_sendmsg-6.1 udp_sendmsg-6.12
        exits 'a table that is another one does not' 1 conforms tree top "$graph"
else
        skip_one 'tables conform to their schema' 'python3 is not installed'
fi

: >"$work/empty.txt"
printf ' 0)   1.234 us    |  kfree();\n' >"$work/one.txt"
printf 'CPU:0 [LOST 17 EVENTS]\n 0)   1.234 us    |  kfree();\n' >"$work/lost.txt"
for verb in top tree slow hist calls; do
        exits "$verb: an empty text" 1 ftracectl $verb "$work/empty.txt"
        exits "$verb: one call" 0 ftracectl $verb "$work/one.txt"
        says "$verb: is shown" kfree "$out"
        exits "$verb: a loss is told" 6 ftracectl $verb "$work/lost.txt"
done

# What a loss cut off has two bounds: until the last of its task before the loss, and until the next behind it.
cat >"$work/six.txt" <<'END'
   41.000000 |   1)  udp-ser-205   |               |  udp_sendmsg() {
   41.000010 |   1)  udp-ser-205   |   1.000 us    |    ip_make_skb();
CPU:1 [LOST 10 EVENTS]
   41.010000 |   1)  udp-ser-205   |               |  udp_sendmsg() {
   41.010010 |   1)  udp-ser-205   |   1.000 us    |    ip_make_skb();
   41.010100 |   1)  udp-ser-205   | ! 100.000 us  |  }
END
sed 4d "$work/six.txt" >"$work/five.txt" # where the loss has the entry, too
for text in six five; do
        exits "$text: the slowest is one that is known" 6 ftracectl slow "$work/$text.txt"
        says "$text: not one that was cut" '^1\. udp_sendmsg took 100\.0 us, call 2,' "$out"
        says "$text: which has two bounds" '^2\. udp_sendmsg took 11\.0 us to 10\.0 ms, call 1,' "$out"
        exits "$text: so says the page" 6 ftracectl export --format=html "$work/$text.txt"
        says "$text: of the same one" '2\. <b>11\.0 us to 10\.0 ms</b>' "$out"
        exits "$text: what was seen counts" 6 ftracectl top --json "$work/$text.txt"
        is "$text: and no more" "$(jq -c '[.[] | [.function, .count, .cut, .self_ns, .total_ns]]' "$out")" \
                '[["udp_sendmsg",2,1,109000,111000],["ip_make_skb",2,0,2000,2000]]'
        for filter in --limit=9 --depth=1 --slower=5us --function=udp_sendmsg --root=udp_sendmsg; do
                exits "$text: calls are listed with $filter" 6 ftracectl calls --json "$filter" "$work/$text.txt" udp_sendmsg
                is "$text: with the same bounds" "$(jq -c 'map([.duration_ns, .most_ns])' "$out")" \
                        '[[11000,10000000],[100000,100000]]'
        done
        exits "$text: it is not slow" 6 ftracectl calls --json --slower=12us "$work/$text.txt" '*'
        is "$text: by a bound that was not seen" "$(jq -c 'map(.duration_ns)' "$out")" '[100000]'
done
exits 'a call that the end cut off' 0 ftracectl slow <(head -n 2 "$work/six.txt")
says 'may have taken any time' 'udp_sendmsg took 11\.0 us or longer, call 1,' "$out"
exits 'without times' 6 ftracectl slow <(sed 's/^ *[0-9.]* | //' "$work/six.txt")
says 'nobody knows how much later anything was' 'udp_sendmsg took [0-9.]* us or longer, call 1,' "$out"

# --- who did what ---------------------------------------------------------------------------------

# On lo the sender's own softirq wakes the receiver, whether its calls are recorded or not.
cat >"$work/softirq.txt" <<'END'
cpus=2
       server-205   [001] .....    41.000000: funcgraph_entry:                   |  udp_recvmsg() {
       server-205   [001] .....    41.000001: funcgraph_entry:                   |    __skb_wait_for_more_packets() {
       server-205   [001] d....    41.000010: sched_switch: server:205 [120] S ==> swapper/1:0 [120]
     frontend-346   [000] d.s2.    41.010010: sched_waking: server:205 [120] CPU:001
       <idle>-0     [001] d....    41.010020: sched_switch: swapper/1:0 [120] R ==> server:205 [120]
       server-205   [001] .....    41.010030: funcgraph_exit:  # 10029.000 us |    }
       server-205   [001] .....    41.010040: funcgraph_exit:  # 10040.000 us |  }
END
sed 's/d\.s2\./d.h2./; s/__skb_wait_for_more_packets/do_nanosleep/' "$work/softirq.txt" >"$work/timer.txt"
softirq='in a softirq while frontend-346 ran (packet or timeout)'
exits 'a softirq wakes' 0 ftracectl waits "$work/softirq.txt"
ok 'while a task ran' grep -qF "($softirq)" "$out"
says 'and what to record to know more' '^A softirq woke what waited in udp_recvmsg while frontend-346 ran, .* record udp_sendmsg as well\.$' "$err"
exits 'of a path, too' 0 ftracectl path "$work/softirq.txt"
ok 'in a sentence' grep -qF "waiting in __skb_wait_for_more_packets, woken $softirq" "$out"
says 'and a note' 'record udp_sendmsg as well' "$err"
exits 'of each call, too' 0 ftracectl calls "$work/softirq.txt" udp_recvmsg
ok 'in its line' grep -qF "waited 10.0 ms, woken $softirq" "$out"
exits 'in JSON' 0 ftracectl waits --json "$work/softirq.txt"
is 'by its own names' "$(jq -c '.[0].waker | [.task, .pid, .interrupt, .softirq, .what]' "$out")" \
        '["frontend",346,false,true,"packet or timeout"]'
exits 'a path in JSON' 0 ftracectl path --json "$work/softirq.txt"
is 'has a kind of it' "$(jq -c '.[0].segments[] | select(.kind == "softirq") | [.task, .cpu_had, .cpu_had_pid, .what, .duration_ns]' "$out")" \
        '["server","frontend",346,"packet or timeout",10000000]'
exits 'a timer wakes' 0 ftracectl path "$work/timer.txt"
says 'which the waiting function tells' 'waiting in do_nanosleep, woken by an interrupt \(timer\)' "$out"
ok 'and nothing is to be recorded' not grep -q 'as well' "$err"

# --- between calls --------------------------------------------------------------------------------

# 40 calls of 20 us, behind each of which the task is off the CPU for 5 ms.
between() { # NEXT-TASK
        awk -v by="$1" 'BEGIN {
                print "cpus=1"
                for (i = 0; i < 40; i++) {
                        at = 41 + i / 100
                        printf "       victim-77    [000] .....    %.6f: funcgraph_entry:      + %d.000 us   |  vfs_read();\n", at, 15 + i % 7
                        printf "       victim-77    [000] d....    %.6f: sched_switch: victim:77 [120] R ==> %s [120]\n", at + 4e-5, by
                        printf "       %s    [000] d....    %.6f: sched_switch: %s [120] S ==> victim:77 [120]\n", (by == "rt:78" ? "rt-78" : "<idle>-0"), at + 504e-5, by
                }
        }'
}
between rt:78 >"$work/preempted.txt"
between swapper/0:0 >"$work/throttled.txt"
was='victim-77 was off the CPU 40 times between its calls, behind vfs_read, 200.0 ms in all and 5.00 ms at most: '
exits 'what a task did between calls is told' 0 ftracectl waits "$work/preempted.txt"
says 'with for whom' '^200\.0 ms +40 +5\.00 ms +5\.00 ms +- +- +\(between calls of victim-77\) +\(preempted: rt-78 had the CPU longest\) *$' "$out"
exits 'by a path' 0 ftracectl path "$work/preempted.txt"
is 'first' "$(head -n 1 "$out")" "${was}rt-78 had the CPU longest."
exits 'by why' 0 ftracectl why "$work/preempted.txt"
is 'first' "$(head -n 1 "$out")" "${was}rt-78 had the CPU longest."
exits 'where nobody else ran' 0 ftracectl why "$work/throttled.txt"
is 'it may be throttled' "$(head -n 1 "$out")" "${was}nothing else ran: perhaps throttled (cpu.max)."
exits 'in JSON' 0 ftracectl why --json "$work/throttled.txt"
is 'as a row of waits' "$(jq -c '.between_calls | [.task, .pid, .function, .count, .waited_ns, .idle_ns, .cpu_had_pid, .between_calls]' "$out")" \
        '["victim",77,"vfs_read",40,200000000,200000000,0,true]'
exits 'a short one' 0 ftracectl path "$work/softirq.txt"
says 'goes without saying' '^udp_recvmsg, call 1, ' <(head -n 1 "$out")
exits 'what was left out may have been between calls' 0 ftracectl waits --function=vfs_read "$work/preempted.txt"
ok 'of which nothing is told' not grep -q between "$out"

# --- idle receivers --------------------------------------------------------------------------------

# Each 10 ms a datagram is sent in 50 to 400 us, which udp_recvmsg() waits for, and do_epoll_wait() for a timer.
receivers() { # STATE FUNCTION WOKEN-US: how udp_recvmsg() waits, in what, and until when
        awk -v state="$1" -v inner="$2" -v woken="$3" '
                function line(task, cpu, us, what) {
                        printf "%17s   [%03d] .....    %.6f: %s\n", task, cpu, at + us / 1e6, what
                }
                function enter(task, cpu, us, what) {
                        line(task, cpu, us, "funcgraph_entry:                   |  " what "() {")
                }
                function leave(task, cpu, us, took, indent) {
                        line(task, cpu, us, "funcgraph_exit:  # " took ".000 us |  " indent "}")
                }
                BEGIN {
                        for (i = 0; i < 60; i++) {
                                at = 41 + i / 100
                                enter("server-205", 1, 0, "udp_recvmsg")
                                enter("server-205", 1, 5, "  " inner)
                                enter("server-205", 1, 8, "    schedule")
                                line("server-205", 1, 10, "sched_switch: server:205 [120] " state " ==> swapper/1:0 [120]")
                                enter("poller-77", 2, 20, "do_epoll_wait")
                                enter("poller-77", 2, 25, "  schedule")
                                line("poller-77", 2, 30, "sched_switch: poller:77 [120] S ==> swapper/2:0 [120]")
                                enter("client-346", 0, 9500, "udp_sendmsg")
                                line("client-346", 0, woken, "sched_waking: server:205 [120] CPU:001")
                                line("<idle>-0", 1, 9560, "sched_switch: swapper/1:0 [120] R ==> server:205 [120]")
                                leave("server-205", 1, 9570, 9562, "    ")
                                leave("server-205", 1, 9580, 9575, "  ")
                                leave("server-205", 1, 9590, 9590)
                                leave("client-346", 0, 9550 + i * 7919 % 350, 50 + i * 7919 % 350)
                                line("<idle>-0", 2, 9910, "sched_switch: swapper/2:0 [120] R ==> poller:77 [120]")
                                leave("poller-77", 2, 9920, 9895, "  ")
                                leave("poller-77", 2, 9930, 9910)
                        }
                }' | sort -s -n -k4,4 | sed '1i cpus=3'
}
# The root that each verb chooses, and of how many calls it says that they were left out.
chosen() { # FILE [OPTION...]
        for verb in slow why path; do
                ftracectl "$verb" --json "$@" 2>/dev/null |
                        jq -c '[.. | objects | select(has("left_out"))] | [(map(.function) | unique), (.[0].left_out | map(.calls) | add)]'
        done | uniq | paste -sd' '
}
receivers S __skb_wait_for_more_packets 9540 >"$work/receivers.txt"
left_out='60 calls of udp_recvmsg (up to 9.59 ms), 60 of do_epoll_wait (up to 9.91 ms) waited for input most of their time and are left out: --root=NAME shows them.'
is 'an idle receiver is not slow: all choose the sender' "$(chosen "$work/receivers.txt")" '[["udp_sendmsg"],120]'
for verb in slow why path; do
        exits "$verb: what waited for input" 0 ftracectl "$verb" "$work/receivers.txt"
        is "$verb: is left out, which is said" "$(grep input "$err")" "$left_out"
        exits "$verb: a receiver that is named" 0 ftracectl "$verb" --root=udp_recvmsg "$work/receivers.txt"
        says "$verb: is shown" 'udp_recvmsg.* (took|take) 9\.59 ms' "$out"
        ok "$verb: and nothing is left out" not grep -q input "$err"
done
for verb in why path; do
        exits "$verb: one that is a word" 0 ftracectl "$verb" "$work/receivers.txt" udp_recvmsg
        says "$verb: is shown, too" '^udp_recvmsg' "$out"
        ok "$verb: and nothing is left out either" not grep -q input "$err"
done
grep -v client-346 "$work/receivers.txt" >"$work/idle.txt"
is 'where each root has such calls they are chosen' "$(chosen "$work/idle.txt" -n 60)" '[["do_epoll_wait"],null]'
grep -v poller-77 "$work/idle.txt" >"$work/alone.txt"
is 'as those of one that is alone' "$(chosen "$work/alone.txt")" '[["udp_recvmsg"],null]'
{
        cat "$work/alone.txt"
        echo '       client-346   [000] .....    42.000000: funcgraph_entry:                   |  udp_sendmsg() {'
} >"$work/cut.txt"
is 'or beside one without a whole call' "$(chosen "$work/cut.txt")" '[["udp_recvmsg"],null]'
exits 'or if two recordings have no other in common' 0 ftracectl why "$work/receivers.txt" --against="$work/alone.txt"
says 'which are compared then' '^udp_recvmsg: its calls take 9\.59 ms' "$out"
for how in 'D __skb_wait_for_more_packets 9540' 'S __lock_sock 9540' 'S mutex_lock_interruptible 9540' \
        'R __skb_wait_for_more_packets 9540' 'S __skb_wait_for_more_packets 2000'; do
        # shellcheck disable=SC2086 # words of it
        receivers $how >"$work/busy.txt"
        is "one that waited otherwise ($how) is slow" "$(chosen "$work/busy.txt")" '[["udp_recvmsg"],60]'
done
grep -v sched_ "$work/receivers.txt" >"$work/named.txt"
exits 'without switches' 0 ftracectl slow "$work/named.txt"
is 'functions that wait tell the same' "$(grep input "$err")" "$left_out"
grep -v -e sched -e wait_for -e '9575\.' -e '9562\.' -e '9895\.' "$work/receivers.txt" >"$work/unknown.txt"
exits 'where no wait was recorded' 0 ftracectl slow --json "$work/unknown.txt"
is 'nothing is left out for a name' "$(jq -c '.[0] | [.function, .left_out]' "$out")" '["do_epoll_wait",[]]'
exits 'a page' 0 ftracectl export --format=html "$work/receivers.txt"
ok 'says the same' grep -qF ">$left_out<" "$out"
says 'of those that it shows' '<p id="cause">[^<]*udp_sendmsg' "$out"
is 'which are not these' "$(grep -o 'data-duration="[0-9]*"' "$out" | grep -c '"9[0-9]\{6\}"')" 0
exits 'of one root' 0 ftracectl export --format=html --root=udp_recvmsg "$work/receivers.txt"
ok 'leaves nothing out' not grep -q 'id="idle"' "$out"
is 'and has it' "$(grep -o 'data-duration="9590000"' "$out" | wc -l)" 10

# What is asked of a call is what it has, and not each of all causes.
took=()
for n in 500 10000; do
        awk -v n=$n 'BEGIN { srand(1); for (i = 0; i < 10000; i++) {
                printf " %12.6f |   0)               |  work() {\n", i / 1e4
                for (took = k = 0; k < 8; k++) {
                        took += us = 0.1 + rand()
                        printf " %12.6f |   0)   %.3f us    |    leaf_%d();\n", i / 1e4, us, int(n * rand())
                }
                printf " %12.6f |   0)   %.3f us    |  }\n", i / 1e4, took
        } }' >"$work/functions.txt"
        took[n]=$(cpu_ms "$top_builddir/ftracectl" why "$work/functions.txt" 2>/dev/null)
done
ok "why of 10,000 functions takes no four times as long as of 500 (${took[*]} ms)" \
        test "${took[10000]}" -lt $((4 * took[500]))
done_testing
