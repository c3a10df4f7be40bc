#!/bin/bash
# Touches: nothing; builds packages below a directory of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What systemd/rpm/ftraced.spec makes of the tarball has the files that the Debian packages have, with their
# modes and their texts.  Needs deb/ and the tarball in the build directory, as `make check-rpm` makes them.
# Names of Fedora's packages mean nothing here, hence --nodeps.
. "$(dirname "$0")/../functions.sh"
requires rpmbuild rpm2cpio cpio dpkg-deb dpkg-architecture
shopt -s nullglob
unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")
tarball=$top_builddir/ftraced-$version.tar.xz
[[ -e $tarball ]] || skip "there is no tarball: make dist"
log=$top_builddir/rpm.log

# Debian's package : ours
pairs=(ftraced:ftraced ftracectl:ftracectl libftraced1:libftraced libftraced-dev:libftraced-devel)

# What Fedora has in systemd-rpm-macros, as far as the .spec uses it.
macros=(--define '_unitdir /usr/lib/systemd/system' --define '_sysusersdir /usr/lib/sysusers.d'
        --define '_tmpfilesdir /usr/lib/tmpfiles.d' --define '_journalcatalogdir /usr/lib/systemd/catalog'
        --define 'systemd_post() systemctl preset %*' --define 'systemd_preun() systemctl disable --now %*'
        --define 'systemd_postun_with_restart() systemctl try-restart %*'
        --define 'sysusers_create() systemd-sysusers %*' --define 'tmpfiles_create() systemd-tmpfiles --create %*')

build() {
        timeout -k 5 3000 rpmbuild -tb --nodeps --define "_topdir $work/rpmbuild" "${macros[@]}" "$tarball" >"$log" 2>&1 || {
                tail -n 15 "$log"
                return 1
        }
}

query() { # PACKAGE OPTION...
        local package=$1

        shift
        rpm -qp "$@" "$work/rpmbuild/RPMS"/*/"$package-$version"-*.rpm
}

# Where both may differ: documents and licences, for which each has a policy; the directory of libraries, that of
# zsh's completions, and that of units until Debian 12; whether manual pages are compressed; whether a library has the
# x bit (Debian's policy 8.1: no; find-debuginfo, which strips Fedora's: yes).
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
common() {
        sed -E "\,^usr/(share/(doc|licenses|lintian)|lib/\.build-id)/,d
                s,^lib/,usr/lib/,
                s,^usr/(lib64|lib/$multiarch)/,usr/LIB/,
                s,^(usr/share/zsh)/(vendor-completions|site-functions)/,\1/COMPLETIONS/,
                s,^(usr/share/man/[^ ]*)\.gz ,\1 ,
                s,^(usr/LIB/[^ ]*\.so[^ ]*) (644|755) ,\1 ,"
}

# "PATH MODE SUM" for each file, "PATH -> TARGET" for each link.  Programs are not the same, being built with other
# options, so theirs is what file they are.
files_of() ( # DIR
        cd "$1" || exit
        {
                find . -type l -printf '%P -> %l\n'
                find . -type f -printf '%P %m\n' | while read -r path mode; do
                        if head -c 4 "$path" | grep -q ELF; then
                                echo "$path $mode ELF"
                        else
                                echo "$path $mode $(zcat -f "$path" | sed "s,/lib64\$,/LIB,; s,/lib/$multiarch\$,/LIB," | md5sum)"
                        fi
                done
        } | common | sort
)

differences() { # DEBIAN OURS: none if they have the same
        diff <(files_of "$work/deb/$1") <(files_of "$work/rpm/$2") | grep '^[<>]'
}

ok 'packages are built from the tarball' build
[[ $n_failed == 0 ]] || done_testing
is 'by tests that pass' "$(awk '/^# (TOTAL|PASS|SKIP): / { n[$2] = $3 }
        END { print (n["PASS:"] > 100 && n["PASS:"] + n["SKIP:"] == n["TOTAL:"]) ? "all" : "not all" }' "$log")" all

mkdir "$work"/{deb,rpm}
for pair in "${pairs[@]}"; do
        theirs=${pair%:*} ours=${pair#*:}
        debs=("$top_builddir/deb/${theirs}_$version"_*.deb)
        [[ ${#debs[@]} == 1 ]] || skip "there is no package $theirs: make deb"
        dpkg-deb -x "${debs[0]}" "$work/deb/$theirs"
        mkdir "$work/rpm/$ours"
        (cd "$work/rpm/$ours" && rpm2cpio "$work/rpmbuild/RPMS"/*/"$ours-$version"-*.rpm | cpio -idm --quiet)
        is "$ours has the files of Debian's $theirs" "$(differences "$theirs" "$ours")" ''
done
is 'there are no other packages' "$(find "$work/rpmbuild/RPMS" -name '*.rpm' | wc -l)" ${#pairs[@]}
ok 'the client runs' "$work/rpm/ftracectl/usr/bin/ftracectl" --version

# The comparison itself: a file less, another mode, another text.
rm "$work/rpm/ftraced/usr/lib/sysusers.d/ftraced.conf"
chmod 600 "$work/rpm/ftraced/usr/lib/tmpfiles.d/ftraced.conf"
echo >>"$work/rpm/ftraced/usr/lib/systemd/system/ftraced.socket"
is 'what is planted is found' "$(differences ftraced ftraced | cut -d' ' -f1-3)" \
        '< usr/lib/systemd/system/ftraced.socket 644
< usr/lib/sysusers.d/ftraced.conf 644
< usr/lib/tmpfiles.d/ftraced.conf 644
> usr/lib/systemd/system/ftraced.socket 644
> usr/lib/tmpfiles.d/ftraced.conf 600'

script_of() { # NAME: a script of ftraced
        query ftraced --scripts | awk -v name="$1 scriptlet" '/ scriptlet / { on = index($0, name) == 1; next } on'
}
enabled=$(dpkg-deb -I "$top_builddir/deb/ftraced_$version"_*.deb postinst | sed -n "s/.*deb-systemd-helper enable '\(.*\)'.*/\1/p" | sort -u | xargs)
is 'the same units are enabled' "$(script_of postinstall | sed -n 's/^systemctl preset //p')" "$enabled"
ok 'the group is there before the socket' \
        awk '/^systemd-sysusers ftraced.conf/ { n = NR } /^systemctl preset/ && n { m = NR } END { exit !m }' <(script_of postinstall)
is 'all that may run is stopped when it is removed' "$(script_of preuninstall | grep -oE "ftraced[^ ']*\.(service|socket|timer)" | sort -u | xargs)" \
        'ftraced-capture@*.service ftraced-capture@*.timer ftraced-maps.socket ftraced-maps@*.service ftraced-ship.service ftraced-ship.timer ftraced-stacks.socket ftraced-stacks@*.service ftraced.service ftraced.socket'
is 'the service is restarted when it is upgraded, the socket is not' \
        "$(script_of postuninstall | sed -n 's/^systemctl try-restart //p')" ftraced.service
for pair in ftraced:ftracectl libftraced-devel:libftraced; do
        ok "${pair%:*} needs ${pair#*:} of its version" grep -qE "^${pair#*:}(\(.*\))? = $version-" <(query "${pair%:*}" --requires)
done
done_testing
