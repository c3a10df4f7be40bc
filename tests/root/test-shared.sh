#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12
#
# Sessions that record at the same time have one graph filter and one count of depth between them.
# Each recording holds the trees of its own roots, whole, and nothing else, and names its neighbours.
# Where the kernel faults if its filter changes meanwhile (daemon/instances/quiesce.c), each change is a gap.
# Where there is one tracer, sessions follow one another.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some

begin() { # NAME [OPTION...] ROOT
        exits "$1 starts" 0 ftracectl start -n "$@"
}
end() { # NAME: and draws it to $work/NAME.text
        stops "$1 stops" "$1"
        ftracectl report "$1" >"$work/$1.text" 2>"$err"
        ftracectl verify --json "$1" >"$work/$1.verify" 2>"$err"
}
calls_of() { # FUNCTION NAME: how often it is drawn, at whatever depth
        grep -cE "\\|  +$1\\(\\)" "$work/$2.text"
}
is_whole() { # NAME TREES NEIGHBOURS [CHANGES]: of the filter while it recorded
        local trees entries exits causes neighbours

        # Two users at once make what linux 7.2 leaves out (lib/calls/census.c) the rule.
        read -r trees entries exits < <(jq -r '"\(.trees) \(.entries - ([.notes[] |
                select(contains("irq_exit_rcu")) | split(" ")[0] | tonumber] | add // 0)) \(.exits)"' "$work/$1.verify")
        { read -r causes && read -r neighbours; } < <(session "$1" \
                '([(.gaps // [])[].cause] | join(" ")), (.neighbours | sort | join(" "))')
        is "$1: all its trees are there, and no others" "$trees" "$2"
        is "$1: entries equal exits, but for those that are known not to" "$entries" "$exits"
        is "$1: nothing is missing but while the filter changed" "$causes" "$(root_changes "${4:-0}")"
        is "$1: its neighbours are named" "$neighbours" "$3"
}
is_waiting() { # NAME
        grep -q '^Waiting' "$work/$1.err"
}
waiting() { # NAME OPTION... ROOT
        "$top_builddir/ftracectl" start -n "$@" >"$work/$1.out" 2>"$work/$1.err" </dev/null &
        waiting_pid=$!
}

ok 'the daemon starts' start_ftraced

# --- one tracer ---------------------------------------------------------------------------------

if ! has_instances; then
        begin one udp_sendmsg
        exits 'a second is refused' 5 ftracectl start -n two inet_sendmsg
        says 'the first is named' 'session one '
        waiting two --wait inet_sendmsg
        ok 'it may wait' wait_until 20 is_waiting two
        "$udp_pairs" 10 >/dev/null
        end one
        ok 'it begins when the first has ended' wait "$waiting_pid"
        "$udp_pairs" 10 >/dev/null
        end two
        is_whole one 20 ''
        is_whole two 20 ''
        is_as_before 'tracefs is as it was'

        echo function >"$tracefs/current_tracer"
        dump_tracefs "$work/tracefs.before"
        exits 'a tracer of somebody else is respected' 5 ftracectl start -n three udp_sendmsg
        exits 'unless by force' 0 ftracectl start --force -n three udp_sendmsg
        says 'which is said' 'Note: function of .*switched off'
        "$udp_pairs" 10 >/dev/null
        end three
        is_whole three 20 ''
        is_as_before 'the other tracer is on again, with its settings'
        cat "$tracefs/trace_pipe" >/dev/null &
        reader=$!
        sleep 1
        exits 'a reader of trace_pipe is not overridden' 5 ftracectl start --force -n four udp_sendmsg
        # The daemon has given up the capability to look into other processes: it may have no name.
        says 'it is said' "trace_pipe .*held open by (cat \\(pid $reader\\)|another process)"
        kill "$reader"
        wait "$reader"
        echo nop >"$tracefs/current_tracer"
        ok 'the daemon ends' stop_ftraced
        done_testing
fi

# --- lifetimes that overlap, roots that call one another ------------------------------------------

begin a udp_sendmsg
"$udp_pairs" 5 >/dev/null
begin b inet_sendmsg # calls udp_sendmsg
"$udp_pairs" 10 >/dev/null
end a
"$udp_pairs" 5 >/dev/null
begin c ip_make_skb # is called by udp_sendmsg
"$udp_pairs" 10 >/dev/null
end b
"$udp_pairs" 5 >/dev/null
is 'what is left of the filter is the last one'\''s' "$(cat "$tracefs/set_graph_function")" ip_make_skb
end c
is_whole a 30 b 1
is_whole b 50 'a c' 2
is_whole c 30 b 1
is_as_before 'tracefs is as it was'
is 'a: its root is drawn' "$(calls_of udp_sendmsg a)" 30
is 'a: what it calls is drawn' "$(calls_of ip_make_skb a)" 30
is 'a: what calls it is not' "$(calls_of inet_sendmsg a)" 0
is 'b: its root is drawn' "$(calls_of inet_sendmsg b)" 50
is 'b: the other roots are drawn below it' \
        "$(calls_of udp_sendmsg b) $(calls_of ip_make_skb b)" '50 50'
is 'c: its root is drawn' "$(calls_of ip_make_skb c)" 30
is 'c: what calls it is not' "$(calls_of udp_sendmsg c) $(calls_of inet_sendmsg c)" '0 0'
exits 'show works' 0 ftracectl show b
says 'show names the neighbours' 'Neighbours: a, c' "$out"

# Where it is not about how many functions are hooked, few are: that is armed ten times as fast.
printf '%s\n' inet_sendmsg udp_sendmsg ip_make_skb __ip_append_data udp_send_skb ip_send_skb >"$work/some"
some=--lean=$work/some

# --- while somebody looks ---------------------------------------------------------------------------

"$top_builddir/ftracectl" follow -n live "$some" udp_sendmsg >"$work/live.text" 2>"$work/live.err" </dev/null &
follow_pid=$!
ok 'one is followed' wait_until 20 grep -q Tracing "$work/live.err"
"$udp_pairs" 5 >/dev/null
begin late "$some" inet_sendmsg
"$udp_pairs" 10 >/dev/null
end late
kill -TERM "$follow_pid"
wait "$follow_pid"
is 'live: its status says whether anything is missing' "$?" "$(waits_for_cpus && echo 0 || echo 6)"
is 'live: so do its gaps' "$(session live '[(.gaps // [])[].cause] | join(" ")')" "$(root_changes 2)"
is 'live: all calls of its root were drawn' "$(calls_of udp_sendmsg live)" 30
is 'live: nothing of the neighbour that came meanwhile was' "$(calls_of inet_sendmsg live)" 0

# --- the same root twice, with other functions hooked -----------------------------------------------

# The first user of function_graph on 6.12 is told of returns from functions that only others hook.
printf 'ip_make_skb\nsock_alloc_send_pskb\n' >"$work/few"
begin few --lean="$work/few" udp_sendmsg
begin all udp_sendmsg
"$udp_pairs" 10 >/dev/null
end all
"$udp_pairs" 5 >/dev/null
end few
is_whole few 30 all
is_whole all 20 few
is 'few: it draws its functions' "$(calls_of udp_sendmsg few) $(calls_of ip_make_skb few)" '30 30'
is 'few: and no others' \
        "$(grep -cvE '^#|\|  +(udp_sendmsg|ip_make_skb|sock_alloc_send_pskb)\(\)|\|  +\}$|^ -+$| => |^$' "$work/few.text")" 0
is 'all: it draws what it recorded' "$(calls_of udp_sendmsg all) $(calls_of ip_make_skb all)" '20 20'
ok 'all: that is more' grep -q '__ip_append_data()' "$work/all.text"

# --- what cannot be united --------------------------------------------------------------------------

begin without "$some" --notrace=ip_make_skb udp_sendmsg
exits 'another list of what to leave out is refused' 5 ftracectl start -n no inet_sendmsg
one_sentence 'in one sentence'
says 'it names the file, the holder and the ways out' \
        'set_graph_notrace .*session without .*ftracectl stop without; or --wait'
begin without2 "$some" --notrace=ip_make_skb inet_sendmsg
"$udp_pairs" 10 >/dev/null
end without2
end without
is_whole without 20 without2 2
is_whole without2 20 without
is 'neither draws what was left out' \
        "$(calls_of ip_make_skb without) $(calls_of __ip_append_data without) $(calls_of ip_make_skb without2)" '0 0 0'
is 'one draws the root of the other' "$(calls_of udp_sendmsg without2)" 20

begin deep "$some" --depth=2 udp_sendmsg
exits 'another depth is refused' 5 ftracectl start -n no --depth=3 udp_sendmsg
says 'it names file and holder' 'max_graph_depth .*session deep '
exits 'the same depth from another root is refused' 5 ftracectl start -n no --depth=2 inet_sendmsg
says 'it says why' 'max_graph_depth counts from .*session deep '
waiting later "$some" --wait --depth=2 inet_sendmsg
ok 'it may wait' wait_until 20 is_waiting later
begin deep2 "$some" --depth=2 udp_sendmsg
"$udp_pairs" 10 >/dev/null
end deep
end deep2
ok 'what waited begins' wait "$waiting_pid"
"$udp_pairs" 5 >/dev/null
end later
is_whole deep 20 deep2
is_whole deep2 20 deep
is_whole later 10 ''
is 'both end at their depth' "$(calls_of ip_make_skb deep) $(calls_of ip_make_skb deep2)" '20 20'
is 'the one that waited has its own' "$(calls_of udp_sendmsg later) $(calls_of ip_make_skb later)" '10 0'
is_as_before 'tracefs is as it was after refusals'

# --- somebody else's instance -----------------------------------------------------------------------

foreign=$tracefs/instances/foreign
mkdir "$foreign"
echo tcp_sendmsg >"$tracefs/set_graph_function"
echo function_graph >"$foreign/current_tracer"
dump_tracefs "$work/tracefs.before"
exits 'function_graph of somebody else is respected' 5 ftracectl start -n forced udp_sendmsg
says 'it is named, with the ways out' 'instances/foreign is function_graph.*--wait.*--force'
exits 'unless by force' 0 ftracectl start --force "$some" -n forced udp_sendmsg
says 'which is said' 'Note: function_graph of .*instances/foreign.*switched off'
"$udp_pairs" 5 >/dev/null
end forced
is_whole forced 10 ''
is_as_before 'it is on again, with its filter'
waiting patient "$some" --wait udp_sendmsg
ok 'one may wait for it' wait_until 20 is_waiting patient
echo nop >"$foreign/current_tracer"
ok 'and begins when it is gone' wait "$waiting_pid"
echo function_graph >"$foreign/current_tracer" # hooks all functions with our filter
has_stranger() {
        session patient '.neighbours | join(" ")' | grep -q '^instances/foreign/$'
}
ok 'when it comes back it is a neighbour' wait_until 20 has_stranger
"$udp_pairs" 5 >/dev/null
end patient
is_whole patient 10 instances/foreign/
exits 'show works' 0 ftracectl show patient
says 'show has a note of it' 'somebody else has switched function_graph on in instances/foreign/' "$out"
echo nop >"$foreign/current_tracer"
is_put_back() {
        [[ $(<"$tracefs/set_graph_function") == tcp_sendmsg ]]
}
ok 'the filter that it used meanwhile is put back when it is off' wait_until 20 is_put_back
: >"$tracefs/set_graph_function"
rmdir "$foreign"
ok 'the daemon ends' stop_ftraced

# --- no more room in the kernel -----------------------------------------------------------------------

mkdir "$work/ledger"
"$top_builddir/tests/root/controller-probe" "$work/ledger" 17 >"$work/probe" 2>&1
is 'sixteen may record at once' "$(grep -c '^arm s[0-9]*: armed' "$work/probe")" 16
says 'the seventeenth is told that the kernel has no more room' \
        '^arm s17: org.ftraced.Busy: .*16 users of function_graph' "$work/probe"
dump_tracefs "$work/tracefs.after"
ok 'nothing of them is left' not grep -q ftraced "$work/tracefs.after"
done_testing
