#!/bin/bash
# Touches: nothing; reads a small kernel that the build made, and a text.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How many calls have one line is told, and what was written of it says the same without the kernel.
. "$(dirname "$0")/../functions.sh"
requires jq python3

kernel=$top_builddir/tests/unit/lines/vmlinux
[[ -s $kernel ]] || skip 'the small kernel was not built: there is no Check'

cat >"$work/calls.txt" <<'END'
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  start_kernel() {
 0)               |    outer() {
 0)   0.100 us    |      leaf();
 0)   1.000 us    |    }
 0)   0.200 us    |    other();
 0)   3.000 us    |  }
 0)               |  twice() {
 0)   0.100 us    |    leaf();
 0)   0.100 us    |    other();
 0)   0.100 us    |    leaf();
 0)   1.000 us    |  }
 0)               |  either() {
 0)   0.100 us    |    leaf();
 0)   1.000 us    |  }
 0)               |  by_pointer() {
 0)   0.100 us    |    deep();
 0)   1.000 us    |  }
 0)               |  module_caller [sample]() {
 0)   0.100 us    |    module_leaf [sample]();
 0)   0.100 us    |    gone [gone]();
 0)   1.000 us    |  }
END

known() {
        jq -r '[.known[] | select(.n > 0) | "\(.what) \(.n)"] | join(", ")' "$out"
}
expected='one 4, order 2, several 1, pointer 1, none 1, unknown 1'

if ! grep -q '^#define HAVE_ELFUTILS' "$top_builddir/config.h"; then
        exits 'without elfutils there are no lines' 3 ftracectl lines --vmlinux="$kernel" "$work/calls.txt"
        says 'and that is said' 'vmlinux cannot be read: this ftracectl was built without elfutils [(]libdw[)][.]$'
        done_testing
        exit
fi
exits 'where calls are left out' 0 ftracectl lines --json --vmlinux="$kernel" --notrace=other "$work/calls.txt"
is 'their order tells nothing' "$(known)" 'one 3, several 3, pointer 1, unknown 1'
exits 'of a kernel with debug information' 0 ftracectl lines --json --vmlinux="$kernel" "$work/calls.txt"
is 'each kind of call is counted' "$(known)" "$expected"
conforms 'its JSON is what tables.varlink says' Lines
is 'two pass inlined functions' "$(jq .n_inlined "$out")" 1
says 'a module that is nowhere is named' 'module gone has no lines: there is no gone.ko with debug information beside'

exits 'a file of it' 0 ftracectl lines --vmlinux="$kernel" -o "$work/calls.lines" "$work/calls.txt"
exits 'says the same' 0 ftracectl lines --json --vmlinux="$work/calls.lines" "$work/calls.txt"
is 'of each kind of call' "$(known)" "$expected"
ok 'in less than 4 KB' test "$(stat -c %s "$work/calls.lines")" -lt 4096
exits 'a file of all of the kernel' 0 ftracectl lines --vmlinux="$kernel" --all -o - "$work/calls.txt"
cp "$out" "$work/all.lines"
exits 'says the same, too' 0 ftracectl lines --json --vmlinux="$work/all.lines" "$work/calls.txt"
is 'of each kind' "$(known)" "$expected"

exits 'a table is drawn' 0 ftracectl lines --vmlinux="$kernel" "$work/calls.txt"
is 'with what is most' "$(sed -n '5p' "$out" | tr -s ' ')" 'have one line 4 40.0%'

exits 'all is of a file' 2 ftracectl lines --all --vmlinux="$kernel" "$work/calls.txt"
exits 'what is no kernel is refused' 3 ftracectl lines --vmlinux="$work/calls.txt" "$work/calls.txt"
says 'by name' "$work/calls.txt is no ELF file"
exits 'what is not there, too' 3 ftracectl lines --vmlinux="$work/nowhere" "$work/calls.txt"
says 'by name' "$work/nowhere: No such file or directory"
export FTRACED_DEBUG_DIRECTORY=$work/none
FTRACED_STORE=$top_srcdir/tests/data exits 'a kernel whose debug package is not here' 3 ftracectl lines udp_sendmsg-6.12
says 'is named, and the way out' 'kernel 6[.]12[.]117[+]deb12-amd64 has no lines: install the kernel.s debug package [(]Debian: linux-image-6[.]12[.]117[+]deb12-amd64-dbg[)], give --vmlinux=FILE, or set DEBUGINFOD_URLS'
FTRACED_STORE=$top_srcdir/tests/data exits 'and is not the small one' 3 ftracectl lines udp_sendmsg-arm64-16k-6.12 --vmlinux="$kernel"
[[ $(uname -m) != x86_64 ]] || says 'by its machine' 'vmlinux is of x86_64, and the recording of aarch64'
done_testing
