#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new 6.12-rt arm64-6.12 arm64-16k-6.12
#
# What the roots call is what is hooked: shipped, learned from a lesson, or from whoever hooks everything.
. "$(dirname "$0")/../functions.sh"
require_kernel
pairs=100

n_hooked() { # NAME
        grep -vc '^#' "$(filter_of "$1")"
}

record() { # NAME OPTION...: the workload
        local name=$1

        shift
        exits "$name: start succeeds" 0 ftracectl start -q -n "$name" "$@" udp_sendmsg
        ok "$name: the workload succeeds" "$udp_pairs" $pairs
        hooked=$(n_hooked "$name")
        stops "$name: stop succeeds" "$name"
        is_as_before "$name: the kernel is as it was"
        is "$name: all trees are there" "$(ftracectl verify --json "$name" | jq .trees)" $((2 * pairs))
}

# What was drawn with something below it, but for what timers bring, the more the slower the machine, and the
# scheduler's inside.
callers_in() { # NAME
        ftracectl report --no-pager -q "$1" 2>/dev/null |
                awk -v least=$((2 * pairs / 10)) '
                        BEGIN { others = "^(sysvec_.*|.*_interrupt|irq_exit_rcu|__irq_exit_rcu|rcu_core(_si)?|run_timer_softirq" \
                                "|hrtimer_run_softirq|sched_balance_softirq|run_rebalance_domains|schedule|try_to_wake_up)$" }
                        !/\(\)|\}/ { next }
                        {
                                cpu = $1
                                sub(/^.*\|/, "")
                                match($0, /^ */)
                                if (hidden[cpu] && RLENGTH > hidden[cpu])
                                        next
                                hidden[cpu] = 0
                        }
                        /\(\) \{/ {
                                name = $1
                                sub(/\(.*/, "", name)
                                n[name]++
                                if (name ~ others)
                                        hidden[cpu] = RLENGTH
                        }
                        END { for (name in n) if (n[name] >= least) print name }' | sort
}

covers() { # NAME: nine tenths of what the whole tree has
        local n_all n_missing

        callers_in "$1" >"$work/callers"
        n_all=$(wc -l <"$work/everything")
        n_missing=$(comm -23 "$work/everything" "$work/callers" | wc -l)
        ok "$1: the tree is there ($n_missing of $n_all callers are missing: $(comm -23 "$work/everything" "$work/callers" | tr '\n' ' '))" \
                test $((n_missing * 10)) -le "$n_all"
}

lean_by_default
ok 'the daemon starts' start_ftraced
record shipped
is 'shipped: it is said whence the tree is' "$(session shipped .tree_from)" shipped
ok "shipped: it is hooked ($hooked functions)" test "$hooked" -gt 200 -a "$hooked" -lt 2000
ok 'shipped: where tasks wait is hooked' test "$(session shipped '.callees_unknown_of | index("rwsem_down_write_slowpath") // index("rt_mutex_schedule")')" -ge 0
record everything --lean=off
is 'everything: all is hooked' "$hooked" 0
is 'everything: which is said' "$(session everything .tree_from)" all
# To compare with: what interrupts do is no part of the tree.
record whole --lean=off --set=NoIRQs=yes
callers_in whole >"$work/everything"
covers shipped
ok 'everything: teaches' wait_until 120 learned
record learned
is 'learned: it is said whence the tree is' "$(session learned .tree_from)" learned
covers learned
is 'learned: nothing is left out' "$(session learned '.left_out // [] | length')" 0
exits 'learned: verify is content' 0 ftracectl verify learned

# --- a root that nobody knows --------------------------------------------------------------------
exits 'no lesson: start succeeds' 0 ftracectl start -q -n none --set=Lesson=no ip_send_skb
is 'no lesson: it is said what is missing' "$(session none '.warnings | map(select(test("Lesson=no"))) | length')" 1
ok 'no lesson: little is hooked' test "$(n_hooked none)" -gt 20 -a "$(n_hooked none)" -lt 300
is 'no lesson: and nothing is known' "$(session none '[.tree_from, .callees_unknown] | join(" ")')" 'unknown true'
stops 'no lesson: stop succeeds' none
exits 'lesson: start succeeds' 0 ftracectl start -n lesson ip_send_skb
says 'lesson: it is said that others run slower' 'learning what ip_send_skb calls: for 0.3 s, other work runs slower'
is_learned() { # after one more turn of the workload
        "$udp_pairs" "$pairs" && [[ $(session lesson .tree_from) == lesson && $(session lesson ".n_known // 0") -gt 50 ]]
}
ok 'lesson: it is learned' wait_until 120 is_learned
ok 'lesson: and hooked' test "$(n_hooked lesson)" -gt 50
ok 'lesson: our own work is written down' test "$(session lesson '.own_work | length')" -gt 0
ok 'lesson: as a change' test "$(session lesson '.hook_changes | map(select(.reason == "narrowed")) | length')" -gt 0
is 'lesson: nobody is said to have meddled' "$(session lesson '.gaps // [] | length')" 0
stops 'lesson: stop succeeds' lesson
exits 'lesson: verify is content' 0 ftracectl verify --json lesson
is 'lesson: entries equal exits' "$(jq .entries "$out")" "$(jq .exits "$out")"
is_as_before 'lesson: the kernel is as it was'
exits 'run: succeeds' 0 ftracectl run -q -n run udp_send_skb -- "$udp_pairs" "$pairs"
is 'run: of what nobody knows all is hooked' "$(session run '[.n_hooked, .tree_from] | join(" ")')" '0 all'
is_as_before 'run: the kernel is as it was'

# --- damage -------------------------------------------------------------------------------------
file=$(grep -ls '^roots udp_sendmsg$' "$store"/lean/*)
ok "what was learned is kept" test -e "$file"
echo garbage >"$file"
record damaged
is 'what is damaged is not used' "$(session damaged .tree_from)" shipped
is 'and said' "$(session damaged '.warnings | map(select(test("damaged"))) | length')" 1

printf 'udp_sendmsg\nip_make_skb\nip_send_skb\n' >"$work/list"
record list "--lean=$work/list"
is 'a list is hooked as it is' "$hooked" 3
is 'and it is said what else is known' "$(session list '[.tree_from, .left_out_why[0]] | join(" ")')" 'file filter'
exits 'full is refused' 2 ftracectl start -q -n full --lean=full udp_sendmsg
done_testing
