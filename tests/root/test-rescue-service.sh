#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph, and crashes; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# long kernels: 6.12 new
# needs: systemd and reboots
# boot: reserve_mem=4M:4096:trace trace_instance=boot_mapped^traceoff@trace nokaslr
#
# A boot after a crash, with the units as an administrator enables them: what ran is a session before anybody else may
# record, the journal says so, and the administrator's own program was told.
# Only here: the units of a boot.
. "$(dirname "$0")/../functions.sh"
boot=$(cat /mnt/out/.vmrun/boot 2>/dev/null) || skip 'needs a guest that may reboot: run-in-guests'
require_kernel
requires systemctl journalctl make "$top_builddir/tests/workload/numbered"
require_systemd
root=/mnt/disk/root units=/mnt/disk/root/etc/systemd/system
box=$tracefs/instances/boot_mapped
unset FTRACED_SOCKET
ftracectl() {
        /usr/bin/ftracectl "$@"
}
has_calls() { # not by the text, which takes an emulated CPU long
        (($(sed -n 's/^entries: //p' "$box/per_cpu/cpu0/stats") > 2000))
}

if [[ $boot == 1 ]]; then
        ok 'it can be installed' make -C "$top_builddir" install DESTDIR=$root
        for dir in bin sbin lib; do # which are links into /usr
                [[ ! -d $root/$dir || ! -L /$dir ]] || { cp -a $root/$dir/. $root/usr/$dir && rm -r ${root:?}/$dir; }
        done
        cp -a $root/. /
        hash -r
        systemd-sysusers /usr/lib/sysusers.d/ftraced.conf
        mkdir -p $units $root/etc /mnt/disk/store $root/usr/local/sbin
        cp -a /etc/{passwd,group} $root/etc
        # The root of this guest is memory; its /var/lib/ftraced is to stay.
        cat >$units/var-lib-ftraced.mount <<'END'
[Mount]
What=/mnt/disk/store
Where=/var/lib/ftraced
Options=bind
[Install]
RequiredBy=ftraced.service
END
        # Somebody who records into the black box as early as he can.
        cat >$units/early.service <<'END'
[Unit]
After=ftraced.socket
[Service]
Type=oneshot
ExecStart=/usr/bin/ftracectl start -n early --black-box __x64_sys_sysinfo
[Install]
WantedBy=multi-user.target
END
        mkdir -p $units/ftraced-rescue.service.d
        cat >$units/ftraced-rescue.service.d/after-crash.conf <<'END'
[Service]
ExecStartPost=/usr/local/sbin/after-crash
END
        cat >$root/usr/local/sbin/after-crash <<'END'
#!/bin/sh
journalctl --sync
journalctl -b -q -o cat --output-fields=FTRACED_SESSION \
    MESSAGE_ID=06124d088c884609851d43cded0aa627 |
while read -r session; do
    ftracectl export "$session" --format=html -o "/mnt/disk/$session.html"
done
END
        chmod +x $root/usr/local/sbin/after-crash
        ok 'the units can be enabled' systemctl --root=$root enable ftraced.socket ftraced-rescue.service \
                early.service var-lib-ftraced.mount
        mkdir -p /var/lib/ftraced
        mount --bind /mnt/disk/store /var/lib/ftraced
        systemctl daemon-reload
        ok 'the socket is started' systemctl start ftraced.socket
        exits 'a session records' 0 ftracectl start -n box --black-box __x64_sys_sysinfo
        "$top_builddir/tests/workload/numbered" "$box/trace_marker" 1 &
        ok 'the load runs' wait_until 60 has_calls
        if ((n_failed > 0)); then
                done_testing
        fi
        dead=$(</proc/sys/kernel/random/boot_id)
        declare -p n_tests n_failed dead >/mnt/disk/state
        sync
        echo c >/proc/sysrq-trigger
        sleep 60
        fail 'the machine goes down'
fi
# shellcheck source=/dev/null
. /mnt/disk/state
name=blackbox-$dead
ok 'the unit has run' test "$(systemctl show -P ExecMainExitTimestampMonotonic ftraced-rescue.service)" -gt 0
is 'and succeeded' "$(systemctl show -P Result ftraced-rescue.service)" success
is 'what was recorded is a session' "$(session "$name" .state)" sealed
is 'the one that recorded has failed' "$(session box .state)" failed
journalctl --sync
journalctl -b -q -o json MESSAGE_ID=06124d088c884609851d43cded0aa627 >"$out"
is 'the journal says so, once' "$(jq -r .FTRACED_SESSION "$out")" "$name"
rescued_us=$(jq -r .__REALTIME_TIMESTAMP "$out")
is 'whoever recorded early records' "$(session early .state)" recording
ok 'since after it' test "$(session early .start.realtime_ns)" -gt "${rescued_us}000"
exits 'verify is content' 0 ftracectl verify "$name"
says 'and says how it ended' 'by a panic: .*sysrq triggered crash' "$out"
ok "the administrator's program was told" test -s "/mnt/disk/$name.html"
ok 'no unit failed' test -z "$(systemctl list-units --failed --no-legend --plain 'ftraced*' 'early*')"
note "$(journalctl -b -u ftraced -u ftraced-rescue -u early -o short-monotonic | tail -n 12)"
stops 'the early one ends' early
systemctl stop ftraced.socket ftraced.service
is 'the black box is empty' "$(cat "$box"/per_cpu/cpu*/stats | grep -c "^entries: 0\$")" "$(nproc)"
done_testing
