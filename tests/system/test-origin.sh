#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whoever reads an error learns what was done to what; whoever debugs, where it began.
. "$(dirname "$0")/../functions.sh"
requires jq unshare

preload=$top_builddir/tests/system/fault.so
[[ -e $preload ]] || skip "$preload is not built"
export FAULT_DIR=$work/store FAULT_FILE=$work/fault
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1

place='\[(lib|daemon|cli)/[a-z/-]+\.c:[0-9]+, [a-z_]+\(\)\]'
as_root() { # COMMAND...
        if [[ $(id -u) == 0 ]]; then
                "$@"
        else
                unshare -r "$@"
        fi
}

# --- a private daemon ------------------------------------------------------------------------------

export FTRACED_DAEMON=$work/no-such-daemon
if as_root true 2>/dev/null; then
        exits 'a private daemon that is not there cannot be started' 1 \
                as_root "$top_builddir/ftracectl" run --store "$store" udp_sendmsg -- true
        says 'which is said with its name and the step' \
                "Cannot start the private daemon $FTRACED_DAEMON: execv: No such file or directory\$"
        is 'once' "$(grep -c 'Cannot start' "$err")" 1
        exits 'so it is for whoever debugs' 1 \
                as_root env FTRACED_DEBUG=origin "$top_builddir/ftracectl" run --store "$store" udp_sendmsg -- true
        says 'who learns where it was' \
                ': execv: No such file or directory \[cli/contact/client\.c:[0-9]+, spawn\(\)\]$'
        few_files() (
                for fd in {3..9}; do eval "exec $fd>&-"; done # of make's
                ulimit -n 6
                as_root "$top_builddir/ftracectl" run --store "$store" udp_sendmsg -- true
        )
        exits 'without descriptors none can be started either' 1 few_files
        says 'which is another step' "Cannot start the private daemon .*: [a-z0-9]+: Too many open files\$"
else
        skip_one 'a private daemon that is not there' 'only root has one'
fi
unset FTRACED_DAEMON

# --- a daemon ---------------------------------------------------------------------------------------

starts_refused() { # what a client is told on a full disk: in $err
        echo "28 0" >"$FAULT_FILE"
        exits "$1: a start is refused" 1 ftracectl start -n no udp_sendmsg
        rm "$FAULT_FILE"
}
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
starts_refused 'as usual'
says 'as usual: with the step, the object and the reason' "the store $store failed: No space left on device"
ok 'as usual: and no place' not grep -qE "$place" "$err"
ok 'the daemon ends' stop_ftraced

export FTRACED_DEBUG=origin
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
starts_refused 'debugged'
says 'debugged: with the place as well' "the store $store failed: No space left on device $place"
note "$(cat "$err")"
exits 'debugged: what is no error has no place' 3 ftracectl start -n no no_such_function
ok 'debugged: not even that of the last error' not grep -qE "$place" "$err"
ok 'the daemon ends' stop_ftraced
done_testing
