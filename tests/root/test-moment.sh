#!/bin/bash
# Touches: function_graph; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
#
# A start at a moment begins at that moment.
# Only here: how long the kernel takes to switch on what is armed, and to arm it.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires jq

ok 'the daemon starts' start_ftraced
late_ms() { # NAME MOMENT
        ftracectl show "$1" --json | jq "(.start.realtime_ns / 1e6 - $2 * 1000) * 10 | round / 10"
}
worst=0
for how in ksys_write '--flat ksys_write' '--lean=auto ksys_write' 'vfs_* --max-functions=500'; do
        at=$(($(date +%s) + 20))
        name=at-$at
        # shellcheck disable=SC2086
        exits "$how: it is armed" 0 ftracectl start -n "$name" --at=@$at --duration=1s $how
        armed=$(ftracectl show "$name" --json | jq '[.state, (.arm_ns / 1e6 | round)] | join(" ")')
        ended() {
                [[ $(ftracectl show "$name" --json | jq -r .state) == sealed ]]
        }
        ok 'it records and ends' wait_until 90 ended
        late=$(late_ms "$name" "$at")
        note "$how: $armed ms to arm; it began $late ms after the moment; $(ftracectl show "$name" --json | jq -c '[.warnings, (.gaps | length)]')"
        ok 'never before' test "${late%.*}" -ge 0
        worst=$(printf '%s\n' "$worst" "$late" | sort -n | tail -n 1)
done
# An emulated CPU of a busy machine is given more time than the 50 ms that are promised.
ok 'and soon after' test "${worst%.*}" -le 200
ok 'the daemon ends in peace' stop_ftraced
is_as_before 'the kernel is as it was'
done_testing
