#!/bin/bash
# Touches: function_graph; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: it waits for moments, and measures milliseconds on a quiet machine
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
for how in '--flat ksys_write' '--flat vfs_* --set=MaxFunctions=500' '--lean=auto ksys_write' ksys_write; do
        at=$(($(date +%s) + 15))
        [[ $how == --flat* ]] || at=$((at + 30)) # everything hooked, where it is emulated
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
        [[ $how == --flat* ]] || continue
        worst=$(printf '%s\n' "$worst" "$late" | sort -n | tail -n 1)
done
# With everything hooked an emulated CPU of a busy machine takes longer; the notes above say how long.
ok 'within 50 ms of it' test "${worst%.*}" -le 50
exits 'a moment that passes while it is armed is refused' 2 ftracectl start -n late --at=@$(($(date +%s) + 1)).2 --duration=1s ksys_write
says 'with the time' 'ago by this host'
exits 'and nothing is left of it' 3 ftracectl show late
ok 'the daemon ends in peace' stop_ftraced
is_as_before 'the kernel is as it was'
done_testing
