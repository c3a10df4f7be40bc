# bash completion for ftracectl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs and options come from --help, so they are those of the installed program.  Names of sessions
# come from `list`.  Functions are asked for only if that is cheap: of a running daemon.

__ftracectl_help() { # VERB or nothing
        ftracectl ${1:+"$1"} --help 2>/dev/null
}

__ftracectl_verbs() {
        __ftracectl_help | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'
}

# Long options, those that take a value with their '='.
__ftracectl_options() {
        __ftracectl_help "$1" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\)\(\[\?=\)\?.*/\2\3/p' | sed 's/\[=$//'
}

__ftracectl_sessions() {
        ftracectl "$@" list --no-legend --no-pager --quiet 2>/dev/null | awk '{ print $1 }'
}

__ftracectl_functions() { # PREFIX
        [[ $1 == *[!A-Za-z0-9_.]* || ${#1} -lt 2 ]] && return
        [[ -S ${FTRACED_SOCKET:-/run/ftraced/org.ftraced} ]] || return
        ftracectl functions --no-pager --quiet "$1*" 2>/dev/null | head -n 200
}

_ftracectl() {
        local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local verb= word i
        local -a where=()

        COMPREPLY=()
        # "--name=value" arrives as three words.
        [[ $cur == '=' ]] && cur=
        [[ $previous == '=' ]] && previous=${COMP_WORDS[COMP_CWORD-2]}

        for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                case $word in
                --) # behind it is another program's command line
                        COMPREPLY=($(compgen -c -f -- "$cur"))
                        return ;;
                --store | --socket)
                        [[ ${COMP_WORDS[i+1]-} == '=' ]] && where=("$word=${COMP_WORDS[i+2]}") ||
                                where=("$word=${COMP_WORDS[i+1]}")
                        ((i++)) ;;
                -n | -p | -o | -O | --name | --pid | --output | --option | --format) ((i++)) ;;
                -* | '=') ;;
                *) [[ $verb || ${COMP_WORDS[i-1]} == '=' ]] || verb=$word ;;
                esac
        done

        case $previous in
        --store) COMPREPLY=($(compgen -d -- "$cur")); return ;;
        --socket | -o | --output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --json) COMPREPLY=($(compgen -W 'short pretty' -- "$cur")); return ;;
        --format) COMPREPLY=($(compgen -W 'graph' -- "$cur")); return ;;
        -O | --option)
                COMPREPLY=($(compgen -W "$(printf '%s ' {,no}funcgraph-{cpu,proc,abstime,duration,overhead,overrun,tail})" -- "$cur"))
                return ;;
        --notrace) COMPREPLY=($(compgen -W "$(__ftracectl_functions "$cur")" -- "$cur")); return ;;
        -p | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;
        -n | --name | --depth | --duration | --max-size | --buffer-size | --max-functions) return ;;
        esac

        if [[ $cur == -* ]]; then
                COMPREPLY=($(compgen -W "$(__ftracectl_options "$verb")" -- "$cur"))
                [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
                return
        fi
        case $verb in
        '' | help) COMPREPLY=($(compgen -W "$(__ftracectl_verbs)" -- "$cur")) ;;
        run | start | functions)
                COMPREPLY=($(compgen -W "$(__ftracectl_functions "$cur")" -- "$cur")) ;;
        follow)
                COMPREPLY=($(compgen -W "$(__ftracectl_sessions "${where[@]}") $(__ftracectl_functions "$cur")" -- "$cur")) ;;
        stop | show | report | verify | fetch | remove)
                COMPREPLY=($(compgen -W "$(__ftracectl_sessions "${where[@]}")" -- "$cur")) ;;
        esac
        return 0
}

complete -F _ftracectl ftracectl
