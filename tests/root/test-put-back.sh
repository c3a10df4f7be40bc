#!/bin/bash
# Touches: function_graph, graph filters and somebody else's tracer; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 6.1
#
# Whatever others do before, during and after sessions, also forced ones and those whose undo failed: in
# the end tracefs is as if there had been no ftraced.  FTRACED_LONG: in many orders more.
# shellcheck disable=SC2030,SC2031 # what is played in a pipe counts on behind it
. "$(dirname "$0")/../functions.sh"
. "$top_srcdir/tests/root/others.sh"
require_kernel
hooks_some
requires trace-cmd
n_sessions=0

# One word is one event.  What begins with a capital letter ftraced does, the rest others.
play() { # WORD...
        local word

        for word; do
                case $word in
                Start) ftracectl start -n "s$((++n_sessions))" --flat udp_sendmsg ;;
                Other) ftracectl start -n "s$((++n_sessions))" --flat udp_recvmsg ;;
                Odd) ftracectl start -n "s$((++n_sessions))" --set=NoIRQs=yes --depth=3 --slower=1us udp_sendmsg ;;
                Force) ftracectl start -n "s$((++n_sessions))" --force --flat udp_sendmsg ;;
                Force2) ftracectl start -n "s$((++n_sessions))" --force --flat udp_recvmsg ;;
                Stop) ftracectl stop --all ;;
                Restore) "$top_builddir/ftraced" --store "$store" --restore ;;
                *) others_do "$word" ;;
                esac 2>&1 | sed "s/^/# $word: /" >>"$work/order"
        done
}

settle() {
        play reset nop clear
}

# Where a word asks for the daemon's process it must not be a subshell's.
play_here() { # WORD...
        local word

        for word; do
                case $word in
                Kill) kill_ftraced ;;
                Begin) start_ftraced ;;
                Wait) wait_until 40 test ! -e "$(ledger_of "$store")" || echo "# the ledger stays" >>"$work/order" ;;
                Start | Other | Odd | Force | Force2) play "$word"; n_sessions=$((n_sessions + 1)) ;;
                *) play "$word" ;;
                esac
        done
}

order() { # WORD...
        local word others=()

        for word; do
                [[ $word == [A-Z]* ]] || others+=("$word")
        done
        : >"$work/order"
        if [[ ! -e "$work/expected.${others[*]}" ]]; then
                settle
                play "${others[@]}"
                dump_tracefs "$work/expected.${others[*]}"
        fi
        settle
        [[ " ${others[*]} " != *' instance '* || " ${others[*]} " == *' no-instance'* ]] || play no-instance
        : >"$work/order"
        play_here "$@"
        cp "$work/expected.${others[*]}" "$work/tracefs.before"
        is_as_before "$*"
        cmp -s "$work/tracefs.before" "$work/tracefs.after" || show_file "$work/order"
        settle
        play Stop
}

settle
cleanup_fn settle
ok 'the daemon starts' start_ftraced

if has_instances; then
        order Start graph Stop reset graph Force Stop
        order graph Force reset Stop
fi
order graph Force Stop
order leftovers Odd clear-files Stop # not tracing_on: in one buffer it says 1 already
if [[ -n ${FTRACED_LONG:-} ]]; then
        order deep Force Kill Begin Stop
        order deep Force Kill reset Begin Stop
        order deep Force Kill reset Restore Begin
        order deep Force Kill Restore Begin
        order function Force Stop
        order graph Force pause Stop
        order leftovers Odd Stop
        order leftovers Odd Kill clear-files Begin Stop
        order leftovers Odd Kill clear-files Restore Begin
        order Start append Stop
        order leftovers Start append Stop
        order Start graph2 Stop
        order Start Kill graph reset Begin Stop
fi
# Where there is one buffer theirs is ours, and what else we changed of it waits for their tracer to go.
if [[ -n ${FTRACED_LONG:-} ]] && ! has_instances; then
        order Start Kill graph Begin Stop nop Wait
        order Start Kill graph Restore Begin nop Wait
fi
if [[ -n ${FTRACED_LONG:-} ]] && has_instances; then
        order Start Kill graph Begin Stop
        order Start Kill graph Restore Begin
        order deep Force reset Stop
        order function Force reset Stop
        order function Force nop Stop
        order leftovers Odd reset clear Stop
        order Start graph Stop
        order Start graph reset Stop
        order Start graph Stop reset
        order Start graph Stop reset Start Stop
        order graph Force reset graph Stop
        order graph Force Force2 Stop
        order graph Force reset graph Force2 Stop
        order Start instance Stop no-instance Wait
        order Start instance Stop no-instance graph Force Stop
        order Start instance Stop no-instance Force instance Stop no-instance Start Stop
        order Start instance Stop graph no-instance reset Start Stop
        order leftovers Start instance Stop no-instance Start Stop
        order leftovers Start instance Stop no-instance clear Odd Stop
        order leftovers Odd instance Stop Kill no-instance clear Begin Start Stop
        order Start same Stop reset
        order Start same Stop reset graph Force Stop
        order Start Other graph Stop reset
        order Start graph Force2 Stop
fi
ok 'the daemon ends' stop_ftraced
done_testing
