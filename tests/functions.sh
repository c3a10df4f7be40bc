# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What stories in shell share: TAP, a directory that goes away, a daemon of their own, and tracefs
# before and after.  A story sources this file, makes its checks, and ends with `done_testing`.
#
#       work          a directory that is removed at the end
#       ftracectl     runs the built client; its socket and its store are below $work
#       no_limits     text of an ftraced.conf, of which stories may add to the last section
#       exits         runs a command, keeps what it printed in $out and $err, checks its status
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=${top_srcdir:-$(dirname "$here")}
top_builddir=${top_builddir:-$PWD}
tracefs=${TRACEFS:-/sys/kernel/tracing}
udp_pairs=$top_builddir/tests/workload/udp-pairs
work=$(mktemp -d "${TMPDIR:-/tmp}/ftraced-test.XXXXXX")
out=$work/out err=$work/err
n_tests=0 n_failed=0
ftraced_pid=
export FTRACED_SOCKET=$work/socket
store=$work/store
export FTRACED_LEDGERS=$work/ledgers
ledger_of() { # STORE
        echo "${FTRACED_LEDGERS:-/run/ftraced/ledgers}/${1//\//%2F}/ledger"
}
unset FTRACED_DEBUG FTRACED_STORE
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH # the distribution's programs: a python3 of pyenv starts thirty before it is one
# Whatever whoever tests likes to see; a terminal is one that has colours.
unset NO_COLOR COLUMNS PAGER SYSTEMD_PAGER SYSTEMD_LESS
export TERM=xterm
# jq 1.6 compiles its own library at each start: 17 ms, and 270 ms of an emulated CPU.
if command -v gojq >/dev/null; then
        jq() {
                local jq_words=("${@/#-cS/-c}")

                gojq "${jq_words[@]/#-S/-M}" # it sorts keys anyway
        }
        export -f jq
fi
# No limits but those that a story sets, and all functions hooked, so that nothing of a tree is missing: the disk of whoever tests may be nearly full, and an emulated
# CPU takes long for everything.
export FTRACED_CONFIG=$work/ftraced.conf
no_limits='[Store]
MaxUse=0
KeepFree=0
[Guard]
Lean=off
MaxEventRate=0
MaxWriteRate=0
MaxCPU=0'
echo "$no_limits" >"$FTRACED_CONFIG"
least_patience_s=0 eager=
# The machine may be busy with something else: nothing is late before a minute is over, in the long form before five, for
# with sanitizers a sealer has much to do; which runs when nobody else does, and so never, if system/eager.c did not see to
# it.  And the kernel of system/fake-tracefs.sh is a small one: to read all symbols of this machine's is most of what a
# session costs.
if [[ $0 == *tests/system/* ]]; then
        least_patience_s=60
        [[ ! ${FTRACED_LONG:-} ]] || least_patience_s=300
        eager=$top_builddir/tests/system/eager.so
        export FTRACED_KALLSYMS=$work/kallsyms
        i=0
        for name in _stext udp_sendmsg udp_recvmsg udpv6_sendmsg udp_cmsg_send tcp_sendmsg ip_make_skb kfree _etext; do
                printf '%x T %s\n' $((0xffffffff81000000 + 256 * i++)) "$name"
        done >"$FTRACED_KALLSYMS"
        printf '%s\n' $'ffffffffc0000000 t nf_conntrack_in\t[nf_conntrack]' >>"$FTRACED_KALLSYMS"
fi

# --- the end -----------------------------------------------------------------------------------

cleanups=()
cleanup_fn() { # COMMAND [WORD...]: at the end, last first
        cleanups+=("$(printf '%q ' "$@")")
}
run_cleanups() {
        local i

        for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
                eval "${cleanups[i]}"
        done
        cleanups=()
        [[ -z $ftraced_pid ]] || stop_ftraced
        rm -rf "$work"
}
trap run_cleanups EXIT
trap 'exit 1' INT TERM

done_testing() {
        [[ ! -e $work/faults.before ]] || kernel_is_well
        echo "1..$n_tests"
        [[ $n_failed == 0 ]]
        exit
}

skip() { # REASON: of the whole story
        echo "1..0 # SKIP $*"
        exit 0
}

# They take most of the time of `make check`: for whoever only looks at another compiler's build.
[[ -z ${FTRACED_SKIP_STORIES:-} || $0 != *tests/system/* ]] || skip 'FTRACED_SKIP_STORIES is set'

requires() { # PROGRAM...
        local p

        for p in "$@"; do
                command -v "$p" >/dev/null || skip "$p is not installed"
        done
}

# --- checks ------------------------------------------------------------------------------------

note() {
        printf '%s\n' "$*" | sed 's/^/# /'
}

show_file() { # FILE: the beginning of it, as a comment
        [[ ! -s $1 ]] || head -n 20 "$1" | cut -c1-200 | sed "s|^|# ${1##*/}: |"
}

pass() { # DESCRIPTION
        n_tests=$((n_tests + 1))
        echo "ok $n_tests - $*"
}

fail() { # DESCRIPTION
        n_tests=$((n_tests + 1))
        n_failed=$((n_failed + 1))
        echo "not ok $n_tests - $*"
}

skip_one() { # DESCRIPTION REASON
        n_tests=$((n_tests + 1))
        echo "ok $n_tests - $1 # SKIP $2"
}

ok() { # DESCRIPTION COMMAND [WORD...]: it must succeed
        local description=$1

        shift
        if "$@" >"$work/said" 2>&1; then
                pass "$description"
        else
                fail "$description"
                note "failed: $*"
                show_file "$work/said"
        fi
}

not() {
        ! "$@"
}

is() { # DESCRIPTION GOT WANTED
        if [[ $2 == "$3" ]]; then
                pass "$1"
        else
                fail "$1"
                note "got:    $2"
                note "wanted: $3"
        fi
}

exits() { # DESCRIPTION STATUS COMMAND [WORD...]
        local description=$1 wanted=$2 status=0

        shift 2
        "$@" >"$out" 2>"$err" </dev/null || status=$?
        if [[ $status == "$wanted" ]]; then
                pass "$description"
        else
                fail "$description"
                note "exit status $status, wanted $wanted: $*" | cut -c1-300
                show_file "$out"
                show_file "$err"
        fi
}

stops() { # DESCRIPTION SESSION: its exit status says whether the recording lacks anything, as the account does
        local description=$1 name=$2 status=0 wanted

        ftracectl stop "$name" >"$out" 2>"$err" </dev/null || status=$?
        wanted=$(ftracectl show --json "$name" |
                jq '[.gaps[]?, (.cpus[] | select(.overrun + .commit_overrun + .dropped_events + .pages_lost > 0))] |
                        if length > 0 then 6 else 0 end')
        if [[ $status == "$wanted" ]]; then
                pass "$description"
        else
                fail "$description"
                note "exit status $status, wanted $wanted: ftracectl stop $name"
                show_file "$out"
                show_file "$err"
        fi
}

says() { # DESCRIPTION PATTERN [FILE]: a line of the last command's stderr matches
        local file=${3:-$err}

        if grep -qE -- "$2" "$file"; then
                pass "$1"
        else
                fail "$1"
                note "no line matches: $2"
                show_file "$file"
        fi
}

conforms() { # DESCRIPTION TYPE: the last command's stdout, as tests/json-tables.py has it
        if python3 "$top_srcdir/tests/json-tables.py" "$2" <"$out" >"$work/said" 2>&1; then
                pass "$1"
        else
                fail "$1"
                show_file "$work/said"
        fi
}

one_sentence() { # DESCRIPTION: the last command's stderr is one line
        is "$1" "$(wc -l <"$err")" 1
}

# A sleep that starts no process: on an emulated CPU each takes time from what is waited for.
pause() { # SECONDS
        [[ -p $work/never ]] || mkfifo "$work/never"
        read -rt "$1" <>"$work/never" || true
}

wait_until() { # SECONDS COMMAND [WORD...]
        local end=$((SECONDS + ($1 < least_patience_s ? least_patience_s : $1))) tries=0

        shift
        until "$@" >/dev/null 2>&1; do
                ((SECONDS < end)) || return 1
                pause "0.$((++tries > 20 ? 3 : 1))"
        done
}

# Until what a command prints is the same after so many seconds; a minute, or so.
wait_until_same() { # SECONDS COMMAND [WORD...]
        local seconds=$1

        shift
        wait_until 60 is_same_after "$seconds" "$@"
}
is_same_after() {
        local before

        before=$("${@:2}")
        pause "$1"
        [[ $("${@:2}") == "$before" ]]
}

# --- the programs ------------------------------------------------------------------------------

# To hook all functions of a kernel, and to let them go, takes an emulated CPU 20 s, and all that runs meanwhile is
# slow.  A story whose subject is something else says hooks_some: what start, arm and run hook then, unless they are told
# (--lean, --flat, --only, a profile), is some thousand functions of the network and of what it calls; with FTRACED_LONG all.
hooks_some() {
        [[ ! ${FTRACED_LONG:-} ]] || return 0
        hooked_by_default=$work/hooked-by-default
        printf '%s\n' {,__}{udp,sock,skb,netif}'*' {,__}{ip,dev}_'*' {inet,sk,kmem,loopback,irq,hrtimer}_'*' 'kfree*' 'schedule*' \
                >"$hooked_by_default"
}
hooks_all() {
        hooked_by_default=
}
hooked_by_default=

ftracectl() {
        if [[ $hooked_by_default && ${1:-} =~ ^(start|arm|run)$ && ! " $* " =~ \ --(lean|flat|only|profile|help|dry-run)[\ =] ]]; then
                "$top_builddir/ftracectl" "$1" --lean="$hooked_by_default" "${@:2}"
        else
                "$top_builddir/ftracectl" "$@"
        fi
}

# As the kernel draws it, which does not know what else might have been hooked.
report_unmarked() { # WORD...
        ftracectl report "$@" | sed -E 's, /\* ([0-9,]+ not hooked below|callees not known) \*/$,,'
}

measure() { # EXPRESSION COMMAND [WORD...]: of u, what it used (getrusage(2)), without what a sanitizer keeps of what was freed
        ASAN_OPTIONS=quarantine_size_mb=0 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(eval(sys.argv[1]))' "$@"
}
is_sanitized() { # PROGRAM: what it keeps of each allocation is of no meaning
        grep -qa __asan_init "$top_builddir/$1"
}
peak_kb() { # COMMAND [WORD...]: how much memory it ever had
        measure u.ru_maxrss "$@"
}
cpu_ms() { # COMMAND [WORD...]
        measure 'round(1000 * (u.ru_utime + u.ru_stime))' "$@"
}

session() { # NAME FILTER: what jq's FILTER finds in all that is known of a session
        ftracectl show --json "$1" | jq -r "$2"
}

sum_of() { # NAME COUNTER: over all CPUs
        session "$1" "[.cpus[].$2] | add"
}

# What was counted as lost is in gaps, to the last event and page, and verify knows the same; twice, for
# what is written down.
accounts_agree() { # NAME
        local counted placed verified

        { read -r counted && read -r placed; } < <(session "$1" '
                def sum(f): [f] + [0] | add;
                "\(sum(.cpus[] | .overrun + .commit_overrun + .dropped_events)) \(sum(.cpus[].pages_lost))",
                "\(sum(.gaps[].events // 0)) \(sum(.gaps[].pages // 0))"')
        verified=$(ftracectl verify --json "$1" | jq -r '"\(.events_lost) \(.pages_lost)"')
        is "$1: what was counted as lost is in gaps, and verify says it" "$placed, $verified" "$counted, $counted"
}

columns_of() { # FILE COLUMN...: of an export as tsv, a line for each row
        awk -F '\t' 'BEGIN { for (i = 2; i < ARGC; i++) { wanted[i] = ARGV[i]; delete ARGV[i] } }
                NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { for (i = 2; i < ARGC; i++) printf "%s%s", (i > 2) ? " " : "", $(at[wanted[i]]); print "" }' "$@"
}

requests_of() { # FILE: of an export as tsv, "TRACE-ID PID FUNCTION" of each outermost call that belongs to a request
        columns_of "$1" left trace_id pid function | awk '$1 == 1 && NF == 4 { print $2, $3, $4 }' | sort
}

# 1: as it was recorded, 2: sealed.
segment_version() { # SEGMENT
        echo $(($(od -A n -t u4 -j 8 -N 4 "$1")))
}

segments_are() { # VERSION SESSION: all of them
        local segment

        for segment in "$store/sessions/$2"/cpu*/*.seg; do
                [[ $(segment_version "$segment") == "$1" ]] || return 1
        done
}

# Stops a locked-up worker of any daemon of ours that has a segment of a session in its hands, and
# keeps its number in $work/worker.  Begun in the background, before there is one, for it may be quick: until
# it is stopped, no process is started.
catch_worker() { # SESSION
        local daemon daemons more child children segment end=$((SECONDS + 300))

        : >"$work/worker"
        while ((SECONDS < end)); do
                read -ra daemons <"/proc/$$/task/$$/children" # no newline, here and below
                children=()
                for daemon in "${daemons[@]}"; do
                        read -ra more <"/proc/$daemon/task/$daemon/children"
                        children+=("${more[@]}")
                done
                for child in "${children[@]}"; do
                        for segment in "$store/sessions/$1"/cpu*/*.seg; do
                                if [[ $segment -ef /proc/$child/fd/0 ]] && is_locked_up "$child"; then
                                        kill -STOP "$child"
                                        echo "$child" >"$work/worker"
                                        return
                                fi
                        done
                done
        done 2>/dev/null
}
is_locked_up() { # PID: its system calls are filtered
        local key value

        while read -r key value && [[ $key != Seccomp: ]]; do :; done <"/proc/$1/status"
        [[ $value == 2 ]]
}

# How often a function is drawn at depth 0: "|  name() {" or, if it calls nothing, "|  name();".
count_roots() { # FUNCTION FILE
        grep -cE "\\|  $1(\\(\\)| \\[)" "$2"
}

preloaded() { # what is there of what a daemon gets
        local library

        for library in $eager ${preload:-}; do
                [[ ! -e $library ]] || printf '%s ' "$library"
        done
}
# The daemon, by hand, on a socket and a store below $work; with the library $preload in it, if that is set.
start_ftraced() { # [OPTION...]
        # The leak checker of a sanitized build attaches to itself when it ends, which a process that
        # dropped its capabilities may not: it can then wait for ever.  Unit tests check for leaks.
        ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$(preloaded) \
                "$top_builddir/ftraced" --store "$store" --socket "$FTRACED_SOCKET" "$@" \
                >"$work/ftraced.log" 2>&1 </dev/null &
        ftraced_pid=$!
        if ! wait_until 60 ftracectl status; then
                note "the daemon does not answer"
                show_file "$work/ftraced.log"
                return 1
        fi
}

stop_ftraced() { # its exit status
        local pid=$ftraced_pid

        ftraced_pid=
        kill -TERM "$pid" 2>/dev/null
        kill -CONT "$pid" 2>/dev/null
        wait "$pid"
}

kill_ftraced() {
        local pid=$ftraced_pid

        ftraced_pid=
        kill -KILL "$pid"
        wait "$pid" 2>/dev/null
        return 0
}

# --- lean ----------------------------------------------------------------------------------------

lean_by_default() { # as with no ftraced.conf
        sed -i '/^Lean=/d' "$FTRACED_CONFIG"
}

learned() { # the files of what was learned of udp_*
        grep -ls '^roots udp' "$store"/lean/*
}

# What the kernel does, not what was written: 6.12 takes a set_ftrace_notrace and does not heed it.
is_hooked() { # FUNCTION
        grep -q "^$1 " "$tracefs/enabled_functions"
}

# --- the kernel --------------------------------------------------------------------------------

require_kernel() {
        [[ $(id -u) == 0 ]] || skip "needs root"
        [[ -e $tracefs/available_tracers ]] || skip "no tracefs at $tracefs"
        grep -qw function_graph "$tracefs/available_tracers" || skip "this kernel has no function_graph"
        requires jq "$top_builddir/ftracectl" "$top_builddir/ftraced" "$udp_pairs"
        # A tracer's first use expands the buffers for good ("7 (expanded: 1408)" before).
        echo 1408 >"$tracefs/buffer_size_kb"
        dump_tracefs "$work/tracefs.before"
        kernel_faults >"$work/faults.before"
}

# An emulator's stalls are none.
kernel_faults() {
        dmesg | grep -E 'Oops|kernel BUG at|BUG: (unable|KASAN)|general protection|refcount_t: |ftrace bug'
}
# Whatever the story is about.
kernel_is_well() {
        kernel_faults | grep -vxFf "$work/faults.before" >"$work/faults"
        ok 'the kernel has met no fault' not test -s "$work/faults"
        show_file "$work/faults"
}

dump_tracefs() { # FILE
        bash "$top_srcdir/tests/root/dump-tracefs.sh" "$tracefs" >"$1"
}

# The service of a guest whose process 1 is systemd: installed, and ftracectl is the installed one; $prefix.
require_service() {
        local runstatedir

        require_kernel
        requires systemctl journalctl make
        require_systemd
        prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
        runstatedir=$(sed -n 's/^runstatedir = //p' "$top_builddir/Makefile")
        [[ $runstatedir == /run ]] ||
                skip "configured with --runstatedir=$runstatedir; a service needs --prefix=/usr --sysconfdir=/etc --localstatedir=/var --runstatedir=/run"
        unset FTRACED_SOCKET FTRACED_CONFIG FTRACED_LEDGERS
        ok 'it can be installed' install_ftraced
        hash -r
        ftracectl() {
                "$prefix/bin/ftracectl" "$@"
        }
}

require_systemd() {
        [[ -d /run/systemd/system ]] || skip "systemd does not run here"
        [[ $(systemd-detect-virt 2>/dev/null) != none ]] || skip "installs into the system: only in a virtual machine"
}

# As `make install` does, which takes an emulated CPU a minute, and a compiler: run-in-guests has done it into a
# directory.
install_ftraced() {
        if [[ -d $top_builddir/installed ]]; then
                tar -C "$top_builddir/installed" -c . | tar -C / -x --no-same-owner --keep-directory-symlink &&
                        make -s -C "$top_builddir" introduce-to-systemd
        else
                make -C "$top_builddir" install
        fi
}

# Whether function_graph may run in an instance.  Not decided by arming: that would trace everything.
has_instances() {
        local i=$tracefs/instances/ftraced-test-probe

        if [[ ! -e $work/has-instances ]]; then
                mkdir "$i" || return 1
                ! grep -qw function_graph "$i/available_tracers" || echo yes >"$work/has-instances.new"
                # Busy as long as somebody, such as a witness, looks into it.
                wait_until 10 rmdir "$i" || return 1
                touch "$work/has-instances.new"
                mv "$work/has-instances.new" "$work/has-instances"
        fi
        [[ -s $work/has-instances ]]
}

# Whether the kernel waits for all CPUs before it frees a list of roots, so that sessions are not quiesced for a
# change of it (daemon/instances/quiesce.c).
waits_for_cpus() {
        [[ $(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -n1) != 6.13 ]]
}
root_changes() { # N: the gaps that so many changes beside a live session are on this kernel
        local i text=

        for ((i = 0; i < $1; i++)); do text+=' roots_changed'; done
        waits_for_cpus || echo "${text# }"
}

is_as_before() { # DESCRIPTION; a daemon may be learning for itself, in an instance that it removes then
        for _ in 1 2; do # it may begin with that meanwhile
                wait_until 60 not test -e "$tracefs/instances/ftraced.weigh"
                dump_tracefs "$work/tracefs.after"
                grep -q 'instances/ftraced\.weigh' "$work/tracefs.after" || break
        done
        if cmp -s "$work/tracefs.before" "$work/tracefs.after"; then
                pass "$1"
        else
                fail "$1"
                diff -U3 "$work/tracefs.before" "$work/tracefs.after" >"$work/tracefs.diff"
                show_file "$work/tracefs.diff"
        fi
}

# The directory in which a session of the daemon records.
buffer_of() { # NAME
        local instance

        instance=$(session "$1" '.instance // empty')
        echo "$tracefs${instance:+/instances/$instance}"
}

filter_of() { # NAME: the file that says what is hooked for it
        echo "$(buffer_of "$1")/set_ftrace_filter"
}

# What the kernel counts as lost on one CPU: overrun + commit overrun + dropped events.
kernel_lost() { # BUFFER CPU
        awk -F': ' '$1 == "overrun" || $1 == "commit overrun" || $1 == "dropped events" { n += $2 }
                END { print n + 0 }' "$1/per_cpu/cpu$2/stats"
}
