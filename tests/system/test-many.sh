#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: hundreds of recordings
#
# A daemon in a store with many recordings reads each of them when it begins; what it keeps in memory of them is
# enough for a list.  What counts is how often it opens a session.json, not how long that takes.
. "$(dirname "$0")/../functions.sh"
requires jq python3

n=300
preload=$top_builddir/tests/system/reads.so
[[ -e $preload ]] || skip "$preload is not built"
export READS_FILE=$work/reads
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
cp -r "$top_srcdir/tests/data/sessions/udp_sendmsg-6.12" "$work/template"
chmod -R u+w "$work/template"
find "$work/template" -name '*.seg' -delete # or the sealer would read, too
python3 "$top_srcdir/tests/bench/make-many.py" "$store" "$work/template" "$n"
reads() {
        stat -c %s "$READS_FILE" 2>/dev/null || echo 0
}
is_less() { # DESCRIPTION GOT THAN
        if (($2 < $3)); then
                pass "$1"
        else
                fail "$1"
                note "$2, and not less than $3"
        fi
}
reading() { # DESCRIPTION READS COMMAND...: it makes the daemon read so many
        local description=$1 wanted=$2 before

        shift 2
        before=$(reads)
        exits "$description" 0 "$@"
        is "$description, for which the daemon reads $wanted session.json" $(($(reads) - before)) "$wanted"
}
varlink() {
        python3 "$top_srcdir/tests/varlink-client.py" "$FTRACED_SOCKET" "$@"
}
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
exits 'one that there is not is not found' 3 ftracectl show r00300
ok 'its neighbour is suggested' grep -q "Did you mean \"r00" "$err"
exits 'a name that is taken is refused' 5 ftracectl start -n r00297 udp_sendmsg
ok 'it says that it exists' grep -q 'exists' "$err"
exits 'another one records' 0 ftracectl start -n fresh udp_sendmsg
exits 'one is removed' 0 ftracectl remove r00296
exits 'the new one is stopped' 0 ftracectl stop fresh
is_quiet() { # the sealer has had it, and the second look is over
        local before

        before=$(reads)
        sleep 0.5
        [[ $(reads) == "$before" ]]
}
ok 'then nothing is read any more' wait_until 30 is_quiet
# Those of another store once more, to write down when they were first seen.
is_less 'each was read twice at most, but for those that were asked for' "$(reads)" $((2 * n + 20))

# --- afterwards ----------------------------------------------------------------------------------
reading 'a list' 0 ftracectl list
is 'newest first' "$(sed -n 2,4p "$out" | awk '{ print $1 }' | xargs)" 'fresh r00299 r00298'
reading 'status' 0 ftracectl status
ok 'status counts them' grep -q "0 recording, $n kept\|0 recordings, $n kept" "$out"
reading 'metrics' 0 ftracectl metrics
ok 'metrics count them' grep -q "ftraced_sessions{state=\"sealed\"} $n" "$out"
reading 'the newest two' 0 ftracectl list -n 2
is 'are two' "$(awk 'NR > 1 && NF == 0 { exit } NR > 1 { print $1 }' "$out" | xargs)" 'fresh r00299'
ok 'it says how many there are' grep -qx "The newest 2 of $n sessions; all of them: ftracectl list -n all" "$out"
on_terminal() { # COMMAND...: what a terminal shows, in $out
        python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null | tr -d '\r' >"$out"
}
on_terminal "$top_builddir/ftracectl" list --no-pager
is 'on a terminal there are the newest hundred' "$(grep -cE '^(r00|fresh)' "$out")" 100
ok 'and it says so' grep -q "^The newest 100 of $n sessions" "$out"
on_terminal "$top_builddir/ftracectl" list --no-pager -n all
is 'unless all are asked for' "$(grep -cE '^(r00|fresh)' "$out")" "$n"
on_terminal "$top_builddir/ftracectl" list --no-pager --no-legend
is 'or nobody could be told' "$(grep -cE '^(r00|fresh)' "$out")" "$n"
reading 'the newest two as JSON' 2 ftracectl list -n 2 --json
is 'are the same' "$(jq -r '[.[].name] | sort | join(" ")' "$out")" 'fresh r00299'
exits 'all of them as JSON' 0 ftracectl list --json
is 'are all' "$(jq length "$out")" "$n"
reading 'one of them' 1 ftracectl show r00001
reading 'one that has ended since' 1 ftracectl show fresh
exits 'by its id' 0 ftracectl show 0000000000000002 --json
is 'it is the same' "$(jq -r .name "$out")" r00001
exits 'no number of them is not understood' 2 ftracectl list -n none
exits 'nor is zero' 2 ftracectl list -n 0

is 'each part of an answer in parts says that it goes on' \
        "$(varlink org.ftraced.List '{}' --more | jq -s 'map(.sessions | length) | add')" "$n"
briefs=$(varlink org.ftraced.ListBriefs '{"newest":3}')
is 'a brief has what a list says' "$(jq -r '.total, (.briefs | map(.name + " " + .state) | join(" "))' <<<"$briefs" | xargs)" \
        "$n r00298 sealed r00299 sealed fresh sealed"
sessions=$(varlink org.ftraced.List '{"newest":3}')
is 'the same as the whole says' "$(jq -c '.briefs | map([.name, .id, .start_ns, .disk_bytes])' <<<"$briefs")" \
        "$(jq -c '.sessions | map([.name, .id, .start.realtime_ns, .disk_bytes])' <<<"$sessions")"

# --- what is changed while it rests, and what is removed ------------------------------------------
reading 'one is pinned' 1 ftracectl pin r00002
is 'the list shows it' "$(ftracectl list | awk '$1 == "r00002" { print $2 }')" '*'
exits 'a vacuum goes through all of them' 0 ftracectl vacuum --limit=10
is 'and leaves the newest, and what is pinned' "$(ftracectl list --json | jq -r '[.[].name] | sort | join(" ")')" \
        'fresh r00002 r00291 r00292 r00293 r00294 r00295 r00297 r00298 r00299'

# --- without a daemon ----------------------------------------------------------------------------
# Of sessions that are not shown nobody asks how large they are, which their files tell.
python3 -c 'import sys
for i in range(20000): open(f"{sys.argv[1]}/{i}", "w").close()' "$store/sessions/r00291"
list=("$top_builddir/ftracectl" list --store "$store")
exits 'all are listed' 0 "${list[@]}" --json
is 'in the order in which they began' "$(jq -r '[.[].name] | join(" ")' "$out")" \
        'r00002 r00291 r00292 r00293 r00294 r00295 r00297 r00298 r00299 fresh'
exits 'the newest two are listed' 0 "${list[@]}" --json -n 2
is 'as among all' "$(jq -c '.[].disk_bytes' "$out" | xargs)" "$("${list[@]}" --json | jq '.[-2:][].disk_bytes' | xargs)"
all=$(cpu_ms "${list[@]}") newest=$(cpu_ms "${list[@]}" -n 2)
is_less 'which takes less than half the time of all' $((newest * 2)) "$all"
done_testing
