#!/bin/bash
# Touches: the network; makes a Debian system below the build directory and removes it.  Needs root.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Other architectures, s390x because it is big-endian: they build without a warning, unit tests of lib/ pass under
# qemu-user, and recordings, trace.dats and texts are read there as here.  Compilers and libraries are in a system of
# its own, so that apt knows of no architecture here that it did not know before.
#
#       FTRACED_FOREIGN     architectures                   [s390x]
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/system.sh"
# riscv64 is of Debian 13 and later.
declare -A emulators=([ppc64el]=qemu-ppc64le-static [riscv64]=qemu-riscv64-static [s390x]=qemu-s390x-static) \
        suites=([riscv64]=trixie)

# Under emulation the first takes minutes, the second is not told of descriptors that found no room (qemu 7.2 hands
# over no MSG_CTRUNC), and the third has no openat2(); the next three have a kernel that was compiled for this
# architecture; the others put records of this machine's byte order into little-endian pages.
left_out=(critical-path frame excerpts lines-file sites ways object owners spaces values values-random)

rooms() {
        bash "$top_srcdir/tests/rooms" "$@"
}
mapfile -t tests < <(rooms --tests lib | grep '^tests/unit/lib-')
unit_suites=$(rooms --suites lib | grep -vxFf <(printf '%s\n' "${left_out[@]}") | xargs)

# shellcheck disable=SC2016 # for the shell inside
make_there() { # ARCHITECTURE TEST...
        inside "$suite" bash -c '
                set -e
                build=/ftraced/build
                mkdir -p "$build"
                . tests/setup.sh
                install_packages "${to_build[@]}" qemu-user-static
                install_cross_packages "$1"
                make_configure
                configure_cross "$build/$1" "$1" --enable-werror
                # "all" is a make of its own, which would make the same files beside this one.
                make -C "$build/$1" -j "$(nproc)"
                make -C "$build/$1" -j "$(nproc)" "${@:2}"' make "$@"
}

there() { # ARCHITECTURE WORD...: a program in its build directory
        inside "$suite" bash -c 'cd "build/$1" && export top_srcdir=/ftraced top_builddir=$PWD &&
                exec timeout 1200 "${@:2}"' there "$@"
}

same() { # DESCRIPTION WORD...: this ftracectl and the other one say the same of files in tests/data
        local description=$1

        shift
        (cd "$top_srcdir/tests/data" && "$top_builddir/ftracectl" "$@" >"$work/here" 2>&1)
        inside "$suite" bash -c 'cd tests/data && exec timeout 300 "$1" "../../build/$2/ftracectl" "${@:3}"' there \
                "${emulators[$arch]}" "$arch" "$@" >"$work/there" 2>&1
        ok "$description" cmp "$work/here" "$work/there"
}

mkdir -p "$roots"
for arch in ${FTRACED_FOREIGN:-s390x}; do
        suite=${suites[$arch]:-bookworm} table=parquet
        [[ $suite == "$codename" ]] || table=tsv # another zstd, another file
        remove_system "$suite"
        cleanup_fn remove_system "$suite"
        ok "$suite: a system is made" install_system "$suite"
        exits "$arch: it builds" 0 make_there "$arch" "${tests[@]}"
        for test in "${tests[@]}"; do
                ok "$arch: ${test##*/}" there "$arch" env "UNIT_SUITES=$unit_suites" "${emulators[$arch]}" "$test"
        done
        for file in udp_sendmsg-{5.10,6.1,6.12,new,arm64-16k-6.12}; do
                same "$arch: $file is drawn" report --store . "$file"
                same "$arch: $file.dat is drawn" report "$file.dat"
                same "$arch: $file.dat is whole" verify "$file.dat"
                same "$arch: $file as a table" export "--format=$table" -o - --store . "$file"
                same "$arch: $file is fetched" fetch --store . "$file" -o -
        done
        same "$arch: texts" top text/SyS_write-loopback.trace.txt
done
done_testing
