#!/bin/bash
# Touches: function_graph, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: everything is recorded twice; the system story and data/tracecmd show how it is read
# kernels: 6.12
# long kernels: 6.12-rt arm64-6.12 arm64-16k-6.12
#
# A fetched trace.dat is for trace-cmd what its own recording of the same load is, and has with the
# symbols and formats that occur what it has with all of them.
# Only here: trace-cmd's own recording of the same load, and the symbols and formats of a kernel that runs.
. "$(dirname "$0")/../functions.sh"
require_kernel
hooks_some
requires trace-cmd jq python3

# The trees of udp_sendmsg by what they call: "COUNT DIGEST" of each form, the most frequent first.
# Interrupts are not recorded, but now and then a tree differs: memory is short, a page is new.
# Of functions with several names trace-cmd takes one by chance, which is not always the same.
forms_of() { # FILE OF trace-cmd report
        python3 - "$1" <<'END'
import collections, hashlib, re, sys
trees, first, names = {}, {}, {}
forms = collections.Counter()
for text in open('/proc/kallsyms'):
    address, _, name = text.split()[:3]
    names[name] = first.setdefault(address, name)
line = re.compile(r'^ *(.+)-(\d+) +\[\d+\].* funcgraph_entry: .*\|( +)([^ ;({]+)\(')
for text in open(sys.argv[1]):
    m = line.match(text)
    if not m:
        continue
    pid, depth, function = m[2], len(m[3]), m[4]
    if function == 'udp_sendmsg':
        if pid in trees:
            forms['\n'.join(trees[pid])] += 1
        trees[pid] = []
    if pid in trees:
        trees[pid].append('%d %s' % (depth, names.get(function, function)))
with open(sys.argv[1] + '.form', 'w') as f:
    print(forms.most_common(1)[0][0] if forms else '', file=f)
for form, n in forms.most_common():
    print(n, form.count('\n') + 1, hashlib.md5(form.encode()).hexdigest())
END
}

ok 'trace-cmd records' trace-cmd record -q -p function_graph -g udp_sendmsg -O nofuncgraph-irqs \
        -o "$work/theirs.dat" "$udp_pairs" 60
trace-cmd reset >/dev/null 2>&1
echo 1 >"$tracefs/options/funcgraph-irqs"
dump_tracefs "$work/tracefs.before"
ok 'the daemon starts' start_ftraced
exits 'we record' 0 ftracectl run --format=none --lean=off -n ours --set=NoIRQs=yes udp_sendmsg -- "$udp_pairs" 60
exits 'it is fetched' 0 ftracectl fetch ours -o "$work/ours.dat"
for whose in theirs ours; do
        trace-cmd report -i "$work/$whose.dat" >"$work/$whose.report" 2>/dev/null
        forms_of "$work/$whose.report" >"$work/$whose.forms"
        note "$whose: $(head -n 3 "$work/$whose.forms" | tr '\n' ',')"
done
# The calls, however trace-cmd prints them, by what they are and how long they took.  Whether an
# interrupt at the beginning of a call was in it or in its caller is told by the clock readings of a
# recording, and by no report: self times are the same in their sum.
calls_of() { # SOURCE
        ftracectl top --json "$1" |
                jq -cS '[(map([.function, .count, .total_ns]) | sort), (map(.self_ns) | add)]'
}
calls_of "$work/theirs.dat" >"$work/theirs.calls"
trace-cmd report -i "$work/theirs.dat" >"$work/printed.txt" 2>/dev/null
ok 'what trace-cmd report prints has the same calls' cmp "$work/theirs.calls" <(calls_of "$work/printed.txt")

is 'as many trees are in it' "$(awk '{ n += $1 } END { print n + 1 }' "$work/ours.forms")" \
        "$(awk '{ n += $1 } END { print n + 1 }' "$work/theirs.forms")"
# Which form is the most frequent one can differ where two are nearly as frequent.
for whose in 'theirs ours' 'ours theirs'; do
        read -r one other <<<"$whose"
        ok "what a call of udp_sendmsg mostly is in $one is in $other, too" \
                grep -q " $(head -n 1 "$work/$one.forms" | cut -d ' ' -f 2-)\$" "$work/$other.forms"
done
diff "$work/theirs.report.form" "$work/ours.report.form" >"$work/diff"
show_file "$work/diff"
ok 'which is more than some calls' test "$(head -n 1 "$work/ours.forms" | cut -d ' ' -f 2)" -gt 20

# The forms of the file, with this kernel's real symbols, and events that name functions.
exits 'events are recorded, too' 0 ftracectl run --format=none -n events --event=sched:sched_switch \
        --event=net:net_dev_queue --event=workqueue:workqueue_execute_start udp_sendmsg -- "$udp_pairs" 20
report_unmarked --no-legend events >"$work/session" 2>"$err"
ok 'events: the session has them' grep -q 'sched_switch: ' "$work/session"
wanted=
for form in '' '--compress=zstd'; do
        # shellcheck disable=SC2086
        exits "events, ${form:-as it is}: it is fetched" 0 ftracectl fetch events -o "$work/it.dat" $form
        trace-cmd report -i "$work/it.dat" >"$work/it.report" 2>&1
        [[ $wanted ]] || {
                cp "$work/it.report" "$work/wanted"
                wanted=$(stat -c %s "$work/it.dat")
                ok 'events: they are in it' grep -q ' sched_switch: ' "$work/wanted"
        }
        note "${form:-as it is}: $(stat -c %s "$work/it.dat") bytes"
        ok "events, ${form:-as it is}: trace-cmd prints the same" cmp "$work/it.report" "$work/wanted"
        ok "events, ${form:-as it is}: we draw what the session is" \
                cmp "$work/session" <(ftracectl report --no-legend "$work/it.dat")
        ok "events, ${form:-as it is}: trace-cmd finds it valid" \
                grep -q 'is a valid' <(trace-cmd dump --validate -i "$work/it.dat" 2>&1)
done
exits 'five datagrams are recorded' 0 ftracectl run --format=none -n few udp_sendmsg -- "$udp_pairs" 2
exits 'and fetched' 0 ftracectl fetch few -o "$work/few.dat" --compress=zstd
note "five datagrams: $(stat -c %s "$work/few.dat") bytes"
ok 'that is small' test "$(stat -c %s "$work/few.dat")" -lt 100000
is_as_before 'the kernel is as it was'
done_testing
