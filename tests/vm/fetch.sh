# shellcheck shell=bash disable=SC2154 # vmrun sets cache
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where vmrun has its guests' files from: the Debian mirror that apt is configured for, with apt's own checks
# of signatures and sums, into a private apt directory.  No root is needed, nothing is installed.
set -euo pipefail

# Lines "URI SUITE" of the Debian archives this machine is configured for.
archives() {
        local codename

        codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
        # shellcheck disable=SC2016 # apt expands these
        apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
                awk -v c="$codename" '$3 == "main" && ($2 == c || $2 ~ "^" c "-(security|updates)$") {
                        print $1, $2 }' | sort -u
}

# apt with lists, cache and sources of its own below $work.  Of the machine's configuration it keeps
# what apt.conf says (proxies), and the mirror.  A mirror that lags some days behind is good enough: what
# it has is signed all the same.  Sid has neither security nor updates.
configure_apt() { # ARCHITECTURE SUITE
        local arch=$1 suite=$2 uri release key=/usr/share/keyrings/debian-archive-keyring.gpg

        [[ -r $key ]] || die "$key is missing; as root: apt-get install debian-archive-keyring"
        mkdir -p "$work"/{lists/partial,archives/partial}
        while read -r uri release; do
                case $suite in
                sid)
                        [[ $release != *-* ]] || continue
                        release=sid
                        ;;
                *) release=$suite${release#"${release%%-*}"} ;;
                esac
                echo "deb [arch=$arch signed-by=$key] $uri $release main"
        done < <(archives) >"$work/sources.list"
        [[ -s $work/sources.list ]] || die "apt knows no Debian archive; see /etc/apt/sources.list"
        cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Architecture "$arch";
APT::Architectures "$arch";
APT::Sandbox::User "$(id -un)";
Acquire::Retries "5";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
END
        export APT_CONFIG=$work/apt.conf
}

# What debootstrap leaves knows the main archive alone; 6.12 came as an update for security, whose archive
# mirrors have beside it.
add_security() {
        local added

        added=$(sed -nE 's,/debian/* ([a-z]+) main$,/debian-security \1-security main,p' "$work/sources.list")
        [[ -n $added ]] && echo "$added" >>"$work/sources.list"
}

persist() { # COMMAND...: three tries; what it says is shown only if all fail
        local try

        for try in 1 2 3; do
                "$@" >"$work/log" 2>&1 && return 0
                [[ $try == 3 ]] || sleep $((try * 5))
        done
        sed 's/^/  /' "$work/log" >&2
        return 1
}

depends() { # PACKAGE PATTERN: the packages it depends on whose names match
        apt-cache depends "$1" 2>/dev/null | awk -v p="$2" '$1 == "Depends:" && $2 ~ p { print $2 }'
}

# Names of the packages that hold the kernel and its modules.
kernel_packages() { # KERNEL ARCHITECTURE [PAGE-SIZE]
        local version=${1%-rt} flavour=$2${3:+-$3} image

        [[ $1 != *-rt ]] || flavour=rt-$flavour
        case $version in
        6.12) image=$(depends "linux-image-6.12-$flavour" '^linux-image-6[.]12[.]' | head -n1) ;;
        new) image=$(depends "linux-image-$flavour" '^linux-image-[0-9]' | head -n1) ;;
        *) image=$(depends "linux-image-$flavour" "^linux-image-${version/./[.]}[.]" | head -n1) ;;
        esac
        [[ -n $image ]] || return 1
        echo "$image"
        # Newer packages split it up, and keep an empty linux-image.
        depends "$image" '^linux-(binary|modules)-' || true
}

suite_of() { # KERNEL
        case ${1%-rt} in
        5.10) echo bullseye ;;
        new) echo sid ;;
        *) echo bookworm ;; # no other has these packages
        esac
}

fetch_kernel() ( # DIR KERNEL ARCHITECTURE [PAGE-SIZE]: all or nothing
        dir=$1 kernel=$2
        shift
        work=$(mktemp -d "$cache/fetch.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        echo "vmrun: fetching kernel ${dir##*/}" >&2
        configure_apt "$2" "$(suite_of "$kernel")"
        persist apt-get -q update || die "cannot read the package lists"
        names=$(kernel_packages "$@") ||
                { add_security && persist apt-get -q update && names=$(kernel_packages "$@"); } ||
                die "no package of kernel ${dir##*/} in: $(cat "$work/sources.list")"
        mkdir "$work/root" "$work/debs"
        cd "$work/debs"
        for name in $names busybox-static; do
                persist apt-get -q download "$name" || die "cannot download $name"
        done
        for deb in *.deb; do
                dpkg-deb -x "$deb" "$work/root"
        done
        cd "$work/root"
        compgen -G 'boot/vmlinuz-*' >/dev/null || compgen -G 'usr/lib/modules/*/vmlinuz' >/dev/null ||
                die "no kernel in $(echo "$work"/debs/*)"
        rm -rf usr/share
        # Debian's own tool makes modules.dep when a kernel is installed; so must we.
        [[ -d lib/modules ]] || ln -sfn usr/lib lib
        for modules in lib/modules/*; do
                depmod -b . "${modules##*/}" 2>/dev/null
        done
        rm -rf "${dir:?}"
        mv "$work/root" "$dir"
)

# What modules for a kernel that was fetched are built with: the headers of just that kernel, and pahole for their
# types.  Their makefiles say /usr/src, where they are not.
fetch_headers() ( # DIR RELEASE ARCHITECTURE: all or nothing
        dir=$1 release=$2
        work=$(mktemp -d "$cache/fetch.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        echo "vmrun: fetching headers of $release" >&2
        configure_apt "$3" bookworm
        persist apt-get -q update || die "cannot read the package lists"
        [[ $(depends "linux-headers-$release" '^linux-headers-') ]] ||
                { add_security && persist apt-get -q update; } || die "cannot read the package lists"
        names=$(depends "linux-headers-$release" '^linux-(headers|kbuild)-')
        [[ $names ]] || die "Debian has no linux-headers-$release any more; remove $cache/${dir##*/headers-} to fetch a newer kernel"
        mkdir "$work/root" "$work/debs"
        cd "$work/debs"
        for name in "linux-headers-$release" $names pahole libbpf1 libdw1 libelf1; do
                persist apt-get -q download "$name" || die "cannot download $name"
        done
        for deb in *.deb; do
                dpkg-deb -x "$deb" "$work/root"
        done
        rm -rf "${dir:?}" "$work/root/usr/share"
        grep -rlI --include=Makefile --include=.kernelvariables /usr/src/ "$work/root/usr/src" |
                xargs sed -i "s,/usr/src/,$dir/usr/src/,"
        mv "$work/root" "$dir"
)

# Its debug information, of a kernel that was fetched; without that of its modules, which is most of it.
fetch_debug() ( # DIR RELEASE ARCHITECTURE KERNEL: all or nothing
        dir=$1 package=linux-image-$2-dbg
        work=$(mktemp -d "$cache/fetch.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        echo "vmrun: fetching $package" >&2
        configure_apt "$3" "$(suite_of "$4")"
        persist apt-get -q update || die "cannot read the package lists"
        [[ $(apt-cache search --names-only "^${package//[+.]/.}\$") ]] ||
                { add_security && persist apt-get -q update; } || die "cannot read the package lists"
        mkdir "$work/root" "$work/debs"
        cd "$work/debs"
        persist apt-get -q download "$package" ||
                die "Debian has no $package any more; remove $cache/$4 to fetch a newer kernel"
        dpkg-deb --fsys-tarfile ./*.deb | tar -x -C "$work/root" --wildcards '*/vmlinux*'
        rm -rf "${dir:?}"
        mv "$work/root" "$dir"
)

# What the stories call, besides the libraries of our programs.  These depend on the rest.
root_packages=(base-files base-passwd bash coreutils dash dbus diffutils findutils grep gzip hostname iproute2
        jq kmod libc-bin libdw1 libjansson4 libseccomp2 libsystemd0 libtraceevent1 libtracefs1 libxxhash0 libzstd1 make
        mawk mount ncurses-base passwd procps psmisc python3 sed systemd systemd-sysv tar trace-cmd
        usr-is-merged util-linux xz-utils zlib1g zstd)

root_is_whole() { # DIR: it has what is wanted today
        [[ $(cat "$1/.packages" 2>/dev/null) == "${root_packages[*]}" ]]
}

# A root file system for a guest whose programs cannot run here.  So no package's script has run in it, and
# what they would have made is made below.
fetch_root() ( # DIR ARCHITECTURE: all or nothing
        dir=$1
        work=$(mktemp -d "$cache/fetch.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        echo "vmrun: fetching a root file system of $2" >&2
        configure_apt "$2" bookworm
        persist apt-get -q update || die "cannot read the package lists"
        persist apt-get -q -y -o Debug::NoLocking=1 --no-install-recommends --download-only install \
                "${root_packages[@]}" || die "cannot download the packages of a root file system"
        mkdir -p "$work"/root/usr/{bin,sbin,lib}
        cd "$work/root"
        ln -s usr/{bin,sbin,lib} .
        for deb in "$work"/archives/*.deb; do
                dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink
        done
        rm -rf usr/share/{doc,man,locale,info}
        for file in passwd group; do
                cp "usr/share/base-passwd/$file.master" "etc/$file"
        done
        ln -s mawk usr/bin/awk
        ln -s /proc/mounts etc/mtab
        echo "${root_packages[*]}" >.packages
        rm -rf "$dir"
        mv "$work/root" "$dir"
)

