# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For stories about what a member of ftraced's group can do: sourced after functions.sh, by root.
#
#       group         its number; $work can be passed
#       python        a python3 that a member can run: ours may be in a directory that only we may enter
requires python3 setpriv
[[ $(id -u) == 0 ]] || skip 'needs root, to be somebody else'
group=64999
chmod 711 "$work"

exec_member() { # COMMAND [WORD...]
        exec setpriv --reuid=64998 --regid=64998 --groups=$group "$@"
}
member() { # COMMAND [WORD...]
        (exec_member "$@")
}
python=
for p in $(type -aP python3); do
        ! member "$p" -c '' 2>/dev/null || python=${python:-$p}
done
[[ -n $python ]] || skip 'no python3 that another user can run'

daemon() { # [OPTION...]: whose files the group may read, as those of the service
        install -d -m 750 -g "$group" "$store"
        ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$(preloaded) \
                setpriv --regid="$group" --groups=0 "$top_builddir/ftraced" --store "$store" \
                --socket "$FTRACED_SOCKET" --tracefs "$work/tracefs" "$@" >"$work/ftraced.log" 2>&1 </dev/null &
        ftraced_pid=$!
        wait_until 20 ftracectl status || {
                show_file "$work/ftraced.log"
                kill_ftraced
                return 1
        }
        chmod 660 "$FTRACED_SOCKET"
}
