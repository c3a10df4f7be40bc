#!/bin/bash
# Touches: function_graph, the module binfmt_misc (loaded, unloaded); needs root.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: each change of what is hooked takes the kernel seconds when it is emulated
# kernels: 6.12
# long kernels: new
#
# What ordinary work calls stays unhooked when function_graph has more than one user, which 6.12 makes difficult
# (daemon/tracer/controller-hooks.c).  What the kernel does is asked, not what was written.
. "$(dirname "$0")/../functions.sh"
require_kernel

only_rest_is_hooked() { # NAME
        ok "$1: what ordinary work calls is not hooked" not is_hooked vfs_write
        ok "$1: nearly all the rest is" is_hooked sysrq_handle_reboot
}

lean_by_default
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
# A list does not grow by itself.
if modprobe binfmt_misc && grep -q ' \[binfmt_misc\]$' "$tracefs/available_filter_functions"; then
        ok 'modules: what one has that comes is hooked' wait_until 120 is_hooked bm_fill_super
        says_modules() {
                [[ $(session first '.hook_changes // [] | last.reason') == modules ]]
        }
        ok 'modules: which is noted' wait_until 60 says_modules
        only_rest_is_hooked modules
        rmmod binfmt_misc
        has_noticed() {
                [[ $(session first '.symbol_maps | length') == 2 ]]
        }
        ok 'modules: that it goes is noticed' wait_until 60 has_noticed
        is 'modules: nobody is said to have meddled' "$(session first '.gaps // [] | map(select(.cause != "roots_changed")) | length')" 0
else
        skip_one 'modules' 'this kernel has no module binfmt_misc'
fi
stops 'neighbour: it stops' neighbour
stops 'third: it stops' third
only_rest_is_hooked afterwards
stops 'alone: the first one stops' first
is_as_before 'the kernel is as it was'
done_testing
