#!/bin/bash
# Touches: function_graph, probes, the network (loopback); needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
#
# What the stacks of programs are called: with frame pointers and without, below libc, of code that a program has made, of
# Go and Python; what is hostile has no names.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires cc

# A mapping is recorded with no more than eight names of its path, and this tree may be anywhere.
programs=$work/programs
mkdir "$programs"
cp "$top_builddir"/tests/workload/{stacked,unstacked,jitted} "$programs"
stacks() { # of the last report
        sed -n 's,.*/\* stack: \(.*\) \*/,\1,p' "$out" | sort | uniq -c | sed 's/^ *//'
}

ok 'the daemon starts' start_ftraced
exits 'a program with frame pointers is recorded' 0 ftracectl run -n whole --user-stack --kernel-stack udp_sendmsg -- "$programs/stacked" 10
exits 'it is drawn' 0 ftracectl report whole
stacks >"$work/stacks"
show_file "$work/stacks"
is 'each call has its stack' "$(awk '{ n += $1 } END { print n }' "$work/stacks")" 10
is 'half of them by even()' "$(grep -cE '^5 .*main \[stacked\] < even < send_one$' "$work/stacks")" 1
is 'half of them by odd()' "$(grep -cE '^5 .*main \[stacked\] < odd < send_one$' "$work/stacks")" 1
ok 'none of them is said to end early' not grep -q 'end early' "$err"
is 'behind each the callers in the kernel' "$(grep -c '/\* callers: .*sys_sendto' "$out")" 10
exits 'time is told by them' 0 ftracectl top whole --by=stack --json
is 'of five calls each' "$(jq -c '[.[] | select(.stack | test("send_one")) | .count]' "$out")" '[5,5]'
for format in csv tsv ndjson json; do
        exits "a row of $format" 0 ftracectl export whole --format=$format -o "$work/rows"
        sed 's/\\u003c/</g' "$work/rows" >"$work/plain"
        is 'tells both of each root' \
                "$(grep -cE '__sys_sendto[^	,]*[	,]("stack":)?"?[^	,]*main \[stacked\] < (even|odd) < send_one"?[	,]' "$work/plain")" 10
done
exits 'in a list of calls' 0 ftracectl calls whole --json
is 'each has the stack that top has' "$(jq -c '[.[].stack] | sort | group_by(.) | map([.[0], length])' "$out")" \
        "$(ftracectl top whole --by=stack --json | jq -c 'map([.stack, .count]) | sort')"
is 'and its callers' "$(jq '[.[] | select(.callers | test("__sys_sendto"))] | length' "$out")" 10
exits 'which lines have, too' 0 ftracectl calls whole
is 'one of each call' "$(grep -cE '  callers: .*__sys_sendto.*  stack: .*main \[stacked\] < (even|odd) < send_one$' "$out")" 10
exits 'in pictures they are below the kernel'\''s' 0 ftracectl export whole --format=folded -o "$work/folded"
ok 'all of it' not grep -vE ';main \[stacked\];(even|odd) \[stacked\];send_one \[stacked\];.*__sys_sendto;(.*;)?udp_sendmsg' "$work/folded"
exits 'a page has them in its tree' 0 ftracectl export whole --format=html -o "$work/html"
is 'and in its flame graph' "$(grep -oE '(data-name="|<code>)(even|odd|send_one) \[stacked\]["<]' "$work/html" | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '1 1 2 1 1 2 '
exits 'a profile' 0 ftracectl export whole --format=pprof -o "$work/pprof"
is 'has a mapping of each program' "$(tr -c '[:print:]' '\n' <"$work/pprof" | grep -xcE 'stacked|libc\.so\.6')" 2
exits 'in a tree, too' 0 ftracectl tree whole --callers=udp_sendmsg
says 'from the inside out' 'send_one \[stacked\]' "$out"
exits 'a trace.dat has them, too' 0 ftracectl fetch whole -o "$work/whole.dat"
exits 'as can be drawn' 0 ftracectl report "$work/whole.dat"
stacks >"$work/of-dat"
ok 'with the same names' cmp "$work/stacks" "$work/of-dat"

exits 'a system call by libc' 0 ftracectl run -n libc --user-stack udp_sendmsg -- "$programs/stacked" 4 0 libc
exits 'is drawn' 0 ftracectl report libc
stacks >"$work/stacks"
show_file "$work/stacks"
is 'has a gap where libc hides its caller' "$(grep -cE '^2 .*main \[stacked\] < (even|odd) < \.\.\. < syscall \[libc' "$work/stacks")" 2

exits 'a program without frame pointers' 0 ftracectl run -n bare --user-stack udp_sendmsg -- "$programs/unstacked" 4
exits 'is drawn, too' 0 ftracectl report bare
stacks >"$work/stacks"
show_file "$work/stacks"
is 'as far as it goes' "$(grep -c 'send_one \[unstacked\]$' "$work/stacks")" 1
says 'which is said' '4 of 4 stacks of programs end early, one in unstacked' "$err"

exits 'code that a program has made' 0 ftracectl run -n made --user-stack udp_sendmsg -- "$programs/jitted" 3
exits 'is drawn by what it says of it' 0 ftracectl report made
stacks >"$work/stacks"
show_file "$work/stacks"
is 'between its own' "$(grep -cF 'main [jitted] < LazyCompile:~hot /app/x y.js:3 [jit] < send_one [jitted]' "$work/stacks")" 1

# --- why calls are slow: who makes them -------------------------------------------------------------

mtu=$(cat /sys/class/net/lo/mtu)
echo 1500 >/sys/class/net/lo/mtu # what is large is sent in 41 pieces
exits 'a program is slow on one of two ways' 0 ftracectl run -n ways --flat --user-stack udp_sendmsg -- "$programs/stacked" 200 0 large
echo "$mtu" >/sys/class/net/lo/mtu
slow=$(ftracectl calls ways --json | jq '[.[] | select(.stack | test("odd")).duration_ns] | sort | .[length / 2] * 3 | floor')
exits 'why tells' 0 ftracectl why ways --slower="${slow}ns"
says 'on which' 'of them have the stack: [^;]*main \[stacked\] < even < send_one' <(tr -s ' \n' ' ' <"$out")
exits 'so does its object' 0 ftracectl why ways --slower="${slow}ns" --json
is 'that it is most of them, and few of the others' \
        "$(jq '[.values[] | select(.name == "stack" and (.bound | test("even")) and .slow_part > 0.6 and .usual_part < 0.2)] | length' "$out")" 1
exits 'the slowest are told' 0 ftracectl slow ways -n 3
is 'each with its stack' "$(grep -cE '^   stack: .*main \[stacked\] < (even|odd) < send_one' "$out")" 3

# --- where events are missing ----------------------------------------------------------------------

"$programs/stacked" 100000000 0 >"$work/said" &
sender=$!
ok 'a program runs before' wait_until 20 grep -q ready "$work/said"
exits 'it is recorded with a small buffer' 0 ftracectl start -n torn --flat --user-stack --buffer-size=8K udp_sendmsg
maps=$store/sessions/torn/tracing/maps
ok 'what is mapped is looked at' wait_until 60 test -s "$maps"
kill -STOP "$ftraced_pid" # nothing is drained
sleep 3
kill -CONT "$ftraced_pid"
sleep 1
kill -STOP $sender # what looks at it is not to wait
stops 'the recording is stopped' torn
kill -KILL $sender
ok 'it lacks events' jq -e '[.cpus[].overrun] | add > 0' <(ftracectl show --json torn)
is 'what is mapped has been looked at again' "$(grep -c '^look ' "$maps")" 2
last_stack() {
        ftracectl calls torn --json 2>"$err" | jq -r '.[-1].stack'
}
is 'its last call has names' "$(last_stack | grep -cE 'main \[stacked\] < (even|odd) < send_one$')" 1
sed -i '2,$ { /^look /,$ d }' "$maps"
is 'and would not have any without the second look' "$(last_stack | grep -c 'unknown.*unknown')" 1

# --- Go, C++, Python -------------------------------------------------------------------------------

if command -v go >/dev/null; then
        cat >"$work/sender.go" <<'END'
package main

import "net"

//go:noinline
func send(c net.Conn) { c.Write([]byte("x")) }

func main() {
	c, _ := net.Dial("udp", "127.0.0.1:9")
	send(c)
}
END
        ok 'a Go program is built' env HOME="$work" GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o "$work/sender" "$work/sender.go"
        exits 'it is recorded' 0 ftracectl run -n go --user-stack udp_sendmsg -- "$work/sender"
        exits 'and drawn' 0 ftracectl report go
        show_file <(stacks)
        says 'with its names' 'syscall\.(Raw)?Syscall' "$out"
else
        skip_one 'a Go program' 'there is no go here'
fi
if command -v c++ >/dev/null && [[ $(grep -c 'HAVE_LIBIBERTY 1' "$top_builddir/config.h") = 1 ]]; then
        cat >"$work/sender.cc" <<'END'
#include <arpa/inet.h>
#include <sys/socket.h>
namespace app {
struct Sender {
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        __attribute__((noinline)) long send(int n) {
                sockaddr_in to = {};
                to.sin_family = AF_INET;
                to.sin_port = htons(9);
                to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                return sendto(fd, &n, 1, 0, (sockaddr *) &to, sizeof(to)) + 1;
        }
        __attribute__((noinline)) long twice(int n) { return send(n) + send(n); }
};
}
int main() { return app::Sender().twice(3) == 9; }
END
        ok 'a C++ program is built' c++ -O1 -fno-omit-frame-pointer -o "$work/sender-cc" "$work/sender.cc"
        exits 'it is recorded, too' 0 ftracectl run -n cc --user-stack udp_sendmsg -- "$work/sender-cc"
        exits 'and drawn, too' 0 ftracectl report cc
        show_file <(stacks)
        says 'its names are as in the source' 'main \[sender-cc\] < app::Sender::twice < ' "$out"
else
        skip_one 'a C++ program' 'there is no c++, or no libiberty'
fi

# --- what is not what it was ------------------------------------------------------------------------

cp "$programs/stacked" "$work/changing"
exits 'a program that changes later' 0 ftracectl run -n changed --user-stack udp_sendmsg -- "$work/changing" 2
sleep 1
printf 'x' >>"$work/changing"
exits 'is drawn without names' 0 ftracectl report changed
says 'which is said of it' 'changing has changed since: its functions have no names' "$err"
ok 'none is guessed' not grep -q 'send_one' "$out"
head -c 4096 "$programs/stacked" >"$work/changing"
exits 'so it is when it is cut' 0 ftracectl report changed
rm "$work/changing"
exits 'and when it is gone' 0 ftracectl report changed
says 'which is said, too' 'changing is not there any more' "$err"
done_testing
