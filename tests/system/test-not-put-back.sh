#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that cannot be put back at a session's end is the daemon's debt, told until it is paid, and
# nothing that the recording lacks.
. "$(dirname "$0")/../functions.sh"
requires jq
preload=$top_builddir/tests/system/fault.so
[[ -e $preload ]] || skip "$preload is not built"
export FAULT_DIR=$work/tracefs FAULT_FILE=$work/fault

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
controls() {
        (cd "$work/tracefs" && grep -r -D skip . . | grep -v -e set_graph_ -e ':####' | sed 's/\[\(local\)\] .*/\1/' | sort)
}
says_debt() {
        ftracectl status | grep -q 'settings could not be restored yet: Device or resource busy'
}
says_none() {
        ! says_debt
}

controls >"$work/before"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
exits 'a session starts' 0 ftracectl start -n busy udp_sendmsg
ok 'nothing is owed' says_none
echo 16 >"$FAULT_FILE"
exits 'it stops while the kernel is busy' 0 ftracectl stop busy
says 'who stops it is told' 'busy: sealed' "$out"
says 'that the kernel is not put back' 'could not be restored yet: Device or resource busy' "$out"
is 'the session is as good as any' "$(session busy '[.state, .warnings[]] | join(" ")')" sealed
ok 'everybody is told' says_debt
says 'in JSON, too' '"not_put_back"' <(ftracectl status --json)
rm "$FAULT_FILE"
ok 'until it is put back, in a while' wait_until 60 says_none
says 'which the journal says' 'could not be put back in the kernel has been' "$work/ftraced.log"
controls >"$work/after"
ok 'the kernel is as it was' diff "$work/before" "$work/after"
exits 'another one starts' 0 ftracectl start -n next udp_sendmsg
exits 'and ends' 0 ftracectl stop next
done_testing
