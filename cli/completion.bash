# bash completion for ftracectl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs and options are written down here, so that a key costs no process.  Names of sessions come
# from `list`.  Functions are asked for only where that is cheap: of a daemon that runs.

__ftracectl_sessions() { # --store and --socket as given so far
        ftracectl "$@" list --no-legend --no-pager --quiet 2>/dev/null | awk '{ print $1 }'
}

__ftracectl_profiles() {
        [[ -S ${FTRACED_SOCKET:-/run/ftraced/org.ftraced} ]] || return
        ftracectl profile list --no-legend --no-pager --quiet 2>/dev/null | awk '{ print $1 }'
}

__ftracectl_schedules() {
        local dir

        for dir in /etc/systemd/system/ftraced-capture@*.timer.d; do
                [[ ! -d $dir ]] || { dir=${dir##*@}; echo "${dir%.timer.d}"; }
        done
}

__ftracectl_functions() { # PREFIX
        [[ $1 == *[!A-Za-z0-9_.]* || ${#1} -lt 2 ]] && return
        [[ -S ${FTRACED_SOCKET:-/run/ftraced/org.ftraced} ]] || return
        ftracectl functions --no-pager --quiet "$1*" 2>/dev/null | head -n 200 | cut -d' ' -f1
}

# Only who may read tracefs gets any.
__ftracectl_events() {
        cat /sys/kernel/tracing/available_events 2>/dev/null
}

# What of standard input begins with WORD, a line each.  Not `compgen -W`, which expands what it is given,
# for anybody can name a task "$(reboot)"; and quoted, for what is offered becomes part of a command line.
__ftracectl_offer() { # WORD
        local line quoted

        while IFS= read -r line; do
                printf -v quoted %q "$line"
                [[ $line != "$1"* && $quoted != "$1"* ]] || COMPREPLY+=("$quoted")
        done
}

# Names of files, or of what compgen's OPTIONs say, which readline quotes.
__ftracectl_offer_files() { # WORD OPTION...
        compopt -o filenames 2>/dev/null
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "${@:2}" -- "$1")
}

# The options of VERB, those that need a value with their '='.
__ftracectl_options() { # VERB
        local record='-n -p --name= --profile= --dry-run --depth= --notrace= --pid= --comm= --cgroup= --cpus= --flat --only=
                --slower= --clock= --duration= --max-size= --ring --segment-size= --buffer-size= --args --retval --kernel-stack --user-stack --what --whose --event= --sched --lean= --set=
                --wait --force'
        local draw='-O --format= --option='
        local live='--task= --unit= --container= --user= --cpus= --root= --function= --fold= --nth= --keep-slower= --keep-failed'
        local filter="-p --pid= --from= --to= --slower= --depth= --notrace= --slowest= --nth-trace= --buffer= $live"

        case $1 in
        run) echo "$record $draw" ;;
        follow) echo "$record --keep $draw $live --by= --sort= --columns= --limit= --corrected" ;;
        start) echo "$record --in-kernel --black-box --at= --in= --hosts= -j --json" ;;
        arm) echo "$record --in-kernel --black-box --on= --do= --max-captures= -j --json" ;;
        schedule) echo "$record --calendar= --max-captures= --keep --config-root= -j --json" ;;
        stop) echo '-a --all --hosts= -j --json' ;;
        report) echo "$draw $filter --lines --vmlinux= --args --retval --keep-going -j --json" ;;
        top) echo "$filter --vmlinux= --by= --sort= --columns= --limit= --corrected --keep-going -j --json" ;;
        tree) echo "$filter --lines --vmlinux= --min= --callers= --corrected --keep-going -j --json" ;;
        slow) echo "$filter --lines --vmlinux= -n --limit= --min= --corrected --keep-going -j --json" ;;
        why) echo "$filter --lines --vmlinux= --against= --limit= --keep-going -j --json" ;;
        waits) echo "$filter --limit= --keep-going -j --json" ;;
        path) echo "$filter --lines --vmlinux= -a --all --limit= --keep-going -j --json" ;;
        hist) echo "$filter --limit= --over-time -o --output= --keep-going -j --json" ;;
        calls) echo "$filter --lines --vmlinux= --where= --limit= --keep-going -j --json" ;;
        collect) echo '-n --name= -o --output= --hosts= --ended --compress= --buffer= --cpus= --from= --to= -j --json' ;;
        fetch) echo '-o --output= --hosts= --ended --compress= --buffer= --cpus= --from= --to=' ;;
        lines) echo "$filter --vmlinux= -a --all -o --output= --keep-going -j --json" ;;
        metrics) echo '-o --output= -j --json' ;;
        diff) echo "$filter --by= --vmlinux= --fail-over= --limit= --keep-going -j --json" ;;
        export) echo "$filter --lines --vmlinux= --source= --format= -o --output= --keep-going" ;;
        vacuum) echo '-n --max-size= --time= --limit= --dry-run --config-root= -j --json' ;;
        profile) echo '--config-root= -j --json' ;;
        verify) echo '--deep --buffer= --nth-trace= -j --json' ;;
        show) echo '--buffer= --hosts= -j --json' ;;
        remove) echo '--hosts=' ;;
        pin) echo '--off' ;;
        '' | status) echo '--hosts= -j --json' ;;
        list) echo '-n --limit= -j --json' ;;
        doctor) echo '--black-box -j --json' ;;
        trigger | snapshot | functions) echo '-j --json' ;;
        esac
        echo '-q -h -H --host= --socket= --store= --no-pager --no-legend --color= --quiet --help --version'
}

_ftracectl() {
        local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local verbs='run start arm trigger snapshot stop follow status list show report top tree slow why hist calls waits path
                diff verify fetch lines collect export remove pin vacuum functions profile schedule metrics doctor'
        local columns='self share total stolen softirq waking net blocked on-cpu count avg min p50 p90 p99 max name'
        local verb= action= word value i
        local -a where=()

        COMPREPLY=()
        # "--name=value" arrives as three words.
        [[ $cur == '=' ]] && cur=
        [[ $previous == '=' ]] && previous=${COMP_WORDS[COMP_CWORD-2]}

        for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                case $word in
                --) # behind it is another program's command line
                        __ftracectl_offer_files "$cur" -c -f
                        return ;;
                --json | --wait | --keep | --args | --retval) # the value is optional, and only ever behind a '='
                        [[ ${COMP_WORDS[i+1]-} == '=' ]] && ((i += 2)) ;;
                --name | --profile | --depth | --notrace | --pid | --event | --duration | --max-size | --segment-size | --buffer | --buffer-size | --lean | --set | \
                        --comm | --cgroup | --cpus | --only | --slower | --clock | --on | --do | --max-captures | --format | \
                        --color | --task | --unit | --container | --user | --where | --root | --function | --fold | --from | --to | --nth | --slowest | --keep-slower | \
                        --columns | --fail-over | --option | --output | --against | --vmlinux | --source | --socket | --store | --time | --limit | \
                        --config-root | --compress | --calendar | --at | --in | --host | --hosts | -H | \
                        -n | -p | -o | -O)
                        [[ ${COMP_WORDS[i+1]-} == '=' ]] && ((i++))
                        value=${COMP_WORDS[++i]-}
                        [[ $word == --store || $word == --socket ]] && where+=("$word=$value") ;;
                -*) ;;
                *) # what stands behind a verb matters to one of them
                        [[ ! $verb || $action ]] || action=$word
                        [[ $verb ]] || verb=$word ;;
                esac
        done

        case $previous in
        --store | --config-root | --source) __ftracectl_offer_files "$cur" -d; return ;;
        --socket | -o | --output | --hosts | --vmlinux) __ftracectl_offer_files "$cur" -f; return ;;
        --compress) COMPREPLY=($(compgen -W 'zstd none' -- "$cur")); return ;;
        -H | --host) __ftracectl_offer_files "$cur" -A hostname; return ;;
        --color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
        --set) COMPREPLY=($(compgen -W "$(printf '%s ' {NoIRQs,NoSleepTime,SegmentTime,Max{Functions,Hooked,EventRate,WriteRate,CPU},OnFull,Lesson,Budget,MinGap}=)" -- "$cur"))
                compopt -o nospace 2>/dev/null
                return ;;
        --on) COMPREPLY=($(compgen -W 'function: event: slower: count: at: in: signal command' -- "$cur"))
                [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null
                return ;;
        --by) COMPREPLY=($(compgen -W 'function module task cpu root caller what unit container process user file dir layer' -- "$cur")); return ;;
        --sort) COMPREPLY=($(compgen -W "$columns" -- "$cur")); return ;;
        --columns) # the last of a list
                word=
                [[ $cur != *,* ]] || word=${cur%,*},
                COMPREPLY=($(compgen -P "$word" -W "$columns all" -- "${cur##*,}"))
                compopt -o nospace 2>/dev/null
                return ;;
        --do) COMPREPLY=($(compgen -W 'start stop snapshot' -- "$cur")); return ;;
        --lean) __ftracectl_offer_files "$cur" -W 'auto off' -f; return ;;
        --clock)
                COMPREPLY=($(compgen -W 'mono boot local global mono_raw tai perf uptime counter' -- "$cur"))
                return ;;
        --comm) __ftracectl_offer "$cur" < <(ps -eo comm= 2>/dev/null | sort -u); return ;;
        --cgroup) __ftracectl_offer_files "${cur:-/sys/fs/cgroup/}" -d; return ;;
        --format)
                if [[ $verb == export ]]; then
                        COMPREPLY=($(compgen -W 'flame heatmap html folded csv json ndjson parquet tsv perfetto pprof' -- "$cur"))
                else
                        COMPREPLY=($(compgen -W "graph indent$([[ $verb != run ]] || echo ' none')" -- "$cur"))
                fi
                return ;;
        -O | --option)
                COMPREPLY=($(compgen -W "$(printf '%s ' {,no}funcgraph-{cpu,proc,abstime,duration,overhead,overrun,irqs,tail,args,retval,retval-hex})" -- "$cur"))
                return ;;
        --profile) __ftracectl_offer "$cur" < <(__ftracectl_profiles); return ;;
        --notrace | --only | --root | --function | --fold) __ftracectl_offer "$cur" < <(__ftracectl_functions "$cur"); return ;;
        --event) __ftracectl_offer "$cur" < <(__ftracectl_events); return ;;
        -p | --pid) __ftracectl_offer "$cur" < <(cd /proc && printf '%s\n' [0-9]*); return ;;
        --time | --limit | -n | --name | --depth | --duration | --max-size | --segment-size | --buffer-size | --calendar | \
                --keep | --at | --in | --cpus | --slower | --max-captures | --task | --unit | --container | --user | --from | --to | --nth | --slowest | --keep-slower | --fail-over) return ;;
        --json)
                if [[ ${COMP_WORDS[COMP_CWORD-1]} == '=' || ${COMP_WORDS[COMP_CWORD]} == '=' ]]; then
                        COMPREPLY=($(compgen -W 'short pretty' -- "$cur"))
                        return
                fi ;;
        esac

        if [[ $cur == -* ]]; then
                COMPREPLY=($(compgen -W "$(__ftracectl_options "$verb")" -- "$cur"))
                [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
                return 0
        fi
        case $verb in
        '') COMPREPLY=($(compgen -W "$verbs" -- "$cur")) ;;
        run | start | arm | functions)
                __ftracectl_offer "$cur" < <(__ftracectl_functions "$cur") ;;
        profile)
                case $action in
                '') COMPREPLY=($(compgen -W 'list show check' -- "$cur")) ;;
                show) __ftracectl_offer "$cur" < <(__ftracectl_profiles) ;;
                check)
                        __ftracectl_offer "$cur" < <(__ftracectl_profiles)
                        __ftracectl_offer_files "$cur" -f ;;
                esac ;;
        schedule)
                case $action in
                '') COMPREPLY=($(compgen -W 'list add remove run' -- "$cur")) ;;
                add) __ftracectl_offer "$cur" < <(__ftracectl_functions "$cur") ;;
                remove | run) __ftracectl_offer "$cur" < <(__ftracectl_schedules) ;;
                esac ;;
        follow)
                __ftracectl_offer "$cur" < <(__ftracectl_sessions "${where[@]}"; __ftracectl_functions "$cur") ;;
        stop | trigger | snapshot | remove | pin)
                __ftracectl_offer "$cur" < <(__ftracectl_sessions "${where[@]}") ;;
        show | report | top | tree | slow | why | hist | calls | waits | path | diff | verify | fetch | lines | export)
                __ftracectl_offer "$cur" < <(__ftracectl_sessions "${where[@]}")
                [[ ${#COMPREPLY[@]} -gt 0 ]] || __ftracectl_offer_files "$cur" -f ;;
        esac
        return 0
}

complete -F _ftracectl ftracectl
