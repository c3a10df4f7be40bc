#!/bin/bash
# Touches: nothing; apt-get installs an empty package below a directory of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run-all and demo do before they build: packages are installed also while another program keeps
# apt's locks for a while, and every list of packages says the same.
. "$(dirname "$0")/../functions.sh"

setup() { # COMMAND: with what tests/setup.sh has
        bash -c ". '$top_srcdir/tests/setup.sh'; build=$work; $1"
}

# --- what is needed ------------------------------------------------------------------------------

packages() { # GROUP...
        # shellcheck disable=SC2016 # setup's own
        setup 'for group in '"$*"'; do declare -n list=$group; printf "%s\n" "${list[@]}"; done' | sort -u
}
needed_for_package=$(sed -n '/^Build-Depends:/,/^$/{s/^Build-Depends://;p}' "$top_srcdir/systemd/debian/control" |
        tr , '\n' | sed -E 's/^ *([a-z0-9.+-]*).*/\1/' | grep . | sort -u)
in_hacking=$(sed -n '/^Building$/,/^$/{/apt-get install/,/[^\\]$/p}' "$top_srcdir/HACKING" |
        sed 's/.*apt-get install//; s/\\$//' | tr -s ' ' '\n' | grep . | sort -u)
# Of debhelper: debhelper-compat, and whatever is called dh-sequence-*.
is 'whoever makes packages gets what they need' \
        "$(comm -13 <(packages to_build to_test to_package) <(grep -v '^dh-sequence-\|^debhelper-' <<<"$needed_for_package"))" ''
is 'of which the base is build-essential' "$(packages to_package | grep -cx 'build-essential\|debhelper')" 2
is 'HACKING lists what building takes' "$(comm -3 <(packages to_build | grep -vx libc6-dev) <(grep -vx libc6-dev <<<"$in_hacking"))" ''
is 'the .spec asks for the libraries that configure asks for' \
        "$(sed -nE 's/^BuildRequires: *pkgconfig\((.*)\)( >= (.*))?$/\1 \3/p' "$top_srcdir/systemd/rpm/ftraced.spec.in" | sort)" \
        "$(sed -nE 's/^.*PKG_CHECK_MODULES\(\[[A-Z]+\], *\[([^] ]*)( >= ([^]]*))?\].*/\1 \3/p' "$top_srcdir/configure.ac" | sort)"
is 'the header is tried with a C++ compiler' "$(packages to_test | grep -cx g++)" 1

# --- what is there -------------------------------------------------------------------------------

mkdir "$work/status"
for package in both:amd64 both:arm64 foreign:arm64 every:all; do
        printf '%s\n' "Package: ${package%:*}" 'Status: install ok installed' 'Version: 1' 'Maintainer: nobody' \
                "Architecture: ${package#*:}" 'Multi-Arch: same' 'Description: none' ''
done | sed '/^Architecture: all/,/^Desc/{/^Multi-Arch/d}' >"$work/status/status"
: >"$work/status/available"
is_there_on_amd64() { # PACKAGE
        DPKG_ADMINDIR=$work/status setup "dpkg() { echo amd64; }; is_installed $1"
}
ok 'a package of two architectures is there' is_there_on_amd64 both
ok 'so is one that is for all' is_there_on_amd64 every
ok 'and a foreign one that is asked for by name' is_there_on_amd64 foreign:arm64
ok 'which is not there for this machine' not is_there_on_amd64 foreign
ok 'nor is the other way round' not is_there_on_amd64 every:arm64

# --- apt that is busy ----------------------------------------------------------------------------

for program in apt-get dpkg-deb perl; do
        command -v $program >/dev/null || {
                skip_one 'packages are installed while apt is busy' "$program is not installed"
                done_testing
        }
done

apt=$work/apt
mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,etc/apt.conf.d,etc/preferences.d} \
        "$apt"/{dpkg/info,dpkg/updates,root,archive} "$work/patience/DEBIAN"
: >"$apt/dpkg/status"
cat >"$work/patience/DEBIAN/control" <<'END'
Package: patience
Version: 1
Architecture: all
Maintainer: nobody <nobody@example.org>
Description: nothing at all
END
dpkg-deb --root-owner-group -b "$work/patience" "$apt/archive/patience.deb" >/dev/null
{
        cat "$work/patience/DEBIAN/control"
        echo "Filename: ./patience.deb"
        echo "Size: $(stat -c %s "$apt/archive/patience.deb")"
        echo "SHA256: $(sha256sum <"$apt/archive/patience.deb" | cut -d' ' -f1)"
} >"$apt/archive/Packages"
echo "deb [trusted=yes] file:$apt/archive ./" >"$apt/etc/sources.list"
cat >"$work/apt.conf" <<END
#clear DPkg; #clear APT::Update;
Dir "$apt"; Dir::State "$apt/state"; Dir::State::status "$apt/dpkg/status"; Dir::Cache "$apt/cache";
Dir::Etc "$apt/etc"; Dir::Log "$apt"; Dir::Bin::dpkg "$(command -v dpkg)";
DPkg::Options { "--root=$apt/root"; "--force-not-root"; };
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG=$work/apt.conf

# As apt does it: fcntl(), not flock().
hold() { # FILE SECONDS: until then it is locked
        rm -f "$work/held"
        perl -e 'use Fcntl; my $lock = pack("s s l! l! i x4", F_WRLCK, 0, 0, 0, 0);
                open(F, ">>", $ARGV[0]) && fcntl(F, F_SETLK, $lock) or die;
                open(H, ">", $ARGV[2]); close(H); sleep($ARGV[1])' "$1" "$2" "$work/held" &
        ok "${1#"$apt/"} is kept by another program" wait_until 10 test -e "$work/held"
}
install='apt_patiently update && apt_patiently install -y patience'
is_there() {
        # The second is where apt 3 lets dpkg keep it.
        grep -qx 'Package: patience' "$apt/root/var/lib/dpkg/status" "$apt/dpkg/status"
}

for lock in state/lists/lock cache/archives/lock dpkg/lock-frontend dpkg/lock; do
        rm -rf "$apt/root"
        mkdir -p "$apt/root/var/lib/dpkg"/{info,updates}
        : >"$apt/root/var/lib/dpkg/status"
        : >"$apt/dpkg/status"
        hold "$apt/$lock" 3
        exits 'packages are installed all the same' 0 setup "$install"
        says 'it is said that we wait, for how long, and for whom' \
                "^Waiting for apt's lock, up to 600 s: .*/$lock\. It is held by process [0-9]+ \(perl\)$" "$out"
        is 'once' "$(grep -c ^Waiting "$out")" 1
        ok 'and it is installed' is_there
        wait
done
hold "$apt/state/lists/lock" 60
exits 'who keeps it too long' 1 setup "apt_wait_s=1; $install"
says 'is told of' '^apt-get did not get its lock within 1 s: .*/state/lists/lock\. It is held by process [0-9]+ \(perl\)$'
kill %% && wait
exits 'what has nothing to do with locks' 1 setup 'apt_patiently install -y impatience'
says 'is told at once' 'Unable to locate package impatience'
is 'without any waiting' "$(grep -c Waiting "$out")" 0
done_testing
