#!/bin/bash
# Touches: a fake tracefs, of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whoever arms or disarms may die after any system call: the next one puts everything back.
# Only here: all calls, and in a second.  The fake kernel takes any file in any order.
. "$(dirname "$0")/../functions.sh"

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
echo kfree >>"$work/tracefs/available_filter_functions" # ordinary work calls it, so set_ftrace_notrace is written
mkdir "$work/ledger"
exits 'death after any call is put back' 0 "$top_builddir/tests/root/kill-every" "$work/tracefs" \
        "$work/ledger" udp_sendmsg tcp_sendmsg - "${EVERY:-1}"
note "$(cat "$out")"
ok 'there were deaths' grep -qE '^deaths [1-9][0-9]+ of' "$out"
done_testing
