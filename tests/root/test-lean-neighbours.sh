#!/bin/bash
# Touches: function_graph; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: new
#
# What ordinary work calls stays unhooked when function_graph has more than one user, which 6.12 makes difficult
# (daemon/tracer/controller-hooks.c).  What the kernel does is asked, not what was written.
. "$(dirname "$0")/../functions.sh"
require_kernel

is_hooked() { # FUNCTION
        grep -q "^$1 " "$tracefs/enabled_functions"
}
only_rest_is_hooked() { # NAME
        ok "$1: what ordinary work calls is not hooked" not is_hooked vfs_write
        ok "$1: nearly all the rest is" is_hooked sysrq_handle_reboot
}

sed -i '/^Lean=/d' "$FTRACED_CONFIG" # which is auto by default
ok 'the daemon starts' start_ftraced
exits 'alone: a session starts' 0 ftracectl start -q -n first vfs_truncate
only_rest_is_hooked alone
exits 'neighbour: a second one starts' 0 ftracectl start -q -n neighbour --flat vfs_fallocate
ok 'neighbour: its function is hooked' is_hooked vfs_fallocate
only_rest_is_hooked neighbour
is 'neighbour: the first one says what it lacks' \
        "$(session first '.warnings | map(select(test("hooks few functions while"))) | length')" 1
is 'neighbour: nobody is said to have meddled' "$(session first '.gaps // [] | map(select(.cause != "roots_changed")) | length')" 0
exits 'third: one starts of a root that nobody has recorded' 0 ftracectl start -q -n third vfs_fsync_range
only_rest_is_hooked third
stops 'neighbour: it stops' neighbour
stops 'third: it stops' third
only_rest_is_hooked afterwards
stops 'alone: the first one stops' first
is_as_before 'the kernel is as it was'
done_testing
