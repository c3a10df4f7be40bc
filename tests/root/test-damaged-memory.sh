#!/bin/bash
# Touches: function_graph, memory of the guest from outside, and resets the machine; only in a guest of vmrun -BF.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 new
# needs: reboots and a file of memory
# boot: reserve_mem=2M:4096:trace trace_instance=boot_mapped^traceoff@trace nokaslr
#
# A black box whose memory was damaged between the crash and the next boot: the next kernel and the daemon after it come
# to an end, nothing is drawn that was not recorded, and what is damaged is said.
# Only here: damaged memory under a kernel.
. "$(dirname "$0")/../functions.sh"
boot=$(cat /mnt/out/.vmrun/boot 2>/dev/null) || skip 'needs a guest that may reboot: run-in-guests'
memory=/mnt/out/.vmrun/memory
[[ -e $memory ]] || skip 'the memory is no file: run-in-guests'
require_kernel
requires jq python3 "$top_builddir/tests/workload/numbered"
box=$tracefs/instances/boot_mapped store=/mnt/disk/store
at=$(dmesg | sed -n 's/.*mapped boot instance boot_mapped at physical memory \(0x[0-9a-f]*\).*/\1/p')
damages=(none heads commits payload times garbage)
grep -xE '__x64_sys_sysinfo|do_sysinfo.*|ktime_get_with_offset|get_avenrun|si_meminfo|si_swapinfo|nr_blockdev_pages' \
        "$tracefs/available_filter_functions" >"$work/hooked"
# shellcheck source=/dev/null
[[ $boot == 1 ]] || . /mnt/disk/state
has_calls() { # not by the text, which takes an emulated CPU long
        (($(sed -n 's/^entries: //p' "$box/per_cpu/cpu0/stats") > 2000))
}

# Of every page that there is in the region: its head is a time, then the length of what follows.
damage() { # HOW
        python3 - "$1" "$memory" "$at" <<'END'
import os, random, struct, sys
how, path, at = sys.argv[1], sys.argv[2], int(sys.argv[3], 16)
random.seed(22)
fd = os.open(path, os.O_RDWR)
size = 2 << 20
old = bytearray(b"".join(os.pread(fd, 65536, at + i) for i in range(0, size, 65536)))
new = bytearray(old)
n = 0
for page in range(0, size, 4096):
    time, commit = struct.unpack_from("<QQ", old, page)
    if how == "garbage":
        new[page:page + 4096] = random.randbytes(4096)
    if how == "heads" and page < 8192:
        new[page:page + 4096] = random.randbytes(4096)
    if not 0 < commit <= 4080 or time == 0:
        continue
    n += 1
    if how == "commits" and n % 7 == 3:
        struct.pack_into("<Q", new, page + 8, random.choice([4081, 0xfffff, 1 << 40, 13, commit - 2]))
    if how == "payload" and n % 7 == 3:
        half = page + 16 + random.randrange(commit)
        new[half:page + 4096] = random.randbytes(page + 4096 - half)
    if how == "times" and n % 7 == 3:
        struct.pack_into("<Q", new, page, random.choice([0, 1 << 63, time * 2, time - 10 ** 9]))
for i in range(0, size, 4096):
    if new[i:i + 4096] != old[i:i + 4096]:
        os.pwrite(fd, new[i:i + 4096], at + i)
print("pages with calls:", n)
END
}

check() {
        local name=blackbox-$dead n_wrong

        note "after $how: $(dmesg | grep -i 'ring buffer' | cut -c16- | paste -sd';')"
        exits "the daemon has come to an end of it ($how)" 0 ftracectl show "box-$((boot - 1))"
        is 'the one that recorded has failed' "$(session "box-$((boot - 1))" .state)" failed
        if [[ ! -e $store/sessions/$name ]]; then
                says 'nothing of it survived, which is said' 'nothing of it survived' "$out"
        else
                ftracectl verify --json "$name" >"$out" 2>"$err"
                note "$(jq -c '{complete, trees, trees_complete, problems, notes}' "$out" | cut -c1-900)"
                [[ $how != none ]] || ok 'it is complete' jq -e .complete "$out"
                exits 'report comes to its end' "$(jq 'if .complete then 0 else 6 end' "$out")" ftracectl report "$name"
                n_wrong=$(grep -oE '[a-z_0-9.]+\(\)' "$out" | sort -u | tr -d '()' | grep -cvxF -e __x64_sys_sysinfo -f "$work/hooked")
                is 'no function is drawn that was not hooked' "$n_wrong" 0
        fi
        is_as_before 'the kernel is as a boot leaves it'
}

ok "the daemon starts (boot $boot)" start_ftraced
((boot == 1)) || check
if ((boot <= ${#damages[@]})); then
        how=${damages[boot - 1]}
        exits "a session records into the black box ($how)" 0 \
                ftracectl start -n "box-$boot" --black-box --lean="$work/hooked" __x64_sys_sysinfo
        "$top_builddir/tests/workload/numbered" "$box/trace_marker" 2 &
        ok 'the load runs' wait_until 60 has_calls
        dead=$(</proc/sys/kernel/random/boot_id)
        declare -p n_tests n_failed how dead >/mnt/disk/state
        sync
        kill -STOP "$ftraced_pid" # or it would tell that tracing was switched off
        echo 0 >"$box/tracing_on" # or it would write over the damage
        note "$(damage "$how")"
        echo system_reset >/mnt/out/.vmrun/monitor
        sleep 60
        fail 'the machine goes down'
fi
ok 'the daemon ends' stop_ftraced
done_testing
