#!/bin/bash
# Touches: nothing; reads the recordings and texts in tests/data.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What one verb says of a recording, all others say: times, calls, quantiles, interrupts, and what tracing
# cost; and a time is written in the same way wherever it stands.
. "$(dirname "$0")/../functions.sh"
requires python3

data=$top_srcdir/tests/data
agrees() { # SOURCE...
        FTRACED_STORE=${store_here:-$data} python3 "$top_srcdir/tests/one-truth.py" "$top_builddir/ftracectl" "$@"
}

# Of each kernel one source, of each kind one; all of all in unit/test-windows, and here if there is time.
everybody=(udp_sendmsg-6.1 udp-pairs-6.12 "$data/udp_sendmsg-6.12.dat" "$data/udp_sendmsg-new.trace")
[[ -z ${FTRACED_LONG:-} ]] || everybody=(udp_sendmsg-{6.1,6.12,new} udp-pairs-{6.1,6.12} "$data"/udp_sendmsg-*.{dat,trace})
for source in "${everybody[@]}"; do
        exits "${source##*/}: everybody says the same" 0 agrees "$source"
done
for text in "$data"/text/*.txt; do
        exits "of ${text##*/}, too" 0 agrees "$text"
done

for text in "$data"/numbers/*.txt; do
        exits "of ${text##*/}" 0 agrees "$text"
done

# Another program, which shares nothing with ours but the recording, counts the same.
counts() { # SOURCE FILE PATH
        FTRACED_STORE=$data python3 "$top_srcdir/tests/count-calls.py" "$top_builddir/ftracectl" \
                "$top_srcdir/tests/read-export.py" "$1" "$2" "${library[@]}" "${library:+$3}"
}
library=("$top_builddir/lib/public/libftraced.so.1")
sanitizers=$(sed -n 's/^SANITIZER_CFLAGS = //p' "$top_builddir/Makefile")
[[ -z $sanitizers ]] || library=()
all_kinds=(udp_sendmsg-6.12 "$data/udp_sendmsg-new.dat" "$data/udp_sendmsg-6.1.trace")
[[ -z ${FTRACED_LONG:-} ]] || all_kinds=("${everybody[@]}")
for source in "${all_kinds[@]}"; do
        name=${source##*/} where=$source file=$source
        [[ $source == /* ]] || where=$data/sessions/$source
        if [[ $source != *.trace ]]; then
                file=$work/six.dat
                exits "$name: a trace.dat of version 6 is written" 0 ftracectl fetch -q --store "$data" "$source" -o "$file"
        fi
        exits "$name: its calls are counted alike" 0 counts "$source" "$file" "$where"
done
for text in "$data"/text/{SyS_write-loopback.trace,udp_sendmsg-fragmented.funcgraph}.txt "$data"/numbers/*.txt; do
        exits "of ${text##*/}" 0 counts "$text" "$text" "$text"
done

# A few windows by chance; tests/unit/test-windows.c tries more of them, in one process.
n_windows=2
[[ -z ${FTRACED_LONG:-} || $sanitizers ]] || n_windows=100
RANDOM=${FTRACED_SEED:-$$}
echo "# seed ${FTRACED_SEED:-$$}"
sources=(udp_sendmsg-{6.1,6.12,new} "$data"/*.dat "$data"/*.trace "$data"/text/*.txt)
for ((i = 0; i < n_windows; i++)); do
        source=${sources[RANDOM % ${#sources[@]}]} options=("--from=+$((RANDOM * 300))ns")
        ((RANDOM % 2)) && options+=("--to=+$((RANDOM * 3000))ns")
        ((RANDOM % 4)) || options+=("--cpus=$((RANDOM % 2))")
        exits "in a window: ${source##*/} ${options[*]}" 0 agrees "$source" "${options[@]}"
done

for filter in --function=ip_output --root=__ip_append_data --fold=irq --cpus=1 --depth=2; do
        exits "with $filter, too" 0 agrees udp_sendmsg-6.12 "$filter"
done

# Waiting, interrupts, several roots, tasks and CPUs, a beginning and an end that were cut off.
cat >"$work/all.txt" <<'END'
     1.000000 |   0)    client-16    |   2.000 us    |  } /* lost */
     1.000001 |   1)    server-17    |               |  __x64_sys_recvfrom() {
     1.000010 |   1)    server-17    |               |    schedule() {
     1.000020 |   1)    server-17    |               |      /* sched_switch: prev_comm=server prev_pid=17 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120 */
     1.000300 |   0)    client-16    |               |  sock_def_readable() {
     1.000301 |   0)    client-16    |   0.700 us    |    __rcu_read_lock();
     1.000302 |   0)    client-16    |   1.100 us    |    irq_enter_rcu();
     1.000304 |   0)    client-16    |               |    __sysvec_apic_timer_interrupt() {
     1.000305 |   0)    client-16    |   0.900 us    |      __rcu_read_lock();
     1.000306 |   0)    client-16    |   3.000 us    |    }
     1.000308 |   0)    client-16    |   0.300 us    |    irq_exit_rcu();
     1.000310 |   0)    client-16    |               |    /* sched_waking: comm=server pid=17 prio=120 target_cpu=001 */
     1.000350 |   0)    client-16    | + 50.000 us   |  }
     1.020353 |   1)    <idle>-0     |               |  /* sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=17 next_prio=120 */
     1.020360 |   1)    server-17    | * 20350.00 us |    }
     1.020371 |   1)    server-17    | * 20370.00 us |  }
     1.020380 |   0)    client-16    |               |  udp_sendmsg() {
     1.020381 |   0)    client-16    |   1.000 us    |    ip_make_skb();
END
exits 'of a text that has everything' 0 agrees "$work/all.txt"

# Whom an interrupt meets is chance.
sed -E '/irq_enter|irq_exit|1\.00030[456]/d' "$work/all.txt" >"$work/quiet.txt"
exits 'a recording is compared with one that an interrupt met' 0 ftracectl diff --json "$work/quiet.txt" "$work/all.txt"
is 'what it did is its own, and not that of whom it met' \
        "$(jq -c '[.[] | select(.function == "sock_def_readable") | .causes[] | select(.path != []) | [.function, .path[1], .interrupt]] | sort' "$out")" \
        '[["__sysvec_apic_timer_interrupt",null,true],["irq_enter_rcu",null,true],["irq_exit_rcu",null,true]]'
done_testing
