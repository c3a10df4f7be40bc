#!/bin/bash
# Touches: function_graph, probes, the network (loopback), a loop device; needs root and a kernel with function_graph.
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# long kernels: 6.1 new
#
# What roots work on: of each call the file, ports and addresses, the device and the path that the program gave, and
# fields by name; wrong ones are refused with those that there are, and no probe is left.
. "$(dirname "$0")/../functions.sh"
require_kernel
requires jq python3 trace-cmd

times=1000
n_probes() {
        grep -c ftraced "$tracefs/dynamic_events" || true
}
# Stops SESSION and has its events, as trace-cmd reads them, in $work/text.
ends() { # SESSION
        stops 'it is stopped' "$1"
        ftracectl fetch "$1" -o "$work/dat" >"$out" 2>"$err"
        trace-cmd report -i "$work/dat" 2>/dev/null | grep '^ *what-program-.* ftraced_' >"$work/text"
}
# What the events of FUNCTION say of the program's calls, "NAME=VALUE ...".
said() { # FUNCTION
        local event

        event=$(sed -nE "s,^[pf]:ftraced/(ftraced_[0-9a-z_]*) $1( .*)?$,\1,p" "$work/probes")
        sed -nE "s/.* $event: +\([^)]*\) //p" "$work/text"
}
# A field's values, and how often each came.
counted() { # FIELD
        sed -nE "s/(^|.* )$1=(\"[^\"]*\"|[^ ]+|\{[^}]*\}).*/\2/p" | sort | uniq -c | awk '{ n = $1; $1 = ""; print n " x" $0 }'
}
big() { # a port as the machine has it
        python3 -c "import socket; print(socket.htons($1))"
}
address() { # 127.0.0.1
        python3 -c "import socket; print(int.from_bytes(socket.inet_aton('$1'), 'little'))"
}

cat >"$work/what-program" <<'END'
import os, socket, sys
directory, times = sys.argv[1], int(sys.argv[2])
open('/proc/self/comm', 'w').write('what-program')
log = os.open(directory + '/inner/log', os.O_WRONLY | os.O_CREAT)
connected = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
connected.bind(('127.0.0.1', 40001))
connected.connect(('127.0.0.1', 40002))
free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for i in range(times):
        os.write(log, b'x')
        os.close(os.open(directory + '/inner/opened', os.O_RDONLY | os.O_CREAT))
        for send in (lambda: connected.send(b'a'), lambda: free.sendto(b'bb', ('127.0.0.2', 40003)), lambda: six.sendto(b'ccc', ('::1', 40004))):
                try:
                        send()
                except ConnectionRefusedError:
                        send()
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
raw.sendto(b'dddd', ('127.0.0.3', 0))
END
mkdir -p "$work/inner"

ok 'the daemon starts' start_ftraced
exits 'objects are recorded' 0 ftracectl start -n what --flat --what vfs_write udp_sendmsg udpv6_sendmsg raw_sendmsg __x64_sys_openat
cp "$tracefs/dynamic_events" "$work/probes"
grep ftraced "$work/probes" | show_file /dev/stdin
is 'with a probe of each' "$(n_probes)" 5
exits 'a program works' 0 python3 "$work/what-program" "$work" $times
ends what
is_as_before 'the kernel is as it was'
is 'no probe is left' "$(n_probes)" 0

calls() { # CONDITION: how many of the program's calls it is true for
        ftracectl calls --json --task=what-program --where="$1" --limit=all what | jq length
}
is 'ftracectl knows the file of each' "$(calls "file == \"$work/inner/log\"")" $times
is 'and the path' "$(calls "filename == \"$work/inner/opened\"")" $times
ok 'and the port' test "$(calls 'dport == 40002 && daddr == 127.0.0.1')" -ge $times
ok 'of the message too' test "$(calls 'to_port == 40003 && to == 127.0.0.2')" -ge $times
is 'which connected ones have not' "$(calls 'dport == 40002 && to_port >= 0')" 0
ok 'and of IPv6' test "$(calls 'to_port == 40004 && to == ::1')" -ge $times
is 'a raw socket has a destination' "$(calls 'to == 127.0.0.3')" 1
is 'and no port, but its protocol where one would be' "$(calls 'to == 127.0.0.3 && sport >= 0')" 0
exits 'calls are counted by what they work on' 0 ftracectl top --by=what.file what
says 'by the file' " $times .* $work/inner/log\$" "$out"
exits 'why reads them' 0 ftracectl why what vfs_write
exits 'Perfetto has them' 0 ftracectl export what --format=perfetto -o "$work/perfetto"
ok 'each write has its file' test "$(grep -aoF "file=$work/inner/log" "$work/perfetto" | wc -l)" -ge $times

said vfs_write >"$work/writes"
is 'each write is there' "$(grep -c "p0_file=\"log\" p1_file=\"inner\" p2_file=\"${work##*/}\"" "$work/writes")" $times
is 'with its inode' "$(grep 'p0_file="log"' "$work/writes" | counted u_ino)" "$times x $(stat -c %i "$work/inner/log")"
said udp_sendmsg >"$work/sends"
# A send that met an ICMP error was made again: its first call returned at once, and is one, too.
is 'no send is without its family' "$(counted fam_family <"$work/sends" | sed 's/.* x //')" 2
ok 'connected ones have the port of both sides' test "$(grep -c "po_sport=40001 be_dport=$(big 40002) .*ip4_daddr=$(address 127.0.0.1) " "$work/sends")" -ge $times
ok 'others have it of the message' test "$(grep -c "be_dport=0 .*be_to_port=$(big 40003) ip4_to=$(address 127.0.0.2)" "$work/sends")" -ge $times
is 'and there are no others' "$(grep -cvE "po_sport=40001 be_dport=$(big 40002) |be_dport=0 .*be_to_port=$(big 40003) " "$work/sends")" 0
ok 'the message of connected ones has none' test "$(grep 'po_sport=40001' "$work/sends" | sed 's/.*ip6_daddr6//' | grep -cE 'at_[0-9]+=(0x)?0 ')" -ge $times
said udpv6_sendmsg >"$work/sends6"
head -n 3 "$work/sends6" | show_file /dev/stdin
ok 'IPv6 as well' test "$(grep -cE "fam_to_family=10 be_to_port=$(big 40004) .*ip6_to6=.0x0(,0x0){14},0x1" "$work/sends6")" -ge $times
said __x64_sys_openat >"$work/opens"
is 'each path is there' "$(grep -c "s_filename=\"$work/inner/opened\"" "$work/opens")" $times

exits 'fields are recorded by name' 0 ftracectl start -n named --flat \
        --args='udp_sendmsg(sk.__sk_common.skc_dport:be16, size=len, protocol=(inet_sock)sk.sk.sk_protocol), vfs_write(file.f_path.dentry.d_name.name:string, count)' \
        udp_sendmsg vfs_write
cp "$tracefs/dynamic_events" "$work/probes"
python3 "$work/what-program" "$work" 10
ends named
ok 'of each call' test "$(said udp_sendmsg | wc -l)" -ge 20
is 'numbers' "$(said udp_sendmsg | grep -c "u_size=1 .*be_skc_dport=$(big 40002) u_protocol=17\|u_size=2 .*be_skc_dport=0 u_protocol=17")" \
        "$(said udp_sendmsg | wc -l)"
is 'and texts' "$(said vfs_write | grep -c 'u_count=1 s_name="log"')" 10

exits 'a wrong member is refused' 2 ftracectl start --args='udp_sendmsg(sk.sk_protocl)' udp_sendmsg
says 'with the members that there are, the nearest first' 'struct sock has no member "sk_protocl"; it has sk_protocol, ' "$err"
exits 'a wrong parameter is refused' 2 ftracectl start --args='udp_sendmsg(length)' udp_sendmsg
says 'with the parameters' 'no parameter "length"; it has len, ' "$err"
exits 'a wrong type is refused' 2 ftracectl start --args='udp_sendmsg(len:float)' udp_sendmsg
exits 'a dry run prints the probe' 0 ftracectl start --dry-run --what vfs_write
says 'as it is made' "vfs_write .*p0_file=.*:string" "$out"
exits 'what is not known is said' 0 ftracectl start -n unknown --flat --what update_rq_clock vfs_write
says 'by name' 'it is not known what these work on: update_rq_clock' "$err"
stops 'it is stopped' unknown

if modprobe -q loop 2>/dev/null && truncate -s 8M "$work/disk" && device=$(losetup -f --show "$work/disk" 2>/dev/null); then
        cleanup_fn detach
        detach() {
                losetup -d "$device"
        }
        exits 'a device is recorded' 0 ftracectl start -n disk --flat --what submit_bio
        cp "$tracefs/dynamic_events" "$work/probes"
        exits 'a program writes to it' 0 bash -c 'echo what-program >/proc/self/comm; exec -a what-program python3 -c "
import os, mmap
open(\"/proc/self/comm\", \"w\").write(\"what-program\")
fd = os.open(\"'"$device"'\", os.O_WRONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
for i in range(1000):
        os.pwrite(fd, page, 4096 * i)
"'
        ends disk
        said submit_bio >"$work/bios"
        is 'each block has its sector, in order' "$(sed -nE 's/.*u_sector=([0-9]+).*/\1/p' "$work/bios" | sort -nu | awk '$1 == 8 * n { n++ } END { print n }')" 1000
        is 'and its device' "$(counted dev_dev <"$work/bios" | sed 's/.* x //')" "$((16#$(stat -c %t "$device") << 20 | 16#$(stat -c %T "$device")))"
fi
is 'nothing is left' "$(n_probes)" 0
done_testing
