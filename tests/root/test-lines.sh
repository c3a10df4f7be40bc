#!/bin/bash
# Touches: function_graph, the function tracer, the network (loopback); needs root and a kernel with both.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: it reads the debug information of a whole kernel
# kernels: 6.12 new
# needs: debug information
#
# The line that a call is said to have is the one that it returns to, as the kernel tells: its function tracer, beside
# recordings of three trees and of few functions of one, writes down the return address of every call.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires jq python3 nm eu-addr2line
grep -q '^#define HAVE_ELFUTILS' "$top_builddir/config.h" || skip 'this ftracectl was built without elfutils'
vmlinux=${FTRACED_DEBUG_DIRECTORY:-/usr/lib/debug}/boot/vmlinux-$(uname -r)
[[ -s $vmlinux ]] || skip "there is no $vmlinux, as Debian's linux-image-$(uname -r)-dbg has it (tests/vm/vmrun -D)"
grep -qw function "$tracefs/available_tracers" || skip 'this kernel has no function tracer'
readonly least_true_ppm=995000

# Waits for a line, calls all sorts of things, or only sends datagrams, and waits for another one: its own start and end are in nobody's way.
cat >"$work/load.py" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
connected = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
connected.connect(s.getsockname())
sys.stdin.readline()
files = {"/proc": ["self/status", "self/maps", "stat", "meminfo", "self/fd/0/x"], "/sys/kernel": ["notes", "nonexistent/file"],
         "/dev": ["zero", "null", "shm/lines"], "/run": ["."]}
for i in range(int(sys.argv[1])):
    connected.sendto(b"x" * 100, s.getsockname())
    connected.send(b"y" * 9000)
    connected.sendmsg([b"z" * 50, b"z"])
    for _ in range(3):
        s.recv(10000)
    for directory, paths in files.items() if sys.argv[2] == "all" else []:
        os.chdir(directory) # the way from the root is the guest's own: overlayfs, 9p
        for path in paths:
            try:
                fd = os.open(path, os.O_RDWR | os.O_CREAT if "shm" in path else os.O_RDONLY)
                if "shm" in path:
                    os.pwrite(fd, b"q" * 9000, 0)
                    os.unlink(path)
                os.read(fd, 5000)
                os.close(fd)
            except OSError:
                pass
    r, w = os.pipe()
    os.write(w, b"z")
    os.read(r, 1)
    os.close(r)
    os.close(w)
print(flush=True)
sys.stdin.readline()
END

# Of calls with exactly one line: how many return there, of how many of which that can be said.
cat >"$work/compare.py" <<'END'
import collections, json, os, re, subprocess, sys
calls_file, trace_file, vmlinux = sys.argv[1:]
at = {s[2]: int(s[0], 16) for s in map(str.split, open("/proc/kallsyms")) if s[2] in ("_text", "_etext", "return_to_handler")}
linked = next(int(line.split()[0], 16) for line in os.popen("nm " + vmlinux) if line.endswith(" _text\n"))

# "task-1  [000] ..... 12.345678: callee <ffffffff81000004> <-caller <ffffffff81000104>"
witnesses = collections.defaultdict(list)
line_of_trace = re.compile(r"\] .* (\d+)\.(\d{6}): (\S+)(?: \[\S+\])? <[0-9a-f]+> <-\S+(?: \[\S+\])? <([0-9a-f]+)>")
for line in open(trace_file, errors="replace"):
    m = line_of_trace.search(line)
    if m:
        witnesses[m[3]].append((int(m[1]) * 10**9 + int(m[2]) * 1000, int(m[4], 16) - 1))

# The last call of the function that the witness saw before the recording did, and that is not taken.
seen = collections.Counter()
stack, pending, compared = [], collections.defaultdict(list), []
for call in sorted(json.load(open(calls_file)), key=lambda c: (c["start_ns"], -c["duration_ns"])):
    start, name = call["start_ns"], call["function"].split(" ")[0]
    while stack and stack[-1][0] <= start:
        stack.pop()
    while witnesses[name] and witnesses[name][0][0] <= start + 500: # it is rounded to us
        pending[name].append(witnesses[name].pop(0))
    seen_ns, returns = pending[name].pop() if pending[name] else (0, 0)
    above = stack[-1][1] if stack else 0
    stack.append((start + call["duration_ns"], returns))
    said = re.fullmatch(r"((?:by a pointer|static call): )?([^ ,:]+:\d+)", call.get("called_from", ""))
    if not said:
        seen["has no line, or several"] += 1
    elif start - seen_ns > 10**6:
        seen["was not witnessed"] += 1
    elif returns == above or returns + 1 == at["return_to_handler"]:
        seen["was a tail call"] += 1 # which returns to where its caller does, or to function_graph, which returns there
    elif not at["_text"] <= returns < at["_etext"]:
        seen["was made by a module"] += 1
    else:
        compared.append((call, said, returns))

wanted = sorted({hex(a - at["_text"] + linked) for _, _, a in compared})
told = subprocess.run(["eu-addr2line", "-e", vmlinux], input="\n".join(wanted), text=True, capture_output=True).stdout.split("\n")
lines = dict(zip(wanted, told))
wrong = collections.Counter()
for call, said, address in compared:
    is_at = ":".join(lines[hex(address - at["_text"] + linked)].split(":")[:2])
    if ("/" + os.path.normpath(is_at)).endswith("/" + said[2]):
        seen["is true" + (", of those by a pointer" if said[1] else "")] += 1
    else:
        # Or a tail call of what is not traced, whose caller it returns to.
        wrong["%s in %s: %s said, %s is" % (call["function"], call["caller"], said[0], is_at)] += 1
for what, n in sorted(seen.items()):
    print("# %d %s" % (n, what))
for what, n in wrong.most_common(20):
    print("# wrong %d: %s" % (n, what))
n_true = sum(n for what, n in seen.items() if what.startswith("is true"))
print(n_true, len(compared))
END

witness=$tracefs/instances/witness
give_up_witness() {
        [[ ! -d $witness ]] || {
                echo nop >"$witness/current_tracer"
                rmdir "$witness"
        }
}
cleanup_fn give_up_witness

ok 'the daemon starts' start_ftraced
mkfifo "$work/go" "$work/done"
exec {ended}<>"$work/done"

compare() { # NAME ROUNDS KIND-OF-LOAD LEAST-COMPARED WORD...: of the start
        local name=$1 load n_true n_compared

        python3 "$work/load.py" "$2" "$3" <>"$work/go" >"$work/done" &
        load=$!
        exits "$name: a recording begins" 0 ftracectl start -n "$name" --pid=$load --buffer-size=64M "${@:5}"
        # What comes to ftrace later is called first: it sees the stack before function_graph changes it.
        mkdir "$witness"
        echo mono >"$witness/trace_clock"
        echo 1 >"$witness/options/sym-addr"
        echo 40000 >"$witness/buffer_size_kb"
        echo $load >"$witness/set_ftrace_pid"
        echo function >"$witness/current_tracer"
        echo >"$work/go"
        ok "$name: its calls are made" read -rt 300 -u "$ended"
        echo 0 >"$witness/tracing_on"
        stops "$name: it ends" "$name"
        echo >"$work/go"
        wait $load
        cp "$witness/trace" "$work/trace"
        is "$name: the witness lost nothing" "$(cat "$witness"/per_cpu/cpu*/stats | awk '/overrun|dropped/ { n += $NF } END { print n }')" 0
        give_up_witness
        is_as_before "$name: the kernel is as it was"

        exits "$name: a lines file is made of the debug information" 0 ftracectl lines "$name" -o "$work/$name.lines"
        exits "$name: all calls are listed" 0 ftracectl calls "$name" '*' --lines --json --vmlinux="$work/$name.lines"
        python3 "$work/compare.py" "$out" "$work/trace" "$vmlinux" >"$work/compared" 2>"$work/compare.err"
        show_file "$work/compare.err"
        grep '^#' "$work/compared"
        read -r n_true n_compared < <(tail -n 1 "$work/compared")
        ok "$name: enough calls have one line, and a witness (${n_compared:-0})" test "${n_compared:-0}" -ge "$4"
        ok "$name: of these it is the true one in 99.5 of 100 (${n_true:-0})" \
                test $((${n_true:-0} * 1000000)) -ge $((${n_compared:-1} * least_true_ppm))
        exits "$name: its lines are counted" 0 ftracectl lines "$name" --json --vmlinux="$work/$name.lines"
        note "$(jq -r '"\(.n) calls: " + ([.known[] | "\(.what) \(.n)"] | join(", "))' "$out")"
}

compare three 4 all 10000 --lean=off udp_sendmsg vfs_read do_sys_openat2
# Also by a pointer, of which there is one.
single=$(jq '([.known[] | select(.what | IN("one", "order", "pointer")) | .n] | add) * 100 / .n | floor' "$out")
ok "85 of 100 calls have exactly one line ($single)" test "$single" -ge 85
# What was not hooked may lie between any two.
compare lean 40 datagrams 1000 --lean=auto udp_sendmsg
ok 'indeed something was left out' test "$(session lean '.left_out | length')" -gt 50
done_testing
