#!/bin/bash
# Touches: function_graph, the modules binfmt_misc and configfs (loaded, mounted, unloaded); needs root.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: modules come and go at many places, for what seldom changes
# kernels: 6.12
#
# Modules come and go while a session records, also to the place where another one was: a function has
# the name that its address had when it was called.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires modprobe rmmod mount umount

a=binfmt_misc a_call='bm_fill_super [binfmt_misc]'
b=configfs b_call='configfs_fill_super [configfs]'
for m in $a $b; do
        modinfo "$m" >/dev/null 2>&1 || skip "this kernel has no module $m"
        rmmod "$m" 2>/dev/null
        ! grep -q "^$m " /proc/modules || skip "the module $m is in use"
done
mkdir "$work/mnt"

# Mounts a file system of the module, which calls it; its address becomes $at.
use() { # MODULE
        mount -t "$1" none "$work/mnt" && umount "$work/mnt"
        at=$(awk -v m="$1" '$1 == m { print $6 }' /proc/modules)
        note "$1 was at $at"
}

# Asks the file and not the daemon, which would look at the modules because of that.
has_maps() { # COUNT
        [[ $(jq '.symbol_maps | length' "$store/sessions/it/session.json") == "$1" ]]
}

# The functions of the two modules, in the order of the calls.
calls() { # FILE
        grep -oE '(bm|configfs)_fill_super( \[[a-z_]*\])?|0xffffffff[c-f][0-9a-f]*' "$1" | uniq
}

ok 'the daemon starts' start_ftraced
exits 'a session starts' 0 ftracectl start -n it vfs_get_tree
is 'it names the list of modules' "$(session it '.modules | length')" 32
is 'it has no later map' "$(session it '.symbol_maps | length')" 0
env --default-signal=INT "$top_builddir/ftracectl" follow it >"$work/live" 2>"$work/live.err" </dev/null &
follower=$!
ok 'somebody follows it' wait_until 60 grep -q 'Ctrl-C to end' "$work/live.err"

modprobe $a
ok 'a module that came is noticed' wait_until 30 has_maps 1
use $a
first=$at
sleep 3
kill -INT $follower
wait $follower
is 'who follows sees the new name' "$(calls "$work/live")" "$a_call"

rmmod $a
ok 'a module that went is noticed, by itself' wait_until 30 has_maps 2
modprobe $b
ok 'another one is noticed, by itself' wait_until 30 has_maps 3
use $b
[[ $at != "$first" ]] || note 'at the same address'

# Two changes and a call between two looks, of which the stop is the second; on a slow machine there is one more.
rmmod $b
modprobe $a
use $a
stops 'it is stopped' it
n_maps=$(session it '.symbol_maps | length')
ok "the stop notices what changed last ($n_maps changes)" test "$n_maps" = 4 -o "$n_maps" = 5
is 'maps are in order' "$(session it '[.symbol_maps[] | .unchanged_ns, .from_ns] | . == sort')" true
[[ $at != "$first" ]] || is 'a kernel that is the same again has the same map' \
        "$(session it '.symbol_maps[0].symbols')" "$(session it '.symbol_maps[-1].symbols')"

exits 'it is drawn' 0 ftracectl report it
is 'each call has the name of its time' "$(calls "$out")" "$a_call"$'\n'"$b_call"$'\n'"$a_call"

# The number in a note of 4 bytes of name.
build_id() { # FILE
        python3 -c 'import re, sys
print(re.search(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", open(sys.argv[1], "rb").read(), re.S)[1].hex())' "$1"
}
is 'it names the build of the kernel' "$(session it .build_id)" "$(build_id /sys/kernel/notes)"
exits 'show says which' 0 ftracectl show it
says 'show names the build' "Build ID: +$(build_id /sys/kernel/notes)$" "$out"
is 'it names the build of a module that came later' \
        "$(zstd -dc "$store/symbols/$(session it '.symbol_maps[0].modules').zst" | awk -v m=$a '$1 == m { print $6 }')" \
        "$(build_id /sys/module/$a/notes/.note.gnu.build-id)"

exits 'it is complete' 0 ftracectl verify it
exits 'show says that modules changed' 0 ftracectl show it
says 'show says how often' "Modules: changed $n_maps times" "$out"
exits 'it is fetched' 0 ftracectl fetch it -o "$work/it.dat"
for call in "$a_call" "$b_call"; do
        says "the trace.dat names $call" "${call%% *}.*${call##* [}" "$work/it.dat"
done
if command -v trace-cmd >/dev/null; then
        trace-cmd report -i "$work/it.dat" >"$work/theirs" 2>/dev/null
        for f in ${a_call%% *} ${b_call%% *}; do
                ok "trace-cmd names $f" grep -q "$f" "$work/theirs"
        done
fi

n_files=$(find "$store/symbols" -name '*.zst' | wc -l)
ok 'each content is stored once' test "$n_files" -le 8
rmmod $a
exits 'it is removed' 0 ftracectl remove it
is 'its maps go with it' "$(find "$store/symbols" -name '*.zst' | wc -l)" 0
is_as_before 'the kernel is as it was'
done_testing
