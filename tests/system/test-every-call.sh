#!/bin/bash
# Touches: a fake tracefs, of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The same as tests/root/test-every-call.sh where no kernel is needed, and quickly: what
# arms and disarms may die anywhere in between.
. "$(dirname "$0")/../functions.sh"

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
mkdir "$work/ledger"
exits 'death after any call is put back' 0 "$top_builddir/tests/root/kill-every" "$work/tracefs" \
        "$work/ledger" udp_sendmsg tcp_sendmsg - "${EVERY:-1}"
note "$(cat "$out")"
ok 'there were deaths' grep -qE '^deaths [0-9]*[1-9][0-9] of' "$out"
done_testing
