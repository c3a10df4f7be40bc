#compdef ftracectl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs and options are what --help says, so that nothing is written down twice.  Functions are asked
# for only where that is cheap: of a daemon that runs.

_ftracectl_verbs() {
        local -a verbs

        verbs=(${(f)"$(ftracectl --help 2>/dev/null | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
        _describe -t verbs verb verbs
}

_ftracectl_options() { # VERB
        local -a all

        all=(${(f)"$(ftracectl $1 --help=all 2>/dev/null | sed -n 's/^  \(-.,\|   \) \(--[a-z0-9-]*\)\(=\{0,1\}\).*/\2\3/p')"})
        compadd -S '' -- ${(M)all:#*=}
        compadd -- ${all:#*=}
}

# What --help of --columns lists.
_ftracectl_columns() { # VERB
        local -a all

        all=(${(f)"$(ftracectl $1 --help=all 2>/dev/null | sed -n '/--columns=/,/(default/{s/.*--columns=LIST *//;s/(default.*//;s/some of //;p}' | grep -oE '[a-z][a-z0-9-]*' | grep -vxE 'and|or')"})
        compset -P '*[=,]'
        compadd -S '' -- $all
}

_ftracectl_sessions() {
        local -a all

        all=(${(f)"$(ftracectl list --no-legend --no-pager --quiet 2>/dev/null | awk '{ print $1 }')"})
        compadd -X session -- $all
}

_ftracectl_functions() {
        local -a all

        [[ $PREFIX == *[^A-Za-z0-9_.]* || ${#PREFIX} -lt 2 ]] && return
        [[ -S ${FTRACED_SOCKET:-/run/ftraced/org.ftraced} ]] || return
        all=(${(f)"$(ftracectl functions --no-pager --quiet "$PREFIX*" 2>/dev/null | head -n 200 | cut -d' ' -f1)"})
        compadd -X function -- $all
}

_ftracectl() {
        local verb= i

        for ((i = 2; i < CURRENT; i++)); do
                if [[ $words[i] == -- ]]; then # behind it is another program's command line
                        shift $i words
                        ((CURRENT -= i))
                        _normal
                        return
                fi
                [[ $verb || $words[i] == -* ]] || verb=$words[i]
        done
        if [[ $PREFIX == --columns=* ]]; then
                _ftracectl_columns $verb
                return
        fi
        if [[ $PREFIX == -* ]]; then
                _ftracectl_options $verb
                return
        fi
        case $verb in
        '') _ftracectl_verbs ;;
        run | start | arm | functions) _ftracectl_functions ;;
        follow) _ftracectl_sessions; _ftracectl_functions ;;
        profile) [[ $words[CURRENT-1] != profile ]] || compadd list show check ;;
        schedule) [[ $words[CURRENT-1] != schedule ]] || compadd list add remove run ;;
        stop | trigger | snapshot | remove | pin) _ftracectl_sessions ;;
        *) _ftracectl_sessions; _files ;;
        esac
}

_ftracectl "$@"
