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

is 'no name in it means two things' "$(grep -oE '^(type|method|error) \w+' "$top_srcdir/lib/wire/org.ftraced.varlink" |
        cut -d' ' -f2 | sort | uniq -d)" ''

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

# Answers, errors and streams against the types that the interface declares, by a reader of it that
# shares nothing with the daemon.
exits 'a session starts' 0 ftracectl start -n typed --depth=3 udp_sendmsg
cat >"$work/calls" <<'C'
GetStatus
List
Describe {"session":"typed"}
Open {"session":"typed"}
Check
ListProfiles
ListFunctions
DryRun {"name":"other","spec":{"functions":["udp_sendmsg"]}} = Busy
Watch {"session":"typed"} more
Watch {"session":"typed"} = ExpectedMore
GetStatus oneway
Describe {"session":"nobody"} oneway
Describe {"session":"nobody"} = SessionNotFound
Start {"name":"typed","spec":{"functions":["udp_sendmsg"]}} = SessionExists
Start {"spec":{"functions":["udp_sendmesg"]}} = FunctionNotFound
Start {"spec":{"functions":["nothing_*"]}} = NoFunctionMatches
Start {"spec":{"functions":["a b"]}} = InvalidName
Start {"spec":{"functions":["udp_sendmsg"],"depth":99}} = InvalidSpec
Start {"name":"a/b","spec":{"functions":["udp_sendmsg"]}} = InvalidName
Start {"profile":"nobody"} = ProfileNotFound
GetProfile {"profile":"nobody"} = ProfileNotFound
Start {"spec":{"functions":["udp_recvmsg"]}} = Busy
Remove {"session":"typed"} = SessionState
Stop {"session":7} = InvalidParameter
Vacuum {"dry_run":true}
Pin {"session":"typed","pinned":true}
Stop {"session":"typed"}
Stop {"session":"typed"} = SessionState
Trigger {"session":"typed"} = SessionState
Describe {"session":"typed"}
Watch {"session":"typed"} more
DryRun {"name":"other","spec":{"functions":["udp_sendmsg"]}}
Start {"name":"gone","spec":{"functions":["udp_sendmsg"]},"attach":true}
C
python3 "$top_srcdir/tests/varlink-conform.py" "$FTRACED_SOCKET" org.ftraced <"$work/calls" >"$out" 2>"$err"
is 'every call was made' "$(wc -l <"$out")" "$(wc -l <"$work/calls")"
while read -r line; do
        ok "as declared: ${line##*ok }" test "${line#not ok}" = "$line"
done < <(cut -c1-300 "$out")
show_file "$err"
echo 'List = Busy' | python3 "$top_srcdir/tests/varlink-conform.py" "$FTRACED_SOCKET" org.ftraced >"$out"
says 'what does not conform is told' '^not ok List' "$out"

# --- what nobody thought of ---------------------------------------------------------------------

# From the grammar itself, so that a method or a member that is new is asked, too.
n_calls=300
[[ ! ${FTRACED_LONG:-} ]] || n_calls=20000
seed=${FTRACED_SEED:-$RANDOM}
python3 "$top_srcdir/tests/varlink-conform.py" "$FTRACED_SOCKET" org.ftraced "$n_calls" "$seed" >"$out" 2>"$err"
is "$n_calls invented calls are made (seed $seed)" "$(awk '$1 == "call" { n += $3 } END { print n + 0 }' "$out")" "$n_calls"
show_file "$err"
ok 'each answer is as declared' not grep '^not ok' "$out"
is 'each method is called' "$(grep -c '^call ' "$out")" "$(grep -c '^method ' "$top_srcdir/lib/wire/org.ftraced.varlink")"
says 'some succeed' '^answer answered [1-9]' "$out"
exits 'the daemon still answers' 0 ftracectl status

# --- systemd's client ---------------------------------------------------------------------------

# Of systemd 255 and later; VARLINKCTL names one that is somewhere else.
varlinkctl=${VARLINKCTL:-varlinkctl}
if command -v "$varlinkctl" >/dev/null; then
        exits 'varlinkctl learns what it is' 0 "$varlinkctl" info "$FTRACED_SOCKET"
        says 'and its interfaces' '^Interfaces: org.ftraced$' "$out"
        exits 'it parses the interface' 0 "$varlinkctl" introspect "$FTRACED_SOCKET" org.ftraced
        exits 'and finds nothing wrong with it' 0 "$varlinkctl" validate-idl "$top_srcdir/lib/wire/org.ftraced.varlink"
        exits 'it calls a method' 0 "$varlinkctl" call "$FTRACED_SOCKET" org.ftraced.Describe '{"session":"typed"}'
        is 'and prints the reply' "$(jq -r .session.name "$out")" typed
        exits 'it takes many replies' 0 "$varlinkctl" call --more "$FTRACED_SOCKET" org.ftraced.Watch '{"session":"typed"}'
        # As RFC 7464 has it, since systemd 256.
        is 'up to the last' "$(tr -d '\036' <"$out" | jq -rs '.[-1].session.state')" sealed
        exits 'an error is one' 1 "$varlinkctl" call "$FTRACED_SOCKET" org.ftraced.Describe '{"session":"two"}'
        says 'with its parameters' "there is no session \"two\"" "$out"
else
        skip_one 'varlinkctl calls methods' 'varlinkctl is not installed'
fi

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
