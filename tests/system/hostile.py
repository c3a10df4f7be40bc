#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py SOCKET DAEMON_PID ATTACK...

Attacks the daemon in one way after the other while another client asks it for its status all the time,
and prints "ATTACK ok" or "ATTACK not ok: WHY" for each.  The last line is "answers N late N worst MS",
of what the other client waited for: late is what took more than 100 ms, and on a machine that is busy
with other things more than twice as long as a process that only gives back what it is sent.  Run as
root the attackers are another user, in the group GROUP of the socket.
"""

import array
import json
import os
import resource
import select
import socket
import struct
import sys
import time

USER = GROUP = 64999
STATUS = b'{"method":"org.ftraced.GetStatus"}\0'
INFO = b'{"method":"org.varlink.service.GetInfo"}\0'
path = sys.argv[1]
daemon = int(sys.argv[2])


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)  # waits while the queue is full
    s.settimeout(10)
    return s


def receive(s):
    """One message, or None if the peer closed before its end."""
    data = b""
    while not data.endswith(b"\0"):
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            return None
        if not more:
            return None
        data += more
    return json.loads(data[:-1].split(b"\0")[0])


def refused(s, name):
    m = receive(s)
    return m is not None and m.get("error", "").endswith(name)


def send(s, data):
    """False: the daemon has closed."""
    try:
        s.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False


def dies(data):
    """The connection on which data is sent is closed without an answer."""
    with connect() as s:
        return not send(s, data) or receive(s) is None


def check(what, why):
    if not what:
        raise AssertionError(why)


# --- the attacks ---------------------------------------------------------------------------------


def hang_up():
    for i in range(1000):
        with connect() as s:
            send(s, (b"x", b"", b"{}\0", STATUS, STATUS[:-5])[i % 5])


def slow():
    many = [connect() for _ in range(20)]
    for i in range(8):
        for s in many:
            send(s, STATUS[i : i + 1])
        time.sleep(0.05)
    for s in many:
        s.close()


def never_read():
    many = []
    for _ in range(10):
        s = connect()
        s.setblocking(False)
        n = 0
        try:
            while n < 20 << 20:
                n += s.send(STATUS * 500)
        except BlockingIOError:
            pass
        check(n < 20 << 20, "it goes on reading calls whose answers nobody reads")
        many.append(s)
    for s in many:
        s.close()


def connections():
    kept = []
    n_refused = 0
    for _ in range(10000):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        try:
            s.connect(path)
        except BlockingIOError:  # the queue is full
            time.sleep(0.001)
            s.close()
            continue
        kept.append(s)
        if len(kept) >= 400:
            end = time.monotonic() + 10
            readable = []
            while len(readable) < len(kept) - 64 and time.monotonic() < end:
                readable, _, _ = select.select(kept, [], [], 0.1)
            check(len(readable) >= len(kept) - 64, "one user has more than his connections")
            n_refused += len(readable)
            for s in readable:
                s.close()
            kept = [s for s in kept if s.fileno() >= 0]
    check(n_refused > 1000, "nobody was turned away")
    for s in kept:
        s.close()


def descriptors():
    """The daemon has none left."""
    before = resource.prlimit(daemon, resource.RLIMIT_NOFILE)
    n = len(os.listdir(f"/proc/{daemon}/fd"))
    resource.prlimit(daemon, resource.RLIMIT_NOFILE, (n + 3, before[1]))
    try:
        many = []
        for _ in range(30):
            many.append(connect())
        time.sleep(0.3)
        for s in many:
            s.close()
    finally:
        resource.prlimit(daemon, resource.RLIMIT_NOFILE, before)
    time.sleep(0.2)
    with connect() as s:
        s.sendall(INFO)
        check(receive(s), "it does not serve any more")


def half_close():
    with connect() as s:
        s.sendall(STATUS + INFO)
        s.shutdown(socket.SHUT_WR)
        data = b""
        while more := s.recv(65536):
            data += more
        check(data.count(b"\0") == 2, "who says no more does not get his answers")


def endless():
    with connect() as s:
        n = 0
        while n < 100 << 20 and send(s, b" " * 65536):
            n += 65536
        check(n < 2 << 20, "a message may be as long as it likes")


def nested():
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        deep = opening * 10000 + b"1" + closing * 10000
        check(dies(b'{"method":"org.ftraced.GetStatus","parameters":' + deep + b"}\0"), "it nests on")
        check(dies(deep[: 10000] + b"\0"), "it nests on")


def malformed():
    for bad in (
        b'{"method":"org.ftraced.GetStatus","method":"org.ftraced.Stop"}\0',
        b'{"method":"org.ftraced.Stop","parameters":{"session":"\xff\xfe"}}\0',
        b'{"method":"org.ftraced.Stop","parameters":{"session":"a\\u0000b"}}\0',
        b'{"method":"org.ftraced.Start","parameters":{"wait_ns":99999999999999999999999}}\0',
        b'{"method":"org.ftraced.Start","parameters":{"wait_ns":1e999}}\0',
        b'{"method":"org.ftraced.GetStatus","more":"yes"}\0',
        b'{"method":"org.ftraced.GetStatus","more":true,"oneway":true}\0',
        b'{"method":["org.ftraced.GetStatus"]}\0',
        b'{"method":"org.ftraced.GetStatus","parameters":[]}\0',
        b'"org.ftraced.GetStatus"\0',
        b"\0",
        b"GET / HTTP/1.0\r\n\r\n\0",
    ):
        check(dies(bad), f"it takes {bad!r}")
    for method, parameters in (
        ("Stop", {"session": 5}),
        ("Stop", {"session": ["a"]}),
        ("Start", {"spec": [], "attach": True}),
        ("Start", {"wait_ns": -1, "spec": {"functions": ["x"]}}),
        ("Start", {"wait_ns": 1.5, "spec": {"functions": ["x"]}}),
        ("Describe", {"session": "x", "more": 1}),
    ):
        with connect() as s:
            s.sendall(json.dumps({"method": "org.ftraced." + method, "parameters": parameters}).encode() + b"\0")
            check(refused(s, "InvalidParameter"), f"{method} takes {parameters}")
    for name in ("../../etc", "a/b", "..", "a\n", "%n%s", "x" * 4000, ""):
        with connect() as s:
            s.sendall(json.dumps({"method": "org.ftraced.Open", "parameters": {"session": name}}).encode() + b"\0")
            check(refused(s, "SessionNotFound"), f"it opens {name!r}")


def send_fds(s, data, fds):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def floods_of_descriptors():
    read_fd, write_fd = os.pipe()
    name = os.open("/dev/null", os.O_PATH)
    memory = os.memfd_create("x")
    directory = os.open("/", os.O_RDONLY)
    for kind in (read_fd, write_fd, name, memory, directory):
        with connect() as s:
            send_fds(s, STATUS, [kind])
            check(refused(s, "InvalidParameter"), "a call takes descriptors")
    with connect() as s:  # more than there is room for: MSG_CTRUNC
        send_fds(s, STATUS, [read_fd] * 253)
        check(receive(s) is None, "253 descriptors are taken")
    for _ in range(20):
        with connect() as s:
            try:
                for _ in range(100):
                    send_fds(s, b" ", [read_fd] * 8)
            except (BrokenPipeError, ConnectionResetError, OSError):
                pass
    for fd in (read_fd, write_fd, name, memory, directory):
        os.close(fd)


def loop():
    """As many calls as fit in a second, on as many connections as one has."""
    methods = [b"ListFunctions", b"Check", b"ListProfiles", b"List"]
    many = [connect() for _ in range(40)]
    end = time.monotonic() + 1.5
    i = 0
    while time.monotonic() < end:
        for s in many:
            s.setblocking(False)
            try:
                s.send(b'{"method":"org.ftraced.' + methods[i % 4] + b'"}\0')
                s.recv(1 << 20)
            except BlockingIOError:
                pass
            i += 1
    for s in many:
        s.close()


# --- the other client ----------------------------------------------------------------------------


class Witness:
    """Asks for the status all the time, in a process of its own; now and then as somebody who has just
    come, unless @stays."""

    def __init__(self, stays):
        self.stays = stays
        ready_fd, self.ready_write = os.pipe()
        stop_read, self.stop_fd = os.pipe()
        self.result_fd, result_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.stop_fd)
            os.write(result_write, struct.pack("3d", *self.watch(stop_read)))
            os._exit(0)
        os.close(stop_read)
        os.close(result_write)
        os.read(ready_fd, 1)
        os.close(ready_fd)
        os.close(self.ready_write)

    def ask(self, s):
        since = time.monotonic()
        t = s or connect()
        t.sendall(STATUS)
        if receive(t) is None:
            return 1e9
        if not s:
            t.close()
        return time.monotonic() - since

    def watch(self, stop_fd):
        worst_echo = 0.0
        times = []
        echo, other_end = socket.socketpair()
        if os.fork() == 0:
            echo.close()
            while data := other_end.recv(1):
                other_end.send(data)
            os._exit(0)
        other_end.close()
        with connect() as s:
            self.ask(s)
            os.write(self.ready_write, b"x")
            while len(times) < 10 or not select.select([stop_fd], [], [], 0.01)[0]:
                times.append(self.ask(None if len(times) % 4 == 1 and not self.stays else s))
                since = time.monotonic()
                echo.send(b"x")
                echo.recv(1)
                worst_echo = max(worst_echo, time.monotonic() - since)
        return len(times), sum(t > max(0.1, 2 * worst_echo) for t in times), max(times)

    def end(self):
        os.close(self.stop_fd)
        data = os.read(self.result_fd, 24)
        os.waitpid(self.pid, 0)
        os.close(self.result_fd)
        return struct.unpack("3d", data) if len(data) == 24 else (0, 1, 1e9)


def attack(name):
    """In a process of its own, as another user if we may."""
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0 and name != "descriptors":
                os.setgroups([])
                os.setgid(GROUP)
                os.setuid(USER)
            globals()[name]()
            print(f"{name} ok", flush=True)
        except BaseException as e:
            print(f"{name} not ok: {type(e).__name__} {e}", flush=True)
        os._exit(0)
    os.waitpid(pid, 0)


n_answers = n_late = worst = 0
for name in sys.argv[3:]:
    witness = Witness(name == "descriptors")
    attack(name)
    n, late, took = witness.end()
    print(f"# {name}: {n:.0f} answers, the worst took {took * 1000:.1f} ms", flush=True)
    n_answers += n
    n_late += late
    worst = max(worst, took)
print(f"answers {n_answers:.0f} late {n_late:.0f} worst {worst * 1000:.0f}")
