#!/bin/bash
# Touches: a fake tracefs below a temporary directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A session that costs more than it may ends by itself, keeps what it has, and says why everywhere.
# Only here: each limit, and how its end is told by every verb; what is refused before anything is written.
. "$(dirname "$0")/../functions.sh"
requires jq python3

fake=$work/tracefs
bash "$(dirname "$0")/fake-tracefs.sh" "$fake" 1

# Pages, a number of them every tenth of a second.
cat >"$work/feed" <<'EOF'
import os, struct, sys, time
pipe, n, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
page = struct.pack("=QQ", 1000, 0) + bytes(4080)
fd = os.open(pipe, os.O_WRONLY)
for i in range(times):
    try:
        for _ in range(n):
            os.write(fd, page)
    except BrokenPipeError: # the session has ended
        break
    time.sleep(0.1)
EOF
feed() { # PAGES TIMES
        timeout 60 python3 "$work/feed" "$fake/per_cpu/cpu0/trace_pipe_raw" "$1" "$2"
}
stats() { # WAITING
        sed -i "s/^entries: .*/entries: $1/" "$fake/per_cpu/cpu0/stats"
}
has_ended() { # NAME
        [[ $(session "$1" .state) == sealed ]]
}
is_limited() { # NAME LIMIT WORDS: it has ended for that
        ok "$1 ends by itself" wait_until 30 has_ended "$1"
        is "$1 says which limit" "$(session "$1" .limit)" "$2"
        exits "$1 is shown" 0 ftracectl show "$1"
        says "$1 says why" "^ *State: sealed: .* a second over .*, more than the $3; name fewer" "$out"
        says "the journal says it too" "$1\" costs too much and ends: .*$3" "$work/ftraced.log"
}

printf '%s\nMaxEventRate=10K\nMaxBufferMemory=32M\nMaxHookedFunctions=2\n' "$no_limits" >"$FTRACED_CONFIG"
ok 'the daemon starts' start_ftraced --tracefs "$fake"

exits 'a session that stays below its limits starts' 0 ftracectl start -n good --set=MaxWriteRate=1M udp_sendmsg
exits 'show has its limits' 0 ftracectl show good
says 'they are named' 'Limits: +10,000 events, 1M, each a second' "$out"
ok 'it is fed' feed 2 20
stats 30000
sleep 4.5
is 'it still records after a look' "$(session good .state)" recording
exits 'it stops' 0 ftracectl stop good
is 'its end was nobody'"'"'s limit' "$(session good .limit)" null
stats 0

exits 'a session with a limit of its own starts' 0 ftracectl start -n bytes --set=MaxWriteRate=64K udp_sendmsg
ok 'it is flooded' feed 40 30
is_limited bytes max_write_rate '256K of MaxWriteRate='
ok 'what was recorded is there' test "$(sum_of bytes n_pages)" -ge 40
is 'no page is lost' "$(sum_of bytes pages_lost)" 0

exits 'a session with the limit of ftraced.conf starts' 0 ftracectl start -n events udp_sendmsg
stats 100000000
is_limited events max_event_rate '(10|40),000 of MaxEventRate='
stats 0
exits 'list marks them' 0 ftracectl list
is 'both' "$(grep -c ' limited ' "$out")" 2
exits 'status tells of them' 0 ftracectl status
says 'and why' 'events was ended by a limit: .*MaxEventRate=' "$out"

exits 'run says so with its exit status' 7 ftracectl run --set=MaxWriteRate=64K udp_sendmsg -- \
        python3 "$work/feed" "$fake/per_cpu/cpu0/trace_pipe_raw" 40 30
says 'and in words' 'the recording was ended by a limit: .*MaxWriteRate=' "$err"

# --- before anything is written --------------------------------------------------------------------
exits 'buffers that take too much are refused' 7 ftracectl start -n big --buffer-size=33M udp_sendmsg
says 'with the limit and the way out' 'more than the 32M that MaxBufferMemory= allows. Use --buffer-size=32M' "$err"
exits 'one that fits starts' 0 ftracectl start -n one --buffer-size=25M udp_sendmsg
exits 'doctor says that another one does not' 0 ftracectl doctor --json
is 'as a warning' "$(jq -r '.[] | select(.name == "memory") | .state + " " + .text' "$out" |
        grep -c '^warning one more session would be refused: .* beside 25M of other sessions')" 1
exits 'it stops' 0 ftracectl stop one
printf '%s\n' udp_sendmsg udp_recvmsg tcp_sendmsg >"$work/hooked"
exits 'more functions by name than allowed are refused' 7 ftracectl start --lean="$work/hooked" udp_sendmsg
says 'naming the option' 'at most 2 may be hooked. Name fewer, or raise --set=MaxHooked=' "$err"
exits 'a limit that makes no sense is refused' 2 ftracectl start --set=MaxEventRate=0 udp_sendmsg
ok 'the daemon ends in peace' stop_ftraced
done_testing
