#!/bin/bash
# Touches: function_graph; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: new
#
# Roots come and go beside sessions that look calls up: the kernel does not fault (every story asks for
# that at its end), recordings lack nothing but what their gaps say, and lists of processes are as they
# were.
. "$(dirname "$0")/../functions.sh"
require_kernel
has_instances || skip 'there is one tracer'

# With everything hooked each call of the kernel is looked up, and takes long where it is emulated.
rounds=2 hooked=$work/some
[[ -z ${FTRACED_LONG:-} ]] || rounds=12 hooked=off
printf '%s\n' inet_sendmsg ip_make_skb udp_send_skb >"$work/some"

busy() {
        while :; do dd if=/dev/zero of=/dev/null bs=64 count=20000 2>/dev/null; done
}
# What it forks is recorded as well.
forking() {
        while :; do
                for _ in 1 2 3 4 5 6 7 8; do /bin/true & done
                wait
        done
}
gaps() { # NAME
        session "$1" '[(.gaps // [])[].cause] | join(" ")'
}
times() { # N WORD
        local i text=

        for ((i = 0; i < $1; i++)); do text+=" $2"; done
        echo "${text# }"
}

busy &
busy_pid=$!
cleanup_fn kill "$busy_pid"
forking &
forking_pid=$!
cleanup_fn kill "$forking_pid"

ok 'the daemon starts' start_ftraced
exits 'one that records all processes starts' 0 ftracectl start -n all --lean="$hooked" udp_sendmsg
exits 'one that records a family of processes starts' 0 \
        ftracectl start -n some --lean="$hooked" --pid="$forking_pid" udp_sendmsg
ok 'somebody is in its list' grep -q '^[0-9]' "$tracefs/instances/ftraced-some/set_ftrace_pid"

for ((i = 1; i <= rounds; i++)); do
        "$top_builddir/ftracectl" start -q -n come --lean="$work/some" inet_sendmsg >/dev/null 2>"$work/err.$i" ||
                note "round $i: $(cat "$work/err.$i")"
        "$udp_pairs" 5 >/dev/null
        "$top_builddir/ftracectl" stop -q come >/dev/null 2>&1
        is "round $i: it recorded its calls" "$("$top_builddir/ftracectl" verify --json come | jq .trees)" 10
        "$top_builddir/ftracectl" remove -q come >/dev/null 2>&1
done

is 'the list of the one is empty again' "$(cat "$tracefs/instances/ftraced-all/set_ftrace_pid")" 'no pid'
is 'those left out by the other are, too' "$(cat "$tracefs/instances/ftraced-some/set_ftrace_notrace_pid")" 'no pid'
"$udp_pairs" 5 >/dev/null
for name in all some; do
        stops "$name stops" "$name"
        is "$name: each change of the filter is a gap, and nothing else is" "$(gaps "$name")" \
                "$(times $((2 * rounds)) roots_changed)"
done
is 'all: what was called between the changes is there' \
        "$("$top_builddir/ftracectl" verify --json all | jq .trees)" $((10 * rounds + 10))
note "gaps of $(session all '[.gaps[] | (.to_ns - .from_ns) / 1e6 | floor] | sort | "\(.[0]) to \(.[-1]) ms, median \(.[length / 2 | floor])"')"
is_as_before 'tracefs is as it was'
ok 'the daemon ends' stop_ftraced
done_testing
