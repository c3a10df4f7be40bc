# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tests/demo and tests/run-all share: packages of Debian 12 and 13, and a build out of
# tree.  $build is the directory that the caller builds in.

top_srcdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

to_build=(autoconf automake pkg-config gcc make libc6-dev libtracefs-dev libtraceevent-dev
        libsystemd-dev libjansson-dev libzstd-dev libxxhash-dev libseccomp-dev zlib1g-dev libdw-dev libdebuginfod-dev libiberty-dev check scdoc)
to_boot=(qemu-system-x86 cpio xz-utils zstd kmod e2fsprogs)
to_test=(g++ clang libclang-rt-dev jq python3 trace-cmd systemd systemd-sysv procps iproute2 sqlite3
        openssh-client openssh-server debuginfod elfutils)
to_package=(build-essential debhelper lintian)
to_lint=(shellcheck)
to_emulate=(qemu-system-arm)
to_view=(chromium protobuf-compiler golang-go)
to_test_packaging=(rpm cpio debootstrap)

# What else it was built for, here, and what compilers call it.
declare -A triplets=([arm64]=aarch64-linux-gnu [ppc64el]=powerpc64le-linux-gnu [riscv64]=riscv64-linux-gnu
        [s390x]=s390x-linux-gnu)

apt_wait_s=600 # for whoever else installs something: a host that has just booted does so by itself

say() {
        printf '\n== %s\n' "$*"
}

# Of this machine's architecture, unless its name says of which: dpkg-query tells of all that have it.
is_installed() { # PACKAGE[:ARCHITECTURE]
        local own

        own=$(dpkg --print-architecture)
        dpkg-query -W -f '${Architecture} ${Status}\n' "$1" 2>/dev/null |
                grep -qE "^($own|all|${1#*:}) install ok installed\$"
}

# apt-get, again and again while another program holds a lock that it wants.  By itself it can wait for
# those of dpkg alone (DPkg::Lock::Timeout; apt 2.6, apt-pkg/deb/debsystem.cc): those of the lists and of what
# it fetches end it at once.
apt_patiently() { # WORD...
        local log=$build/apt.log end=$((SECONDS + apt_wait_s)) said='' held

        until LC_ALL=C DEBIAN_FRONTEND=noninteractive \
                apt-get -qq -o Acquire::Retries=3 -o DPkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 \
                "$@" >"$log" 2>&1 </dev/null; do
                held=$(sed -n 's/^E: Could not get lock //p' "$log" | head -n 1)
                if [[ -z $held ]]; then
                        tail -n 20 "$log" >&2
                        return 1
                fi
                if ((SECONDS >= end)); then
                        echo "apt-get did not get its lock within $apt_wait_s s: $held" >&2
                        return 1
                fi
                [[ -n $said ]] || echo "Waiting for apt's lock, up to $apt_wait_s s: $held"
                said=1
                sleep 2
        done
}

# Installs what is missing of these packages; as an ordinary user says how.
install_packages() { # PACKAGE...
        local p try missing=()

        command -v dpkg-query >/dev/null || {
                echo "This is not Debian; install what these packages of Debian 12 have: $*" >&2
                return 1
        }
        for p in "$@"; do
                is_installed "$p" || missing+=("$p")
        done
        [[ ${#missing[@]} -gt 0 ]] || return 0
        if [[ $(id -u) != 0 ]]; then
                echo "Packages are missing. As root: apt-get install ${missing[*]}" >&2
                return 1
        fi
        say "Installing ${missing[*]}"
        # A mirror that is being updated has lists that do not match for a while, perhaps of an architecture that
        # nobody asks for here.  apt goes on with those that it has, and so can its caller.
        for try in 1 2 3; do
                apt_patiently update || echo "Not all lists of packages are new; trying with those that are there (try $try of 3)."
                ! apt_patiently install -y --no-install-recommends "${missing[@]}" || return 0
                [[ $try == 3 ]] || sleep 20
        done
        echo "apt-get could not install: ${missing[*]}" >&2
        return 1
}

# configure lives in the source tree; it is made if there is none, or if its sources are newer.
make_configure() {
        local f

        [[ -x $top_srcdir/configure && -e $top_srcdir/Makefile.in ]] || {
                autoreconf -fi "$top_srcdir"
                return
        }
        for f in "$top_srcdir"/{configure.ac,Makefile.am,*/local.mk,*/*/local.mk}; do
                [[ ! $f -nt $top_srcdir/Makefile.in ]] || {
                        autoreconf -fi "$top_srcdir"
                        return
                }
        done
}

configure_in() { # DIR OPTION...
        local dir=$1

        shift
        if [[ -e $top_srcdir/config.status ]]; then
                echo "$top_srcdir is configured itself; run 'make distclean' there first" >&2
                return 1
        fi
        mkdir -p "$dir"
        (cd "$dir" && "$top_srcdir/configure" -q --prefix=/usr --sysconfdir=/etc --localstatedir=/var \
                --runstatedir=/run "$@")
}

# What configure_cross needs is not in Debian's lists until it is told of the other architecture.
install_cross_packages() { # ARCHITECTURE [PACKAGE...]: and these
        local arch=$1

        dpkg --print-foreign-architectures | grep -qx "$arch" || [[ $(id -u) != 0 ]] || dpkg --add-architecture "$arch"
        install_packages "gcc-${triplets[$arch]}" "libc6-dev-$arch-cross" \
                {pkgconf,lib{tracefs,traceevent,systemd,jansson,zstd,xxhash,seccomp}-dev,zlib1g-dev,lib{dw,debuginfod}-dev,check}:"$arch" "${@:2}"
}

configure_cross() { # DIR ARCHITECTURE OPTION...
        configure_in "$1" --host="${triplets[$2]}" "${@:3}"
}
