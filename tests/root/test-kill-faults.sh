#!/bin/bash
# Touches: nearly all of tracefs, kernel.ftrace_enabled, the clock on the wall, mounts a disk; needs root, function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 6.1
#
# A daemon is killed at a random moment while sessions come and go and something else goes wrong as well: its disk does
# not write, somebody toggles kernel.ftrace_enabled, sets the clock, damages the ledger, or traces beside it.
# Then the next daemon, or --restore, has put all of tracefs back, or what is left is named with the
# command that mends it, and that does mend it.  Six deaths; FTRACED_LONG: 200.
#
# FTRACED_SEED: of a run that is to be told again; FTRACED_DEATHS: 'N M ...' of it alone.  What is done is
# the same then, the moments are as near as a guest comes.
. "$(dirname "$0")/../functions.sh"
. "$top_srcdir/tests/root/others.sh"
require_kernel
hooks_some
requires trace-cmd
[[ -w /proc/sys/kernel/ftrace_enabled ]] || skip 'kernel.ftrace_enabled cannot be set'

n_deaths=6
[[ -z ${FTRACED_LONG:-} ]] || n_deaths=200
first_seed=${FTRACED_SEED:-$(($(od -A n -t u2 -N 2 /dev/urandom)))}
readonly DELAY_MS=2500 # a daemon lives so long at most
note "FTRACED_SEED=$first_seed"

draw() { # N: $drawn is 0 to N-1
        drawn=$((RANDOM % $1))
}
say() { # TEXT: what was done in this death, for whoever reads of its failure
        echo "$*" >>"$work/order"
}
pause_ms() { # MILLISECONDS
        [[ $1 == 0 ]] || pause "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}
others() { # WORD...: others do that
        local word

        for word; do
                say "others: $word"
                others_do "$word" >>"$work/order" 2>&1
        done
}
restore() {
        "$top_builddir/ftraced" --store "$store" --restore >"$out" 2>"$err"
}

# --- what is asked for meanwhile -------------------------------------------------------------------

ours() { # SEED: until $work/enough; each word of it is a session that may be refused
        local n=0 name

        RANDOM=$1
        until [[ -e $work/enough ]]; do
                name=s$1-$((++n))
                draw 9
                say "ours: $drawn"
                case $drawn in
                0 | 1) ftracectl start -n "$name" --flat udp_sendmsg ;;
                2) ftracectl start -n "$name" --flat udp_recvmsg ;;
                3) ftracectl start -n "$name" --flat --depth=3 --slower=1us --set=NoIRQs=yes udp_sendmsg ;;
                4) ftracectl start -n "$name" --flat --pid=$$ --event=net:net_dev_queue udp_sendmsg ;;
                5 | 6) ftracectl start -n "$name" --force --flat udp_sendmsg ;;
                7) "$udp_pairs" 2 ;;
                *) ftracectl stop --all ;;
                esac >>"$work/order" 2>&1 </dev/null
        done
}

# --- what goes wrong -----------------------------------------------------------------------------

# Each has what is done before, what goes on until $work/enough, what happens between two daemons, and how it ends.
faults=(disk ftrace_enabled clock ledger other)

readonly SECTORS=131072
have_disk() {
        command -v dmsetup mkfs.ext4 losetup >/dev/null || return
        modprobe -a loop dm_mod dm_flakey ext4 2>/dev/null
        truncate -s $((SECTORS * 512)) "$work/disk.img" &&
                loop=$(losetup -f --show "$work/disk.img") || return
        cleanup_fn losetup -d "$loop"
        dmsetup create ftraced-faults --noudevsync --table "0 $SECTORS linear $loop 0" || return
        cleanup_fn dmsetup remove --noudevsync --force ftraced-faults
        [[ -e /dev/mapper/ftraced-faults ]] || dmsetup mknodes ftraced-faults
        mkdir "$work/disk" || return
        cleanup_fn eval 'umount -l "$work/disk" 2>/dev/null'
        format_disk
}
format_disk() {
        mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=1 /dev/mapper/ftraced-faults &&
                mount -t ext4 -o noatime,errors=continue /dev/mapper/ftraced-faults "$work/disk"
}
become() { # TABLE
        dmsetup suspend --nolockfs ftraced-faults &&
                dmsetup load ftraced-faults --table "0 $SECTORS $1" &&
                dmsetup resume --noudevsync ftraced-faults
}
disk_begins() { :; }
disk_goes_on() { # SEED
        RANDOM=$1
        draw 1500
        pause_ms "$drawn"
        say 'the disk does not write'
        become "flakey $loop 0 0 600 1 error_writes"
        until [[ -e $work/enough ]]; do
                sync -f "$work/disk"
                pause 0.2
        done >/dev/null 2>&1
}
# What was not written is lost when it comes again, and sometimes all of it.
disk_happens() {
        draw 5
        case $drawn in
        0)
                say 'the disk is well again'
                become "linear $loop 0"
                return
                ;;
        1)
                say 'the disk stays as it is'
                return
                ;;
        2)
                say 'the disk is well again, and read-only'
                become "linear $loop 0"
                mount -o remount,ro "$work/disk"
                return
                ;;
        4) say 'the disk comes again' ;;
        3) say 'there is another disk' ;;
        esac
        umount "$work/disk" || umount -l "$work/disk"
        become "linear $loop 0"
        if [[ $drawn == 3 ]] || ! mount -t ext4 -o noatime,errors=continue /dev/mapper/ftraced-faults "$work/disk"; then
                format_disk
        fi
} >>"$work/order" 2>&1
disk_ends() {
        become "linear $loop 0"
        mount -o remount,rw "$work/disk"
} >>"$work/order" 2>&1

ftrace_enabled_begins() { :; }
ftrace_enabled_goes_on() { # SEED
        RANDOM=$1
        until [[ -e $work/enough ]]; do
                draw 400
                pause_ms "$drawn"
                sysctl -qw kernel.ftrace_enabled=$((RANDOM % 2)) 2>>"$work/order"
        done
}
ftrace_enabled_happens() {
        draw 2
        sysctl -qw "kernel.ftrace_enabled=$drawn"
        say "kernel.ftrace_enabled is $drawn when the next daemon comes"
}
ftrace_enabled_ends() {
        sysctl -qw kernel.ftrace_enabled=1
}

# Steps are written down, so that the clock is right again in the end.
set_clock() { # SECONDS
        date -s "@$(($(date +%s) + $1))" >/dev/null
        echo "$1" >>"$work/steps"
        say "the clock is set by $1 s"
}
step_clock() {
        local steps=(3600 -3600 7 -7 86400 -172800 315360000)

        draw ${#steps[@]}
        set_clock "${steps[drawn]}"
}
clock_begins() {
        : >"$work/steps"
}
clock_goes_on() { # SEED
        RANDOM=$1
        until [[ -e $work/enough ]]; do
                draw 800
                pause_ms "$drawn"
                step_clock
        done
}
clock_happens() {
        step_clock
}
clock_ends() {
        date -s "@$(($(date +%s) - $(awk '{ n += $1 } END { print n + 0 }' "$work/steps")))" >/dev/null
}

ledger_begins() { :; }
ledger_goes_on() { :; }
damage() { # FILE
        draw 5
        case $drawn in
        0) truncate -s $(($(stat -c %s "$1") / 2)) "$1" ;;
        1) truncate -s 0 "$1" ;;
        2) rm "$1" ;;
        3) sed -i 's/"version": 1/"version": 2/' "$1" ;;
        4) dd if=/dev/urandom of="$1" bs=512 count=1 conv=notrunc status=none ;;
        esac
        say "damaged ($drawn): $1"
}
ledger_happens() {
        [[ ! -e $(ledger_of "$store") ]] || damage "$(ledger_of "$store")"
}
ledger_ends() {
        rm -f "$FTRACED_LEDGERS"/*/ledger.bad
}

other_begins() { :; }
other_goes_on() { # SEED
        local words=(graph deep same function pause nop on graph2 append leftovers instance no-instance)

        RANDOM=$1
        until [[ -e $work/enough ]]; do
                draw ${#words[@]}
                others "${words[drawn]}"
                draw 500
                pause_ms "$drawn"
        done
}
others_leave() {
        [[ ! -d $tracefs/instances/other ]] || others no-instance
        others reset nop clear
}
# They are through before the next daemon comes, or only then.
other_happens() {
        draw 2
        [[ $drawn == 0 ]] || others_leave
}
other_ends() {
        others_leave
}

# --- death ---------------------------------------------------------------------------------------

leave_daemon() {
        [[ -z $ftraced_pid ]] || stop_ftraced
}
come() { # a daemon; with a disk that does not write there may be none, but --restore
        [[ -z $ftraced_pid ]] || return 0
        start_ftraced >>"$work/order" && return
        leave_daemon
        return 1
}
short_life() { # COMMAND...: is killed within half a second
        local pid

        "$@" >>"$work/order" 2>&1 </dev/null &
        pid=$!
        draw 500
        pause_ms "$drawn"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
}
# The next daemon, --restore, or either after one that was killed as well.
come_back() { # FAULT
        draw 5
        say "comes back: $drawn"
        case $drawn in
        1) short_life "$top_builddir/ftraced" --store "$store" --socket "$FTRACED_SOCKET" ;;
        2) short_life "$top_builddir/ftraced" --store "$store" --restore ;;
        esac
        case $drawn in
        0 | 1)
                if come; then
                        ftracectl stop --all >>"$work/order" 2>&1
                elif [[ $1 != disk ]]; then
                        how='there is no next daemon'
                fi
                ;;
        *)
                restore
                cat "$out" "$err" >>"$work/order"
                ;;
        esac
}

is_back() {
        dump_tracefs "$work/tracefs.after"
        cmp -s "$work/tracefs.before" "$work/tracefs.after"
}
# A daemon that could not put all of it back says so to whoever asks, and tries again by itself.
is_told() {
        ftracectl doctor --json >"$out" 2>"$err"
        cat "$out" >>"$work/order"
        jq -e '[.[] | select((.name == "ledger" or .name == "leftovers" or .name == "tracer") and .state != "good")] |
                length > 0' "$out" >/dev/null
}
# The commands that --restore names, as they are for whoever needs nothing of what is there.
named_commands() {
        sed -nE 's/.*[:;] (echo nop > .*|ftraced --restore.*)$/\1/p' "$err" | sed -E 's/( tries again)?\.$//'
        sed -n 's/^ *\(echo.* > \)/\1/p' "$out"
}
ftraced() { # for these commands
        "$top_builddir/ftraced" --store "$store" "$@"
}

death() { # NUMBER FAULT
        local seed=$((first_seed + $1)) fault=$2 pids=() base=clear how='as it was' before=${store:-}

        RANDOM=$((seed % 32768))
        draw 2 # what is drawn first is near the seed
        : >"$work/order"
        rm -f "$work/enough"
        store=$work/store
        [[ $fault != disk ]] || store=$work/disk/store
        [[ $fault != disk && $store == "$before" ]] || leave_daemon
        # What a ledger still says is of what others clear now, and would be undone over that.
        [[ -n $ftraced_pid ]] || rm -rf "$store" "$(ledger_of "$store")"
        # Nobody can know what was there before if the ledger is lost, and others clear all of it.
        draw 2
        [[ $drawn == 0 || $fault == other || $fault == ledger ]] || base=leftovers
        others clear $base
        cp "$work/tracefs.$base" "$work/tracefs.before"
        if ! come; then
                fail "death $1 ($fault): there is a daemon to be killed"
                show_file "$work/ftraced.log"
                return
        fi
        "${fault}_begins"
        ours "$seed" &
        pids+=($!)
        "${fault}_goes_on" "$seed" &
        pids+=($!)
        draw "$DELAY_MS"
        pause_ms "$drawn"
        kill_ftraced
        say "killed after $drawn ms"
        : >"$work/enough"
        wait "${pids[@]}"
        "${fault}_happens"
        come_back "$fault"
        if [[ -n $ftraced_pid ]] && ! wait_until 3 test ! -e "$(ledger_of "$store")" && ! is_told; then
                how='nobody tells what is left'
        fi
        "${fault}_ends"
        if [[ -n $ftraced_pid ]] && ! is_back; then
                wait_until 12 test ! -e "$(ledger_of "$store")" # which it tries to reach
        fi
        if [[ $how == 'as it was' ]] && ! is_back; then
                how='named, and mended as that says' n_named=$((n_named + 1))
                leave_daemon
                restore
                named_commands >"$work/commands"
                cat "$out" "$err" "$work/commands" >>"$work/order"
                is_back || eval "$(<"$work/commands")" >>"$work/order" 2>&1
        fi
        if is_back && [[ $how == 'as it was' || $how == named* ]]; then
                pass "death $1 ($fault, $base): $how"
                return
        fi
        is_as_before "death $1 ($fault, $base): $how"
        [[ $how == 'as it was' || $how == named* ]] || fail "death $1 ($fault, $base): $how"
        note "to be told again: FTRACED_SEED=$first_seed FTRACED_DEATHS=$1"
        sed 's/^/# order: /' "$work/order" | cut -c1-250
        tail -n 20 "$work/ftraced.log" | sed 's/^/# ftraced.log: /' | cut -c1-250
        leave_daemon
        restore
}

: >"$work/order"
cleanup_fn others clear
cleanup_fn sysctl -qw kernel.ftrace_enabled=1
for base in leftovers clear; do
        others clear $base
        dump_tracefs "$work/tracefs.$base"
done
if ! have_disk >"$work/disk.log" 2>&1; then
        show_file "$work/disk.log"
        skip_one 'a disk that does not write' 'this kernel has no device mapper, loop device or ext4'
        faults=("${faults[@]:1}")
fi

pause 0.1 # makes what it waits for, before there are several who do
n_named=0
for n in ${FTRACED_DEATHS:-$(seq $n_deaths)}; do
        death "$n" "${faults[n % ${#faults[@]}]}"
done
note "$n_named times something was left, and named"
leave_daemon
done_testing
