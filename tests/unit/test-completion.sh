#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completion offers what the program takes.
set -uo pipefail

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
top_builddir=${top_builddir:-$PWD}
PATH=$(cd "$top_builddir" && pwd):$PATH
unset FTRACED_SOCKET FTRACED_STORE
n=0

report() { # NAME WHAT-IS-WRONG
        n=$((n + 1))
        if [[ -z $2 ]]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                printf '# %s\n' "${2//$'\n'/$'\n'# }"
        fi
}

compopt() { :; } # there is no completion going on
. "$top_srcdir/cli/completion.bash"

complete_words() { # WORD... the last of which is being typed; prints what is offered
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMPREPLY=()
        _ftracectl
        [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

expect() { # NAME WANTED GOT
        if [[ $2 == "$3" ]]; then
                report "$1" ''
        else
                report "$1" "wanted: $2"$'\n'"got: $3"
        fi
}

verbs=$(ftracectl --help | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | sort)
expect 'every verb is offered' "$verbs" "$(complete_words ftracectl '')"
expect 'verbs are offered after options' "$verbs" "$(complete_words ftracectl --socket = /x -q '')"

bad=
for verb in $verbs; do
        wanted=$(ftracectl "$verb" --help=all | sed -n 's/^  \(-.,\|   \) \(--[a-z0-9-]*\)\(=\?\).*/\2\3/p' | sort)
        got=$(complete_words ftracectl "$verb" --)
        [[ $wanted == "$got" ]] ||
                bad+="$verb: $(diff <(echo "$wanted") <(echo "$got"))"$'\n'
done
report 'every verb is offered its options, and no others' "$bad"

expect 'behind -- commands are offered' true \
        "$(complete_words ftracectl run udp_sendmsg -- tru | grep -x true)"
expect 'the value of an option is no verb' "$verbs" "$(complete_words ftracectl -n stop '')"
expect 'columns are offered to -O' $'funcgraph-proc' \
        "$(complete_words ftracectl report x -O funcgraph-pr)"
columns=$(ftracectl top --columns=. x 2>&1 | sed 's/.*not one of //; s/[.,]//g' | tr ' ' '\n' | sort)
expect 'columns of a table are offered' "$columns" "$(complete_words ftracectl top --columns = '')"
expect 'each of a list' "$(grep ^p <<<"$columns" | while read -r c; do echo "self,$c"; done)" "$(complete_words ftracectl top --columns = self,p)"
expect 'and what is sorted by' "$(grep -vx all <<<"$columns")" "$(complete_words ftracectl top --sort = '')"
expect 'what profile does is offered' $'check\nlist\nshow' "$(complete_words ftracectl profile '')"
expect '--json offers its modes' $'pretty\nshort' "$(complete_words ftracectl list --json = '')"
expect 'no functions are asked for without a daemon' '' \
        "$(FTRACED_SOCKET=/nonexistent complete_words ftracectl run udp_)"

if data=$(ls "$top_srcdir/tests/data/sessions" 2>/dev/null) && [[ $data ]]; then
        expect 'sessions of a store are offered' "$(sort <<<"$data")" \
                "$(complete_words ftracectl report --store = "$top_srcdir/tests/data" '')"
else
        echo "ok $((++n)) - sessions of a store are offered # SKIP no recording in tests/data"
fi
# Anybody can name a task, a directory below his control group, or a file.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in '$(id>ran)' '`id>ran`' '$[`id>ran`]' '~root' 'a b' $'\033[31m' '*' '{a,b}'; do
        ps() { printf '%s\n' "$name"; }
        rm -rf "${work:?}"/*
        got=$(cd "$work" && complete_words ftracectl start --comm '')
        expect "a task named $(printf %q "$name") is offered quoted" "$(printf %q "$name")" "$got"
        unset -f ps
        touch "$work/$name"
        expect "so is a file of that name" "$name" "$(cd "$work" && complete_words ftracectl fetch x -o '')"
        expect 'nothing was run' "$name" "$(ls -A --show-control-chars "$work")"
done
if command -v zsh >/dev/null; then
        report 'zsh can read its completion' "$(zsh -n "$top_srcdir/cli/completion.zsh" 2>&1)"
        # What _ftracectl adds, with the shell's own functions replaced.
        expect 'zsh is offered the same verbs' "$verbs" "$(zsh -fc '
                _describe() { print -l ${(P)4} | cut -d: -f1; }
                words=(ftracectl ""); CURRENT=2; PREFIX=
                source "$1"' zsh "$top_srcdir/cli/completion.zsh" | sort)"
        expect 'and the same columns' "$columns" "$(zsh -fc '
                compset() { :; }
                compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- $@; }
                words=(ftracectl top --columns=); CURRENT=3; PREFIX=--columns=
                source "$1"' zsh "$top_srcdir/cli/completion.zsh" | sort)"
        expect 'and the same options' "$(complete_words ftracectl stop -- | sort)" "$(zsh -fc '
                compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- $@; }
                words=(ftracectl stop --); CURRENT=3; PREFIX=--
                source "$1"' zsh "$top_srcdir/cli/completion.zsh" | sort)"
else
        echo "ok $((++n)) - zsh can read its completion # SKIP zsh is not installed"
fi
echo "1..$n"
