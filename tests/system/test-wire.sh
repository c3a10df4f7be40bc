#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon is a Varlink service: any client can ask what it is, and what it says is what it does.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
ok 'the daemon starts on a fake tracefs' start_ftraced --tracefs "$work/tracefs"

varlink() { # METHOD [JSON] [OPTION]
        python3 "$top_srcdir/tests/varlink-client.py" "$FTRACED_SOCKET" "$@"
}

exits 'it says what it is' 0 varlink org.varlink.service.GetInfo
is 'it says which interfaces it has' "$(jq -c '.interfaces // .parameters.interfaces | sort' "$out")" \
        '["org.ftraced","org.varlink.service"]'

for interface in org.ftraced org.varlink.service; do
        exits "it serves $interface" 0 varlink org.varlink.service.GetInterfaceDescription \
                "{\"interface\":\"$interface\"}"
        jq -j '.description // .parameters.description' "$out" >"$work/served"
        ok "$interface is served as it is in the sources" \
                cmp "$work/served" "$top_srcdir/lib/wire/$interface.varlink"
done

# The interface against the method table: each method is known, whatever it says of empty parameters.
while read -r method; do
        varlink "org.ftraced.$method" '{}' --more >"$out" 2>&1 </dev/null
        ok "$method of the interface is in the table" \
                not grep -qE 'MethodNotFound|MethodNotImplemented' "$out"
done < <(sed -n 's/^method \([A-Za-z]*\).*/\1/p' "$top_srcdir/lib/wire/org.ftraced.varlink")
exits 'a method that the interface lacks is not found' 1 varlink org.ftraced.Nonsense
ok 'and is named so' grep -q MethodNotFound "$out" "$err"
exits 'an interface that is not there is not found' 1 varlink org.nonsense.Method
ok 'and is named so' grep -q InterfaceNotFound "$out" "$err"
exits 'a parameter that no method has is refused' 1 varlink org.ftraced.List '{"x":1}'
ok 'and is named so' grep -q InvalidParameter "$out" "$err"
exits 'a parameter of a wrong type is refused' 1 varlink org.ftraced.Stop '{"session":5}'
ok 'and is named so' grep -q InvalidParameter "$out" "$err"

# One byte and good bye, as kills perf daemon.
python3 - "$FTRACED_SOCKET" <<'P'
import socket, sys
for data in (b"x", b"", b"\0", b"{}\0", b"[" * 10000 + b"\0", b'{"method":"a","method":"b"}\0', b"\xff\0"):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(data)
    s.close()
P
exits 'the daemon outlives clients that break off' 0 ftracectl status

ok 'the daemon ends in peace' stop_ftraced
done_testing
