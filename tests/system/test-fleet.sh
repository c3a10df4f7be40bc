#!/bin/bash
# Touches: fake tracefs, a store and a daemon for each of three hosts, and a program for ssh, all of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many hosts: begun at one moment, by way of others, and collected.
. "$(dirname "$0")/../functions.sh"
requires jq python3

mkdir "$work/bin" "$work/hosts.d"
ln -s "$(cd "$top_builddir" && pwd)/ftracectl" "$work/bin/ftracectl"
# Each host has a daemon; a gateway has none, and comes to all of them.
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
if [[ -e $HOSTS_DIR/$host.hangs ]]; then exec sleep 200; fi
if [[ $host == hung ]]; then exec sleep 600; fi
if [[ -e $HOSTS_DIR/$host.dies && $* == *start* ]]; then # behind a gateway the gateway does, when it has been done
        if [[ $host == gate* ]]; then
                FTRACED_SOCKET= /bin/sh -c "$*" >/dev/null
        else
                FTRACED_SOCKET=$HOSTS_DIR/$host.socket /bin/sh -c "$*" >/dev/null
        fi
        exit 255
fi
if [[ -e $HOSTS_DIR/$host.persists ]]; then # with ControlPersist, as older ones do
        sleep 200 >/dev/null &
        echo $! >>"$HOSTS_DIR/left"
fi
if [[ -e $HOSTS_DIR/$host.late && $* == *start* ]]; then echo ftraced-start-12ab.timer; exit; fi
if [[ -e $HOSTS_DIR/$host.cut && $* == *fetch* ]]; then
        /bin/sh -c "FTRACED_SOCKET=$HOSTS_DIR/$host.socket $*" | head -c 3000
        exit 255
fi
# As ssh does of the last 64K: it has taken them before it looks for room.
if [[ -e $HOSTS_DIR/room.none && $host != gate* ]]; then
        FTRACED_SOCKET=$HOSTS_DIR/$host.socket /bin/sh -c "$*" | (trap '' XFSZ; cat 2>/dev/null)
        exit 0
fi
case $host in
mute) while read -r host; do printf '{"host":"%s","status":0,"out":0,"err":0,"file":-1}\n' "$host"; done; exit ;;
liar) cat >/dev/null; printf '{"host":"one","status":0,"out":99999999999,"err":0,"file":-1}\n'; exit ;;
gate-full) unset FTRACED_SOCKET; ulimit -S -f 1 ;;
gate*) unset FTRACED_SOCKET; ulimit -S -f unlimited ;;
*) export FTRACED_SOCKET=$HOSTS_DIR/$host.socket ;;
esac
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
says 'with how to go on' 'ftracectl collect --hosts='
at=$at.25
is 'none has begun before' "$(states first)" 'armed armed armed'
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
exits 'one that is too near has no time for two phases' 2 ftracectl start --hosts "$work/hosts" --in=1s --duration=1s udp_sendmsg
exits 'one that is far keeps nobody armed' 2 ftracectl start --hosts "$work/hosts" --in=1h --duration=1s udp_sendmsg
exits 'an end is wanted' 2 ftracectl start --hosts "$work/hosts" --in=9s udp_sendmsg
is 'nothing is left of what was refused' "$(sessions)" 'first first first'

# --- one that refuses ---------------------------------------------------------------------------

exits 'two has that name' 0 ftracectl -H two start -n taken --duration=1h udp_recvmsg
exits 'one host that refuses fails the whole' 5 ftracectl start --hosts "$work/hosts" --in=20s -n taken --duration=1s udp_sendmsg
says 'in its line' '^two: .*taken' "$out"
says 'and nobody begins' 'None begins: 2 accepted it and took it back'
is 'so that only its own is there' "$(states taken)" 'none recording none'
exits 'unless some are enough' 6 ftracectl start --hosts "$work/hosts" --in=12s --partial -n taken --duration=200ms udp_sendmsg
is 'then the others wait' "$(states taken)" 'armed recording armed'
ok 'the other one ends' ftracectl -H two stop taken
taken_ended() {
        [[ $(states taken) == 'sealed sealed sealed' ]]
}
ok 'and those that waited record, and end' wait_until 60 taken_ended
touch "$HOSTS_DIR/three.down"
exits 'one that is not reached is one that refuses' 1 ftracectl start --hosts "$work/hosts" --in=20s --duration=1s -n unreached udp_sendmsg
rm "$HOSTS_DIR/three.down"
is 'it is taken back' "$(states unreached)" 'none none none'
touch "$HOSTS_DIR/three.hangs"
exits 'one that does not answer holds up nobody' 1 timeout 100 ftracectl start --hosts "$work/hosts" --in=10s --duration=1s -n hung udp_sendmsg
says 'and is late' '^three: it had not answered' "$out"
says 'so that nobody knows what it does' 'three may begin all the same'
is 'the others took it back' "$(states hung | cut -d' ' -f1,2)" 'none none'
all_states() {
        for host in one two three; do
                ftracectl --socket "$HOSTS_DIR/$host.socket" list --json
        done | jq -rs '.[][].state' | grep armed
}
exits 'nor does it where it is to take back, too' 1 timeout 100 ftracectl start --hosts "$work/hosts" --in=10s --duration=1s udp_sendmsg
says 'and that is said' 'three may begin all the same'
rm "$HOSTS_DIR/three.hangs"
is 'none waits' "$(all_states)" ''
touch "$HOSTS_DIR/three.dies"
exits 'a host whose connection ends when it has accepted' 1 ftracectl start --hosts "$work/hosts" --in=20s --duration=1s udp_sendmsg
is 'takes it back, too' "$(all_states)" ''
says 'and is counted' '3 accepted it and took it back'
exits 'by a name that somebody else may have' 1 ftracectl start --hosts "$work/hosts" --in=20s --duration=1s -n died udp_sendmsg
is 'it does not' "$(states died)" 'none none armed'
says 'which is told' 'three may begin all the same'
exits 'it is stopped' 0 ftracectl -H three stop died
exits 'by way of a gateway' 1 ftracectl start --hosts "$work/hosts" --via=gate-1 --in=20s --duration=1s udp_sendmsg
is 'it takes it back' "$(all_states)" ''
rm "$HOSTS_DIR/three.dies"
touch "$HOSTS_DIR/gate-2.dies"
exits 'a gateway that ends when its hosts have accepted' 1 ftracectl start --hosts "$work/hosts" --via=gate-1,gate-2 --in=20s --duration=1s udp_sendmsg
is 'has it taken back' "$(all_states)" ''
rm "$HOSTS_DIR/gate-2.dies"
touch "$HOSTS_DIR/three.late"
exits 'a host that leaves it to a timer, for its clock is behind' 1 ftracectl start --hosts "$work/hosts" --in=20s --duration=1s -n late udp_sendmsg
says 'has not accepted' '^three: its clock is minutes behind.*systemctl stop' "$out"
is 'so that none begins' "$(states late)" 'none none none'
rm "$HOSTS_DIR/three.late"
exits 'hosts that begin together do not wait for their turn' 2 ftracectl start --hosts "$work/hosts" --in=20s --wait=1m --duration=1s -n late udp_sendmsg
says 'which is told' '--wait: '

# --- ended meanwhile ----------------------------------------------------------------------------

touch "$HOSTS_DIR/three.hangs"
"$top_builddir/ftracectl" start --hosts "$work/hosts" --in=40s --duration=1s -n ended udp_sendmsg >"$work/ended" 2>&1 &
ended_pid=$!
two_are_armed() {
        [[ $(states ended) == 'armed armed none' ]]
}
ok 'two have accepted it' wait_until 20 two_are_armed
rm "$HOSTS_DIR/three.hangs"
kill -TERM $ended_pid
status=0
wait $ended_pid || status=$?
is 'who ends it before all have' "$status" 1
says 'has it taken back' 'None begins: 2 accepted it and took it back' "$work/ended"
is 'by all' "$(states ended)" 'none none none'

# --- by way of others ---------------------------------------------------------------------------

: >"$SSH_LOG"
exits 'gateways ask the hosts' 0 ftracectl status --hosts "$work/hosts" --via=gate-1,gate-2
is 'all of them answer' "$(cut -d: -f1 "$out" | sort | paste -sd' ')" 'one three two'
is 'by two connections from here, and one to each host' "$(cut -d' ' -f1 "$SSH_LOG" | sort | paste -sd' ')" 'gate-1 gate-2 one three two'
touch "$HOSTS_DIR/gate-2.down"
exits 'one gateway that is not reached' 1 ftracectl status --hosts "$work/hosts" --via=gate-1,gate-2
says 'takes its part with it' '^two: no answer by way of gate-2: .*No route' "$out"
is 'and no more' "$(grep -vc 'no answer' "$out")" 2
rm "$HOSTS_DIR/gate-2.down"
exits 'what a gateway sends is checked' 1 ftracectl status --hosts "$work/hosts" --via=liar
is 'of all its hosts' "$(grep -c 'by way of liar: what it sends is not valid' "$out")" 3
touch "$HOSTS_DIR"/{two,gate-1}.persists
exits 'a process that ssh leaves behind' 0 timeout 100 ftracectl status --hosts "$work/hosts"
exits 'also of a gateway' 0 timeout 100 ftracectl status --hosts "$work/hosts" --via=gate-1
is 'holds up nobody' "$(cut -d: -f1 "$out" | sort | paste -sd' ')" 'one three two'
rm "$HOSTS_DIR"/{two,gate-1}.persists
xargs kill <"$HOSTS_DIR/left"
exits 'as JSON' 0 ftracectl status --json --hosts "$work/hosts" --via=gate-1
conforms 'of its type' '[]Answered'
exits 'a gateway is a host' 2 ftracectl status --hosts "$work/hosts" --via=-oProxyCommand=x
exits 'all refuse by way of gateways, in one way' 5 ftracectl start --hosts "$work/hosts" --via=gate-1,gate-2 --in=20s -n taken --duration=1s udp_sendmsg
exits 'two has another recording' 0 ftracectl -H two start -n other --duration=1h udp_recvmsg
exits 'two is busy' 5 ftracectl start --hosts "$work/hosts" --via=gate-1,gate-2 --in=20s -n second --duration=1s udp_sendmsg
says 'all others take it back by way of theirs' 'None begins: 2 accepted it and took it back'
is 'and nobody has it' "$(states second)" 'none none none'
exits 'the other one is stopped' 0 ftracectl -H two stop other
exits 'two phases by way of gateways' 0 ftracectl start --hosts "$work/hosts" --via=gate-1,gate-2 --in=12s -n second --duration=200ms udp_sendmsg
is 'are two phases' "$(states second)" 'armed armed armed'

# --- collecting ---------------------------------------------------------------------------------

exits 'a directory is made' 6 ftracectl collect --hosts "$work/hosts" -n none -o "$work/none/"
exits 'but none above it' 2 ftracectl collect --hosts "$work/hosts" -n none -o "$work/nowhere/all"
ok 'it is there' test -d "$work/none"
mkdir "$work/all"
exits 'what has not ended is not collected' 6 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
says 'and why' '^one: none: .*has not ended' "$out"
second_ended() {
        [[ $(states second) == 'sealed sealed sealed' ]]
}
ok 'it ends' wait_until 60 second_ended
exits 'a gateway that sends nothing' 6 ftracectl collect --hosts "$work/hosts" --via=mute -n second -o "$work/all"
is 'has no host here, whatever it says' "$(grep -c ': none: the gateway sent no file' "$out")" 3
is 'and none is noted' "$(cat "$work/all/second.collected")" ''
mkdir "$work/hung"
printf 'one\nhung\n' >"$work/hung/hosts"
status=0
timeout 200 "$top_builddir/ftracectl" collect --hosts "$work/hung/hosts" -n second -o "$work/hung" >"$work/hung/said" 2>&1 &
hung_pid=$!
touch "$HOSTS_DIR/room.none"
without_room() { # WORD...
        : >"$SSH_LOG" && (ulimit -S -f 1 && ftracectl "$@")
}
exits 'without room here' 6 without_room collect --hosts "$work/hosts" -n second -o "$work/all"
is 'none is collected' "$(grep -c ': none: Failed to write .*/all/second@.*dat: .*File too large' "$out")" 3
exits 'by way of a gateway' 6 without_room collect --hosts "$work/hosts" --via=gate-1 -n second -o "$work/all"
is 'it is the same, and none of its making' "$(grep -c ': none: Failed to write .*/all/second@.*dat: .*File too large' "$out")" 3
: >"$SSH_LOG"
exits 'without room on a gateway' 6 ftracectl collect --hosts "$work/hosts" --via=gate-full -n second -o "$work/all"
is 'whose room it is is told' "$(grep -c ': none: Failed to write the gateway.s .*: .*File too large' "$out")" 3
exits 'of one host' 1 without_room -H one fetch second -o "$work/one.dat"
says 'that is said' 'Failed to write .*/one.dat: .*File too large'
exits 'of standard output' 1 eval "without_room -H one fetch second -o - >'$work/one.dat'"
says 'too' 'Failed to write .*: .*File too large'
rm "$HOSTS_DIR/room.none" "$work/one.dat"
is 'nothing is left of them' "$(cd "$work/all" && echo *)" second.collected
is 'and none is noted' "$(cat "$work/all/second.collected")" ''
touch "$HOSTS_DIR/three.down" "$HOSTS_DIR/two.cut"
exits 'two hosts are missing' 6 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
says 'with why' '^three: none: .*No route' "$out"
says 'and what is there' '^one: .*/all/second@one.dat' "$out"
is 'what was cut off is not there' "$(cd "$work/all" && echo *)" 'second.collected second@one.dat'
rm "$HOSTS_DIR"/{three.down,two.cut}
: >"$SSH_LOG"
exits 'the rest is collected by way of a gateway' 0 ftracectl collect --hosts "$work/hosts" --via=gate-1 -n second -o "$work/all" --json
conforms 'of its type' '[]Collected'
is 'telling what was here before' "$(jq -c 'map([.host, .was_here, .status]) | sort' "$out")" '[["one",true,0],["three",false,0],["two",false,0]]'
fetched() { # from whom, since $SSH_LOG was emptied last
        grep fetch "$SSH_LOG" | cut -d' ' -f1 | sort | paste -sd' '
        : >"$SSH_LOG"
}
is 'and only that' "$(fetched)" 'gate-1 three two'
exits 'which is a recording' 0 ftracectl check "$work/all/second@three.dat"
ok 'the same as is fetched by one' ftracectl -H three fetch second -o "$work/three.dat"
ok 'byte by byte' cmp "$work/three.dat" "$work/all/second@three.dat"
fetched >/dev/null
exits 'once more' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
is 'nothing is fetched' "$(fetched)" ''
truncate -s 100 "$work/all/second@two.dat"
printf '{"host":"one","by' >>"$work/all/second.collected"
exits 'a file that was cut off is fetched again' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all"
is 'alone, whatever the list ends in' "$(fetched)" two
exits 'and the list is well' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --json
is 'with all of them' "$(jq -c 'map(.was_here) | unique' "$out")" '[true]'
exits 'with other options' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --v7
is 'all are fetched' "$(fetched)" 'one three two'
exits 'once more' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --v7
is 'nothing is fetched' "$(fetched)" ''
exits 'two records anew' 0 ftracectl -H two remove second
exits 'under the same name' 0 ftracectl -H two start -n second udp_sendmsg
exits 'until it is stopped' 0 ftracectl -H two stop second
fetched >/dev/null
exits 'that is another recording' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --v7
is 'and fetched' "$(fetched)" two
ok 'the same as is fetched by one' ftracectl -H two fetch second --v7 -o "$work/two.dat"
ok 'byte by byte' cmp "$work/two.dat" "$work/all/second@two.dat"
fetched >/dev/null
touch "$HOSTS_DIR/one.down"
exits 'three has removed it' 0 ftracectl -H three remove second
exits 'and one is away' 0 ftracectl collect --hosts "$work/hosts" -n second -o "$work/all" --v7 --json
is 'what is here stays' "$(jq -c 'map([.host, .was_here]) | sort' "$out")" '[["one",true],["three",true],["two",true]]'
says 'with what is not known' '^ftracectl: one: .* whether it is still the recording of that name .*No route'
is 'of nobody else' "$(grep -c 'whether it is still' "$err")" 1
rm "$HOSTS_DIR/one.down"
exits 'a recording that nobody has' 6 ftracectl collect --hosts "$work/hosts" -n none -o "$work/all"
is 'is told of each' "$(grep -c ': none: ' "$out")" 3
wait $hung_pid || status=$?
is 'a host that hangs' "$status" 6
says 'is given up' '^hung: none: it had not answered' "$work/hung/said"
ok 'and the others are collected' ftracectl check "$work/hung/second@one.dat"
exits 'a name is wanted' 2 ftracectl collect --hosts "$work/hosts" -o "$work/all"
exits 'a directory, too' 2 ftracectl collect --hosts "$work/hosts" -n second -o "$work/three.dat"
exits 'which standard output is not' 2 eval "(cd '$work/none' && ftracectl fetch second --hosts '$work/hosts' -o -)"
ok 'and is not made' test ! -e "$work/none/-"
done_testing
