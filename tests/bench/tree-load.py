# SPDX-License-Identifier: GPL-2.0-or-later
"""What make-trees has done in a guest, in parts of which each is recorded by itself.

Every part calls some roots in as many ways as a guest has: small and large, at once and after a wait, from
memory and from a disk.  Whatever a kernel refuses is left out.
"""

import contextlib
import ctypes
import fcntl
import mmap
import os
import pty
import resource
import select
import signal
import socket
import struct
import subprocess
import threading
import time

N = 4  # of each way
PAGE_BYTES = 4096
ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
# Devices of which nothing comes back, and a network namespace that answers.
WIRE = ((socket.AF_INET, "192.0.2.1", "192.0.2.9"), (socket.AF_INET6, "2001:db8::1", "2001:db8::9"))
OUTSIDE, INSIDE = "10.77.0.2", "10.77.0.1"
DISKS = {"ext4": "/run/disks/ext4", "xfs": "/run/disks/xfs", "scsi": "/run/disks/scsi", "memory": "/dev/shm"}
NFS, EXPORTED = "/run/nfs", "/run/disks/exported"
CGROUP = "/run/cgroup"
UDP_SEGMENT, UDP_GRO, CLONE_NEWNET = 103, 104, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
PARTS = {}


def part(function):
    PARTS[function.__name__] = function
    return function


def run(*argv, **more):
    with contextlib.suppress(OSError):
        return subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **more).returncode
    return 127


def try_all(*ways):
    for way in ways:
        try:
            way()
        except (OSError, ValueError) as e:
            print(f"{getattr(way, '__name__', way)}: {e}", flush=True)


def put(name, text):
    with open(name, "w") as f:
        f.write(text)


def forget(name):
    """What a file has in memory."""
    fd = os.open(name, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


@contextlib.contextmanager
def child(work):
    """A process that works beside this one, and ends with it."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            work()
        os._exit(0)
    try:
        yield pid
    finally:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def beside(work, *args):
    thread = threading.Thread(target=work, args=args, daemon=True)
    thread.start()
    return thread


# --- what is there before ------------------------------------------------------------------------


def prepare_network():
    run("ip", "link", "set", "lo", "up")
    run("modprobe", "-a", "dummy", "veth", "ipv6", "sch_fq_codel")
    run("ip", "link", "add", "wire", "type", "dummy")
    run("ip", "link", "set", "wire", "mtu", "1500", "up")
    run("tc", "qdisc", "replace", "dev", "wire", "root", "pfifo_fast")
    for family, mine, other in WIRE:
        prefix = "24" if family == socket.AF_INET else "64"
        run("ip", "address", "add", f"{mine}/{prefix}", "dev", "wire", *(["nodad"] if prefix == "64" else []))
        run("ip", "neighbour", "replace", other, "lladdr", "02:00:00:00:00:09", "dev", "wire")
    run("ip", "netns", "add", "inside")
    run("ip", "link", "add", "inside", "netns", "inside", "type", "veth", "peer", "name", "outside")
    run("ip", "address", "add", f"{OUTSIDE}/24", "dev", "outside")
    run("ip", "link", "set", "outside", "up")
    run("tc", "qdisc", "replace", "dev", "outside", "root", "fq_codel")
    run("ip", "-n", "inside", "address", "add", f"{INSIDE}/24", "dev", "inside")
    run("ip", "-n", "inside", "link", "set", "inside", "up")
    run("ip", "-n", "inside", "link", "set", "lo", "up")


def prepare_disk(kind, at, megabytes, device=None, fs=None):
    if device is None:
        device = f"/run/disks/{kind}.image"
        run("truncate", "-s", f"{megabytes}M", device)
    fs = fs or kind
    run(f"mkfs.{fs}", "-q", *(["-F"] if fs == "ext4" else ["-f"]), device)
    os.makedirs(at, exist_ok=True)
    run("mount", *(["-o", "loop"] if device.endswith(".image") else []), device, at)
    if not os.path.ismount(at):
        print(f"no {kind} here", flush=True)


def prepare_disks():
    os.makedirs("/run/disks", exist_ok=True)
    run("modprobe", "-a", "loop", "ext4", "xfs", "sd_mod", "virtio_blk")
    virtio = "/mnt/disk"  # of vmrun -B
    if os.path.ismount(virtio):
        os.makedirs(f"{virtio}/work", exist_ok=True)
        os.symlink(f"{virtio}/work", DISKS["ext4"])
    else:
        prepare_disk("ext4", DISKS["ext4"], 256)
    prepare_disk("xfs", DISKS["xfs"], 400)
    run("modprobe", "scsi_debug", "dev_size_mb=48", "delay=0", "ndelay=20000")
    time.sleep(1)
    for name in sorted(os.listdir("/sys/block")):
        if name.startswith("sd"):
            prepare_disk("scsi", DISKS["scsi"], 48, f"/dev/{name}", "ext4")
            break


def prepare_nfs():
    os.makedirs(NFS, exist_ok=True)
    os.makedirs(EXPORTED, exist_ok=True)
    run("truncate", "-s", "128M", "/run/disks/exported.image")
    run("mkfs.ext4", "-q", "-F", "/run/disks/exported.image")
    run("mount", "-o", "loop", "/run/disks/exported.image", EXPORTED)
    run("modprobe", "-a", "nfsd", "nfs", "nfsv4", "nfsv3")
    run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    os.makedirs("/var/lib/nfs/v4recovery", exist_ok=True)
    for name in ("etab", "rmtab"):
        put(f"/var/lib/nfs/{name}", "")
    subprocess.Popen(["rpcbind", "-w"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    run("rpc.mountd")
    run("exportfs", "-o", "rw,no_root_squash,insecure,fsid=0,no_subtree_check", f"127.0.0.1:{EXPORTED}")
    run("rpc.nfsd", "2")
    for version in ("4.2", "3"):
        if run("mount", "-t", "nfs", "-o", f"vers={version},nolock,soft,timeo=50", "127.0.0.1:/" if version != "3" else
               f"127.0.0.1:{EXPORTED}", NFS, timeout=60) == 0:
            break
    if not os.path.ismount(NFS):
        print("no NFS here", flush=True)


def prepare_cgroup():
    os.makedirs(CGROUP, exist_ok=True)
    run("mount", "-t", "cgroup2", "none", CGROUP)
    for name in ("", "/services"):
        for controller in ("cpu", "memory", "io", "pids"):
            with contextlib.suppress(OSError):
                put(f"{CGROUP}{name}/cgroup.subtree_control", f"+{controller}")
        if not name:
            with contextlib.suppress(OSError):
                os.mkdir(f"{CGROUP}/services")
    with contextlib.suppress(OSError):
        os.mkdir(f"{CGROUP}/services/one")
        put(f"{CGROUP}/services/one/memory.max", "24M")


def prepare_swap():
    name = "/mnt/disk/swap" if os.path.ismount("/mnt/disk") else f"{DISKS['ext4']}/swap"
    run("dd", "if=/dev/zero", f"of={name}", "bs=1M", "count=32")
    run("chmod", "600", name)
    run("mkswap", name)
    run("swapon", name)


def prepare():
    try_all(prepare_network, prepare_disks, prepare_nfs, prepare_cgroup, prepare_swap)


# --- UDP -----------------------------------------------------------------------------------------


def udp_to(family, address, port):
    sizes = (0, 1, 100, 1400, 4000, 9000, 60000)
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        for n in sizes:
            for _ in range(N):
                with contextlib.suppress(OSError):
                    s.sendto(b"x" * n, (address, port))
        level, tos = (0, 1) if family == socket.AF_INET else (41, 67)
        for _ in range(N):
            with contextlib.suppress(OSError):
                s.sendmsg([b"a", b"b" * 500], [(level, tos, (16).to_bytes(4, "little"))], 0, (address, port))
        s.connect((address, port))
        for n in sizes:
            for _ in range(N):
                with contextlib.suppress(OSError):
                    s.send(b"x" * n)
        for _ in range(N):  # corked, then sent as a whole
            with contextlib.suppress(OSError):
                s.send(b"x" * 50, socket.MSG_MORE)
                s.send(b"x" * 900, socket.MSG_MORE)
                s.send(b"x" * 50)
        for _ in range(N):  # as write(2)
            with contextlib.suppress(OSError):
                os.write(s.fileno(), b"x" * 64)
        with contextlib.suppress(OSError):
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1200)
            for _ in range(N):
                s.send(b"x" * 12000)
        with contextlib.suppress(OSError):
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 0)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            for _ in range(4 * N):
                s.send(b"x" * 1400, socket.MSG_DONTWAIT)


def drain(s):
    with contextlib.suppress(OSError, ValueError):
        while True:
            select.select([s], [], [], 5)
            with contextlib.suppress(BlockingIOError):
                while s.recv(1 << 16):
                    pass


@part
def udp_send():
    for family, address in ADDRESSES:
        with socket.socket(family, socket.SOCK_DGRAM) as peer:
            peer.bind((address, 0))
            peer.setblocking(False)
            beside(drain, peer)
            try_all(lambda: udp_to(family, address, peer.getsockname()[1]), lambda: udp_to(family, address, 9))
    for family, _, other in WIRE:
        try_all(lambda: udp_to(family, other, 4711))
    try_all(lambda: udp_to(socket.AF_INET, INSIDE, 4711))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:  # IPv4 in a socket of IPv6
        for _ in range(N):
            with contextlib.suppress(OSError):
                s.sendto(b"x" * 100, ("::ffff:127.0.0.1", 9))


def udp_answers(family, address, n_bytes):
    """A client and its server, which waits."""
    with socket.socket(family, socket.SOCK_DGRAM) as server, socket.socket(family, socket.SOCK_DGRAM) as client:
        server.bind((address, 0))

        def serve():
            while True:
                data, who = server.recvfrom(65536)
                server.sendto(data, who)
        with child(serve):
            client.settimeout(2)
            client.connect(server.getsockname())
            for _ in range(5 * N):
                with contextlib.suppress(OSError):
                    client.send(b"q" * n_bytes)
                    client.recv(65536)


@part
def udp_receive():
    for family, address in ADDRESSES:
        for n in (1, 100, 1400, 9000):
            try_all(lambda: udp_answers(family, address, n))
        with socket.socket(family, socket.SOCK_DGRAM) as a, socket.socket(family, socket.SOCK_DGRAM) as b:
            a.bind((address, 0))
            level, info = (0, 8) if family == socket.AF_INET else (41, 49)
            for _ in range(N):
                b.sendto(b"x" * 500, a.getsockname())
                a.recvfrom(10, socket.MSG_PEEK)
                a.recvfrom(10)  # and the rest is lost
            with contextlib.suppress(OSError):
                a.setsockopt(level, info, 1)
                a.setsockopt(socket.SOL_SOCKET, 29, 1)  # SO_TIMESTAMP
                for _ in range(N):
                    b.sendto(b"x" * 500, a.getsockname())
                    a.recvmsg(1000, 200)
            a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            for _ in range(4 * N):  # more than it takes
                b.sendto(b"x" * 800, a.getsockname())
            a.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    a.recv(2000)
            a.settimeout(0.005)
            for _ in range(N):
                with contextlib.suppress(OSError):
                    a.recv(100)
            with contextlib.suppress(OSError):  # told that nobody is there
                b.connect((address, 9))
                for _ in range(N):
                    with contextlib.suppress(OSError):
                        b.send(b"x")
                    with contextlib.suppress(OSError):
                        b.recv(10, socket.MSG_DONTWAIT)
    with contextlib.suppress(OSError):  # pings
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
            s.settimeout(1)
            for to in ("127.0.0.1", INSIDE):
                for _ in range(N):
                    s.sendto(b"\x08\0\0\0\0\0\0\1" + b"x" * 56, (to, 0))
                    s.recv(1000)


# --- TCP -----------------------------------------------------------------------------------------


def tcp_to(family, address):
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = server.accept()
                    time.sleep(0.05)  # until then the window fills
                    while peer.recv(1 << 16):
                        pass
                    peer.close()

        beside(serve)
        for option in ((), (socket.TCP_NODELAY,), (socket.TCP_CORK,)):
            with socket.create_connection(server.getsockname()[:2]) as s:
                for o in option:
                    s.setsockopt(socket.IPPROTO_TCP, o, 1)
                for n in (1, 100, 1400, 10000, 100000):
                    for _ in range(N):
                        s.sendall(b"x" * n)
                s.sendall(b"x" * 500000)
                for _ in range(N):
                    s.send(b"x" * 100, socket.MSG_MORE)
                    s.sendmsg([b"x" * 10, b"y" * 2000])
                s.send(b"!", socket.MSG_OOB)
                s.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    for _ in range(50):
                        s.send(b"x" * 100000)
                time.sleep(0.3)
                for _ in range(N):
                    time.sleep(0.01)  # idle in between: the window and the congestion are looked at again
                    with contextlib.suppress(BlockingIOError):
                        s.send(b"x" * 100)
        with socket.create_connection(server.getsockname()[:2]) as s:
            with contextlib.suppress(OSError):
                s.setsockopt(socket.SOL_SOCKET, 60, 1)  # SO_ZEROCOPY
                for _ in range(N):
                    s.send(b"x" * 100000, 0x4000000)
            s.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                s.send(b"x")


@part
def tcp_send():
    for family, address in ADDRESSES:
        try_all(lambda: tcp_to(family, address))


def tcp_pair(family, address):
    with socket.create_server((address, 0), family=family) as server:
        a = socket.create_connection(server.getsockname()[:2])
        b, _ = server.accept()
    for s in (a, b):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return a, b


@part
def tcp_receive():
    for family, address in ADDRESSES:
        a, b = tcp_pair(family, address)

        def answer():
            while some := b.recv(1 << 16):
                b.sendall(some)
        with child(answer):
            for n in (1, 100, 1400, 20000):
                for _ in range(4 * N):
                    a.sendall(b"x" * n)
                    left = n
                    while left > 0:
                        left -= len(a.recv(left))
        for n in (1, 100, 60000):  # what is there already, in one and in parts
            for _ in range(N):
                a.sendall(b"x" * n)
                b.recv(1, socket.MSG_PEEK)
                left = n
                while left > 0:
                    left -= len(b.recv(min(left, 7000)))
        for _ in range(N):
            threading.Timer(0.005, a.send, (b"x",)).start()
            b.recv(1)
        b.setblocking(False)
        for _ in range(N):
            with contextlib.suppress(BlockingIOError):
                b.recv(1)
        b.setblocking(True)
        b.settimeout(0.005)
        with contextlib.suppress(OSError):
            b.recv(1)
        a.sendall(b"x" * 5000)
        b.recv(5000, socket.MSG_WAITALL)
        a.close()
        b.recv(1)
        b.close()


def tcp_connections(family, address):
    with socket.create_server((address, 0), family=family, backlog=4) as server:
        poll = select.epoll()
        poll.register(server, select.EPOLLIN)
        for i in range(4 * N):
            a = socket.create_connection(server.getsockname()[:2])
            poll.poll(1)
            b, _ = server.accept()
            a.sendall(b"x" * 300)
            b.recv(1000)
            b.send(b"x" * 3000)
            if i % 4 != 0:  # else what was not read resets it
                a.recv(5000)
            if i % 3 == 0:
                a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if i % 2 == 0:
                a.shutdown(socket.SHUT_WR)
                b.recv(10)
            (a, b)[i % 2].close()
            (b, a)[i % 2].close()
        others = []
        for _ in range(8):  # more than the backlog takes
            s = socket.socket(family)
            s.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                s.connect(server.getsockname())
            others.append(s)
        time.sleep(0.05)
        for s in others:
            s.close()

        def connect_late():
            with contextlib.suppress(OSError):
                time.sleep(0.003)
                socket.create_connection(server.getsockname()[:2]).close()
        for _ in range(N):  # accept waits
            t = beside(connect_late)
            server.accept()[0].close()
            t.join()
        at = server.getsockname()[:2]
    for _ in range(N):  # nobody listens
        with contextlib.suppress(OSError):
            socket.create_connection(at)


@part
def tcp_connect():
    for family, address in ADDRESSES:
        try_all(lambda: tcp_connections(family, address))


def inside_server():
    """In a namespace of its own, behind a veth: sends back what comes."""
    fd = os.open("/run/netns/inside", os.O_RDONLY)
    libc.setns(fd, CLONE_NEWNET)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((INSIDE, 7))

    def answer():
        while True:
            data, who = udp.recvfrom(65536)
            udp.sendto(data, who)
    beside(answer)
    with socket.create_server((INSIDE, 7)) as server:
        while True:
            peer, _ = server.accept()
            while some := peer.recv(1 << 16):
                peer.sendall(some)
            peer.close()


@part
def veth():
    with child(inside_server):
        for _ in range(100):
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                socket.create_connection((INSIDE, 7), timeout=1).close()
                break
        for _ in range(N):
            with socket.create_connection((INSIDE, 7), timeout=5) as s:
                for n in (1, 100, 1400, 30000):
                    for _ in range(4):
                        s.sendall(b"x" * n)
                        left = n
                        while left > 0:
                            left -= len(s.recv(left))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((INSIDE, 7))
            s.settimeout(1)
            for n in (1, 1000, 4000):
                for _ in range(2 * N):
                    with contextlib.suppress(OSError):
                        s.send(b"x" * n)
                        s.recv(65536)
        run("modprobe", "sch_netem")
        run("tc", "qdisc", "replace", "dev", "outside", "root", "netem", "loss", "15%", "delay", "1ms", "reorder", "10%")
        with socket.create_connection((INSIDE, 7), timeout=20) as s:  # packets get lost
            for n in (100, 30000, 60000):
                for _ in range(4):
                    s.sendall(b"x" * n)
                    left = n
                    while left > 0:
                        left -= len(s.recv(left))
        run("tc", "qdisc", "replace", "dev", "outside", "root", "tbf", "rate", "4mbit", "burst", "10kb", "latency", "50ms")
        with socket.create_connection((INSIDE, 7), timeout=20) as s:
            for _ in range(N):
                s.sendall(b"x" * 6000)
                left = 6000
                while left > 0:
                    left -= len(s.recv(left))
        run("tc", "qdisc", "replace", "dev", "outside", "root", "fq_codel")


# --- other sockets -------------------------------------------------------------------------------


@part
def unix():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        a, b = socket.socketpair(socket.AF_UNIX, kind)
        for n in (1, 100, 5000, 60000):
            for _ in range(2 * N):
                a.send(b"x" * n)
                if kind != socket.SOCK_STREAM:
                    b.recv(n)
                    continue
                left = n
                while left > 0:
                    left -= len(b.recv(left))
        for _ in range(N):
            os.write(a.fileno(), b"x")
            os.read(b.fileno(), 1)
        for _ in range(N):
            threading.Timer(0.003, a.send, (b"x",)).start()
            b.recv(1)
        for _ in range(N):  # descriptors and who it is
            socket.send_fds(a, [b"fd"], [0])
            _, fds, _, _ = socket.recv_fds(b, 10, 1)
            os.close(fds[0])
        b.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        for _ in range(N):
            a.send(b"x")
            b.recvmsg(10, 200)
        a.setblocking(False)
        with contextlib.suppress(OSError):  # until it is full
            for _ in range(300):
                a.send(b"x" * 4000)
        a.setblocking(True)

        def take():
            with contextlib.suppress(OSError):
                while b.recv(4000):
                    pass
        beside(take)
        for _ in range(2 * N):  # and then waits
            with contextlib.suppress(OSError):
                a.send(b"x" * 4000)
        a.close()

        def ping_pong():
            while some := d.recv(1000):
                d.send(some)
        c, d = socket.socketpair(socket.AF_UNIX, kind)
        with child(ping_pong):
            for _ in range(4 * N):
                c.send(b"x" * 50)
                c.recv(1000)
    name = "/run/unix-load"
    with contextlib.suppress(OSError):
        os.unlink(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        for _ in range(2 * N):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(name)
                peer, _ = server.accept()
                s.send(b"x" * 100)
                peer.recv(100)
                peer.close()
    for _ in range(N):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
            s.bind((0, 0))
            for request in (18, 22, 26):
                s.send(struct.pack("=IHHIIBxxxi8x", 32, request, 0x301, 1, 0, 0, 0))
                s.recv(65536)


# --- files ---------------------------------------------------------------------------------------


def read_file(path, flags=0, n=65536):
    fd = os.open(path, os.O_RDONLY | flags)
    try:
        for _ in range(N):
            if not os.read(fd, n):
                break
    finally:
        os.close(fd)


def write_files(at):
    for i in range(2 * N):  # new ones, as programs save them
        put(f"{at}/new{i}", "x" * (200, 5000, 70000)[i % 3])
        if i % 4 == 0:
            fd = os.open(f"{at}/new{i}", os.O_RDWR)
            os.fsync(fd)
            os.close(fd)
        os.rename(f"{at}/new{i}", f"{at}/kept{i % 5}")
    with open(f"{at}/log", "ab", buffering=0) as f:
        for n in (1, 100, 4096, 10000, 300000):
            for i in range(N):
                f.write(b"x" * n)
                if i % 4 == 3:
                    os.fdatasync(f.fileno())
        for i in range(N):  # what is there already
            os.pwrite(f.fileno(), b"y" * 100, 1000 * i)
            os.pwritev(f.fileno(), [b"a" * 10, b"b" * 5000], 50 * i)
        os.fsync(f.fileno())
        for i in range(N):
            os.pwrite(f.fileno(), b"y" * 100, 3000 * i)
            os.fsync(f.fileno())
        os.fsync(f.fileno())  # nothing to do
    with open(f"{at}/sync", "wb", buffering=0, opener=lambda p, f: os.open(p, f | os.O_DSYNC)) as f:
        for _ in range(N):
            f.write(b"x" * 1000)
    with open(f"{at}/holes", "w+b", buffering=0) as f:
        for i in range(2 * N):
            os.pwrite(f.fileno(), b"x" * PAGE_BYTES, i * 7919 % 256 * PAGE_BYTES)
            if i % 4 == 0:
                with contextlib.suppress(OSError):
                    os.posix_fallocate(f.fileno(), i * 4241 % 256 * PAGE_BYTES, 2 * PAGE_BYTES)
        for i in range(4):
            libc.fallocate(f.fileno(), 3, ctypes.c_long(i * 65536), ctypes.c_long(8192))  # a hole
            libc.sync_file_range(f.fileno(), ctypes.c_long(0), ctypes.c_long(65536), 7)
        f.truncate(5000)
        f.truncate(500000)
        f.truncate(0)


def direct(at):
    name, block = f"{at}/direct", mmap.mmap(-1, 16 * PAGE_BYTES)
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    for i in range(2 * N):
        os.pwritev(fd, [block], i % 8 * len(block))
        os.preadv(fd, [block], i % 8 * len(block))
        if i % 4 == 0:
            os.fdatasync(fd)
    small = memoryview(block)[:PAGE_BYTES]
    for i in range(2 * N):  # what is allocated
        os.pwritev(fd, [small], i * PAGE_BYTES)
        os.preadv(fd, [small], i * PAGE_BYTES)
    os.close(fd)
    small.release()
    os.unlink(name)


def cold(at):
    name = f"{at}/cold"
    put(name, "x" * (2 << 20))
    for n in (1, PAGE_BYTES, 1 << 20):
        forget(name)
        read_file(name, 0, n)
        read_file(name, 0, n)
    fd = os.open(name, os.O_RDONLY)
    for i in range(N):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(fd, 0, 0, (os.POSIX_FADV_RANDOM, os.POSIX_FADV_NORMAL)[i % 2])
        os.pread(fd, 100, i * 17 * PAGE_BYTES)
        os.preadv(fd, [bytearray(100), bytearray(9000)], i * 40000)
    os.posix_fadvise(fd, 0, 1 << 20, os.POSIX_FADV_WILLNEED)
    os.close(fd)
    with open(name, "r+b") as f:  # a hole
        f.truncate(0)
        f.truncate(1 << 20)
    read_file(name)


def mapped(at):
    name = f"{at}/mapped"
    put(name, "x" * (512 << 10))
    fd = os.open(name, os.O_RDWR)
    for i in range(3):
        if i == 1:
            forget(name)
        with mmap.mmap(fd, 512 << 10) as m:
            for at_byte in range(0, 512 << 10, 8 * PAGE_BYTES):
                m[at_byte]
                m[at_byte] = 65
            m.flush()
        with mmap.mmap(fd, 512 << 10, flags=mmap.MAP_PRIVATE) as m:
            for at_byte in range(0, 512 << 10, 16 * PAGE_BYTES):
                m[at_byte] = 66
    os.close(fd)


def names(at):
    d = f"{at}/names"
    os.makedirs(d, exist_ok=True)
    for i in range(3 * N):
        put(f"{d}/{i}", "x")
    for i in range(N):
        os.link(f"{d}/{i}", f"{d}/link{i}")
        os.symlink(f"{d}/{i}", f"{d}/symlink{i}")
        os.readlink(f"{d}/symlink{i}")
        os.stat(f"{d}/symlink{i}")
        os.chmod(f"{d}/{i}", 0o600)
        os.chown(f"{d}/{i}", 1, 1)
        os.utime(f"{d}/{i}")
        os.mkdir(f"{d}/dir{i}")
        os.statvfs(d)
        with contextlib.suppress(OSError):
            os.setxattr(f"{d}/{i}", "user.a", b"x" * 20)
            os.getxattr(f"{d}/{i}", "user.a")
            os.listxattr(f"{d}/{i}")
    fd = os.open(d, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    for i in range(3):
        if i == 1:
            put("/proc/sys/vm/drop_caches", "2")  # names and inodes
        for name in os.listdir(d):
            os.stat(f"{d}/{name}")
        os.scandir(d).close()
    for i in range(2 * N):
        with contextlib.suppress(OSError):
            os.stat(f"{d}/none{i}")
        with contextlib.suppress(OSError):
            open(f"{d}/none{i}")
    for i in range(N):
        os.rename(f"{d}/{i}", f"{d}/moved{i}")
        os.rename(f"{d}/moved{i}", f"{d}/{i + 1}")
        os.rmdir(f"{d}/dir{i}")
        os.unlink(f"{d}/link{i}")
        os.unlink(f"{d}/symlink{i}")
    for name in os.listdir(d):
        os.unlink(f"{d}/{name}")
    os.rmdir(d)
    held = os.open(f"{at}/held", os.O_RDWR | os.O_CREAT)  # freed when it is closed
    os.write(held, b"x" * 100000)
    os.unlink(f"{at}/held")
    os.close(held)
    with contextlib.suppress(OSError):
        os.close(os.open(at, os.O_RDWR | os.O_TMPFILE))
    fd = os.open(f"{at}/locked", os.O_RDWR | os.O_CREAT)
    for _ in range(N):
        fcntl.flock(fd, fcntl.LOCK_EX)
        fcntl.flock(fd, fcntl.LOCK_UN)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        fcntl.lockf(fd, fcntl.LOCK_UN)
    os.close(fd)


def passed_on(at):
    name, (r, w) = f"{at}/sent", os.pipe()
    put(name, "x" * 65536)
    fd = os.open(name, os.O_RDWR)
    out = os.open(f"{at}/received", os.O_RDWR | os.O_CREAT)
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    c, d = tcp_pair(*ADDRESSES[0])
    for i in range(N):
        if i == 2:
            forget(name)
        for to, back in ((a, b), (c, d)):
            os.sendfile(to.fileno(), fd, i * PAGE_BYTES, 2 * PAGE_BYTES)
            back.recv(2 * PAGE_BYTES, socket.MSG_WAITALL)
        os.lseek(fd, 0, 0)
        os.sendfile(out, fd, 0, 30000)
        os.splice(fd, w, 8192, offset_src=i * PAGE_BYTES)
        os.splice(r, out, 8192)
        os.splice(fd, w, 4096, offset_src=0)
        os.splice(r, c.fileno(), 4096)
        some = os.splice(d.fileno(), w, 4096)
        os.read(r, some)
        with contextlib.suppress(OSError):
            os.copy_file_range(fd, out, 40000, 0, 0)
    for f in (fd, out, r, w):
        os.close(f)
    for s in (a, b, c, d):
        s.close()


def all_on(kind):
    at = DISKS[kind] if kind in DISKS else NFS
    if not os.path.isdir(at):
        return
    for way in (write_files, direct, cold, mapped, names, passed_on):
        try:
            way(at)
        except OSError as e:
            print(f"{kind} {way.__name__}: {e}", flush=True)


@part
def ext4():
    all_on("ext4")


@part
def ext4_writers():
    """Several at once, one of which syncs."""
    at = DISKS["ext4"]

    def write(k):
        with open(f"{at}/shared", "r+b", buffering=0) as f:
            for i in range(30):
                os.pwrite(f.fileno(), b"x" * 6000, (k * 30 + i) * 5000)
                if k == 0 and i % 5 == 0:
                    os.fsync(f.fileno())
    put(f"{at}/shared", "x")
    with child(lambda: write(1)), child(lambda: write(2)):
        write(0)
        time.sleep(0.2)
    os.sync()


@part
def xfs():
    all_on("xfs")


@part
def scsi():
    all_on("scsi")


@part
def tmpfs():
    all_on("memory")


@part
def nfs():
    all_on("nfs")


@part
def pseudo_files():
    for path in ("/dev/zero", "/dev/null", "/dev/urandom", "/etc/passwd", "/usr/bin/env", "/bin/bash"):
        try_all(lambda: read_file(path, os.O_NONBLOCK))
    for path in ("stat", "meminfo", "self/status", "self/stat", "self/maps", "self/cmdline", "self/environ", "uptime", "loadavg",
                 "mounts", "interrupts", "net/dev", "net/tcp", "net/udp", "cpuinfo", "1/stat", "self/smaps", "self/mountinfo",
                 "self/cgroup", "self/io", "vmstat", "diskstats", "version", "cmdline", "sys/kernel/osrelease", "sys/vm/swappiness",
                 "partitions", "self/limits", "self/oom_score", "self/wchan", "modules", "devices", "filesystems"):
        try_all(lambda: read_file("/proc/" + path))
    for path in ("kernel/mm/transparent_hugepage/enabled", "class/net/lo/mtu", "devices/system/cpu/online", "power/state",
                 "kernel/notes", "class/net/lo/statistics/tx_bytes"):
        try_all(lambda: read_file("/sys/" + path))
    for path in ("cgroup.procs", "cpu.stat", "services/memory.current"):
        try_all(lambda: read_file(f"{CGROUP}/{path}"))
    for _ in range(2 * N):
        os.listdir("/proc/self/fd")
        os.listdir("/etc")
        os.stat("/proc/self")
        os.access("/usr/bin", os.R_OK)
        with open("/dev/null", "wb") as f:
            f.write(b"x")
    try_all(lambda: os.listdir("/proc"), lambda: os.listdir("/usr/bin"))


@part
def pipes():
    a, b = os.pipe()
    m, p = pty.openpty()
    for n in (1, 100, 5000, 60000):
        for _ in range(2 * N):
            os.write(b, b"x" * n)
            left = n
            while left > 0:
                left -= len(os.read(a, left))
    for _ in range(N):
        os.write(m, b"line\n")
        os.read(p, 100)
        os.write(p, b"answer\n")
        os.read(m, 100)
    for _ in range(N):  # somebody has to wait
        threading.Timer(0.003, os.write, (b, b"x")).start()
        os.read(a, 1)
    os.set_blocking(a, False)
    for _ in range(N):
        with contextlib.suppress(BlockingIOError):
            os.read(a, 1)
    os.set_blocking(a, True)

    def slow_reader():
        while True:
            time.sleep(0.002)
            os.read(a, 30000)
    with child(slow_reader):
        for _ in range(2 * N):
            os.write(b, b"x" * 40000)
    c, d = os.pipe()

    def echo():
        while some := os.read(c, 100):
            os.write(b, some)
    os.set_blocking(a, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.read(a, 65536)
    os.set_blocking(a, True)
    with child(echo):
        for _ in range(8 * N):
            os.write(d, b"x")
            os.read(a, 1)
    os.close(b)
    os.close(d)
    os.read(a, 1)
    fd = libc.eventfd(0, 0)
    for _ in range(N):
        os.write(fd, (1).to_bytes(8, "little"))
        os.read(fd, 8)
    os.close(fd)
    fd = libc.timerfd_create(1, 0)
    spec = (ctypes.c_long * 4)(0, 2000000, 0, 2000000)
    libc.timerfd_settime(fd, 0, spec, None)
    for _ in range(N):
        os.read(fd, 8)
    os.close(fd)
    fd = libc.inotify_init1(0)
    libc.inotify_add_watch(fd, b"/tmp", 0xFFF)
    for _ in range(N):
        put("/tmp/watched", "x")
        os.read(fd, 4096)
    os.close(fd)
    for _ in range(N):
        e, f = os.pipe()
        os.close(e)
        with contextlib.suppress(BrokenPipeError):
            os.write(f, b"x")
        os.close(f)
    subprocess.run("seq 2000 | sort | tail -n 1 >/dev/null", shell=True, check=False)


# --- memory --------------------------------------------------------------------------------------


@part
def memory():
    for size in (64 << 10, 1 << 20, 8 << 20):
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE) as m:
            for at in range(0, size, 8 * PAGE_BYTES):
                m[at]  # the zero page
            for at in range(0, size, 8 * PAGE_BYTES):
                m[at] = 1

            def touch():
                for at in range(0, size, 16 * PAGE_BYTES):
                    m[at] = 2
            pid = os.fork()
            if pid == 0:
                touch()
                os._exit(0)
            touch()
            os.waitpid(pid, 0)
            m.madvise(mmap.MADV_DONTNEED)
            touch()
            with contextlib.suppress(OSError, ValueError):
                m.madvise(14)  # MADV_HUGEPAGE
                m.madvise(mmap.MADV_DONTNEED)
                touch()
                m.madvise(21)  # MADV_PAGEOUT
                touch()
        with mmap.mmap(-1, size) as m:  # shared
            for at in range(0, size, 16 * PAGE_BYTES):
                m[at] = 1
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.mremap.restype = ctypes.c_void_p
    for _ in range(2 * N):
        at = libc.mmap(None, 16 * PAGE_BYTES, 3, 0x22, -1, 0)
        ctypes.memset(at, 1, 16 * PAGE_BYTES)
        libc.mprotect(ctypes.c_void_p(at + 4 * PAGE_BYTES), 4 * PAGE_BYTES, 1)
        libc.mprotect(ctypes.c_void_p(at + 4 * PAGE_BYTES), 4 * PAGE_BYTES, 3)
        ctypes.memset(at, 2, 16 * PAGE_BYTES)
        libc.mlock(ctypes.c_void_p(at), PAGE_BYTES)
        libc.munlock(ctypes.c_void_p(at), PAGE_BYTES)
        libc.madvise(ctypes.c_void_p(at), 8 * PAGE_BYTES, 8)  # MADV_FREE
        more = libc.mremap(ctypes.c_void_p(at), 16 * PAGE_BYTES, ctypes.c_size_t(64 * PAGE_BYTES), 1)
        if more != 2**64 - 1:
            ctypes.memset(more, 3, 20 * PAGE_BYTES)
            libc.munmap(ctypes.c_void_p(more), 64 * PAGE_BYTES)
    def all_threads():
        with mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE) as m:
            for at in range(0, 2 << 20, 16 * PAGE_BYTES):
                m[at] = 1
    for t in [beside(all_threads) for _ in range(3)]:
        t.join()


@part
def reclaim():
    """Files and memory beyond what a service may have."""
    at = DISKS["ext4"]
    name, block = f"{at}/large", b"x" * 65536
    with open(name, "wb") as f:
        for _ in range(640):
            f.write(block)
    os.sync()

    def within():
        put(f"{CGROUP}/services/one/cgroup.procs", str(os.getpid()))
        with open(name, "rb", buffering=0) as f:
            for i in range(640):
                f.seek(i * len(block))
                f.read(len(block))
        with open(name, "r+b", buffering=0) as f:
            for i in range(200):
                f.write(block)
        with mmap.mmap(-1, 40 << 20, flags=mmap.MAP_PRIVATE) as m:  # swapped out, and in
            for _ in range(2):
                for i in range(0, 40 << 20, 4 * PAGE_BYTES):
                    m[i] = 1
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            within()
        os._exit(0)
    os.waitpid(pid, 0)
    os.unlink(name)


# --- tasks ---------------------------------------------------------------------------------------


@part
def processes():
    for _ in range(N):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        pid = os.fork()
        if pid == 0:
            time.sleep(0.003)
            os._exit(1)
        os.waitpid(pid, 0)
        pid = os.fork()
        if pid == 0:
            signal.pause()
        os.waitpid(pid, os.WNOHANG)
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    put("/tmp/script", "#!/bin/sh\nexit 0\n")
    os.chmod("/tmp/script", 0o755)
    for _ in range(N // 2):
        run("/bin/true")
        run("/tmp/script")
        run("/bin/sh", "-c", "/bin/true; /bin/true")
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        with contextlib.suppress(OSError):
            os.execv("/nonexistent", ["x"])
        with contextlib.suppress(OSError):
            os.execv("/etc/passwd", ["x"])
    run("/bin/ls", "-l", "/etc")
    run("/bin/bash", "-c", "for i in 1 2 3; do (true); done; wait")
    for _ in range(2 * N):
        beside(lambda: time.sleep(0.001)).join()
    for _ in range(N // 2):
        pid = os.fork()
        if pid == 0:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            ctypes.string_at(0)
        os.waitpid(pid, 0)
    for i in range(N // 2):
        pid = os.fork()
        if pid == 0:
            libc.unshare((0x20000, 0x4000000, 0x8000000, 0x2000000)[i % 4])
            os._exit(0)
        os.waitpid(pid, 0)


@part
def futexes():
    word = mmap.mmap(-1, PAGE_BYTES)
    address = ctypes.addressof(ctypes.c_int.from_buffer(word))
    when = struct.pack("qq", 0, 2000000)

    def futex(op, value, timeout=None):
        return libc.syscall(202, ctypes.c_long(address), op, value, timeout, None, 0)
    for private in (0, 128):
        for _ in range(2 * N):
            futex(0 | private, 1)         # not the value: at once
            futex(1 | private, 1)         # nobody to wake
        for _ in range(N):
            futex(0 | private, 0, when)   # until the time is over
        for _ in range(N):
            t = threading.Timer(0.002, futex, (1 | private, 10))
            t.start()
            futex(0 | private, 0, struct.pack("qq", 1, 0))  # it may have been woken before it waits
            t.join()
        for _ in range(N):
            futex(6 | private, 0)         # FUTEX_LOCK_PI
            futex(7 | private, 0)

    lock = threading.Lock()

    def contend():
        for _ in range(40):
            with lock:
                time.sleep(0.0002)
    for t in [beside(contend) for _ in range(3)]:
        t.join()
    condition = threading.Condition()
    for _ in range(N):
        with condition:
            condition.wait(0.002)
    libc.semget(1, 1, 0o1600)
    run("/usr/bin/python3", "-c", "import multiprocessing as m; q = m.Queue(); [q.put(1) for i in range(9)]; "
        "[q.get() for i in range(9)]; s = m.Semaphore(1); [(s.acquire(), s.release()) for i in range(9)]")


@part
def events():
    poll = select.epoll()
    pairs = [socket.socketpair() for _ in range(4)]
    a, b = os.pipe()
    poll.register(a, select.EPOLLIN)
    for i, (s, _) in enumerate(pairs):
        poll.register(s, select.EPOLLIN | (select.EPOLLET if i % 2 else 0))
    tcp = tcp_pair(*ADDRESSES[0])
    poll.register(tcp[0], select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT)
    for _ in range(2 * N):
        poll.poll(0)
        for _, t in pairs:
            t.send(b"x")
        os.write(b, b"x")
        poll.poll(1)
        for s, _ in pairs:
            s.recv(1)
        os.read(a, 1)
        poll.modify(tcp[0], select.EPOLLIN)
        tcp[1].send(b"x")
        poll.poll(1)
        tcp[0].recv(1)
    for _ in range(N):
        threading.Timer(0.002, pairs[0][1].send, (b"x",)).start()
        poll.poll(1)
        pairs[0][0].recv(1)
        poll.poll(0.002)
    for s, _ in pairs:
        poll.unregister(s)
    for _ in range(N):
        with select.epoll() as e:
            e.register(a, select.EPOLLIN)
    p = select.poll()
    for s, t in pairs:
        p.register(s, select.POLLIN)
    for _ in range(N):
        p.poll(0)
        p.poll(2)
        select.select([s for s, _ in pairs], [], [], 0)
        select.select([a], [b], [], 0.002)
        select.select([a, tcp[0]], [], [], 0.002)
        threading.Timer(0.002, pairs[1][1].send, (b"x",)).start()
        p.poll(1000)
        pairs[1][0].recv(1)


@part
def sleeps_and_signals():
    for _ in range(2 * N):
        time.sleep(0.0005)
        time.sleep(0)
        os.sched_yield()
    for _ in range(N):
        time.sleep(0.004)
    got = []
    signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
    for _ in range(2 * N):
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
    for _ in range(N):
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        signal.signal(signal.SIGALRM, lambda *_: got.append(1))
        time.sleep(0.005)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    for _ in range(N):
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR2)
        signal.sigtimedwait([signal.SIGUSR2], 1)
        signal.sigtimedwait([signal.SIGUSR2], 0.002)
        os.kill(os.getpid(), 0)
    parent = os.getpid()

    def shoot():
        for _ in range(N):
            time.sleep(0.002)
            os.kill(parent, signal.SIGUSR1)
    with child(shoot) as pid:
        for _ in range(N):
            time.sleep(0.003)
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGCONT)

    def spin():
        while True:
            pass
    with child(spin), child(spin), child(spin):  # more than there are CPUs
        for cpu in (0, 1, 0, 1):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, {cpu})
            time.sleep(0.02)
        os.nice(0)
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            time.sleep(0.01)
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            pass
    os.sched_setaffinity(0, range(os.cpu_count()))


class Ring:
    """io_uring with four operations, by its system calls (linux 6.12 include/uapi/linux/io_uring.h)."""

    def __init__(self):
        p = ctypes.create_string_buffer(120)
        self.fd = libc.syscall(425, 8, p)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "io_uring_setup")
        values = struct.unpack("=30I", p.raw)
        self.sq, self.cq = values[10:20], values[20:30]  # offsets: head, tail, ring_mask, ring_entries, ...
        self.rings = mmap.mmap(self.fd, self.cq[5] + 16 * values[1] * 2, flags=mmap.MAP_SHARED)
        self.entries = mmap.mmap(self.fd, 8 * 64, flags=mmap.MAP_SHARED, offset=0x10000000)

    def do(self, operation, fd, data, flags=0):
        address = ctypes.addressof(ctypes.c_char.from_buffer(data)) if data else 0
        tail, = struct.unpack_from("=I", self.rings, self.sq[1])
        i = tail & 7
        struct.pack_into("=BBHiQQII28x", self.entries, 64 * i, operation, flags, 0, fd, 0, address, len(data or b""), 0)
        struct.pack_into("=I", self.rings, self.sq[6] + 4 * i, i)
        struct.pack_into("=I", self.rings, self.sq[1], tail + 1)
        libc.syscall(426, self.fd, 1, 1, 1, None, 0)
        tail, = struct.unpack_from("=I", self.rings, self.cq[1])
        struct.pack_into("=I", self.rings, self.cq[0], tail)


@part
def io_uring():
    ring, data = Ring(), bytearray(8192)
    READ, WRITE, FSYNC, NOP, ASYNC = 22, 23, 3, 0, 16
    fd = os.open(f"{DISKS['ext4']}/ring", os.O_RDWR | os.O_CREAT)
    r, w = os.pipe()
    a, b = socket.socketpair()
    for i in range(2 * N):
        ring.do(NOP, -1, None)
        for flags in (0, ASYNC):
            ring.do(WRITE, fd, data, flags)
            ring.do(READ, fd, data, flags)
            ring.do(WRITE, w, data[:100], flags)
            ring.do(READ, r, data, flags)
            ring.do(WRITE, a.fileno(), data[:100], flags)
            ring.do(READ, b.fileno(), data, flags)
        if i % 4 == 0:
            ring.do(FSYNC, fd, None)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            ring.do(READ, fd, data)
        t = threading.Timer(0.002, os.write, (w, b"x"))
        t.start()
        ring.do(READ, r, data)
        t.join()
    os.close(fd)
    os.close(ring.fd)


@part
def background():
    """What workers do when others have written."""
    for kind in ("ext4", "xfs", "scsi"):
        if not os.path.isdir(DISKS[kind]):
            continue
        for i in range(4):
            put(f"{DISKS[kind]}/late{i}", "x" * 30000)
            os.sync()
        put(f"{DISKS[kind]}/late", "x" * 300000)
    put("/proc/sys/vm/dirty_writeback_centisecs", "50")
    put("/proc/sys/vm/dirty_expire_centisecs", "50")
    time.sleep(2)
    put("/proc/sys/vm/dirty_background_bytes", str(1 << 20))
    put("/proc/sys/vm/dirty_bytes", str(4 << 20))
    with open(f"{DISKS['ext4']}/throttled", "wb", buffering=0) as f:  # waits for what is written back
        for _ in range(200):
            f.write(b"x" * 65536)
    put("/proc/sys/vm/dirty_background_ratio", "10")
    put("/proc/sys/vm/dirty_ratio", "20")
    put("/proc/sys/vm/dirty_writeback_centisecs", "500")
    put("/proc/sys/vm/dirty_expire_centisecs", "3000")
    for name in ("late", "late0", "late1", "throttled"):
        with contextlib.suppress(OSError):
            os.unlink(f"{DISKS['ext4']}/{name}")


@part
def low_memory():
    """Hardly more than there has to be, so that everybody looks for memory."""
    name = f"{DISKS['ext4']}/large"
    put(name, "x" * (40 << 20))
    os.sync()
    with open("/proc/meminfo") as f:
        free = next(int(line.split()[1]) for line in f if line.startswith("MemFree:"))
    with open("/proc/sys/vm/min_free_kbytes") as f:
        usual = f.read()
    put("/proc/sys/vm/min_free_kbytes", str(free - (24 << 10)))

    def eat():
        put("/proc/self/oom_score_adj", "1000")
        signal.alarm(10)
        with open(name, "rb", buffering=0) as f, mmap.mmap(-1, 24 << 20, flags=mmap.MAP_PRIVATE) as m:
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            for i in range(0, 24 << 20, PAGE_BYTES * 4):
                m[i] = 1
                if i % (256 * PAGE_BYTES) == 0:
                    f.read(512 << 10)
    try:
        pid = os.fork()
        if pid == 0:
            eat()
            os._exit(0)
        os.waitpid(pid, 0)
    finally:
        put("/proc/sys/vm/min_free_kbytes", usual)
    os.unlink(name)
