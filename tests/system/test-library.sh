#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program that links with libftraced, as built or, in `make installcheck`, as installed.
. "$(dirname "$0")/../functions.sh"
requires jq nm
read -ra cc <<<"${CC:-cc}"
requires "${cc[0]}"
sanitizers=$(sed -n 's/^SANITIZER_CFLAGS = //p' "$top_builddir/Makefile")
[[ -z $sanitizers ]] || skip "a sanitizer's library must come first in a program, which this one cannot know"

library=$(cd "$top_builddir/lib/public" && pwd)
read -ra flags <<<"${LIBFTRACED_FLAGS:--I$top_srcdir/lib/public -L$library -lftraced}"
export LD_LIBRARY_PATH=${LIBFTRACED_PATH:-$library}
ok 'a program compiles and links with it' \
        "${cc[@]}" -std=c99 -pedantic -Wall -Wextra -Werror -o "$work/walk" "$top_srcdir/tests/workload/walk.c" "${flags[@]}"
if "${cc[@]}" -x c++ -fsyntax-only - </dev/null >/dev/null 2>&1; then
        ok 'the header is C++, too' "${cc[@]}" -x c++ -fsyntax-only -include "$top_srcdir/lib/public/ftraced.h" - </dev/null
else
        skip_one 'the header is C++, too' "${cc[0]} has no C++ (Debian: g++)"
fi
is 'it needs the library by its version' "$(LC_ALL=C readelf -d "$work/walk" | sed -n 's/.*NEEDED.*\[\(libftraced.*\)\]/\1/p')" libftraced.so.1
nm -D --defined-only "$LD_LIBRARY_PATH/libftraced.so.1" | awk '$2 == "T" { print $3 }' >"$work/symbols"
ok 'the library has functions' test "$(wc -l <"$work/symbols")" -ge 10
is 'all of them are its own, and have a version' "$(grep -cvE '^ftraced_[a-z_]+@@LIBFTRACED_1$' "$work/symbols")" 0
is 'they are those of the header' "$(sed 's/@.*//' "$work/symbols" | sort | paste -sd' ')" \
        "$(grep -oE '\bftraced_[a-z_]+\(' "$top_srcdir/lib/public/ftraced.h" | tr -d '(' | sort -u | paste -sd' ')"
is 'it knows its version' "$("$work/walk")" "$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")"

# --- recordings ---------------------------------------------------------------------------------

for file in udp_sendmsg-6.1.dat udp_sendmsg-6.12.dat udp_sendmsg-new.dat udp_sendmsg-6.12.trace; do
        exits "$file is walked" 0 "$work/walk" "$top_srcdir/tests/data/$file"
        cp "$out" "$work/walked"
        exits 'as ftracectl reads it' 0 ftracectl report --no-pager "$top_srcdir/tests/data/$file"
        is 'every call' "$(jq '.enter + .leaf' "$work/walked")" "$(grep -cE '\|.*\((.*\);|.*\) \{)' "$out")"
        [[ $file == *.trace ]] || is 'in the order of time' "$(jq .ordered "$work/walked")" true
done
exits 'what is no recording is refused' 1 "$work/walk" "$top_srcdir/COPYING"
exits 'what is not there, too' 1 "$work/walk" "$work/nothing"

# --- the daemon ---------------------------------------------------------------------------------

exits 'without a daemon nothing is connected' 1 "$work/walk" -c "$FTRACED_SOCKET" GetStatus
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
exits 'a method is called' 0 "$work/walk" -c "$FTRACED_SOCKET" Start '{"name":"one","spec":{"functions":["udp_sendmsg"]}}'
is 'and answers' "$(jq -r .session.state "$out")" recording
exits 'an error has a name' 1 "$work/walk" -c "$FTRACED_SOCKET" Stop '{"session":"two"}'
says 'and its parameters' '^org.ftraced.SessionNotFound \{.*"message"' "$out"
exits 'a session is opened' 0 "$work/walk" -s "$FTRACED_SOCKET" one
is 'by its name' "$(jq -r .session.name "$out")" one
exits 'one that is not there is not' 1 "$work/walk" -s "$FTRACED_SOCKET" two
exits 'it is stopped' 0 "$work/walk" -c "$FTRACED_SOCKET" Stop '{"session":"one"}'
exits 'its directory is a recording' 0 "$work/walk" "$store/sessions/one"
ok 'the daemon ends in peace' stop_ftraced
done_testing
