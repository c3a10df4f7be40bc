#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# needs: systemd
. "$(dirname "$0")/../functions.sh"
require_service

is 'the installed client runs' "$(ftracectl --version)" "$("$top_builddir/ftracectl" --version)"
systemd-sysusers "$prefix/lib/sysusers.d/ftraced.conf"
systemctl daemon-reload
ok 'systemctl start ftraced.socket succeeds' systemctl start ftraced.socket
is 'the service does not run yet' "$(systemctl is-active ftraced.service)" inactive

exits 'run succeeds' 0 ftracectl run -n served udp_sendmsg -- "$udp_pairs" 20
is '40 calls are drawn' "$(count_roots udp_sendmsg "$out")" 40
ok 'it did not start a private daemon' not grep -qi private "$err"
is 'the socket started the service' "$(systemctl is-active ftraced.service)" active
is_as_before 'the kernel is as it was'
exits 'start works' 0 ftracectl start -n long --flat udp_sendmsg
"$udp_pairs" 5 >/dev/null
ok 'systemctl stop succeeds while a session records' systemctl stop ftraced.socket ftraced.service
is_as_before 'systemctl stop leaves the kernel as it was'
ok 'what was recorded is complete, without a daemon' ftracectl verify long
is 'it holds what happened until then' "$(ftracectl report long 2>"$err" | grep -cE '\|  udp_sendmsg\(')" 10

ok 'the service starts again' systemctl start ftraced.socket ftraced.service
exits 'start works again' 0 ftracectl start -n killed --flat udp_sendmsg
ok 'the main process is killed' systemctl kill -s KILL --kill-who=main ftraced.service
served() {
        ftracectl list --json | jq -e '.[] | select(.name == "killed" and .state == "recording")'
}
ok 'systemd starts the next one, which goes on' wait_until 60 served
stops 'it stops the session' killed
is_as_before 'it put the kernel back'

journalctl -u ftraced.service -o cat >"$work/journal" 2>/dev/null
says 'the journal tells of the session that began' '(served|long).*(record|udp_sendmsg)' "$work/journal"
says 'the journal tells of the session that ended' '(served|long).*(sealed|ended|lost|stored)' "$work/journal"
says 'the journal tells what a dead daemon left' 'killed.*taken up' "$work/journal"
ok 'the journal has no priority prefixes left in' not grep -q '^<[0-7]>' "$work/journal"
note 'the journal:'
show_file "$work/journal"
ok 'no unit failed' test -z "$(systemctl list-units --failed --no-legend --plain 'ftraced*')"
says 'the sandbox is tight' 'OK|[0-3]\.[0-9]' <(systemd-analyze security --no-pager ftraced.service 2>/dev/null | tail -n1)
systemctl stop ftraced.socket ftraced.service
is_as_before 'the kernel is as it was at the end'
done_testing
