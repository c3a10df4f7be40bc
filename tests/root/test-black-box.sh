#!/bin/bash
# Touches: function_graph, and crashes the machine again and again; only in a guest that may reboot.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: new
# needs: reboots
# boot: reserve_mem=16M:4096:trace trace_instance=boot_mapped^traceoff@trace nokaslr
#
# A black box: what ran before a panic, or a reboot that nobody was told of, is a session after the next boot, to the
# last marker that reached memory.  Each boot goes on where the last one died; what it has to know is on a disk.
# Only here: a machine that goes down.
. "$(dirname "$0")/../functions.sh"
boot=$(cat /mnt/out/.vmrun/boot 2>/dev/null) || skip 'needs a guest that may reboot: run-in-guests'
require_kernel
requires jq python3 "$top_builddir/tests/workload/markers" "$top_builddir/tests/root/count-markers"
box=$tracefs/instances/boot_mapped
store=/mnt/disk/store
ways=(panic reboot)
[[ -z ${FTRACED_LONG:-} ]] || for i in 1 2 3 4; do ways+=(reset panic reboot); done
printf '%s\n' do_nanosleep schedule hrtimer_start_range_ns update_rq_clock >"$work/hooked"

# Where that memory is.  A kernel that KASLR loads there has it elsewhere, and finds nothing, as does the next one.
now_at=$(dmesg | sed -n 's/.*mapped boot instance boot_mapped at physical memory \(0x[0-9a-f]*\).*/\1/p')
# What the boots before have found out: n_tests, n_failed, way, dead, last, at.
# shellcheck source=/dev/null
[[ $boot == 1 ]] || . /mnt/disk/state

last_marker() { # in memory, as the kernel prints it; nothing is taken away
        grep -o 'marker [0-9]*' "$box/trace" | cut -d' ' -f2 | sort -n | tail -n1
}
has_markers() { # N
        local n

        n=$(last_marker)
        ((${n:-0} >= $1))
}

go_down() { # WAY
        way=$1
        exits "a session records into the black box ($way)" 0 \
                ftracectl start -n "box-$boot" --black-box --lean="$work/hooked" hrtimer_nanosleep
        is 'in the instance that stays' "$(session "box-$boot" .instance)" boot_mapped
        exits 'another one finds it taken' 5 ftracectl start --black-box --lean="$work/hooked" vfs_read
        "$top_builddir/tests/workload/markers" "$box/trace_marker" 1000 &
        ok 'the workload runs' wait_until 60 has_markers 300
        last=$(last_marker)
        dead=$(</proc/sys/kernel/random/boot_id)
        at=$now_at
        declare -p n_tests n_failed way dead last at >/mnt/disk/state
        sync /mnt/disk/state
        case $way in
        panic) echo c >/proc/sysrq-trigger ;;
        # reboot(2), of which no service is told.
        reboot) python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x1234567)' ;;
        reset) echo b >/proc/sysrq-trigger ;;
        esac
        sleep 60
        fail 'the machine goes down'
        done_testing
        exit
}

check_rescued() {
        local name=blackbox-$dead n

        is "it is another boot ($way)" "$([[ $dead != "$(</proc/sys/kernel/random/boot_id)" ]] && echo yes)" yes
        is 'what was recorded is a session' "$(session "$name" .state)" sealed
        is 'of the boot that died' "$(session "$name" .boot_id)" "$dead"
        is 'the one that recorded has failed' "$(session "box-$((boot - 1))" .state)" failed
        exits 'it says where its calls are' 0 ftracectl show "box-$((boot - 1))"
        says 'by name' "$name" "$out"
        ok 'the log says so' grep -q "$name" "$work/ftraced.log"
        exits 'verify is content' 0 ftracectl verify --json "$name"
        ok 'no problem is found' jq -e '.complete and .problems == [] and .gaps == []' "$out"
        case $way in
        panic) says 'verify says how it ended' 'by a panic: .*Kernel panic - not syncing: sysrq triggered crash' "$out" ;;
        reboot) says 'verify says how it ended' 'by a reboot: .*reboot: Restarting system' "$out" ;;
        reset) says 'verify says how it ended' 'by a reset that somebody asked for' "$out" ;;
        esac
        n=$(jq .trees_complete "$out")
        exits 'markers are counted' 0 "$top_builddir/tests/root/count-markers" "$store/sessions/$name"
        says 'none is double' ', 0 double$' "$out"
        says 'none is missing' '^[0-9]+ markers, 0 missing,' "$out"
        ok "the last that was seen in memory is there ($last of $(cut -d' ' -f1 "$out"))" \
                test "$(cut -d' ' -f1 "$out")" -gt "$last"
        ok "every sleep before the last marker is a complete tree ($n)" test "$n" -ge $(($(cut -d' ' -f1 "$out") - 1))
        exits 'report draws it' 0 ftracectl report "$name"
        is 'every function has the name that it had' "$(grep -oE '[a-z_0-9.]+\(\)' "$out" | sort -u | tr -d '()' |
                grep -vxF -e hrtimer_nanosleep -f "$work/hooked")" ''
        exits 'top adds it up' 0 ftracectl top "$name"
        exits 'why looks at what was slow' 0 ftracectl why "$name"
        exits 'it is fetched' 0 ftracectl fetch "$name" -o "$work/x.dat"
        ok 'the black box is empty' test "$(cat "$box"/per_cpu/cpu*/stats | grep -c '^entries: 0$')" = "$(nproc)"
        is_as_before 'the kernel is as a boot leaves it'
}

check_lost() {
        note "the memory was at $at and is at $now_at"
        is "it is another boot ($way)" "$([[ $dead != "$(</proc/sys/kernel/random/boot_id)" ]] && echo yes)" yes
        is 'the one that recorded has failed' "$(session "box-$((boot - 1))" .state)" failed
        exits 'it is shown' 0 ftracectl show "box-$((boot - 1))"
        says 'with why there is nothing' 'nothing of it survived' "$out"
        exits 'and nothing is made up' 3 ftracectl show "blackbox-$dead"
        is_as_before 'the kernel is as a boot leaves it'
}

ok "the daemon starts (boot $boot)" start_ftraced
if [[ $boot == 1 ]]; then
        exits 'doctor knows the black box' 0 ftracectl doctor --black-box
        says 'and names it' 'boot_mapped survives a crash' "$out"
        exits 'a session records there' 0 ftracectl start -n orderly --black-box --lean="$work/hooked" hrtimer_nanosleep
        # It cannot write while a snapshot is made, and ends.
        "$top_builddir/tests/workload/markers" "$box/trace_marker" 1000 >"$work/n" 2>&1 &
        markers=$!
        ok 'the workload runs' wait_until 60 has_markers 100
        exits 'it cannot be followed' 7 ftracectl follow orderly
        says 'and what can be done instead' 'ftracectl snapshot orderly' "$err"
        exits 'what it has so far is kept' 0 ftracectl snapshot orderly
        wait $markers
        kill_ftraced
        ok 'another daemon starts' start_ftraced
        is 'which goes on with it' "$(session orderly .state)" recording
        "$top_builddir/tests/workload/markers" "$box/trace_marker" 1000 >"$work/n" 2>&1 &
        ok 'the workload runs again' wait_until 60 has_markers 200
        stops 'it ends' orderly
        exits 'then it is a recording like any other' 0 ftracectl report orderly
        exits 'the snapshot is complete' 0 ftracectl verify orderly-snap-1
        exits 'so is the rest' 0 ftracectl verify orderly
        is_as_before 'the kernel is as it was'
        ok 'the black box is empty' test "$(cat "$box"/per_cpu/cpu*/stats | grep -c '^entries: 0$')" = "$(nproc)"
        echo 1 >"$box/tracing_on"
        echo 'somebody else was here' >"$box/trace_marker"
        echo 0 >"$box/tracing_on"
        exits 'what is nobody'"'"'s is not erased' 5 ftracectl start --black-box --lean="$work/hooked" hrtimer_nanosleep
        says 'unless somebody says so' '--force'
        : >"$box/trace"
elif [[ $way == idle ]]; then
        note 'nothing was recording'
elif [[ $at == "$now_at" ]]; then
        check_rescued
else
        check_lost
fi
if ((boot > ${#ways[@]})) && [[ $(uname -r) != 6.* ]]; then
        # Pages that were read are pages all the same: Linux 7.2 has them readable again at the next boot.
        if [[ ! -e /mnt/disk/rescued-last ]]; then
                touch /mnt/disk/rescued-last
                at=$now_at way=idle
                declare -p n_tests n_failed way dead last at >/mnt/disk/state
                sync
                echo b >/proc/sysrq-trigger
                sleep 60
        fi
        exits 'what was rescued is in nobody'"'"'s way at the next boot' 0 \
                ftracectl start -n after --black-box --lean="$work/hooked" hrtimer_nanosleep
        stops 'it ends' after
fi
if ((boot <= ${#ways[@]})); then
        go_down "${ways[boot - 1]}"
fi
ok 'the daemon ends' stop_ftraced
done_testing
