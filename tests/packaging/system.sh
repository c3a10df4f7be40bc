# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Debian system of its own below the build directory, for stories that source this file behind functions.sh.
#
# All that is mounted is mounted in a namespace, which ends with its processes, and those with the story.
requires debootstrap unshare chroot apt-get
[[ $(id -u) == 0 ]] || skip 'only root can make a system'
version=$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")
tarball=$top_builddir/ftraced-$version.tar.xz
[[ -e $tarball ]] || skip "there is no tarball: make dist"
roots=$top_builddir/bare # some GB each, which /tmp may not have

# Where this machine has its packages from.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# shellcheck disable=SC2016 # apt expands these
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v c="$codename" '$2 == c && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || skip 'apt knows no Debian archive'

alone() { # SECONDS COMMAND...: in namespaces of its own
        timeout -k 5 "$1" unshare --mount --pid --fork --kill-child --mount-proc "${@:2}"
}

install_system() { # SUITE: with the sources in /ftraced
        alone 3000 debootstrap --variant=minbase "$1" "$roots/$1" "$mirror" >"$roots/$1.log" 2>&1 || {
                tail -n 15 "$roots/$1.log"
                return 1
        }
        apt-config dump | grep -E '^Acquire::https?::.*[Pp]roxy' >"$roots/$1/etc/apt/apt.conf.d/proxy"
        mkdir "$roots/$1/ftraced"
        if [[ $1 != trixie && -e $top_srcdir/.git ]] && command -v git >/dev/null; then
                git -C "$top_srcdir" -c safe.directory='*' ls-files -z |
                        tar -C "$top_srcdir" --null -T - -c | tar -C "$roots/$1/ftraced" -x
        else
                tar -C "$roots/$1/ftraced" --strip-components=1 -xf "$tarball"
        fi
}

# shellcheck disable=SC2016 # for the shell inside
inside() { # SUITE COMMAND...: in the sources there, with the environment of a login
        alone 6000 env -i TERM=linux PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -c '
                for dir in dev sys; do
                        mount --rbind "/$dir" "$1/$dir" || exit
                done
                mount -t proc proc "$1/proc" || exit
                exec chroot "$1" bash -c '\''cd /ftraced && exec "$@"'\'' inside "${@:2}"' \
                inside "$roots/$1" "${@:2}"
}

remove_system() { # SUITE
        rm -rf --one-file-system "${roots:?}/$1"
}
