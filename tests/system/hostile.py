#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py SOCKET DAEMON_PID ATTACK...
hostile.py --functions
hostile.py --session FROM TO UID

The second prints the 60,000 functions that the attacks whose names begin with "expensive" are about, the
third makes a session of UID in the directory TO that has 1,000 segments (FTRACED_LONG: 20,000), all else as
in FROM.

Attacks the daemon in one way after the other while another client asks it for its status all the time,
and prints "ATTACK ok" or "ATTACK not ok: WHY" for each.  The last line is "answers N late N worst MS",
of what the other client waited for: late is what took more than 100 ms, without the time in which the
daemon's loop, who works beside it, or the client could have run but had no CPU (/proc/PID/schedstat),
and more than twice as long as a process that only gives back what it is sent.  Run as
root the attackers are another user, in the group GROUP of the socket.

The expensive calls: a part of them, by one user, and everybody is answered in the end.  With FTRACED_LONG all of
them, by three users at the same time, and nobody else's answer may be late because of them: in one of three
rounds, for the machine has its moments.
"""

import array
import glob
import json
import os
import re
import resource
import select
import shutil
import socket
import struct
import sys
import time

USER = GROUP = 64999
STATUS = b'{"method":"org.ftraced.GetStatus"}\0'
INFO = b'{"method":"org.varlink.service.GetInfo"}\0'
IS_LONG = bool(os.environ.get("FTRACED_LONG"))
N_USERS = 3 if IS_LONG else 1
N_SEGMENTS = 20000 if IS_LONG else 1000
PATIENCE_S = 60  # for what comes sooner or later
CONNECTIONS = 64  # of one user (daemon/server/server.h)
CALL_MAX = 2112 << 10  # FRAME_CALL_MAX
with open(__file__, encoding="utf-8") as f:
    SOURCE = f.read()  # before there is another user, who may not look in here

if not sys.argv[1].startswith("--"):
    path = sys.argv[1]
    daemon = int(sys.argv[2])

def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)  # waits while the queue is full
    s.settimeout(PATIENCE_S)
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

def wait_until_served():
    """The daemon may not have seen yet who has gone."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with connect() as s:
            answer = receive(s) if send(s, INFO) else None
            if answer is not None and "error" not in answer:
                return True
        time.sleep(0.01)
    return False

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
            end = time.monotonic() + PATIENCE_S
            readable = []
            while len(readable) < len(kept) - CONNECTIONS and time.monotonic() < end:
                readable, _, _ = select.select(kept, [], [], 0.1)
            check(len(readable) >= len(kept) - CONNECTIONS, "one user has more than his connections")
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
    check(wait_until_served(), "it does not serve any more")

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
        check(n < CALL_MAX + (2 << 20), "a message may be as long as it likes")

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
        b'{"method":"org.ftraced.Start","parameters":{"spec":{"max_bytes":99999999999999999999999}}}\0',
        b'{"method":"org.ftraced.Start","parameters":{"spec":{"max_bytes":1e999}}}\0',
        b'{"method":"org.ftraced.GetStatus","more":"yes"}\0',
        b'{"method":"org.ftraced.GetStatus","more":true,"oneway":true}\0',
        b'{"method":"org.ftraced.GetStatus","oneway":"yes"}\0',
        b'{"method":"org.ftraced.GetStatus","parameters":null}\0',
        b'{"method":"org.ftraced.GetStatus","surprise":1}\0',
        b'{"method":["org.ftraced.GetStatus"]}\0',
        b'{"method":"org.ftraced.GetStatus","parameters":[]}\0',
        b'"org.ftraced.GetStatus"\0',
        b"{}\0",
        b"[]\0",
        b"\0",
        b"GET / HTTP/1.0\r\n\r\n\0",
    ):
        check(dies(bad), f"it takes {bad!r}")
    for method, parameters in (
        ("Stop", {"session": 5}),
        ("Stop", {"session": ["a"]}),
        ("Start", {"spec": [], "attach": True}),
        ("Start", {"attach": -1, "spec": {"functions": ["x"]}}),
        ("Start", {"force": 1, "spec": {"functions": ["x"]}}),
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

# --- expensive calls -----------------------------------------------------------------------------

def functions():
    """As many as a large kernel has, of words that are in their names."""
    words = (
        "alloc bio cache check cpu dev dma do drop entry file find flush free get handle hash init inode insert "
        "ioctl irq kfree list lock lookup map mem migrate move next node notify open page parse pci poll proc put "
        "queue read register release remove reset rx send set show skb start stop sync tcp timer tx udp unlock "
        "update user vfs wait wake work write xattr zone"
    ).split()
    n = len(words)
    yield from ("udp_sendmsg", "udp_recvmsg", "tcp_sendmsg")
    for i in range(59997):
        a, b, c = words[i % n], words[i // n % n], words[i * 7 // 5 % n]
        yield f"{a}_{b}_{c}_{i}" if i % 3 else f"{a}_{b}_{i}"

def call(method, parameters=None, more=False):
    """Its last answer."""
    message = {"method": "org.ftraced." + method, "parameters": parameters or {}}
    if more:
        message["more"] = True
    data = json.dumps(message, separators=(",", ":")).encode()
    check(len(data) <= CALL_MAX, f"a call of {method} is longer than any may be")
    with connect() as s:
        s.settimeout(100)
        s.sendall(data + b"\0")
        answer = receive(s)
    check(answer is not None, f"{method} is not answered")
    check(method == "Vacuum" or not answer.get("error", "").startswith("org.varlink"), f"{method}: {answer}")
    return answer

def specs():
    """The dearest that are valid and fit into a call, one kind after the other."""
    for i, spec in enumerate(all_specs()):
        if i % 5 > 0 and not IS_LONG:
            continue
        while len(json.dumps(spec, separators=(",", ":"))) > CALL_MAX - 500:
            longest = max((v for v in spec.values() if isinstance(v, list)), key=len)
            del longest[len(longest) * 9 // 10 :]
        yield spec

def all_specs():
    names = list(functions())
    letters = "etaosrinlucdp"
    few = {"functions": ["udp_sendmsg"]}
    wide = {"max_functions": 65536, "max_hooked": 1 << 40}
    globs = [
        [f"{n[:9]}*" for n in names[:4000]],
        [f"*{n[3:11]}*" for n in names[:4000]],
        [f"*{n[-5:]}" for n in names[:4000]],
        [f"?*{n[-4:]}" for n in names[:4000]],
        [f"[a-z_]*{n[-4:]}" for n in names[:4000]],
        [f"*{a}*{b}*{c}*{d}*" for a in letters for b in letters for c in letters for d in "123456789"][:4000],
        ["*" + "_*" * (i % 3 + 1) + "?" * (i % 5) + "*" + "*" * (i % 7) for i in range(3000)],
        ["*" + "[a-z]*" * 38 + str(i) for i in range(240)],
        ["*_*"] * 4096,
    ]
    for g in globs:
        yield {"functions": g[:], **wide}
    for g in globs[:5]:
        yield {**few, "notrace": g[:], **wide}
        yield {**few, "hooked": g * 2, **wide}
    yield {"functions": names[:2500], **wide}
    yield {"functions": ["udp_*", "tcp_*", "vfs_*", "zone_*"], **wide}
    yield {**few, "hooked": ["*_*"], **wide}
    for name in ("tcp_sendmgs_copy_user_pages_now", "a" * 255, "alloc_cpu_chekc_59", "x_" * 30):
        yield {"functions": [name]}
        yield {**few, "notrace": [name]}
        yield {**few, "triggers": ["start function:" + name]}
    yield {**few, "events": [f"many:event{i}:common_pid==1" for i in range(256)]}
    yield {**few, "events": [f"many:event{i}:" + "||".join(["common_pid==1"] * 100) for i in range(30)]}
    yield {**few, "events": [f"many:evnet{i}" for i in range(256)]}
    yield {**few, "triggers": [f"start,stop:{i + 1}s function:udp_recvmsg" for i in range(8)]}
    yield {**few, "triggers": ["start event:many:event1:" + "||".join(["common_pid==1"] * 60)] * 8}
    yield {**few, "pids": ["1"] * 4000}
    yield {**few, "comms": [f"nobody{i}" for i in range(16)]}
    yield {**few, "cgroups": ["/"] * 64}
    yield {**few, "cpus": ["0"] * 4000}

def expensive_dry_runs():
    for spec in specs():
        call("DryRun", {"spec": spec})

def expensive_starts():
    """Those that can begin end at once."""
    for i, spec in enumerate(specs()):
        if i % 3 == 0:
            with connect() as s:
                s.sendall(json.dumps({"method": "org.ftraced.Start", "parameters": {"spec": spec, "attach": True}}).encode() + b"\0")
                s.settimeout(100)
                receive(s)

def expensive_questions():
    for _ in range(15 if IS_LONG else 3):
        for method in ("ListFunctions", "Check", "GetStatus", "List", "ListProfiles"):
            call(method)
        call("GetProfile", {"profile": "x" * 60000})
        for method in ("Describe", "Open", "Stop", "Trigger", "Snapshot", "Remove"):
            call(method, {"session": "x" * 60000})
        call("Pin", {"session": "y" * 60000, "pinned": True})
        call("Vacuum", {"max_sessions": 1, "dry_run": True})

def expensive_session():
    """One of as many functions as there may be, which all look at: only one can be recorded at a time."""
    name = f"big{os.getuid()}"
    spec = {"functions": ["udp_*", "tcp_*", "vfs_*", "zone_*"], "max_functions": 4096, "ring": True, "max_bytes": 1 << 20,
            "triggers": ["snapshot command"]}
    call("Start", {"name": name, "spec": spec})
    sessions = [s["name"] for s in call("List")["parameters"]["sessions"]]
    big = next((s for s in sessions if s.startswith("big")), name)
    watching = []
    for _ in range(15):
        s = connect()
        s.sendall(json.dumps({"method": "org.ftraced.Watch", "parameters": {"session": big}, "more": True}).encode() + b"\0")
        watching.append(s)
    for _ in range(10 if IS_LONG else 2):
        for method in ("Describe", "Open", "Trigger", "Snapshot", "List", "ListBriefs"):
            call(method, {"session": big} if not method.startswith("List") else None)
        call("Pin", {"session": name, "pinned": False})
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        for s in select.select(watching, [], [], 0.1)[0]:
            s.recv(1 << 20)
    for s in watching:
        s.close()
    for method in ("Stop", "Remove"):
        call(method, {"session": name})

def expensive_segments():
    """What is asked of sessions that have very many, the removal of one's own last."""
    wide = [s["name"] for s in call("List")["parameters"]["sessions"] if s["name"].startswith("wide")]
    for name in wide:
        for _ in range(3 if IS_LONG else 1):
            for method in ("GetStatus", "List", "ListBriefs", "Describe", "Open"):
                call(method, {"session": name} if method in ("Describe", "Open") else None)
        call("DryRun", {"spec": {"functions": ["udp_sendmsg"]}})
    own = f"wide{os.getuid()}-"
    for name in sorted(n for n in wide if n.startswith(own))[:1]:
        call("Remove", {"session": name})

def expensive_methods():
    """Whoever adds a method adds it here."""
    with connect() as s:
        s.sendall(b'{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.ftraced"}}\0')
        text = receive(s)["parameters"]["description"]
    for method in re.findall(r"^method (\w+)", text, re.M):
        check(f'"{method}"' in SOURCE or f"org.ftraced.{method}" in SOURCE, f"{method} is called by no attack")

# --- the other client ----------------------------------------------------------------------------

def read_proc(path):
    try:
        with open(path) as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""

def late_after():
    """Seconds; a daemon that a sanitizer watches takes several times as long for everything."""
    with open(f"/proc/{daemon}/exe", "rb") as f:
        return 1.0 if re.search(rb"__[at]san_init", f.read()) else 0.1

def without_cpu():
    """Seconds that the daemon's loop, the thread beside it and we have waited for a CPU so far."""
    tasks = ["/proc/thread-self", f"/proc/{daemon}/task/{daemon}"]
    tasks += [t for t in glob.glob(f"/proc/{daemon}/task/*") if read_proc(t + "/comm") == "background\n"]
    return sum(int(read_proc(t + "/schedstat").split()[1]) for t in tasks if os.path.exists(t)) / 1e9

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
        since = time.monotonic() - without_cpu()
        t = s or connect()
        t.sendall(STATUS)
        if receive(t) is None:
            return 1e9
        if not s:
            t.close()
        return time.monotonic() - without_cpu() - since

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
        return len(times), sum(t > max(LATE, 2 * worst_echo) for t in times), max(times)

    def end(self):
        os.close(self.stop_fd)
        data = os.read(self.result_fd, 24)
        os.waitpid(self.pid, 0)
        os.close(self.result_fd)
        return struct.unpack("3d", data) if len(data) == 24 else (0, 1, 1e9)

def attack(name, user):
    """In a process of its own, as another user if we may; whether it did what it should."""
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0 and name != "descriptors":
                os.setgroups([])
                os.setgid(GROUP)
                os.setuid(user)
            wait_until_served()
            globals()[name]()
        except BaseException as e:
            print(f"{name} not ok: {type(e).__name__} {e}", flush=True)
            os._exit(1)
        os._exit(0)
    return pid

def wait_for(pids):
    return all([os.waitpid(pid, 0)[1] == 0 for pid in pids])

def make_session(source, target, uid):
    """One page in each segment, of which the sealer is told that somebody writes to it."""
    shutil.copytree(source, target)
    with open(f"{target}/session.json", encoding="utf-8") as f:
        meta = json.load(f)
    meta.update(name=os.path.basename(target), owner_uid=uid)
    with open(f"{target}/session.json", "w", encoding="utf-8") as f:
        json.dump(meta, f)
    with open(f"{target}/cpu0/00000000.seg", "rb") as f:
        segment = bytearray(f.read(8192))
    struct.pack_into("<I", segment, 48, 0)
    struct.pack_into("<Q", segment, 56, 1)
    for i in range(N_SEGMENTS):
        struct.pack_into("<Q", segment, 24, i)
        struct.pack_into("<I", segment, 52, i)
        with open(f"{target}/cpu0/{i:08x}.seg", "wb") as f:
            f.write(segment)

if sys.argv[1:] == ["--functions"]:
    print("\n".join(functions()))
    sys.exit()
if sys.argv[1] == "--session":
    make_session(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    sys.exit()
LATE = late_after()
n_answers = n_late = worst = 0
for name in sys.argv[3:]:
    is_expensive = name.startswith("expensive")
    for n_left in (2, 1, 0) if is_expensive and IS_LONG else (0,):
        witness = Witness(name == "descriptors")
        good = wait_for([attack(name, USER + i) for i in range(N_USERS if is_expensive else 1)])
        n, late, took = witness.end()
        print(f"# {name}: {n:.0f} answers, {late:.0f} late, the worst took {took * 1000:.1f} ms", flush=True)
        if not good or not late:
            break
    if good and (n == 0 or is_expensive and IS_LONG and late):
        print(f"{name} not ok: somebody else waited {took * 1000:.0f} ms", flush=True)
    elif good:
        print(f"{name} ok", flush=True)
    n_answers += n
    n_late += late
    worst = max(worst, took)
print(f"answers {n_answers:.0f} late {n_late:.0f} worst {worst * 1000:.0f}")
