#!/bin/bash
# Touches: a fake tracefs and a store, both of its own; a program that stands for ssh.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs on other hosts, which all are this one.
. "$(dirname "$0")/../functions.sh"
requires jq

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
mkdir "$work/bin"
ln -s "$(cd "$top_builddir" && pwd)/ftracectl" "$work/bin/ftracectl"
# As ssh does it: the words behind the host are one line for a shell.
cat >"$work/bin/ssh" <<'END'
#!/bin/bash
terminal=no
while [[ $1 == -* ]]; do
        case $1 in
        -xt) terminal=yes ;;
        -xT) ;;
        -oConnectTimeout=60 | -oServerAliveInterval=20) ;;
        --) shift; break ;;
        *) echo "ssh: $1?" >&2; exit 255 ;;
        esac
        shift
done
host=$1
shift
echo "$terminal $host" >>"$SSH_LOG"
case $host in
*unreachable*) echo "ssh: connect to host $host: No route to host" >&2; exit 255 ;;
*bare*) exec /bin/sh -c 'PATH=/nowhere; '"$*" ;;
*slow*) sleep 0.5 ;;
esac
export FTRACED_SOCKET=$REMOTE_SOCKET
exec /bin/sh -c "$*"
END
chmod +x "$work/bin/ssh"
export PATH=$work/bin:$PATH SSH_LOG=$work/ssh.log REMOTE_SOCKET=$FTRACED_SOCKET
unset FTRACED_SSH SYSTEMD_SSH
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
unset FTRACED_SOCKET # only the other host has a daemon

# --- one ----------------------------------------------------------------------------------------

exits 'a session starts there' 0 ftracectl -H admin@web-3:2222 start -n one udp_sendmsg
is 'its name is printed here' "$(<"$out")" one
is 'ssh was told where' "$(<"$SSH_LOG")" 'no ssh://admin@web-3:2222'
exits 'a word arrives as it is' 2 ftracectl --host web-3 show "it's \"\$x \\"
says 'whatever is in it' "\"it's \"\\\$x .+\" cannot be the name"
exits 'the default verb works' 0 ftracectl -H web-3
says 'with one recording' '1 recording' "$out"
exits 'a refusal has its status' 3 ftracectl -H web-3 start udp_sendmesg
says 'and its sentence' 'Did you mean'
exits 'nothing is begun for a wrong command line' 2 ftracectl -H web-3 start --no-such-option
exits 'it stops' 0 ftracectl -H web-3 stop one
exits 'a recording is fetched into a file here' 0 ftracectl -H web-3 fetch one -o "$work/one.dat"
exits 'which can be read here' 0 ftracectl verify "$work/one.dat"
exits 'or through a pipe' 0 ftracectl -H web-3 fetch one -o -
ok 'the same bytes' cmp "$out" "$work/one.dat"
exits 'what is not there' 3 ftracectl -H web-3 fetch none -o "$work/none.dat"
ok 'leaves no file' not test -e "$work/none.dat"
exits 'a command of run keeps its options' 0 ftracectl -H web-3 run --dry-run udp_sendmsg -- false --help
exits 'a host that is not reached' 1 ftracectl -H unreachable status
says 'is said' 'Cannot reach unreachable'
exits 'a host without ftracectl' 1 ftracectl -H bare status
says 'is said' 'no ftracectl on bare'
for host in '' -oProxyCommand=x 'a b' 'a;b' "a'b" root@ root@-x; do
        exits "\"$host\" is no host" 2 ftracectl --host="$host" status
done
FTRACED_SSH=$work/bin/ssh PATH=/usr/bin:/bin exits 'FTRACED_SSH stands for ssh' 1 "$top_builddir/ftracectl" -H unreachable status
says 'and was executed' 'No route to host'

# --- many ---------------------------------------------------------------------------------------

printf 'web-1\nslow # the old one\n\nroot@web-2:22\n' >"$work/hosts"
exits 'status of many' 0 ftracectl status --hosts "$work/hosts"
is 'is a line each' "$(cut -d: -f1 "$out" | sort | paste -sd' ')" 'root@web-2 slow web-1'
is 'the slow one comes last' "$(tail -n 1 "$out" | cut -d: -f1)" slow
says 'the end sums up' '3 of 3 hosts'
exits 'the list may come through a pipe' 0 bash -c "ftracectl status --hosts - -q <'$work/hosts'"
echo unreachable >>"$work/hosts"
exits 'one that is not reached fails the whole' 1 ftracectl status --hosts "$work/hosts"
says 'in its line' '^unreachable: ssh: connect to host' "$out"
says 'and in the sum' '3 of 4 hosts'
exits 'as JSON' 1 ftracectl status --json --hosts "$work/hosts"
conforms 'of its type' '[]Answered'
is 'with what each said' "$(jq -c 'map(select(.host == "web-1"))[0] | [.status, .output.sessions[0].name]' "$out")" '[0,"one"]'
is 'or what went wrong' "$(jq -r 'map(select(.host == "unreachable"))[0] | .error' "$out" | cut -d: -f1)" ssh
printf 'a\nb\n' >"$work/hosts"
mkdir "$work/fetched"
exits 'fetch takes a directory' 0 ftracectl fetch one --hosts "$work/hosts" -o "$work/fetched"
is 'with a file each' "$(cd "$work/fetched" && echo *)" 'a.dat b.dat'
ok 'which is what one fetches' cmp "$work/fetched/b.dat" "$work/one.dat"
exits 'a file is no directory' 2 ftracectl fetch one --hosts "$work/hosts" -o "$work/one.dat"
exits 'all agree on what is not there' 3 ftracectl stop none --hosts "$work/hosts"
exits 'report is nothing for many' 2 ftracectl report one --hosts "$work/hosts"
exits 'a list of none is refused' 2 ftracectl status --hosts /dev/null
echo -x >"$work/hosts"
exits 'so is one of none that is valid' 2 ftracectl status --hosts "$work/hosts"
ok 'the daemon ends in peace' stop_ftraced
done_testing
