#!/bin/bash
# Touches: a fake tracefs, a store, and a server on a port of the loopback, all of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings are sent to a server once, whatever goes wrong.
# Only here: each way in which a server, a connection or a token fails, and the bounds of disk and bandwidth.
. "$(dirname "$0")/../functions.sh"
requires jq python3 curl flock awk

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
mkdir "$work/server" "$work/state" "$work/credentials"
python3 "$(dirname "$0")/put-server.py" "$work/server" >"$work/port" &
cleanup_fn kill $!
ok 'a server listens' wait_until 20 test -s "$work/port"
printf secret.1 >"$work/credentials/token"
FTRACED_SHIP_URL=http://127.0.0.1:$(<"$work/port")/put/
export FTRACED_SHIP_URL FTRACED_SHIP_FTRACECTL=$top_builddir/ftracectl
export STATE_DIRECTORY=$work/state CREDENTIALS_DIRECTORY=$work/credentials FTRACED_SHIP_RETRY_SEC=0
host=$(uname -n | tr -c 'A-Za-z0-9.\n-' _)
ship() {
        "$top_srcdir/systemd/ftraced-ship"
}
log() { # of the server, since it was asked last
        cut -d' ' -f1 "$work/server/log" 2>/dev/null | paste -sd' '
        : >"$work/server/log"
}
kept() {
        find "$work/server" -name '*.dat' -printf '%f\n' | sort | sed 's/-[0-9a-f]\{16\}\.dat$//' | paste -sd' '
}
record() { # NAME
        ftracectl start -n "$1" udp_sendmsg >/dev/null && ftracectl stop "$1" >/dev/null
}
env -u STATE_DIRECTORY bash -c : # the daemon has none of it
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"

ok 'one has ended' record one
exits 'what has ended is sent' 0 ship
is 'by one request' "$(log)" 201
is 'to its place' "$(kept)" "put_${host}_one"
ok 'it is what is fetched' ftracectl fetch one -o "$work/one.dat"
ok 'byte by byte' cmp "$work/one.dat" "$work/server/put_${host}_one-$(ftracectl show one --json | jq -r .id).dat"
ok 'nothing stays in the spool' not test -e "$work/state/spool.dat"
exits 'once more' 0 ship
is 'it is not sent again' "$(log)" ''
ok 'one of which a part is missing has ended' record lacking
mkdir -p "$store/sessions/lacking/cpu0"
: >"$store/sessions/lacking/cpu0/00000070.seg"
exits 'what is there is sent' 0 ship
says 'and it is said what is not' 'lacking is there .*, and lacks something: .*CPU 0'
log >/dev/null

ok 'two has ended' record two
echo error >"$work/server/mode"
exits 'a server that fails is asked again' 0 ship
is 'until it takes it' "$(log)" '500 201'
ok 'three has ended' record three
echo cut >"$work/server/mode"
exits 'a connection that is cut' 0 ship
is 'is made again' "$(log)" 'cut 201'
ok 'four has ended' record four
echo deaf >"$work/server/mode"
exits 'an answer that was lost' 0 ship
is 'does not send it twice' "$(log)" 'deaf 412'
ok 'half has ended' record half
echo half >"$work/server/mode"
exits 'a server that has kept half of it' 1 ship
is 'does not take the rest' "$(log)" 'half 412'
says 'which is told' 'half: the server has another file in its place'
rm "$work/server/put_${host}_half-"*
exits 'it is sent once that is gone' 0 ship
is 'by one request' "$(log)" 201
rm "$work/server/put_${host}_half-"*
cat >"$work/large" <<END
#!/bin/bash
[[ \$1 != fetch ]] || exec head -c 20000000 /dev/zero >"\$4"
exec "$top_builddir/ftracectl" "\$@"
END
chmod +x "$work/large"
ok 'large has ended' record large
echo early >"$work/server/mode"
exits 'a server that says yes and takes nothing' 0 env FTRACED_SHIP_FTRACECTL="$work/large" bash "$top_srcdir/systemd/ftraced-ship"
is 'is asked again' "$(log)" 'early 201'
is 'until it has all of it' "$(stat -c %s "$work/server/put_${host}_large-"*)" 20000000
rm "$work/server/put_${host}_large-"*
ok 'talk has ended' record talk
echo endless >"$work/server/mode"
exits 'a server whose answer has no end' 0 timeout 60 bash "$top_srcdir/systemd/ftraced-ship"
is 'has taken it all the same' "$(log)" endless
rm "$work/server/put_${host}_talk-"*
ok 'five has ended' record five
echo slow >"$work/server/mode"
exits 'a server that stalls fails a run without retries' 1 env FTRACED_SHIP_TRIES=1 FTRACED_SHIP_STALL_SEC=2 FTRACED_SHIP_URL="$FTRACED_SHIP_URL" bash "$top_srcdir/systemd/ftraced-ship"
exits 'the next run sends it' 0 ship
is 'all are there' "$(kept)" "put_${host}_five put_${host}_four put_${host}_lacking put_${host}_one put_${host}_three put_${host}_two"

exits 'one is live' 0 ftracectl start -n six udp_sendmsg
log >/dev/null
exits 'it is not sent yet' 0 ship
is 'by no request' "$(log)" ''
timeout 100 dd if="$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/cpu0/00000000.seg" bs=4096 skip=1 \
        of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" status=none
ok 'it ends' ftracectl stop six
log >/dev/null
exits 'what is larger than its bound' 0 env FTRACED_SHIP_MAX_KIB=1 bash "$top_srcdir/systemd/ftraced-ship"
says 'stays, and that is said' 'six exceeds 1 KiB'
is 'without a request' "$(log)" ''
exits 'it is not tried each time' 0 ship
is 'by no request' "$(log)" ''
rm "$work/state/too-large"
exits 'a bound that is no number' 1 env FTRACED_SHIP_MAX_KIB=1G bash "$top_srcdir/systemd/ftraced-ship"
says 'is told' 'FTRACED_SHIP_MAX_KIB=.* are whole numbers'
is 'and nothing is sent without one' "$(log)" ''
echo large >"$work/server/mode"
exits 'what is too large for the server' 0 ship
says 'stays as well' 'six .* too large for the server'
is 'by one request' "$(log)" 413
exits 'it is not tried each time' 0 ship
is 'by no request' "$(log)" ''
rm "$work/state/too-large"
printf wrong >"$work/credentials/token"
exits 'a token that is wrong ends it' 1 ship
says 'with what is wrong' 'does not take the token .401.'
is 'by one request' "$(log)" 401
printf 'a"b' >"$work/credentials/token"
exits 'a token that is none is not sent' 1 ship
is 'by no request' "$(log)" ''
printf secret.1 >"$work/credentials/token"
ok 'the large one' ftracectl fetch six -o "$work/six.dat"
size=$(stat -c %s "$work/six.dat")
: >"$work/server/times"
exits 'the bandwidth is bounded' 0 env FTRACED_SHIP_RATE=$((size / 2)) bash "$top_srcdir/systemd/ftraced-ship"
ok 'so that it takes its time' awk 'END { exit !(NR == 1 && $2 > 0.8) }' "$work/server/times"
exits 'without a URL' 1 env FTRACED_SHIP_URL= bash "$top_srcdir/systemd/ftraced-ship"
says 'it says where that belongs' 'ship.conf'
ok 'seven has ended' record seven
cat >"$work/anew" <<END
#!/bin/bash
"$top_builddir/ftracectl" "\$@" || exit
[[ \$1 == list ]] || exit 0
for words in 'remove seven' 'start -n seven udp_sendmsg' 'stop seven'; do "$top_builddir/ftracectl" \$words; done >/dev/null
END
chmod +x "$work/anew"
log >/dev/null
exits 'what is recorded anew after it was listed' 1 env FTRACED_SHIP_FTRACECTL="$work/anew" bash "$top_srcdir/systemd/ftraced-ship"
says 'is not sent as what was listed' 'seven cannot be fetched'
is 'by no request' "$(log)" ''
exits 'the next run' 0 ship
is 'sends it as itself' "$(log)" 201
ok 'under its own ID' test -e "$work/server/put_${host}_seven-$(ftracectl show seven --json | jq -r .id).dat"
exits 'a recording is removed' 0 ftracectl remove one
exits 'the rest goes on' 0 ship
is 'and it is forgotten' "$(grep -c ' one$' "$work/state/shipped")" 0
ok 'the daemon ends in peace' stop_ftraced
done_testing
