#!/bin/bash
# Touches: stores of its own; where it may, mounts in a namespace of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A directory that cannot be a store, or holds what ftraced did not make: one sentence that tells the
# way out, and nothing is touched.
. "$(dirname "$0")/../functions.sh"
requires jq

# With mounts if they are permitted: the whole story in a user and mount namespace.
if [[ -z ${IN_NAMESPACE-} ]] && unshare -rm true 2>/dev/null; then
        rm -rf "$work"
        trap - EXIT
        IN_NAMESPACE=1 exec unshare -rm bash "$0"
fi

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
mkdir "$work/place"
store=$work/place/store

look() { # FILE: names, kinds, modes, times and contents below $work/place
        (cd "$work/place" && {
                find . -printf '%p %y %m %U %s %T@ %l\n' | sort
                find . -type f -exec sha256sum {} + | sort
        }) >"$1"
}
refused() { # DESCRIPTION PATTERN [STORE]
        local path=${3:-$store}

        look "$work/before"
        exits "$1: the daemon does not start" 1 timeout 100 "$top_builddir/ftraced" --store "$path" \
                --socket "$FTRACED_SOCKET" --tracefs "$work/tracefs"
        is "$1: it says one sentence" "$(wc -l <"$err")" 1
        says "$1: which names the store and the reason" "$path .*$2"
        says "$1: and the way out" 'with --store|another with'
        look "$work/after"
        ok "$1: nothing is touched" diff "$work/before" "$work/after"
}

refused 'no parent' 'directory above it is missing' "$work/place/no/store"
mkdir "$store"
chmod 777 "$store"
refused 'world-writable' 'others may write.*chmod go-w'
chmod 770 "$store"
refused 'group-writable' 'others may write.*chmod go-w'
chmod 750 "$store"
ln -s store "$work/place/link"
refused 'a symbolic link' 'symbolic link' "$work/place/link"
refused 'a symbolic link with a slash' 'symbolic link' "$work/place/link/"
echo text >"$work/place/file"
refused 'a file' 'no directory' "$work/place/file"
if [[ $(id -u) == 0 ]] && chown 1:1 "$store" 2>/dev/null; then
        refused 'another user'"'"'s' 'belongs to another user.*chown'
        chown 0:0 "$store"
else
        skip_one "another user's" 'only root gives files away'
fi
for entry in lock sessions symbols; do
        mkfifo "$store/$entry"
        refused "a FIFO as $entry" 'ftraced did not make it'
        rm "$store/$entry"
        ln -s /etc "$store/$entry"
        refused "a link as $entry" 'ftraced did not make it'
        rm "$store/$entry"
done

if [[ ${IN_NAMESPACE-} ]] && mount -t tmpfs -o size=64k,mode=755 tmpfs "$store" 2>/dev/null; then
        cleanup_fn umount -l "$store"
        dd if=/dev/zero of="$store/filler" bs=4k status=none 2>/dev/null
        refused 'a full file system' 'is full'
        rm "$store/filler"
        mount -o remount,ro "$store"
        refused 'a read-only file system' 'is read-only'
        umount "$store"
else
        skip_one 'a full file system' 'this user may not mount'
        skip_one 'a read-only file system' 'this user may not mount'
fi

# --- two daemons ----------------------------------------------------------------------------------

printf '[Store]\nMaxUse=0\nKeepFree=0\n' >"$work/ftraced.conf"
export FTRACED_CONFIG=$work/ftraced.conf
ok 'a daemon starts' start_ftraced --tracefs "$work/tracefs"
exits 'a session is recorded' 0 ftracectl start -n kept udp_sendmsg
exits 'to its end' 0 ftracectl stop kept
look "$work/before"
exits 'a second daemon on the store does not start' 1 "$top_builddir/ftraced" --store "$store" \
        --socket "$work/socket-too" --tracefs "$work/tracefs"
is 'it says one sentence' "$(wc -l <"$err")" 1
says 'which names the store and the first one' "pid $ftraced_pid\\) owns the store $store"
look "$work/after"
ok 'nothing is touched' diff "$work/before" "$work/after"
ok 'the first one answers' ftracectl status
ok 'it ends' stop_ftraced

# --- what somebody put into a store ---------------------------------------------------------------

sessions=$store/sessions
mkfifo "$sessions/fifo" "$sessions/kept/cpu7" "$sessions/kept/fifo"
ln -s /etc "$sessions/link"
ln -s /etc/passwd "$sessions/kept/session.json.new"
ln -s /etc "$sessions/.removed-link"
echo mine >"$sessions/kept/notes"
mkdir "$sessions/strange" "$sessions/hollow" "$sessions/kept/cpu8"
mkfifo "$sessions/strange/session.json" "$sessions/kept/cpu8/00000000.seg"
ln -s /etc/passwd "$sessions/kept/cpu8/00000001.seg"
look_at_planted() { # FILE: all but what a daemon may write: its lock, and how long the host has run
        look "$work/all"
        grep -v -e ' \./lock ' -e '/lock ' -e '/lock$' -e '/clock ' -e '/clock$' -e '^\./store d ' "$work/all" >"$1"
}
look_at_planted "$work/before"
ok 'a daemon starts among foreign files' start_ftraced --tracefs "$work/tracefs"
is 'it has one message for all of sessions/' "$(grep -c 'did not make' "$work/ftraced.log")" 1
says 'and one for each directory that is no session' "Session \"strange\" .* left alone" "$work/ftraced.log"
says 'and one for each directory that is no session' "Session \"hollow\" .* left alone" "$work/ftraced.log"
exits 'the session is there' 0 ftracectl show kept
exits 'it can be verified' 6 timeout 100 "$top_builddir/ftracectl" verify kept
is 'what has the names of our files is named' "$(grep -c 'not a file that ftraced has made' "$out")" 4
exits 'what is no session is not listed' 0 ftracectl list --no-legend
is 'nothing else is' "$(awk '{ print $1 }' "$out")" kept
exits 'what is no session cannot be removed' 3 ftracectl remove strange
ok 'the daemon ends' stop_ftraced
look_at_planted "$work/after"
ok 'nothing of it is touched' diff "$work/before" "$work/after"
store=$work/newer
# --- of a newer ftraced ---------------------------------------------------------------------------

newer() { # NAME STATE: a session that a later version has written, with a file and a segment of its own
        mkdir -p "$store/sessions"
        cp -r "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1" "$store/sessions/$1"
        jq --arg name "$1" --arg state "$2" '.version = 7 | .name = $name | .state = $state | .spec.future = [1] | .page_bytes = "many"' \
                "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/session.json" >"$store/sessions/$1/session.json"
        echo 'of the future' >"$store/sessions/$1/future.index"
        echo '{"version": 9}' >"$store/sessions/$1/live.json"
}
future() { # NAME: all that is in it
        (cd "$store/sessions/$1" && find . -type f -exec sha256sum {} + | sort)
}
newer later sealed
future later >"$work/later.before"
exits 'without a daemon it is listed' 0 ftracectl list --store "$store"
says 'as newer' '^later +newer ' "$out"
for verb in report show verify pin; do
        exits "$verb says that it is newer" 1 ftracectl "$verb" --store "$store" later
        says "$verb names the versions" 'by a newer ftraced: .*version 7, and this ftraced knows 1'
        ok "$verb does not call it damaged" not grep -qi damaged "$err"
done
exits 'a vacuum leaves it' 0 ftracectl vacuum --store "$store" --time=1s
exits 'by its name it is removed' 0 ftracectl remove --store "$store" later
ok 'and gone' not test -e "$store/sessions/later"
newer later sealed
newer live recording
ok 'a daemon starts on what a newer one left' start_ftraced --store "$store" --tracefs "$work/tracefs"
says 'and says so' "\"later\" is left as it is: recorded by a newer ftraced" "$work/ftraced.log"
says 'also of one that recorded' "\"live\" is left as it is: recorded by a newer ftraced" "$work/ftraced.log"
exits 'it lists them' 0 ftracectl list
says 'as newer, too' '^later +newer ' "$out"
says 'both' '^live +newer ' "$out"
exits 'it shows why' 0 ftracectl show later
says 'in words' 'version 7, and this ftraced knows 1' "$out"
for verb in report verify pin snapshot stop; do
        exits "the daemon's $verb says that it is newer" 1 ftracectl "$verb" later
        says "the daemon's $verb names the versions" 'by a newer ftraced: .*version 7, and this ftraced knows 1'
done
exits 'the vacuum leaves it' 0 ftracectl vacuum --time=1s
exits 'another session is recorded' 0 ftracectl start -n mine udp_sendmsg
exits 'and ends' 0 ftracectl stop mine
exits 'and goes' 0 ftracectl remove mine
future later | diff "$work/later.before" - >"$work/diff"
is 'nothing in it has changed' "$(cat "$work/diff")" ''
exits 'it removes what it is told to' 0 ftracectl remove later live
ok 'both are gone' wait_until 10 not test -e "$store/sessions/later" -o -e "$store/sessions/live"
ok 'the daemon ends in peace' stop_ftraced

# --- one that cannot be read ----------------------------------------------------------------------

store=$work/unreadable
look_at_lists() { # WORDS...: of a store with "torn" and "good"; what they say
        exits "$1 list is not whole without it" 6 ftracectl list "${@:2}"
        says "$1 list has a row of it" '^torn +unreadable +- +- +- +- .* -$' "$out"
        says "$1 list has the others" '^good +sealed' "$out"
        says "$1 list says why" 'session "torn" is damaged: its session.json is not valid \(no JSON\)'
        exits "$1 list --json is not whole without it" 6 ftracectl list --json "${@:2}"
        is "$1 list --json has it" "$(jq -r '.[] | select(.unreadable and .name == "torn").reason' "$out")" \
                'damaged: its session.json is not valid (no JSON)'
        for verb in report verify "fetch -o $work/torn.dat"; do
                # shellcheck disable=SC2086
                exits "$1 ${verb%% *} of it fails" 1 ftracectl $verb "${@:2}" torn
                says "$1 ${verb%% *} says why" 'torn.* was damaged: its session.json is not valid \(no JSON\)'
        done
}
mkdir -p "$store/sessions"
for name in torn good; do
        cp -r "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1" "$store/sessions/$name"
        chmod -R u+w "$store/sessions/$name"
        jq --arg name $name '.name = $name' "$top_srcdir/tests/data/sessions/udp_sendmsg-6.1/session.json" \
                >"$store/sessions/$name/session.json"
done
mkdir "$store/sessions/kept"
cp -r "$store/sessions/good/." "$store/sessions/kept"
truncate -s 300 "$store/sessions/torn/session.json"
look_at_lists 'without a daemon' --store "$store"
ok 'a daemon starts beside it' start_ftraced --store "$store" --tracefs "$work/tracefs"
look_at_lists "the daemon's"
exits 'show shows it' 0 ftracectl show torn
says 'and why' 'State: unreadable: damaged: its session.json is not valid \(no JSON\)' "$out"
ok 'and nothing that is not known' not grep -qE 'Loss|Hooked|Asked for|No calls' "$out"
says 'a copy has no second life' '^kept +unreadable' <(ftracectl list 2>/dev/null)
ftracectl doctor >"$out" 2>&1
says 'doctor tells of it' 'session kept is damaged: .*another session.s; and 1 more' "$out"
exits 'the id of those that have none removes nothing' 3 ftracectl remove 0000000000000000
cp "$store/sessions/good/session.json" "$work/good.json"
exits 'one that was whole is damaged meanwhile' 0 ftracectl show good
truncate -s 300 "$store/sessions/good/session.json"
sleep 0.1
exits 'the list is not whole without it, either' 6 ftracectl list --json
is 'and has all' "$(jq -c 'map(select(.unreadable).name) | sort' "$out")" '["good","kept","torn"]'
cp "$work/good.json" "$store/sessions/good/session.json"
exits 'what is mended is read again' 0 ftracectl show good
says 'as it was' 'State: sealed' "$out"
ok 'and the list knows it' jq -e '.[] | select(.name == "good" and (.unreadable | not))' <(ftracectl list --json 2>/dev/null)
mkdir "$work/aside"
mv "$store/sessions/good" "$work/aside"
: >"$store/sessions/good"
exits 'where a directory was is a file' 6 ftracectl list --json
is 'the list has all' "$(jq -c 'map(select(.unreadable).name) | sort' "$out")" '["good","kept","torn"]'
says 'and why it cannot be read' '"good" is unreadable: its directory: Not a directory'
exits 'a session starts beside it' 0 ftracectl start -n live udp_sendmsg
exits 'and all that record can be stopped' 0 ftracectl stop --all
is 'so that it has ended' "$(session live .state)" sealed
rm "$store/sessions/good"
exits 'somebody removes it' 6 ftracectl list --json
is 'it is in no list' "$(jq -c 'map(.name) | sort' "$out")" '["kept","live","torn"]'
mv "$work/aside/good" "$store/sessions/good"
exits 'a vacuum leaves it' 0 ftracectl vacuum --time=1s
ok 'where it is' test -e "$store/sessions/torn"
touch "$store/sessions/torn/mine"
exits 'what holds a file of somebody else is not removed' 1 ftracectl remove torn
rm "$store/sessions/torn/mine"
exits 'by its name it is' 0 ftracectl remove torn
ok 'and gone' wait_until 10 not test -e "$store/sessions/torn"
ok 'the daemon ends beside it' stop_ftraced

# --- one that goes --------------------------------------------------------------------------------

store=$work/going
ok 'a daemon starts' start_ftraced --store "$store" --tracefs "$work/tracefs"
rm -r "$store/sessions"
exits 'without its sessions/ nothing starts' 1 ftracectl start -n nowhere udp_sendmsg
says 'it names the store, the reason and the way out' \
        "the store $store failed: No such file or directory; .*removed or renamed: .*restart ftraced"
says 'so does the journal' "Refused root .*the store $store failed: No such file" "$work/ftraced.log"
ok 'the daemon ends' stop_ftraced
done_testing
