#!/bin/bash
# Touches: fake tracefs, a store and a daemon for each of three hosts, and a program for ssh, all of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: three daemons, again and again
#
# Many hosts: begun at one moment, and collected.
. "$(dirname "$0")/../functions.sh"
requires jq python3

mkdir "$work/bin" "$work/hosts.d"
ln -s "$(cd "$top_builddir" && pwd)/ftracectl" "$work/bin/ftracectl"
# Each host has a daemon.
cat >"$work/bin/ssh" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do
        [[ $1 == -- ]] && { shift; break; }
        shift
done
host=$1
shift
echo "$host $*" >>"$SSH_LOG"
[[ ! -e $HOSTS_DIR/$host.down ]] || { echo "ssh: connect to host $host: No route to host" >&2; exit 255; }
if [[ -e $HOSTS_DIR/$host.hangs || $host == hung ]]; then # as ServerAliveInterval= has it
        sleep 3
        echo "Timeout, server $host not responding." >&2
        exit 255
fi
if [[ -e $HOSTS_DIR/$host.persists ]]; then # with ControlPersist, as older ones do
        sleep 200 >/dev/null &
        echo $! >>"$HOSTS_DIR/left"
fi
if [[ -e $HOSTS_DIR/$host.late && $* =~ --at=@([0-9]+) ]]; then
        until (($(date +%s) > BASH_REMATCH[1])); do sleep 0.2; done
fi
if [[ -e $HOSTS_DIR/$host.cut && $* == *fetch* ]]; then
        /bin/sh -c "FTRACED_SOCKET=$HOSTS_DIR/$host.socket $*" | head -c 3000
        exit 255
fi
[[ ! -e $HOSTS_DIR/$host.lies ]] || { . "$HOSTS_DIR/$host.lies"; exit 0; }
# As ssh does of the last 64K: it has taken them before it looks for room.
if [[ -e $HOSTS_DIR/room.none ]]; then
        FTRACED_SOCKET=$HOSTS_DIR/$host.socket /bin/sh -c "$*" | (trap '' XFSZ; cat 2>/dev/null)
        exit 0
fi
export FTRACED_SOCKET=$HOSTS_DIR/$host.socket
exec /bin/sh -c "$*"
END
chmod +x "$work/bin/ssh"
export PATH=$work/bin:$PATH SSH_LOG=$work/ssh.log HOSTS_DIR=$work/hosts.d
unset FTRACED_SSH SYSTEMD_SSH
for host in one two three; do
        bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs-$host" 1
        FTRACED_LEDGERS=$work/ledgers-$host "$top_builddir/ftraced" --socket "$HOSTS_DIR/$host.socket" \
                --store "$work/store-$host" --tracefs "$work/tracefs-$host" 2>"$work/$host.log" &
        cleanup_fn kill $!
        ok "the daemon of $host starts" wait_until 20 test -S "$HOSTS_DIR/$host.socket"
done
unset FTRACED_SOCKET
printf 'one\ntwo\nthree\n' >"$work/hosts"
states() { # NAME: of it on all hosts
        local host

        for host in one two three; do
                ftracectl --socket "$HOSTS_DIR/$host.socket" list --json
        done | jq -rs --arg name "$1" 'map(map(select(.name == $name))[0].state // "none") | join(" ")'
}
sessions() {
        local host

        for host in one two three; do
                ftracectl --socket "$HOSTS_DIR/$host.socket" list --json
        done | jq -rs 'map(.[].name) | join(" ")'
}
begun() { # NAME: how long after $at the first began, and the last [ms]
        local host

        for host in one two three; do
                ftracectl --socket "$HOSTS_DIR/$host.socket" show "$1" --json | jq .start.realtime_ns
        done | python3 -c 'import sys; t = [int(x) for x in sys.stdin]; at = float(sys.argv[1]) * 1e9
print(f"{(min(t) - at) / 1e6:.1f} {(max(t) - at) / 1e6:.1f}")' "$at"
}

# --- one moment ---------------------------------------------------------------------------------

at=$(($(date +%s) + 12))
exits 'a start at a moment is accepted by all' 0 ftracectl start --hosts "$work/hosts" --at=@$at.25 -n first --duration=400ms udp_sendmsg
is 'in a line each' "$(sort "$out" | paste -sd' ')" 'one: first three: first two: first'
at=$at.25
seen=$(states first)
if (($(date +%s) < ${at%.*})); then
        is 'none has begun before' "$seen" 'armed armed armed'
else
        skip_one 'none has begun before' 'that moment has passed'
fi
recorded() {
        [[ $(states first) == 'sealed sealed sealed' ]]
}
ok 'all record, and end' wait_until 60 recorded
note "began so many ms after it, the first and the last: $(begun first)"
# A machine that is busy wakes nobody in time; the figure above is the one that counts.
ok 'none began before that moment' python3 -c 'import sys; a, b = map(float, sys.argv[1].split()); sys.exit(not -1 <= a <= b)' "$(begun first)"
if [[ ${FTRACED_LONG:-} ]]; then # of a machine that has nothing else to do
        ok 'they began at that moment' python3 -c 'import sys; a, b = map(float, sys.argv[1].split()); sys.exit(not -1 <= a <= b <= 1000)' "$(begun first)"
fi
exits 'a moment that has passed is refused' 2 ftracectl --socket "$HOSTS_DIR/one.socket" start --at=@1000000000 --duration=1s udp_sendmsg
says 'by whose clock' "by this host's clock"
exits 'an end is wanted' 2 ftracectl start --hosts "$work/hosts" --in=9s udp_sendmsg
is 'nothing is left of what was refused' "$(sessions)" 'first first first'
for word in next: next:x next:0s next:2d; do
        exits "\"$word\" is no moment" 2 ftracectl start --hosts "$work/hosts" --at=$word --duration=1s udp_sendmsg
        says 'and that is said' 'is not like next:10s'
done
: >"$SSH_LOG"
before=$(date +%s)
exits 'the next full 10 s is a moment' 0 ftracectl start --hosts "$work/hosts" --at=next:10s -n second --duration=200ms udp_sendmsg
after=$(date +%s)
at=$(grep -o -- "--at=@[0-9.]*" "$SSH_LOG" | sort -u)
is 'which is one for all' "$(wc -l <<<"$at")" 1
at=${at#--at=@} at=${at%.000000000}
is 'and full' $((at % 10)) 0
ok 'with time to tell them' test $((at - before)) -ge 5 -a $((at - after)) -le 16
ended() { # NAME
        [[ $(states "$1") == 'sealed sealed sealed' ]]
}
ok 'all record, and end' wait_until 60 ended second
ok 'none began before that moment' python3 -c 'import sys; a, b = map(float, sys.argv[1].split()); sys.exit(not -1 <= a <= b)' "$(begun second)"

# --- one that refuses, and one that is late -------------------------------------------------------

exits 'two has that name' 0 ftracectl -H two start -n taken --duration=1h udp_recvmsg
exits 'one host that refuses fails the whole, with its status' 5 ftracectl start --hosts "$work/hosts" --in=8s -n taken --duration=200ms udp_sendmsg
says 'in its line' '^two: .*taken' "$out"
says 'and in the sum' '2 of 3 hosts; the others failed'
waits='(armed|recording|sealed)' # it may be over, where all takes long
ok 'the others begin' grep -qxE "$waits recording $waits" <<<"$(states taken)"
ok 'the other one ends' ftracectl -H two stop taken
ok 'and those that waited record, and end' wait_until 60 ended taken
touch "$HOSTS_DIR/three.down"
exits 'one that is not reached is told' 1 ftracectl start --hosts "$work/hosts" --in=40s --duration=1s -n undone udp_sendmsg
says 'in its line' '^three: .*No route' "$out"
rm "$HOSTS_DIR/three.down"
is 'the others wait' "$(states undone)" 'armed armed none'
exits 'it is taken back as any recording' 3 ftracectl stop --hosts "$work/hosts" undone
is 'where it waits' "$(states undone)" 'sealed sealed none'
touch "$HOSTS_DIR/three.late" "$HOSTS_DIR/two.hangs"
exits 'one that is too late, and one that hangs' 1 timeout 100 ftracectl start --hosts "$work/hosts" --in=5s --duration=1s -n late udp_sendmsg
says 'are told' "^three: .*by this host's clock" "$out"
says 'both' '^two: Timeout, server' "$out"
rm "$HOSTS_DIR/three.late" "$HOSTS_DIR/two.hangs"
late_ended() {
        [[ $(states late) == 'sealed none none' ]]
}
ok 'the one that was in time records' wait_until 60 late_ended
touch "$HOSTS_DIR/two.persists"
exits 'a process that ssh leaves behind' 0 timeout 100 ftracectl status --hosts "$work/hosts"
is 'holds up nobody' "$(cut -d: -f1 "$out" | sort | paste -sd' ')" 'one three two'
rm "$HOSTS_DIR/two.persists"
xargs kill <"$HOSTS_DIR/left"

# --- collecting ---------------------------------------------------------------------------------

exits 'a directory is made' 6 ftracectl collect --hosts "$work/hosts" -n none -o "$work/none/"
exits 'but none above it' 2 ftracectl collect --hosts "$work/hosts" -n none -o "$work/nowhere/all"
ok 'it is there' test -d "$work/none"
mkdir "$work/all"
exits 'one goes on' 0 ftracectl -H one start -n going udp_recvmsg
exits 'what has not ended is not collected' 6 ftracectl collect --hosts "$work/hosts" -n going -o "$work/all"
says 'and why' '^one: none: .*has not ended' "$out"
exits 'it ends' 0 ftracectl -H one stop going
mkdir "$work/hung"
printf 'one\nhung\n' >"$work/hung/hosts"
status=0
SSH_LOG=/dev/null timeout 200 "$top_builddir/ftracectl" collect --hosts "$work/hung/hosts" -n second -o "$work/hung" >"$work/hung/said" 2>&1 &
hung_pid=$!
# What a host prints is no recording because it ended well, and each that prints without end costs only itself.
mkdir "$work/lies"
cat >"$work/bin/recorded" <<'END'
#!/bin/bash
# What a host with a recording of some pages says to "show second" and "fetch second".
data=(--store "$DATA" udp_sendmsg-6.12)
if [[ $* == *show* ]]; then
        ftracectl show "${data[@]}" --json=short | sed 's/"name":"udp_sendmsg-6.12"/"name":"second"/'
else
        ftracectl fetch "${data[@]}" -o -
fi
END
chmod +x "$work/bin/recorded"
DATA=$(cd "$top_srcdir/tests/data" && pwd)
export DATA
lie() { # HOST COMMAND...: what stands for the one there
        echo "${*:2}" >"$HOSTS_DIR/$1.lies"
        echo "$1" >>"$work/lies/hosts"
}
lie honest 'recorded $*'
lie banner 'echo Welcome to web-3; recorded $*'
lie hello 'echo hello'
lie mute :
lie silent 'exec sleep 600'
lie deaf "trap '' TERM; while sleep 1; do :; done"
lie drip 'while echo -n x; do sleep 2; done'
lie endless 'exec yes'
lie loud 'exec yes >&2'
lie another 'recorded $* | sed s/second/first/'
for lie in 'says:echo hello' 'says-nothing::' 'goes-on:exec yes' \
           "goes-on-well:printf '\x17\x08\x44tracing6\0'; exec cat /dev/zero" \
           "is-empty:printf '\x17\x08\x44tracing6\0'; head -c 200000 /dev/zero" \
           'is-cut:recorded $* | head -c 3000' 'lacks-a-page:recorded $* | head -c -4096'; do
        lie "${lie%%:*}" "if [[ \$* == *show* ]]; then recorded \$*; else ${lie#*:}; fi"
done
lies_status=0
(SSH_LOG=/dev/null timeout 400 "$top_builddir/ftracectl" collect --hosts "$work/lies/hosts" -n second -o "$work/lies") \
        >"$work/lies/said" 2>&1 &
lies_pid=$!
touch "$HOSTS_DIR/room.none"
without_room() { # WORD...
        : >"$SSH_LOG" && (ulimit -S -f 1 && ftracectl "$@")
}
exits 'without room here' 6 without_room collect --hosts "$work/hosts" -n second -o "$work/all"
is 'none is collected' "$(grep -c ': none: Failed to write .*/all/second@.*dat: .*File too large' "$out")" 3
exits 'of one host' 1 without_room -H one fetch second -o "$work/one.dat"
says 'that is said' 'Failed to write .*/one.dat: .*File too large'
exits 'of standard output' 1 eval "without_room -H one fetch second -o - >'$work/one.dat'"
says 'too' 'Failed to write .*: .*File too large'
rm "$HOSTS_DIR/room.none" "$work/one.dat"
is 'nothing is left of them' "$(ls -A "$work/all")" ''
touch "$HOSTS_DIR/three.down" "$HOSTS_DIR/two.cut"
exits 'two hosts are missing' 6 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
says 'with why' '^three: none: .*No route' "$out"
says 'and what is there' '^one: .*/all/second@one.dat' "$out"
is 'what was cut off is not there' "$(cd "$work/all" && echo *)" second@one.dat
rm "$HOSTS_DIR"/{three.down,two.cut}
: >"$SSH_LOG"
exits 'the rest is collected' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --json
conforms 'of its type' '[]Collected'
is 'telling what was here before' "$(jq -c 'map([.host, .was_here, .status]) | sort' "$out")" '[["one",true,0],["three",false,0],["two",false,0]]'
fetched() { # from whom, since $SSH_LOG was emptied last
        grep fetch "$SSH_LOG" | cut -d' ' -f1 | sort | paste -sd' '
        : >"$SSH_LOG"
}
is 'and only that' "$(fetched)" 'three two'
exits 'which is a recording' 0 ftracectl verify "$work/all/second@three.dat"
ok 'the same as is fetched by one' ftracectl -H three fetch second -o "$work/three.dat"
ok 'byte by byte' cmp "$work/three.dat" "$work/all/second@three.dat"
fetched >/dev/null
exits 'once more' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
is 'nothing is fetched' "$(fetched)" ''
truncate -s 100 "$work/all/second@two.dat"
exits 'a file that was cut off is fetched again' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
is 'alone' "$(fetched)" two
exits 'and all is well' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --json
is 'with all of them' "$(jq -c 'map(.was_here) | unique' "$out")" '[true]'
exits 'two records anew' 0 ftracectl -H two remove second
exits 'under the same name' 0 ftracectl -H two start -n second udp_sendmsg
exits 'until it is stopped' 0 ftracectl -H two stop second
fetched >/dev/null
exits 'that is another recording' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
is 'and fetched' "$(fetched)" two
ok 'the same as is fetched by one' ftracectl -H two fetch second -o "$work/two.dat"
ok 'byte by byte' cmp "$work/two.dat" "$work/all/second@two.dat"
fetched >/dev/null
exits 'a recording' 0 ftracectl -H one start -n lost udp_sendmsg
sed -i 's/^read events: .*/read events: 100/; s/^overrun: .*/overrun: 7/' "$work/tracefs-one/per_cpu/cpu0/stats"
exits 'that loses events' 6 ftracectl -H one stop lost
sed -i 's/^read events: .*/read events: 0/; s/^overrun: .*/overrun: 0/' "$work/tracefs-one/per_cpu/cpu0/stats"
echo one >"$work/hosts.lost"
exits 'is collected as one' 6 ftracectl collect --hosts "$work/hosts.lost" -n lost -o "$work/all"
fetched >/dev/null
exits 'and stays one' 6 ftracectl collect --hosts "$work/hosts.lost" -n lost -o "$work/all" --json
is 'when it is here' "$(jq -c 'map([.was_here, .status, .lacks == null])' "$out")" '[[true,6,false]]'
is 'which takes no fetch' "$(fetched)" ''
touch "$HOSTS_DIR/one.down"
exits 'three has removed it' 0 ftracectl -H three remove second
exits 'and one is away' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --json
is 'what is here stays' "$(jq -c 'map([.host, .was_here]) | sort' "$out")" '[["one",true],["three",true],["two",true]]'
says 'with what is not known' '^ftracectl: one: .* may be outdated, since the host did not answer: .*No route'
is 'of nobody else' "$(grep -c 'may be outdated' "$err")" 1
rm "$HOSTS_DIR/one.down"
exits 'a recording that nobody has' 6 ftracectl collect --hosts "$work/hosts" -n none -o "$work/all"
is 'is told of each' "$(grep -c ': none: ' "$out")" 3
wait $hung_pid || status=$?
is 'a host that hangs' "$status" 6
says 'is given up' '^hung: none: Timeout, server' "$work/hung/said"
ok 'and the others are collected' ftracectl verify "$work/hung/second@one.dat"
wait $lies_pid || lies_status=$?
is 'hosts that lie' "$lies_status" 6
says 'are not counted' '^2 of 17 hosts are here; 1 of them lack something' "$work/lies/said"
is 'what is here is a recording' "$(cd "$work/lies" && echo *.dat)" 'second@honest.dat second@lacks-a-page.dat'
ok 'of which one is whole' ftracectl verify "$work/lies/second@honest.dat"
for lie in 'banner it answered "Welcome to web-3", not with a description' 'hello it answered "hello", not' 'mute it answered "", not' 'another it answered .*, not with a description' \
           'silent no answer for 1min' 'deaf no answer for 1min' 'drip it sent .*, then too little for 1min' \
           'endless it printed more than 4M' 'loud it printed more than 4M' 'says its answer is not a trace.dat' \
           'says-nothing its answer is not a trace.dat' 'goes-on its answer is not a trace.dat' \
           'goes-on-well it sent more than' 'is-empty its trace.dat cannot be read' 'is-cut its trace.dat cannot be read'; do
        says "${lie%% *} is told" "^${lie%% *}: none: ${lie#* }" "$work/lies/said"
done
says 'what is cut off lacks something' '^lacks-a-page: .* lacks something: ' "$work/lies/said"
for lie in hello mute endless; do
        echo $lie >"$work/lies/hosts"
        exits "$lie is no start" 1 timeout 60 ftracectl start --hosts "$work/lies/hosts" -n first udp_sendmsg
        exits 'whatever is asked for' 1 timeout 60 ftracectl status --json --hosts "$work/lies/hosts"
done
echo hello >"$work/lies/hosts"
exits 'nor a recording of all' 1 ftracectl fetch second --hosts "$work/lies/hosts" -o "$work/lies/all/"
exits 'or of one' 1 ftracectl -H hello fetch second -o "$work/lies/one.dat"
says 'and why' 'hello: its answer is not a trace.dat'
ok 'and is not here' test ! -e "$work/lies/one.dat"
exits 'one that is is' 0 ftracectl -H honest fetch second -o "$work/lies/one.dat"
exits 'a name is wanted' 2 ftracectl collect --hosts "$work/hosts" -o "$work/all"
exits 'a directory, too' 2 ftracectl collect --hosts "$work/hosts" -n second -o "$work/three.dat"
exits 'which standard output is not' 2 eval "(cd '$work/none' && ftracectl fetch second --hosts '$work/hosts' -o -)"
ok 'and is not made' test ! -e "$work/none/-"
done_testing
