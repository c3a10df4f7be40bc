#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Ordinary work, and which kernel functions it calls: the two halves of tests/bench/ordinary-functions.

ordinary-work.py work DIR [PART...]   in a guest: does each part n times, with the function tracer on
                                      all functions, and leaves in DIR what it recorded
ordinary-work.py count DIR            anywhere: prints the names called once in 20 times, or more often

Debian's kernels have no function profiler, so calls are counted from the pages of the ring buffer, by
a machine that is not emulated.  What a part needs is made before counting begins.

Some work is what people trace, so its parts have a name ("tcp", "connect" for TCP with new connections, "udp"), which
follows the functions that only such parts call.  Roots that such a part calls are traced with these.

stress-ng does part of the work, where it is more thorough.
"""
import bisect
import collections
import contextlib
import ctypes
import fcntl
import functools
import glob
import mmap
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

TRACEFS = "/sys/kernel/tracing"
BUFFER_KB = 100000  # for each CPU
# Tracers look at these, function_graph itself at the first.  Two who do are called through a function,
# __traceiter_NAME, that one alone does not need (linux 6.12 kernel/tracepoint.c, tracepoint_update_call()).
WATCHED = ("sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_process_fork", "sched_process_exec",
           "sched_process_exit")
SOME_FILES = ("/usr/share/perl", "/usr/share/doc/coreutils")
LEAST_SHARE = 20    # one call in so many times,
LEAST_CALLS = 5     # and so many: fewer may be due to how a part begins and ends
# What the Internet's part of the kernel does when nobody uses it, from timers.
NOT_ORDINARY = re.compile("(tcp|udp|ip|ip6|inet|inet6|neigh|icmp|arp|fib|rt)_")
PAGE_BYTES = 4096
# How a guest reaches the files of its host.  No other machine has that.
MODULES_OF_THE_GUEST = {"9p", "9pnet", "9pnet_virtio", "netfs", "fscache", "virtio_pci", "virtio_ring", "virtio",
                        "virtio_pci_modern_dev", "virtio_pci_legacy_dev"}

CLONE_NEWNET = 0x40000000
# Of stress-ng, by kinds.
STRESSORS = {
    "": """access affinity aio aiol alarm chattr chdir chmod chown clone context copy-file daemon dentry dev-shm dir
           dirdeep dnotify dup dynlib env epoll eventfd exec exit-group fallocate fault fcntl fiemap fifo file-ioctl
           filename flock fork fstat futex get getdent getrandom hdd hrtimers inotify io io-uring ioprio itimer kill
           link lockf locka lockofd madvise malloc mcontend membarrier memfd mincore mknod mlock mmap mmapfork mmapmany
           mprotect mq mremap msg msync munmap mutex nanosleep nice null open personality pidfd pipe poll prctl pthread
           pty readahead remap rename resched ring-pipe rlimit rseq seek sem sem-sysv sendfile session set shm shm-sysv
           sigabrt sigchld sigfd sigio signal sigpending sigpipe sigq sigrt sigsegv sigsuspend sleep sockpair spawn
           splice switch symlink sync-file sysinfo tee timer timerfd tmpfs touch urandom utime vfork vm vm-splice wait
           xattr yield zero zombie""",
    "connect": "sock", "udp": "udp udp-flood"}

libc = ctypes.CDLL(None, use_errno=True)
PARTS = []
KINDS = {}
SYS = dict(getppid=110, gettimeofday=96, clock_gettime=228, sched_yield=24, futex=202, timerfd_create=283,
           timerfd_settime=286, brk=12, getpid=39, time=201, rt_sigprocmask=14, madvise=28, mprotect=10, seccomp=317,
           getcpu=309, inotify_init1=294, inotify_add_watch=254, signalfd4=289, io_setup=206, io_destroy=207,
           io_getevents=208, io_submit=209, io_uring_setup=425, io_uring_enter=426, timer_create=222,
           timer_settime=223, timer_delete=226, pidfd_open=434, pidfd_send_signal=424, mincore=27,
           process_vm_readv=310, membarrier=324, tee=276, vmsplice=278, statx=332, copy_file_range=326, ptrace=101)


def call(name, *args):
    r = libc.syscall(SYS[name], *args)
    if r < 0:
        raise OSError(ctypes.get_errno(), name)
    return r


def part(n, kind=""):
    def add(function):
        PARTS.append((function.__name__, n, function))
        KINDS[function.__name__] = kind
        return function
    return add


def on_cpu(*cpus):
    os.sched_setaffinity(0, set(cpus) & ALL_CPUS or ALL_CPUS)


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


class Recorder:
    """Turns the tracer on for a part, and keeps its pages."""

    def __init__(self, out):
        self.out = out
        put(f"{TRACEFS}/tracing_on", "0")
        put(f"{TRACEFS}/buffer_size_kb", str(BUFFER_KB))
        put(f"{TRACEFS}/trace_clock", "local")
        put(f"{TRACEFS}/current_tracer", "function")
        self.watchers = [tempfile.mkdtemp(dir=f"{TRACEFS}/instances") for _ in range(2)]
        for watcher in self.watchers:
            for event in WATCHED:
                put(f"{watcher}/events/sched/{event}/enable", "1")
        self.switch = os.open(f"{TRACEFS}/tracing_on", os.O_WRONLY)

    @contextlib.contextmanager
    def __call__(self):
        time.sleep(0.05)  # what setting up has left to RCU and to workers
        os.pwrite(self.switch, b"1", 0)
        yield
        time.sleep(0.05)  # what the part has left to them
        os.pwrite(self.switch, b"0", 0)

    def keep(self, name, n):
        for cpu in sorted(ALL_CPUS):
            percpu = f"{TRACEFS}/per_cpu/cpu{cpu}"
            with open(f"{percpu}/stats") as f:
                stats = dict(line.split(": ") for line in f if ": " in line)
            if int(stats["overrun"]):
                print(f"{name}: the buffer of CPU {cpu} is too small", flush=True)
            fd = os.open(f"{percpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            with open(f"{self.out}/{name}.{n}.cpu{cpu}", "wb", buffering=1 << 18) as kept:
                with contextlib.suppress(BlockingIOError):
                    while page := os.read(fd, PAGE_BYTES):
                        kept.write(page)
            os.close(fd)
        put(f"{TRACEFS}/trace", "")

    def end(self):
        put(f"{TRACEFS}/current_tracer", "nop")
        for watcher in self.watchers:
            os.rmdir(watcher)


def run(*argv):
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def child(work):
    """A process that works until it is ended."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def ping_pong(n, mine, theirs, cpu, counting):
    """mine, theirs: (function that waits, function that wakes)"""
    def partner():
        on_cpu(cpu)
        while True:
            theirs[0]()
            theirs[1]()
    with child(partner):
        on_cpu(0)
        for i in range(n + 10):
            if i == 10:
                counting.__enter__()
            mine[1]()
            mine[0]()
        counting.__exit__(None, None, None)
        on_cpu(*ALL_CPUS)


def pipes(n, cpu, counting, first=lambda fd: None):
    r1, w1 = os.pipe()
    r2, w2 = os.pipe()

    def wait(fd):
        first(fd)
        os.read(fd, 64)
    ping_pong(n, (lambda: wait(r2), lambda: os.write(w1, b"x" * 16)),
              (lambda: wait(r1), lambda: os.write(w2, b"x" * 16)), cpu, counting)
    for fd in (r1, w1, r2, w2):
        os.close(fd)


def sockets(n, kind, cpu, counting):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    ping_pong(n, (lambda: a.recv(64), lambda: a.send(b"x" * 16)),
              (lambda: b.recv(64), lambda: b.send(b"x" * 16)), cpu, counting)
    a.close()
    b.close()


def files(n, directory, counting, sync):
    base = f"{directory}/work"
    os.mkdir(base)
    with counting():
        for i in range(n):
            fd = os.open(f"{base}/a", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
            os.write(fd, b"x" * 10000)
            os.write(fd, b"x" * 512)
            os.fstat(fd)
            os.lseek(fd, 0, os.SEEK_SET)
            os.read(fd, 512)
            os.pread(fd, 8192, 512)
            os.ftruncate(fd, 3000)
            if sync:
                os.fsync(fd)
                os.fdatasync(fd)
            os.close(fd)
            os.rename(f"{base}/a", f"{base}/b")
            os.link(f"{base}/b", f"{base}/c")
            os.symlink("b", f"{base}/l")
            os.readlink(f"{base}/l")
            os.stat(f"{base}/l")
            os.chmod(f"{base}/b", 0o600)
            os.chown(f"{base}/b", 0, 0)
            os.utime(f"{base}/b")
            os.mkdir(f"{base}/d")
            os.listdir(base)
            os.rmdir(f"{base}/d")
            for name in ("b", "c", "l"):
                os.unlink(f"{base}/{name}")
    os.rmdir(base)


def dd(n, counting, source, target, *more):
    with counting():
        run("dd", f"if={source}", f"of={target}", "bs=512", f"count={n}", *more)


def blocks(n, directory, counting):
    """Both ways, in small blocks."""
    name = f"{directory}/blocks"
    with counting():
        run("dd", "if=/dev/zero", f"of={name}", "bs=512", f"count={n}")
        run("dd", f"if={name}", "of=/dev/null", "bs=512")
        run("dd", f"if={name}", f"of={name}2", "bs=4k", "conv=fsync")
    os.unlink(name)
    os.unlink(f"{name}2")


def mapped(n, directory, counting):
    """A file's pages: read, written, copied on write."""
    name, size = f"{directory}/mapped", 16 * PAGE_BYTES
    put(name, "x" * size)
    fd = os.open(name, os.O_RDWR)
    with counting():
        for i in range(n):
            for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
                m = mmap.mmap(fd, size, flags=flags)
                for at in range(0, size, PAGE_BYTES):
                    m[at]
                    m[at] = 7
                if flags == mmap.MAP_SHARED and i % 4 == 0:
                    m.flush()
                m.close()
    os.close(fd)
    os.unlink(name)


# The parts.  Each is given how often it has to be done, and what counts meanwhile.

@part(300)
def idle(n, counting):
    with counting():
        time.sleep(n / 100)


@part(200)
def spin(n, counting):
    def turn():
        while True:
            pass
    with child(turn), child(turn), child(turn), counting():
        time.sleep(n / 100)


@part(4000)
def dd_null(n, counting):
    dd(n, counting, "/dev/zero", "/dev/null")


@part(2000)
def dd_tmpfs(n, counting):
    blocks(n, "/dev/shm", counting)


@part(1500)
def dd_root(n, counting):
    blocks(n, "/var/tmp", counting)


@part(1500)
def dd_ext4(n, counting):
    blocks(n, EXT4, counting)


@part(500)
def pipe_one_cpu(n, counting):
    pipes(n, 0, counting())


@part(500)
def pipe_two_cpus(n, counting):
    pipes(n, 1, counting())


@part(300)
def pipe_full(n, counting):
    """Who writes waits, too."""
    r, w = os.pipe()
    block = b"x" * 65536

    def read():
        while True:
            os.read(r, 65536)
    with child(read), counting():
        for _ in range(n):
            os.write(w, block)
            os.write(w, block[:5000])
    os.close(r)
    os.close(w)


@part(300)
def pipe_poll(n, counting):
    pipes(n, 1, counting(), lambda fd: select.select([fd], [], [], 5))


@part(300)
def pipe_epoll(n, counting):
    polls = {}

    def wait(fd):
        if (os.getpid(), fd) not in polls:
            polls[os.getpid(), fd] = e = select.epoll()
            e.register(fd, select.EPOLLIN)
        polls[os.getpid(), fd].poll(5)
    pipes(n, 0, counting(), wait)


@part(300)
def unix_stream(n, counting):
    sockets(n, socket.SOCK_STREAM, 0, counting())


@part(300)
def unix_stream_two_cpus(n, counting):
    sockets(n, socket.SOCK_STREAM, 1, counting())


@part(300)
def unix_dgram(n, counting):
    sockets(n, socket.SOCK_DGRAM, 0, counting())


def serve(n, counting, family, address):
    """Each socket is set up as servers do it, and has one client, who does not wait."""
    on = ((socket.SOL_SOCKET, socket.SO_REUSEADDR), (socket.SOL_SOCKET, socket.SO_KEEPALIVE))
    tcp = [] if family == socket.AF_UNIX else [(socket.IPPROTO_TCP, option) for option in (
        socket.TCP_NODELAY, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_QUICKACK, socket.TCP_CORK)]
    with counting():
        for i in range(n):
            listener, a = socket.socket(family), socket.socket(family)
            for level, option in on:
                listener.setsockopt(level, option, 1)
            listener.bind(address)
            listener.listen()
            a.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                a.connect(listener.getsockname())
            select.select([], [a], [], 1)
            a.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            a.setblocking(True)
            b, _ = listener.accept()
            for level, option in (*on, *tcp):
                b.setsockopt(level, option, 1)
            a.sendmsg([b"x" * 300, b"y" * 200])
            b.recv(100, socket.MSG_PEEK)
            fcntl.ioctl(b, termios.FIONREAD, b"1234")
            b.recvmsg(1000)
            b.send(b"x" * 300, socket.MSG_MORE)
            b.send(b"y" * 10000)
            if tcp:
                b.setsockopt(*tcp[-1], 0)
                b.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 200)
            a.recv(20000)
            if i % 2 == 0:
                b.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for one in (b, a, listener):
                one.close()
            if family == socket.AF_UNIX:
                os.unlink(address)


@part(100)
def unix_servers(n, counting):
    serve(n, counting, socket.AF_UNIX, "/dev/shm/listener")


@part(150)
def unix_connect(n, counting):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("/dev/shm/listener")
    listener.listen()
    with counting():
        for _ in range(n):
            a = socket.socket(socket.AF_UNIX)
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100000)
            a.connect("/dev/shm/listener")
            b, _ = listener.accept()
            b.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            a.sendall(b"x" * 9000)
            select.select([b], [], [], 1)
            b.recv(10000)
            with open("/dev/null") as f:
                socket.send_fds(a, [b"x"], [f.fileno()])
            os.close(socket.recv_fds(b, 10, 1)[1][0])
            a.shutdown(socket.SHUT_RDWR)
            a.close()
            b.close()
    listener.close()
    os.unlink("/dev/shm/listener")


@part(200)
def event_fds(n, counting):
    with counting():
        for _ in range(n):
            e, p = os.eventfd(0), select.epoll()
            p.register(e, select.EPOLLIN | select.EPOLLET)
            os.eventfd_write(e, 1)
            p.poll(0)
            p.modify(e, select.EPOLLIN)
            os.eventfd_read(e)
            p.poll(0.001)
            q = select.poll()
            q.register(e, select.POLLIN)
            q.poll(0)
            q.poll(1)
            select.select([e], [e], [e], 0.001)
            p.unregister(e)
            p.close()
            os.close(e)
            r, w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            os.dup2(r, w)
            os.close(r)
            os.close(w)


@part(300)
def event_fd_ping_pong(n, counting):
    a, b = os.eventfd(0), os.eventfd(0)
    ping_pong(n, (lambda: os.eventfd_read(a), lambda: os.eventfd_write(b, 1)),
              (lambda: os.eventfd_read(b), lambda: os.eventfd_write(a, 1)), 1, counting())
    os.close(a)
    os.close(b)


@part(300)
def futex_processes(n, counting):
    shared = mmap.mmap(-1, PAGE_BYTES)
    words = (ctypes.c_uint32 * 2).from_buffer(shared)
    timeout = struct.pack("qq", 1, 0)

    def wait(i):
        while words[i] == 0:
            libc.syscall(SYS["futex"], ctypes.byref(words, 4 * i), 0, 0, timeout)
        words[i] = 0

    def wake(i):
        words[i] = 1
        libc.syscall(SYS["futex"], ctypes.byref(words, 4 * i), 1, 1, None)
    ping_pong(n, (lambda: wait(0), lambda: wake(1)), (lambda: wait(1), lambda: wake(0)), 1, counting())


@part(200)
def futex_threads(n, counting):
    a, b = threading.Semaphore(0), threading.Semaphore(0)

    def partner():
        for _ in range(n):
            a.acquire()
            b.release()
    thread = threading.Thread(target=partner)
    thread.start()
    with counting():
        for _ in range(n):
            a.release()
            b.acquire(timeout=1)
        thread.join()


@part(80)
def threads(n, counting):
    with counting():
        for _ in range(n):
            several = [threading.Thread(target=time.sleep, args=(0.0001,)) for _ in range(2)]
            for t in several:
                t.start()
            for t in several:
                t.join()


@part(60)
def forks(n, counting):
    with counting():
        for i in range(n):
            pid = os.fork()
            if pid == 0:
                time.sleep(0.001 * (i % 3))
                os._exit(0)
            os.waitpid(pid, 0)


@part(60)
def execs(n, counting):
    with counting():
        for i in range(n):
            if i % 2:
                os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
            else:
                run("/bin/true")


@part(20)
def shell(n, counting):
    with counting():
        run("bash", "-c", f"for ((i = 0; i < {n}; i++)); do (exit 3); /bin/true; x=$(echo a | cat); test -e /etc/x; "
            "read -r y <<<$x; kill -0 $$; done")


@part(100)
def walk(n, counting):
    """As root and as nobody, on files in memory and of the guest; the first time is for the caches."""
    tree = "/dev/shm/tree"
    for i in range(n):
        os.makedirs(f"{tree}/{i % 10}/{i}")
        put(f"{tree}/{i % 10}/{i}/file", "")
    for _ in range(2):
        run("find", *SOME_FILES, "-size", "+100k")
    with counting():
        run("find", *SOME_FILES, "-size", "+100k")
        run("find", tree, "-ls")
        run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "find", *SOME_FILES, tree)
        run("du", "-s", tree)
        run("ls", "-lR", tree)
    shutil.rmtree(tree)


@part(200)
def names(n, counting):
    """Names of files, in several file systems."""
    with counting():
        for i in range(n):
            for directory in ("/usr/bin", "/dev/shm", EXT4):
                os.close(os.open(directory, os.O_RDONLY | os.O_DIRECTORY))
                os.chdir(directory)
                os.getcwd()
                os.access(f"{directory}/.", os.R_OK)
                os.statvfs(directory)
                with contextlib.suppress(OSError):
                    os.stat(f"{directory}/none-{i}")
                with contextlib.suppress(OSError):
                    os.getxattr(directory, "user.x")
            with open("/etc/passwd") as f:
                f.read()
            os.readlink("/bin/sh")
            os.stat("/bin/sh")
            os.chdir("/")


@part(100)
def files_tmpfs(n, counting):
    files(n, "/dev/shm", counting, True)


@part(100)
def files_root(n, counting):
    files(n, "/var/tmp", counting, False)


@part(100)
def files_ext4(n, counting):
    files(n, EXT4, counting, False)


@part(40)
def files_ext4_sync(n, counting):
    files(n, EXT4, counting, True)


@part(60)
def copies(n, counting):
    """Without going through memory of the process."""
    put("/dev/shm/from", "x" * 20000)
    a = os.open("/dev/shm/from", os.O_RDONLY)
    with counting():
        for _ in range(n):
            for directory in ("/dev/shm", EXT4):
                b = os.open(f"{directory}/to", os.O_RDWR | os.O_CREAT | os.O_APPEND)
                os.writev(b, [b"x" * 100, b"y" * 100])
                os.close(b)
                b = os.open(f"{directory}/to", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
                os.sendfile(b, a, 0, 20000)
                os.preadv(b, [bytearray(100), bytearray(100)], 0)
                with contextlib.suppress(OSError):
                    os.posix_fallocate(b, 0, 30000)
                os.close(b)
            r, w = os.pipe()
            os.splice(a, w, 4096, offset_src=0)
            os.read(r, 4096)
            os.close(r)
            os.close(w)
            os.close(os.memfd_create("x"))


@part(150)
def locks(n, counting):
    with open("/dev/shm/lock", "w") as f, open("/dev/shm/lock", "w") as g, counting():
        for _ in range(n):
            fcntl.flock(f, fcntl.LOCK_EX)
            with contextlib.suppress(OSError):
                fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(f, fcntl.LOCK_UN)
            fcntl.lockf(f, fcntl.LOCK_EX, 10, 5)
            fcntl.lockf(f, fcntl.LOCK_UN, 10, 5)
            fcntl.fcntl(f, fcntl.F_GETFL)
            fcntl.fcntl(f, fcntl.F_SETFL, os.O_NONBLOCK)
            os.close(fcntl.fcntl(f, fcntl.F_DUPFD_CLOEXEC, 10))


@part(100)
def memory(n, counting):
    size = 32 * PAGE_BYTES
    with counting():
        for _ in range(n):
            m = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, size, PAGE_BYTES):
                m[at] = 7
            address = ctypes.addressof(ctypes.c_char.from_buffer(m))
            call("mprotect", ctypes.c_void_p(address), PAGE_BYTES * 4, mmap.PROT_READ)
            call("mprotect", ctypes.c_void_p(address), PAGE_BYTES * 4, mmap.PROT_READ | mmap.PROT_WRITE)
            m.madvise(mmap.MADV_DONTNEED, 0, size // 2)
            m[0]
            with contextlib.suppress(BufferError):
                m.resize(size * 2)
            del m
            libc.sbrk(4 * PAGE_BYTES)
            libc.sbrk(-4 * PAGE_BYTES)


@part(30)
def memory_large(n, counting):
    """As programs have it: heaps of some megabytes, huge pages where the kernel likes to."""
    with counting():
        for _ in range(n):
            m = mmap.mmap(-1, 6 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, 6 << 20, PAGE_BYTES * 4):
                m[at] = 7
            m.close()
            x = bytearray(200000)
            del x


@part(40)
def memory_copied(n, counting):
    m = mmap.mmap(-1, 64 * PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.write(b"x" * 64 * PAGE_BYTES)
    with counting():
        for _ in range(n):
            pid = os.fork()
            if pid == 0:
                for at in range(0, 64 * PAGE_BYTES, PAGE_BYTES):
                    m[at] = 8
                os._exit(0)
            os.waitpid(pid, 0)
            m[0] = 9


@part(60)
def mapped_tmpfs(n, counting):
    mapped(n, "/dev/shm", counting)


@part(60)
def mapped_root(n, counting):
    mapped(n, "/var/tmp", counting)


@part(60)
def mapped_ext4(n, counting):
    mapped(n, EXT4, counting)


@part(200)
def signals(n, counting):
    me = os.getpid()

    def partner():
        while True:
            signal.pause()
    with child(partner) as pid, counting():
        for _ in range(n):
            signal.signal(signal.SIGUSR1, lambda *_: None)
            os.kill(me, signal.SIGUSR1)
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, 0)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
            os.kill(me, signal.SIGUSR2)
            signal.sigtimedwait([signal.SIGUSR2], 1)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
            signal.sigpending()


@part(150)
def timers(n, counting):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    fd = call("timerfd_create", 1, 0)
    once = struct.pack("qqqq", 0, 0, 0, 300000)
    with counting():
        for _ in range(n):
            time.sleep(0.0002)
            call("timerfd_settime", fd, 0, once, None)
            os.read(fd, 8)
            signal.setitimer(signal.ITIMER_REAL, 0.0003)
            signal.sigtimedwait([signal.SIGALRM], 1)
            signal.alarm(10)
            signal.alarm(0)
            select.select([], [], [], 0.0003)
    os.close(fd)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


@part(300)
def cheap_calls(n, counting):
    clock = ctypes.create_string_buffer(16)
    with counting():
        for _ in range(n):
            call("getppid")
            call("getpid")
            call("time", None)
            call("gettimeofday", clock, None)
            for c in (0, 1, 2, 3, 4, 5, 6, 7):
                call("clock_gettime", c, clock)
            call("sched_yield")
            call("getcpu", clock, None, None)
            os.getuid(), os.getgid(), os.getpgid(0), os.getsid(0), os.getgroups(), os.getresuid(), os.uname()
            os.umask(os.umask(0o22))
            os.times()
            os.getpriority(os.PRIO_PROCESS, 0)
            os.sched_getaffinity(0)
            os.sched_getscheduler(0)
            resource.getrusage(resource.RUSAGE_SELF)
            resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
            libc.prctl(15, b"name")
            libc.prctl(16, clock)
            os.getrandom(16)
            os.getloadavg()
            os.setresuid(0, 0, 0)
            os.isatty(0)


@part(300)
def yielding(n, counting):
    def partner():
        on_cpu(0)
        while True:
            os.sched_yield()
    with child(partner):
        on_cpu(0)
        with counting():
            for _ in range(n):
                os.sched_yield()
        on_cpu(*ALL_CPUS)


@part(60)
def moving(n, counting):
    """From CPU to CPU, at other priorities."""
    with counting():
        for i in range(n):
            on_cpu(i % 2)
            os.setpriority(os.PRIO_PROCESS, 0, i % 3)
    on_cpu(*ALL_CPUS)
    os.setpriority(os.PRIO_PROCESS, 0, 0)


@part(60)
def proc_and_sys(n, counting):
    names = ["/proc/stat", "/proc/self/status", "/proc/self/maps", "/proc/self/stat", "/proc/self/cmdline",
             "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/1/stat", "/proc/self/mountinfo",
             "/proc/sys/kernel/pid_max", "/proc/self/cgroup", "/proc/self/oom_score_adj", "/proc/vmstat",
             "/proc/filesystems", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/block/loop0/size",
             "/sys/devices/system/cpu/online", "/sys/devices/system/node/node0/meminfo",
             f"{CGROUP}/memory.current", f"{CGROUP}/cpu.stat"]
    names = [name for name in names if os.path.exists(name)]
    with counting():
        for _ in range(n):
            for name in names:
                with open(name) as f:
                    f.read()
            os.listdir("/proc/self/fd")
            os.readlink("/proc/self/exe")
            os.readlink("/proc/self/fd/0")
            os.listdir("/sys/devices/system/cpu")


@part(60)
def processes(n, counting):
    """What ps and top do."""
    with counting():
        for i in range(n):
            for pid in os.listdir("/proc"):
                if pid.isdigit() and (i % 4 == 0 or int(pid) < 20):
                    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
                        f.read()
                    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as f:
                        f.read()


@part(200)
def terminal(n, counting):
    leader, terminal = pty.openpty()
    with counting():
        for _ in range(n):
            os.write(terminal, b"some words\n")
            os.read(leader, 100)
            os.write(leader, b"a line\n")
            os.read(terminal, 100)
            os.read(leader, 100)
            fcntl.ioctl(terminal, 0x5401, b"\0" * 60)  # TCGETS
            fcntl.ioctl(terminal, 0x5413, b"\0" * 8)   # TIOCGWINSZ
    os.close(leader)
    os.close(terminal)


@part(40)
def terminals(n, counting):
    with counting():
        for _ in range(n):
            for fd in pty.openpty():
                os.close(fd)


@part(60)
def text_tools(n, counting):
    put("/dev/shm/text", "".join(f"{i * 7919 % 10007} some words in line {i}\n" for i in range(10000)))
    with counting():
        for _ in range(n // 20):
            run("bash", "-c", "cd /dev/shm; sort -n text | uniq -c | tail -n 3; gzip -1c text | wc -c; grep -c 77 text; "
                "sed s/some/many/ text | head -n 9000 | md5sum; awk '{ s += $1 } END { print s }' text; "
                "tar c text | cat | tar t; perl -ne 'print if /99/' text; cp text text2; cmp text text2; rm text2")
    os.unlink("/dev/shm/text")


@part(100)
def watched_files(n, counting):
    """inotify and signalfd, as services have them."""
    fd = call("inotify_init1", os.O_NONBLOCK)
    os.makedirs("/dev/shm/watched", exist_ok=True)
    call("inotify_add_watch", fd, b"/dev/shm/watched", 0xfff)
    with counting():
        for _ in range(n):
            put("/dev/shm/watched/file", "x")
            os.unlink("/dev/shm/watched/file")
            os.read(fd, 4096)
    os.close(fd)
    shutil.rmtree("/dev/shm/watched")


@part(200)
def filtered_calls(n, counting):
    """With a seccomp filter, as services have it."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000) * 2)
        libc.prctl(38, 1, 0, 0, 0)
        call("seccomp", 1, 0, struct.pack("HxxxxxxQ", 2, ctypes.addressof(allow)))
        os.write(w, b"x")
        while True:
            os.getppid()
            os.close(os.open("/dev/null", os.O_RDONLY))
            time.sleep(0.0001)
    os.read(r, 1)
    with counting():
        time.sleep(n / 200)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@part(200)
def semaphores(n, counting):
    """Of System V, as databases have them, and message queues of both kinds."""
    class Op(ctypes.Structure):
        _fields_ = [("number", ctypes.c_ushort), ("op", ctypes.c_short), ("flags", ctypes.c_short)]
    up, down, wait = Op(0, 1, 0), Op(0, -1, 0), ctypes.create_string_buffer(struct.pack("l8s", 1, b"message"))
    here = libc.semget(0, 1, 0o1600)
    there = libc.semget(0, 1, 0o1600)
    queue = libc.msgget(0, 0o1600)
    posix = ctypes.CDLL("librt.so.1", use_errno=True)
    name = b"/ordinary-work"
    mq = posix.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)

    def answer():
        while libc.semop(there, ctypes.byref(down), 1) == 0:
            libc.semop(here, ctypes.byref(up), 1)
    with child(answer), counting():
        for _ in range(n):
            libc.semop(here, ctypes.byref(up), 1)
            libc.semop(here, ctypes.byref(down), 1)
            libc.semop(there, ctypes.byref(up), 1)
            libc.semop(here, ctypes.byref(down), 1)
            libc.msgsnd(queue, wait, 8, 0)
            libc.msgrcv(queue, wait, 8, 0, 0)
            if mq >= 0:
                posix.mq_send(mq, b"message", 7, 0)
                posix.mq_receive(mq, ctypes.create_string_buffer(8192), 8192, None)
    libc.semctl(here, 0, 0)
    libc.semctl(there, 0, 0)
    libc.msgctl(queue, 0, None)
    posix.mq_unlink(name)


@part(100)
def shared_memory(n, counting):
    """Of System V and of POSIX."""
    libc.shmat.restype = ctypes.c_void_p
    libc.shmdt.argtypes = [ctypes.c_void_p]
    with counting():
        for i in range(n):
            segment = libc.shmget(0, 4 * PAGE_BYTES, 0o1600)
            at = libc.shmat(segment, None, 0)
            ctypes.memset(at, 7, 4 * PAGE_BYTES)
            libc.shmdt(at)
            libc.shmctl(segment, 0, None)
            fd = os.open(f"/dev/shm/shared-{i}", os.O_RDWR | os.O_CREAT)
            os.ftruncate(fd, PAGE_BYTES)
            m = mmap.mmap(fd, PAGE_BYTES)
            m[0] = 7
            m.close()
            os.close(fd)
            os.unlink(f"/dev/shm/shared-{i}")


@part(100)
def asynchronous(n, counting):
    """io_submit(2), of a file and of a block device past the page cache."""
    class Iocb(ctypes.Structure):
        _fields_ = [("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("flags", ctypes.c_int32),
                    ("opcode", ctypes.c_uint16), ("priority", ctypes.c_int16), ("fd", ctypes.c_uint32),
                    ("buffer", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("offset", ctypes.c_int64),
                    ("reserved", ctypes.c_uint64), ("more_flags", ctypes.c_uint32), ("eventfd", ctypes.c_uint32)]
    context, events = ctypes.c_ulong(), ctypes.create_string_buffer(32)
    call("io_setup", 4, ctypes.byref(context))
    block = mmap.mmap(-1, PAGE_BYTES)
    at = ctypes.addressof(ctypes.c_char.from_buffer(block))
    fds = [os.open(f"{EXT4}/direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT)]
    with contextlib.suppress(OSError):
        fds.append(os.open("/dev/loop0", os.O_RDONLY | os.O_DIRECT))
    os.pwrite(fds[0], block, 0)
    with counting():
        for _ in range(n):
            for fd in fds:
                iocb = Iocb(fd=fd, buffer=at, bytes=PAGE_BYTES)
                one = ctypes.c_void_p(ctypes.addressof(iocb))
                call("io_submit", context, 1, ctypes.byref(one))
                call("io_getevents", context, 1, 1, events, None)
                os.preadv(fd, [block], 0)
            os.pwrite(fds[0], block, 0)
    call("io_destroy", context)
    for fd in fds:
        os.close(fd)
    os.unlink(f"{EXT4}/direct")


@part(100)
def rings(n, counting):
    """io_uring: one entry at a time, that does nothing, reads, writes, waits for a disk and for a pipe."""
    params = ctypes.create_string_buffer(120)
    fd = call("io_uring_setup", 4, params)
    sq_entries, cq_entries = struct.unpack_from("II", params, 0)
    sq = struct.unpack_from("10I", params, 40)  # head, tail, ring_mask, ring_entries, flags, dropped, array
    cq = struct.unpack_from("10I", params, 80)  # head, tail, ring_mask, ring_entries, overflow, cqes
    ring = mmap.mmap(fd, max(sq[6] + sq_entries * 4, cq[5] + cq_entries * 16), offset=0)
    entries = mmap.mmap(fd, sq_entries * 64, offset=0x10000000)
    buffer = ctypes.create_string_buffer(b"x" * 512)
    f = os.open("/dev/shm/ring", os.O_RDWR | os.O_CREAT)
    put(f"{EXT4}/ring", "x" * PAGE_BYTES)
    on_disk = os.open(f"{EXT4}/ring", os.O_RDONLY)
    os.fsync(on_disk)
    r, w = os.pipe()

    def submit(opcode, which=-1, size=0):
        tail, = struct.unpack_from("I", ring, sq[1])
        i = tail & (sq_entries - 1)
        struct.pack_into("BBHiQQII", entries, i * 64, opcode, 0, 0, which, 0,
                         ctypes.addressof(buffer) if size else 0, size, 0)
        struct.pack_into("I", ring, sq[6] + 4 * i, i)
        struct.pack_into("I", ring, sq[1], tail + 1)
        if which != r:
            call("io_uring_enter", fd, 1, 1, 1, None, 0)
        else:
            call("io_uring_enter", fd, 1, 0, 0, None, 0)
            os.write(w, b"x" * 8)
            call("io_uring_enter", fd, 0, 1, 1, None, 0)
        struct.pack_into("I", ring, cq[0], struct.unpack_from("I", ring, cq[1])[0])
    with counting():
        for _ in range(n):
            submit(0)            # IORING_OP_NOP
            submit(23, f, 512)   # IORING_OP_WRITE
            submit(22, f, 512)   # IORING_OP_READ
            os.posix_fadvise(on_disk, 0, 0, os.POSIX_FADV_DONTNEED)
            submit(22, on_disk, 512)
            submit(22, r, 8)
            submit(3, f)         # IORING_OP_FSYNC
    for one in (fd, f, on_disk, r, w):
        os.close(one)
    os.unlink("/dev/shm/ring")
    os.unlink(f"{EXT4}/ring")


@part(150)
def process_timers(n, counting):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    timer = ctypes.c_int()
    once = struct.pack("qqqq", 0, 0, 0, 200000)
    with counting():
        for _ in range(n):
            call("timer_create", 1, None, ctypes.byref(timer))
            call("timer_settime", timer, 0, once, None)
            signal.sigtimedwait([signal.SIGALRM], 1)
            call("timer_delete", timer)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


@part(100)
def process_fds(n, counting):
    """pidfds, and memory of another process, as supervisors and debuggers have them."""
    there = ctypes.create_string_buffer(b"x" * 100)
    here = ctypes.create_string_buffer(100)

    def vector(buffer):
        return struct.pack("QQ", ctypes.addressof(buffer), 100)
    with child(signal.pause) as pid, counting():
        for _ in range(n):
            fd = call("pidfd_open", pid, 0)
            call("pidfd_send_signal", fd, 0, None, 0)
            select.select([fd], [], [], 0)
            os.close(fd)
            call("process_vm_readv", pid, vector(here), 1, vector(there), 1, 0)
            call("membarrier", 1, 0, 0)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


@part(150)
def traced(n, counting):
    """What strace and gdb do."""
    def turn():
        while True:
            os.getppid()
    with child(turn) as pid:
        call("ptrace", 16, pid, None, None)  # PTRACE_ATTACH
        os.waitpid(pid, 0)
        registers = ctypes.create_string_buffer(1024)
        with counting():
            for _ in range(n):
                call("ptrace", 24, pid, None, None)  # PTRACE_SYSCALL
                os.waitpid(pid, 0)
                call("ptrace", 12, pid, None, registers)
                call("ptrace", 1, pid, ctypes.c_void_p(ctypes.addressof(registers)), registers)


@part(100)
def piped(n, counting):
    """Pages that are moved and copied inside the kernel."""
    r, w = os.pipe()
    r2, w2 = os.pipe()
    data = ctypes.create_string_buffer(b"x" * PAGE_BYTES)
    a = os.open("/dev/shm/one", os.O_RDWR | os.O_CREAT)
    b = os.open("/dev/shm/two", os.O_RDWR | os.O_CREAT)
    os.write(a, data)
    with counting():
        for _ in range(n):
            call("vmsplice", w, struct.pack("QQ", ctypes.addressof(data), 1000), 1, 0)
            call("tee", r, w2, 1000, 0)
            os.read(r, 1000)
            os.splice(r2, b, 1000, offset_dst=0)
            call("copy_file_range", a, struct.pack("Q", 0), b, struct.pack("Q", 0), 3000, 0)
            call("statx", -100, b"/dev/shm/one", 0, 0xfff, ctypes.create_string_buffer(256))
    for fd in (r, w, r2, w2, a, b):
        os.close(fd)
    os.unlink("/dev/shm/one")
    os.unlink("/dev/shm/two")


@part(100)
def attributes(n, counting):
    """Extended ones, and locked memory."""
    m = mmap.mmap(-1, 8 * PAGE_BYTES)
    at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    vector = ctypes.create_string_buffer(8)
    with counting():
        for _ in range(n):
            for directory in ("/dev/shm", EXT4):
                name = f"{directory}/attributes"
                os.close(os.open(name, os.O_CREAT | os.O_RDWR))
                with contextlib.suppress(OSError):
                    os.setxattr(name, "user.one", b"x" * 20)
                    os.setxattr(name, "trusted.one", b"x" * 20)
                    os.listxattr(name)
                    os.getxattr(name, "trusted.one")
                    os.removexattr(name, "trusted.one")
                os.unlink(name)
            libc.mlock(at, 4 * PAGE_BYTES)
            libc.munlock(at, 4 * PAGE_BYTES)
            call("mincore", at, 8 * PAGE_BYTES, vector)
            with open("/dev/urandom", "rb") as f:
                f.read(32)


@part(200)
def unix_as_files(n, counting):
    """Sockets that are read and written like files, and several messages at a time."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with counting():
        for _ in range(n):
            os.write(a.fileno(), b"x" * 16)
            os.read(b.fileno(), 64)
            os.writev(b.fileno(), [b"x" * 16, b"y" * 16])
            os.readv(a.fileno(), [bytearray(16), bytearray(16)])
            a.sendmsg([b"x" * 16])
            b.recvmsg(64)
            a.send(b"x" * 16)
            b.recv_into(bytearray(64))
            fcntl.ioctl(b, 0x541b, b"\0" * 4)  # FIONREAD
            b.setblocking(False)
            b.setblocking(True)
    a.close()
    b.close()


@part(100)
def more_calls(n, counting):
    """What programs ask for now and then."""
    os.mkfifo("/dev/shm/fifo")
    fifo = os.open("/dev/shm/fifo", os.O_RDWR)
    f = os.open("/dev/shm/more", os.O_RDWR | os.O_CREAT)
    os.ftruncate(f, 10 * PAGE_BYTES)
    m = mmap.mmap(f, 8 * PAGE_BYTES)
    at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    some = ctypes.create_string_buffer(1024)
    later = struct.pack("qq", 0, 50000)
    with counting():
        for _ in range(n):
            os.write(fifo, b"x")
            os.read(fifo, 1)
            os.posix_fadvise(f, 0, 0, os.POSIX_FADV_WILLNEED)
            os.preadv(f, [bytearray(10)], 0)
            os.pwritev(f, [b"x"], 5)
            libc.syscall(277, f, ctypes.c_long(0), ctypes.c_long(4096), 2)  # sync_file_range
            libc.syscall(187, f, ctypes.c_long(0), 4096)                    # readahead
            libc.syscall(26, at, ctypes.c_long(4096), 4)                    # msync
            libc.syscall(230, 1, 0, later, None)                            # clock_nanosleep
            libc.syscall(302, 0, 7, None, some)                             # prlimit64
            libc.syscall(315, 0, some, 48, 0)                               # sched_getattr
            libc.syscall(131, None, some)                                   # sigaltstack
            libc.syscall(234, os.getpid(), threading.get_native_id(), 0)    # tgkill
            libc.syscall(125, struct.pack("Ii", 0x20080522, 0), some)       # capget
            libc.syscall(239, some, None, 0, None, 0)                       # get_mempolicy
            libc.syscall(229, 1, some)                                      # clock_getres
            libc.syscall(160, 4, struct.pack("QQ", 0, 2**64 - 1))           # setrlimit
            libc.syscall(99, some)                                          # sysinfo
            libc.syscall(122, 0)                                            # setfsuid
            libc.syscall(204, 0, 128, some)                                 # sched_getaffinity
            libc.syscall(436, 1000, 2000, 0)                                # close_range
            libc.syscall(103, 3, some, 10)                                  # syslog
            os.fchmod(f, 0o600)
            os.truncate("/dev/shm/more", 10 * PAGE_BYTES)
            os.fsync(f)
            os.close(os.dup(f))
            os.close(os.dup2(f, 900))
            os.get_blocking(f)
            os.chdir("/")
    m = at = None
    os.close(fifo)
    os.close(f)
    os.unlink("/dev/shm/fifo")
    os.unlink("/dev/shm/more")


def sent_files(n, counting, directory, a, b):
    """As servers and proxies pass data on."""
    name, (r, w) = f"{directory}/sent", os.pipe()
    put(name, "x" * 65536)
    fd = os.open(name, os.O_RDONLY)
    with counting():
        for i in range(n):
            os.sendfile(a.fileno(), fd, i % 8 * PAGE_BYTES, 2 * PAGE_BYTES)
            b.recv(2 * PAGE_BYTES, socket.MSG_WAITALL)
            a.sendall(b"x" * PAGE_BYTES)
            some = os.splice(b.fileno(), w, PAGE_BYTES)
            os.splice(r, b.fileno(), some)
            a.recv(some, socket.MSG_WAITALL)
            b.recv(PAGE_BYTES - some, socket.MSG_WAITALL)
    for f in (fd, r, w):
        os.close(f)
    os.unlink(name)
    a.close()
    b.close()


@part(200)
def sent_files_tmpfs(n, counting):
    sent_files(n, counting, "/dev/shm", *socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))


@part(200)
def sent_files_ext4(n, counting):
    sent_files(n, counting, EXT4, *socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))


@part(200)
def direct(n, counting):
    """As databases read and write, around the page cache."""
    name, block = f"{EXT4}/direct", mmap.mmap(-1, 4 * PAGE_BYTES)
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    with counting():
        for i in range(n):
            at = i % 16 * len(block)
            os.pwritev(fd, [block], at)
            os.preadv(fd, [block], at)
            if i % 8 == 0:
                os.fdatasync(fd)
    os.close(fd)
    os.unlink(name)


@part(600)
def reclaim(n, counting):
    """Files beyond what a service may have in memory."""
    name, block = f"{EXT4}/large", b"x" * 65536
    with open(name, "wb") as f:
        for _ in range(600):
            f.write(block)
    os.sync()
    with open(f"{CGROUP}/memory.current") as f:
        put(f"{CGROUP}/memory.max", str(int(f.read()) + (2 << 20)))
    with open(name, "rb", buffering=0) as f, counting():
        for i in range(n):
            f.seek(i % 600 * len(block))
            f.read(len(block))
    put(f"{CGROUP}/memory.max", "max")
    os.unlink(name)


@part(100)
def cold_reads(n, counting):
    """A file that is not in memory, or not to stay there: as databases and backups have it."""
    name, size = f"{EXT4}/cold", 64 * PAGE_BYTES
    put(name, "x" * size)
    os.sync()
    by_page, in_order = os.open(name, os.O_RDONLY), os.open(name, os.O_RDONLY)
    os.posix_fadvise(by_page, 0, 0, os.POSIX_FADV_RANDOM)
    with counting():
        for i in range(n):
            with mmap.mmap(in_order, size, prot=mmap.PROT_READ) as m:
                for at in range(0, size, 8 * PAGE_BYTES):
                    m[at]
                os.posix_fadvise(in_order, 0, 0, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(in_order, 0, 0, os.POSIX_FADV_DONTNEED)
            for at in range(4):
                os.pread(by_page, 100, (i + 17 * at) % 64 * PAGE_BYTES)
            os.posix_fadvise(in_order, 0, size, os.POSIX_FADV_WILLNEED)
            os.pread(in_order, size, 0)
    os.close(by_page)
    os.close(in_order)
    os.unlink(name)


@part(100)
def scattered_writes(n, counting):
    """A file with holes, as databases and images of machines are."""
    name = f"{EXT4}/scattered"
    with open(name, "wb", 0) as f, counting():
        for i in range(n):
            os.pwrite(f.fileno(), b"x" * PAGE_BYTES, i * 7919 % 4096 * PAGE_BYTES)
            os.posix_fallocate(f.fileno(), i * 4241 % 4096 * PAGE_BYTES, PAGE_BYTES)
            if i % 4 == 0:
                os.fsync(f.fileno())
    os.unlink(name)


@part(150)
def netlink(n, counting):
    """What ip(8), the resolver and udev ask and hear."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s, counting():
        s.bind((0, 0))
        for i in range(n):
            for request in (18, 22):  # RTM_GETLINK, RTM_GETADDR
                s.send(struct.pack("=IHHIIBxxxi8x", 32, request, 0x301, i, 0, 0, 0))
                s.recv(65536)
                s.recv(65536)


# What has a name of its own.

def connected(a, b):
    """Two that are bound: of a stream, the first one has accepted the second one's connection."""
    if a.type == socket.SOCK_STREAM:
        a.listen()
        b.connect(a.getsockname())
        listener, a = a, a.accept()[0]
        listener.close()
        for s in (a, b):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    else:
        a.connect(b.getsockname())
        b.connect(a.getsockname())
    return a, b


def inet_socket(kind, address):
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    s.bind((address, 0))
    return s


def inet_pair(kind, address="127.0.0.1"):
    return connected(inet_socket(kind, address), inet_socket(kind, address))


def container_pair(kind):
    """One of them is in a network namespace of its own, which ends with it."""
    home, ends = os.open("/proc/self/ns/net", os.O_RDONLY), []
    run("modprobe", "veth")
    libc.unshare(CLONE_NEWNET)
    run("ip", "link", "add", "inside", "type", "veth", "peer", "name", "outside", "netns", "1")
    for device, address in (("inside", "10.77.0.1"), ("outside", "10.77.0.2")):
        run("ip", "addr", "add", f"{address}/24", "dev", device)
        run("ip", "link", "set", device, "up")
        ends.append(inet_socket(kind, address))
        libc.setns(home, 0)
    os.close(home)
    return connected(*ends)


def inet_ping_pong(n, pair, cpu, counting, size=16):
    a, b = pair
    ping_pong(n, (lambda: a.recv(size), lambda: a.send(b"x" * size)),
              (lambda: b.recv(size), lambda: b.send(b"x" * size)), cpu, counting)
    a.close()
    b.close()


def inet_part(n, kind, name, cpu, make_pair):
    def work(n, counting):
        inet_ping_pong(n, make_pair(), cpu, counting())
    work.__name__ = f"{kind}_{name}"
    part(n, kind)(work)


for kind, protocol in (("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)):
    inet_part(300, kind, "one_cpu", 0, functools.partial(inet_pair, protocol))
    inet_part(300, kind, "two_cpus", 1, functools.partial(inet_pair, protocol))
    inet_part(200, kind, "ipv6", 0, functools.partial(inet_pair, protocol, "::1"))
    inet_part(200, kind, "of_a_container", 0, functools.partial(container_pair, protocol))


@part(50, "connect")
def tcp_servers(n, counting):
    serve(n, counting, socket.AF_INET, ("127.0.0.1", 0))


@part(50, "connect")
def tcp_servers_ipv6(n, counting):
    serve(n, counting, socket.AF_INET6, ("::1", 0))


@part(200, "tcp")
def tcp_sent_files(n, counting):
    sent_files(n, counting, "/dev/shm", *inet_pair(socket.SOCK_STREAM))


@part(200, "tcp")
def tcp_stream(n, counting):
    a, b = inet_pair(socket.SOCK_STREAM)

    def read():
        while b.recv(65536):
            pass
    with child(read), counting():
        for i in range(n):
            a.sendall(b"x" * (30000 if i % 2 == 0 else 200000))
    a.close()
    b.close()


@part(100, "connect")
def tcp_connect(n, counting):
    """As a server and its clients have it."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    with counting():
        for _ in range(n):
            a = socket.create_connection(listener.getsockname())
            poll.poll(1)
            b, _ = listener.accept()
            b.setblocking(False)
            poll.register(b, select.EPOLLIN | select.EPOLLET)
            a.sendall(b"x" * 300)
            poll.poll(1)
            b.recv(1000)
            b.send(b"x" * 3000)
            a.recv(5000)
            a.getpeername(), a.getsockname()
            a.shutdown(socket.SHUT_WR)
            poll.unregister(b)
            b.close()
            a.close()
    listener.close()


@part(150, "udp")
def udp_packets(n, counting):
    """To whom it may concern, as a resolver does it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, counting():
        server.bind(("127.0.0.1", 0))
        for _ in range(n):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(1)
                s.sendto(b"x" * 600, server.getsockname())
                _, who = server.recvfrom(1000)
                server.sendto(b"y" * 1200, who)
                select.select([s], [], [], 1)
                s.recvmsg(2000)


@part(80)
def syncs(n, counting):
    """Writing back, which workers do."""
    with counting():
        for i in range(n):
            put(f"{EXT4}/file{i % 10}", "x" * 5000)
            if i % 8 == 0:
                os.sync()


def stress(name):
    """Of a part that does this."""
    def work(n, counting):
        with counting():
            run("stress-ng", f"--{name}", "1", f"--{name}-ops", str(n), "-t", "2", "--temp-path", EXT4)
    work.__name__ = f"stress-{name}"
    return work


for kind, names in STRESSORS.items():
    for stressor in names.split():
        part(200, kind)(stress(stressor))


def make_ext4():
    """A file system as most machines have it, in memory, and where it is mounted."""
    at = tempfile.mkdtemp(dir="/run")
    run("modprobe", "loop")
    run("modprobe", "ext4")
    run("truncate", "-s", "128M", "/run/image")
    run("mkfs.ext4", "-q", "-F", "/run/image")
    run("mount", "-o", "loop", "/run/image", at)
    if not os.path.ismount(at):
        print("no ext4 here", flush=True)
    return at


def enter_cgroup():
    """Two levels deep and with what services are held to, as systemd does it."""
    top = tempfile.mkdtemp(dir="/run")
    run("mount", "-t", "cgroup2", "none", top)
    with contextlib.suppress(OSError):
        at = top
        for name in ("services", "one"):
            for controller in ("cpu", "memory", "pids", "io"):
                with contextlib.suppress(OSError):
                    put(f"{at}/cgroup.subtree_control", f"+{controller}")
            at = f"{at}/{name}"
            os.mkdir(at)
        put(f"{at}/cgroup.procs", str(os.getpid()))
        return at
    print("no cgroup here", flush=True)
    return top


def work(out, wanted):
    run("ip", "link", "set", "lo", "up")
    recorder = Recorder(out)
    for name, n, function in PARTS:
        if wanted and name not in wanted:
            continue
        since = time.monotonic()
        try:
            function(n, recorder)
        except OSError as e:
            print(f"{name}: {e}", flush=True)
        os.pwrite(recorder.switch, b"0", 0)
        done = time.monotonic()
        recorder.keep(name, n)
        print(f"{name}: {n} times in {done - since:.1f} s, kept in {time.monotonic() - done:.1f} s", flush=True)
    recorder.end()
    for source, name in (("/proc/kallsyms", "kallsyms"), (f"{TRACEFS}/available_filter_functions", "available"),
                         (f"{TRACEFS}/events/ftrace/function/format", "format")):
        shutil.copyfile(source, f"{out}/{name}")


def count_calls(name, event, calls):
    """The addresses that the pages in this file tell of (linux 6.12 include/linux/ring_buffer.h)."""
    head = struct.Struct("<I")
    body = struct.Struct("<HxxxxxxQ")
    with open(name, "rb") as f:
        while page := f.read(PAGE_BYTES):
            at = 16
            end = at + (struct.unpack_from("<Q", page, 8)[0] & 0xfffff)
            while at < end:
                word, = head.unpack_from(page, at)
                kind = word & 31
                at += 4
                if 0 < kind <= 28:
                    which, address = body.unpack_from(page, at)
                    if which == event:
                        calls[address] += 1
                    at += kind * 4
                elif kind >= 30:
                    at += 4
                elif kind == 29 and word >> 5 == 0:
                    break
                else:
                    at += head.unpack_from(page, at)[0]


def read_symbols(out):
    """Where functions begin, and which of their names can be filtered."""
    with open(f"{out}/available") as f:
        available = {words[0]: words[1].strip("[]") if len(words) > 1 else "" for words in map(str.split, f)}
    named = collections.defaultdict(list)
    with open(f"{out}/kallsyms") as f:
        for line in f:
            words = line.split()
            if words[1] in "tTwW":
                named[int(words[0], 16)].append(words[2])
    starts = sorted(named)
    return available, named, starts


def count(out):
    """Prints each name, the part that calls it most, and the kinds of parts that do, if all of them have one."""
    available, named, starts = read_symbols(out)
    with open(f"{out}/format") as f:
        event = next(int(line.split()[1]) for line in f if line.startswith("ID:"))
    parts = collections.defaultdict(collections.Counter)
    for name in sorted(glob.glob(f"{out}/*.cpu*")):
        which, n, _ = os.path.basename(name).rsplit(".", 2)
        count_calls(name, event, parts[which, int(n)])
    most, kinds = {}, collections.defaultdict(set)
    for (which, n), calls in parts.items():
        for address, hits in calls.items():
            if hits < LEAST_CALLS or hits * LEAST_SHARE < n:
                continue
            start = starts[bisect.bisect_right(starts, address) - 1]
            for name in named[start]:
                if name in available and available[name] not in MODULES_OF_THE_GUEST and \
                        (KINDS[which] or not NOT_ORDINARY.match(name)):
                    most[name] = max(most.get(name, (0, "")), (hits / n, which))
                    kinds[name].add(KINDS[which])
    for name, (times, which) in sorted(most.items()):
        print(name, f"{times:.2f}", which, *([] if "" in kinds[name] else sorted(kinds[name])))


ALL_CPUS = os.sched_getaffinity(0)
if len(sys.argv) >= 3 and sys.argv[1] == "work":
    EXT4 = make_ext4()
    CGROUP = enter_cgroup()
    work(sys.argv[2], sys.argv[3:])
elif len(sys.argv) == 3 and sys.argv[1] == "count":
    count(sys.argv[2])
else:
    sys.exit(__doc__.strip())
