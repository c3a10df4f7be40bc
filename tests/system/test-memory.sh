#!/bin/bash
# Touches: nothing; reads texts that it writes.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: a million calls, several times
#
# Ten times the events take no more memory, even behind a call whose return was lost, but for what has a bound of its own:
# 65,536 calls that are held are 17 MiB, parquet's pages 36 MiB, and why, diff and html keep up to a million outermost
# calls, some 100 bytes each.  Not here: tsv and parquet of one large tree, whose rows wait
# for its end.  FTRACED_LONG: of one large tree more than top and csv.
. "$(dirname "$0")/../functions.sh"

# Of each kind one that never ends: alone, and with one that goes on in its place.
write_texts() { # N
        local call=$' 0)               |  f() {\n 0)   1.000 us    |    g();\n 0)   2.000 us    |  }\n'

        {
                echo ' 0)               |  f() {'
                yes "${call%$'\n'}" | head -n $((3 * $1))
        } >"$work/many-$1.txt"
        {
                printf ' 0)               |  f() {\n%.0s' 1 2
                yes ' 0)   1.000 us    |    g();' | head -n $((2 * $1))
        } >"$work/large-$1.txt"
        {
                yes ' 9.000000 |   0)               |  /* sched_waking: comm=b pid=7 prio=120 target_cpu=000 */' | head -n "$1"
                echo ' 10.000000 |   0)   1.000 us    |  g();'
        } >"$work/wakings-$1.txt"
}
# Calls that wait for another task, equally long, behind one that never ends.
write_waits() { # N
        awk -v n="$1" '
                function say(at, task, what) { printf "%f |   0)  %s   | %s\n", at / 1e6, task, what }
                function to(at, from, pid, next_one, next_pid) {
                        say(at, from "-" pid, "              |  /* sched_switch: prev_comm=" from " prev_pid=" pid \
                                " prev_prio=120 prev_state=S ==> next_comm=" next_one " next_pid=" next_pid " next_prio=120 */")
                }
                BEGIN {
                        say(1, "a-5", "              |  f() {")
                        for (at = 1000; n-- > 0; at += 100) {
                                say(at, "a-5", "              |  f() {")
                                say(at + 1, "a-5", "              |    schedule() {")
                                to(at + 2, "a", 5, "b", 7)
                                say(at + 6, "b-7", "              |  /* sched_waking: comm=a pid=5 prio=120 target_cpu=000 */")
                                to(at + 8, "b", 7, "a", 5)
                                say(at + 9, "a-5", "  8.000 us    |    }")
                                say(at + 12, "a-5", "+ 12.000 us   |  }")
                        }
                }' >"$work/waits-$1.txt"
}
write_texts 10000
write_texts 100000
write_waits 10000
write_waits 100000

# Of a program that ends well, or finds too little, without what a sanitizer keeps of what was freed; KiB.
peak_of() { # VERB [WORD...]
        ASAN_OPTIONS=quarantine_size_mb=0 python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if status in (0, 3, 6) else f"status {status}")' \
                "$top_builddir/ftracectl" "$@" 2>"$err"
}
margin=1
! is_sanitized ftracectl || margin=2
grows_no_more() { # MIB WORD...: with N for the number
        local words=("${@:2}") few many

        few=$(peak_of "${words[@]//-N./-10000.}") many=$(peak_of "${words[@]//-N./-100000.}")
        note "$few and $many KiB"
        [[ $few =~ ^[0-9]+$ && $many =~ ^[0-9]+$ && $((many - few)) -le $(($1 * margin * 1024)) ]]
}

mapfile -t exports < <(ftracectl export --help | sed -n '/^FORMAT is/,/^$/p' |
        grep -oE '\b(flame|heatmap|html|folded|perfetto|csv|json|ndjson|parquet|pprof|tsv)\b' | sort -u)
for kind in many large; do
        text=$work/$kind-N.txt
        is_wanted() { # VERB or FORMAT
                [[ ${FTRACED_LONG:-} || $kind == many || $1 == top || $1 == csv ]]
        }
        for verb in top tree hist slow why waits report verify calls; do
                is_wanted "$verb" || continue
                pattern=()
                [[ $verb != calls ]] || pattern=('*')
                ok "$kind: $verb" grows_no_more 24 "$verb" "$text" "${pattern[@]}"
        done
        ! is_wanted diff || ok "$kind: diff" grows_no_more 24 diff "$text" "$text"
        for format in "${exports[@]}"; do
                is_wanted "$format" || continue
                most=24
                [[ $format != parquet ]] || most=44
                [[ $kind == many || ! $format =~ ^(tsv|parquet)$ ]] || continue
                ok "$kind: export --format=$format" grows_no_more "$most" \
                        export "$text" --format="$format" -o "$work/exported-N.x"
        done
done
ok 'wakings before a window' grows_no_more 4 top "$work/wakings-N.txt" --from=10.0
for verb in top waits path 'path --all'; do
        # shellcheck disable=SC2086  # words
        ok "waits: $verb" grows_no_more 4 $verb "$work/waits-N.txt"
done
is 'all formats were tried' "${#exports[@]}" 11
done_testing
