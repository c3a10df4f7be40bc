#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""first-guess-load.py prepare | PROFILE

Calls the roots of a shipped profile in as many ways as a guest has.  Whatever a kernel refuses is left out.
"""

import contextlib
import ctypes
import mmap
import os
import pty
import select
import socket
import subprocess
import sys
import threading
import time

N = 8  # of each way
DISK = "/tmp/disk"
ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
WIRE = ((socket.AF_INET, "192.0.2.1", "192.0.2.9"), (socket.AF_INET6, "2001:db8::1", "2001:db8::9"))
UDP_SEGMENT, UDP_CORK = 103, 1


def run(*argv):
    with contextlib.suppress(OSError):
        subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def prepare():
    """A device with a queue that takes everything, with neighbours; and a disk."""
    run("modprobe", "dummy")
    run("ip", "link", "add", "wire", "type", "dummy")
    run("ip", "link", "set", "wire", "mtu", "1500", "up")
    run("tc", "qdisc", "replace", "dev", "wire", "root", "pfifo_fast")
    for family, mine, other in WIRE:
        prefix = "24" if family == socket.AF_INET else "64"
        run("ip", "address", "add", f"{mine}/{prefix}", "dev", "wire", *(["nodad"] if prefix == "64" else []))
        run("ip", "neighbour", "replace", other, "lladdr", "02:00:00:00:00:09", "dev", "wire")
    os.makedirs(DISK, exist_ok=True)
    run("modprobe", "loop")
    run("truncate", "-s", "64M", "/tmp/image")
    run("mkfs.ext4", "-q", "-F", "/tmp/image")
    run("mount", "-o", "loop", "/tmp/image", DISK)


def try_all(*ways):
    for way in ways:
        try:
            way()
        except OSError as e:
            print(f"{getattr(way, '__name__', way)}: {e}", flush=True)


# --- UDP -----------------------------------------------------------------------------------------


def udp(family, address, port):
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
        with contextlib.suppress(OSError):
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1200)
            for _ in range(N):
                s.send(b"x" * 12000)
        with contextlib.suppress(OSError):
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 0)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            for _ in range(4 * N):
                s.send(b"x" * 1400, socket.MSG_DONTWAIT)


def udp_send():
    for family, address in ADDRESSES:
        with socket.socket(family, socket.SOCK_DGRAM) as peer:
            peer.bind((address, 0))
            peer.setblocking(False)
            reader = threading.Thread(target=drain, args=(peer,), daemon=True)
            reader.start()
            try_all(lambda: udp(family, address, peer.getsockname()[1]), lambda: udp(family, address, 9))
    for family, _, other in WIRE:
        try_all(lambda: udp(family, other, 4711))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:  # IPv4 in a socket of IPv6
        for _ in range(N):
            with contextlib.suppress(OSError):
                s.sendto(b"x" * 100, ("::ffff:127.0.0.1", 9))


def drain(s):
    with contextlib.suppress(OSError, ValueError):
        while True:
            select.select([s], [], [], 5)
            with contextlib.suppress(BlockingIOError):
                while s.recv(1 << 16):
                    pass


# --- TCP -----------------------------------------------------------------------------------------


def tcp(family, address):
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

        threading.Thread(target=serve, daemon=True).start()
        for option in ((), (socket.TCP_NODELAY,), (socket.TCP_CORK,)):
            with socket.create_connection(server.getsockname()[:2]) as s:
                for o in option:
                    s.setsockopt(socket.IPPROTO_TCP, o, 1)
                for n in (1, 100, 1400, 10000, 100000, 500000):
                    for _ in range(N):
                        s.sendall(b"x" * n)
                for _ in range(N):
                    s.send(b"x" * 100, socket.MSG_MORE)
                    s.sendmsg([b"x" * 10, b"y" * 2000])
                s.send(b"!", socket.MSG_OOB)
                s.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    for _ in range(100):
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


def tcp_send():
    for family, address in ADDRESSES:
        try_all(lambda: tcp(family, address))


# --- files ---------------------------------------------------------------------------------------


def read_file(path, flags=0, n=65536):
    fd = os.open(path, os.O_RDONLY | flags)
    try:
        for _ in range(N):
            if not os.read(fd, n):
                break
    finally:
        os.close(fd)


def read_direct():
    path = f"{DISK}/direct"
    with open(path, "wb") as f:
        f.write(b"x" * (1 << 20))
    os.sync()
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, 65536) as room:
        for _ in range(N):
            os.readv(fd, [room])
    os.close(fd)


def read_cold():
    for where in (DISK, "/tmp", "/dev/shm", "/var/tmp"):
        path = f"{where}/cold"
        with contextlib.suppress(OSError):
            with open(path, "wb") as f:
                f.write(b"x" * (2 << 20))
            os.sync()
            for n in (1, 4096, 1 << 20):
                with open("/proc/sys/vm/drop_caches", "w") as f:
                    f.write("3")
                read_file(path, 0, n)
                read_file(path, 0, n)
            with open(path, "r+b") as f:  # a hole
                f.truncate(0)
                f.truncate(1 << 20)
            read_file(path)
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            os.read(fd, 100)
            os.close(fd)


def read_pairs():
    a, b = os.pipe()
    s, t = socket.socketpair()
    u, v = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    m, p = pty.openpty()
    for n in (1, 100, 5000):
        for _ in range(N):
            for reader, writer in ((a, b), (s.fileno(), t.fileno()), (u.fileno(), v.fileno())):
                os.write(writer, b"x" * n)
                os.read(reader, n)
    for _ in range(N):
        os.write(m, b"line\n")
        os.read(p, 100)
        os.write(p, b"answer\n")
        os.read(m, 100)
    for reader, writer in ((a, b), (s.fileno(), t.fileno())):  # somebody has to wait
        for _ in range(N):
            timer = threading.Timer(0.01, os.write, (writer, b"x"))
            timer.start()
            os.read(reader, 1)
            timer.join()
    os.set_blocking(a, False)
    for _ in range(N):
        with contextlib.suppress(BlockingIOError):
            os.read(a, 1)
    os.close(b)
    os.read(a, 1)


def read_tcp():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as s:
        peer, _ = server.accept()
        for n in (1, 1400, 60000):
            for _ in range(N):
                peer.sendall(b"x" * n)
                left = n
                while left > 0:
                    left -= len(os.read(s.fileno(), left))
        for _ in range(N):
            timer = threading.Timer(0.01, peer.send, (b"x",))
            timer.start()
            os.read(s.fileno(), 1)
            timer.join()
        peer.close()
        os.read(s.fileno(), 1)


def read_events():
    libc = ctypes.CDLL(None)
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
        with open("/tmp/watched", "wb") as f:
            f.write(b"x")
        os.read(fd, 4096)
    os.close(fd)


def read_everything():
    for path in ("/dev/zero", "/dev/null", "/dev/urandom", "/etc/passwd", "/usr/bin/env", "/bin/bash", "/proc/kmsg"):
        try_all(lambda: read_file(path, os.O_NONBLOCK))
    for path in ("stat", "meminfo", "self/status", "self/stat", "self/maps", "self/cmdline", "self/environ", "uptime", "loadavg",
                 "mounts", "interrupts", "net/dev", "net/tcp", "net/udp", "cpuinfo", "1/stat", "self/smaps", "self/mountinfo",
                 "self/cgroup", "self/io", "vmstat", "diskstats", "version", "cmdline", "sys/kernel/osrelease", "sys/vm/swappiness",
                 "partitions", "self/limits", "self/oom_score", "self/wchan", "modules", "devices", "filesystems"):
        try_all(lambda: read_file("/proc/" + path))
    for path in ("kernel/mm/transparent_hugepage/enabled", "class/net/lo/mtu", "devices/system/cpu/online", "power/state",
                 "kernel/notes", "class/net/lo/statistics/tx_bytes", "fs/cgroup/cgroup.procs", "fs/cgroup/cpu.stat"):
        try_all(lambda: read_file("/sys/" + path))


def vfs_read():
    try_all(read_everything, read_cold, read_direct, read_pairs, read_tcp, read_events)


if __name__ == "__main__":
    {"prepare": prepare, "udp-send": udp_send, "tcp-send": tcp_send, "vfs-read": vfs_read}[sys.argv[1]]()
