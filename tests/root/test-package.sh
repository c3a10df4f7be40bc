#!/bin/bash
# Touches: installs and purges the packages of ftraced, systemd units, function_graph; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long: the packages take a build of their own
# needs: systemd
. "$(dirname "$0")/../functions.sh"
require_kernel
requires systemctl dpkg dpkg-deb pkg-config
require_systemd
shopt -s nullglob
debs=("$top_builddir"/deb/{ftraced,ftracectl,libftraced1,libftraced-dev}_*.deb)
[[ ${#debs[@]} == 4 ]] || skip "there are no packages: make deb"
unset FTRACED_SOCKET FTRACED_CONFIG
ftracectl() {
        /usr/bin/ftracectl "$@"
}
export DEBIAN_FRONTEND=noninteractive
rm -f /usr/sbin/policy-rc.d # a container's, which lets packages start nothing; gone in this guest alone
rm -f /var/lib/man-db/auto-update # every manual page of the machine would be looked at, four times
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/in-memory
mkdir -p /etc/ftraced/ftraced.conf.d
echo "$no_limits" >/etc/ftraced/ftraced.conf.d/test.conf

traces_of_it() { # files by its names, where a package may leave any; a system group stays, as Debian wants it
        find /etc /var/lib /run /usr/bin /usr/sbin /usr/include /usr/share/{man,doc,zsh,bash-completion} /usr/lib /lib \
                -maxdepth 5 \( -name '*ftraced*' -o -name '*ftracectl*' \) 2>/dev/null | sort -u
}

# --- installing ---------------------------------------------------------------------------------

traces_of_it >"$work/before"
ok 'the packages are installed' dpkg -i "${debs[@]}"
is 'the socket listens' "$(systemctl is-active ftraced.socket)" active
is 'also after a boot' "$(systemctl is-enabled ftraced.socket)" enabled
is 'nothing runs yet' "$(systemctl is-active ftraced.service)" inactive
exits 'the client works' 0 ftracectl status
is 'and so the daemon runs' "$(systemctl is-active ftraced.service)" active
for page in ftraced.8 ftracectl.1 ftraced.conf.5 ftraced.profile.5 ftraced-store.5 ftraced-fleet.7 ftraced-questions.7 ftraced-reading.7 org.ftraced.7; do
        ok "there is $page" test -e "/usr/share/man/man${page##*.}/$page.gz" -o -e "/usr/share/man/man${page##*.}/$page"
done
ok 'what asks a fleet is there' test -e /usr/share/ftraced/calls.sql
exits 'it records' 0 ftracectl run -n first --flat ksys_write -- "$udp_pairs" 2
read -ra flags <<<"$(pkg-config --cflags --libs libftraced)"
ok 'a program compiles with libftraced-dev' "${CC:-cc}" -o "$work/walk" "$top_srcdir/tests/workload/walk.c" "${flags[@]}"
exits 'it walks a recording' 0 "$work/walk" /var/lib/ftraced/sessions/first
ok 'and its calls' test "$(jq '.enter + .leaf' "$out")" -gt 0
exits 'it calls the daemon' 0 "$work/walk" -c /run/ftraced/org.ftraced GetStatus

# --- an upgrade while it records ----------------------------------------------------------------

mkdir "$work/new"
for deb in "${debs[@]}"; do # the same with a higher version
        dpkg-deb -R "$deb" "$work/new/tree"
        sed -i -E 's/(^Version: .*)/\1+next/; s/(\(= [^)]*)\)/\1+next)/' "$work/new/tree/DEBIAN/control"
        dpkg-deb -Znone --root-owner-group -b "$work/new/tree" "$work/new/${deb##*/}" >/dev/null
        rm -r "$work/new/tree"
done
exits 'a recording begins' 0 ftracectl start -n through --flat --buffer-size=16M udp_sendmsg
"$udp_pairs" 10 >/dev/null
pid=$(systemctl show -P MainPID ftraced.service)
(for _ in {1..40}; do "$udp_pairs" 5 >/dev/null; sleep 0.1; done) &
workload=$!
ok 'a new version is installed meanwhile' dpkg -i "$work"/new/*.deb
wait "$workload"
ok 'another daemon runs' test "$(systemctl show -P MainPID ftraced.service)" != "$pid"
is 'the recording goes on' "$(session through .state)" recording
exits 'and ends' 0 ftracectl stop through
exits 'complete' 0 ftracectl verify through
is 'with every datagram' "$(ftracectl report through 2>/dev/null | grep -c 'udp_sendmsg')" $((2 * (10 + 40 * 5)))
is_as_before 'the kernel is as it was'

# --- removing -----------------------------------------------------------------------------------

exits 'a schedule is made' 0 ftracectl schedule add nightly --calendar=daily --duration=1s --flat ksys_write
exits 'and a recording' 0 ftracectl start -n last --flat ksys_write
ok 'the packages are removed' dpkg -r ftraced ftracectl libftraced-dev libftraced1
is_as_before 'the kernel is as it was'
is 'nothing is active' "$(systemctl list-units --no-legend 'ftraced*' | grep -v failed)" ''
ok 'recordings stay' test -d /var/lib/ftraced/sessions/last
ok 'they are purged' dpkg -P ftraced ftracectl libftraced-dev libftraced1
rm -r /etc/ftraced
systemctl daemon-reload
traces_of_it >"$work/after"
comm -13 "$work/before" "$work/after" >"$work/left"
is 'and nothing is left' "$(grep -c . "$work/left")" 0
show_file "$work/left"
done_testing
