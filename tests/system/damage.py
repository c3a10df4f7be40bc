#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""damage.py DATA SEALED OUT SEED: copies of the recordings in DATA, each damaged in one way.

OUT/store/sessions/KIND-HOW     a session one file of which is damaged; SEALED is one that is sealed
OUT/files/KIND-HOW.dat, .txt    a trace.dat or a text that is damaged
OUT/symbols/KIND-HOW/           stores whose symbols are
"""
import os
import random
import shutil
import socket
import stat
import struct
import sys

data, sealed, out, seed = sys.argv[1:5]
rng = random.Random(int(seed))


def flipped(b, n):
    b = bytearray(b)
    for _ in range(n):
        b[rng.randrange(len(b))] ^= 1 << rng.randrange(8)
    return bytes(b)


def lying(b):
    """A number somewhere becomes as large as it can be."""
    at = rng.randrange(max(len(b) - 8, 1)) & ~3
    return b[:at] + rng.choice([b"\xff" * 8, b"\xff\xff\xff\x7f", b"\0\0\0\x80", struct.pack("<Q", 1 << 40)]) + b[at + 8:]


def repeated(b):
    """The beginning again and again: what should come once does not."""
    piece = b[:max(len(b) // 8, 1)]
    return piece * 8


def long_line(b):
    return b[:len(b) // 2] + b"x" * (4 << 20) + b[len(b) // 2:]


ways = {
    "empty": lambda b: b"",
    "byte": lambda b: b[:1],
    "cut-1": lambda b: b[:len(b) // 4],
    "cut-2": lambda b: b[:-3],
    "cut-3": lambda b: b[:rng.randrange(1, len(b))],
    "flip-1": lambda b: flipped(b, 1),
    "flip-2": lambda b: flipped(b, 20),
    "flip-3": lambda b: flipped(b, max(len(b) // 50, 1)),
    "lie-1": lying,
    "lie-2": lying,
    "lie-3": lambda b: lying(lying(lying(b))),
    "random": lambda b: rng.randbytes(max(len(b), 5000)),
    "zeros": lambda b: bytes(max(len(b), 5000)),
    "ones": lambda b: b"\xff" * max(len(b), 5000),
    "repeated": repeated,
    "line": long_line,
}


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.chmod(path, 0o644)
    with open(path, "wb") as f:
        f.write(content)


def copy_tree(source, target):
    shutil.copytree(source, target)
    for directory, _, files in os.walk(target):
        os.chmod(directory, 0o755)
        for name in files:
            os.chmod(os.path.join(directory, name), 0o644)


def first_segment(session):
    directory = os.path.join(session, "cpu0")
    return os.path.join("cpu0", sorted(os.listdir(directory))[0])


def bind(path):
    s = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # such a name has 107 bytes at most
    s.bind(os.path.basename(path))
    os.chdir(here)


# What else can have a file's name.  Links lead to what it was.
stand_ins = {
    "fifo": os.mkfifo,
    "link": lambda path: os.symlink(os.path.basename(path) + ".real", path),
    "directory": os.mkdir,
    "socket": bind,
}
if os.geteuid() == 0:
    stand_ins["device"] = lambda path: os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 5))  # /dev/zero


def put_in_place(make, target, path):
    path = os.path.join(target, path)
    if os.path.lexists(path):
        os.rename(path, path + ".real")
    make(path)


HUGE = 900 << 30
session = os.path.join(data, "sessions", "udp_sendmsg-6.12")
events = "tracing/events/"
kinds = {
    "raw": (session, first_segment(session)),
    "sealed": (sealed, first_segment(sealed)),
    "meta": (session, "session.json"),
    "page": (session, events + "header_page"),
    "entry": (session, events + "ftrace/funcgraph_entry/format"),
    "exit": (session, events + "ftrace/funcgraph_exit/format"),
    "tasks": (session, "tracing/saved_cmdlines"),
}
for kind, (source, path) in kinds.items():
    for way, damage in ways.items():
        target = os.path.join(out, "store/sessions", kind + "-" + way)
        copy_tree(source, target)
        write(os.path.join(target, path), damage(read(os.path.join(source, path))))
    target = os.path.join(out, "store/sessions", kind + "-loop")
    copy_tree(source, target)
    os.unlink(os.path.join(target, path))
    os.symlink(os.path.basename(path), os.path.join(target, path))
    # 900 GB that were made in no time: behind what there was, and of nothing else.
    for way, whole in (("sparse", read(os.path.join(source, path))), ("hole", b"")):
        target = os.path.join(out, "store/sessions", kind + "-" + way)
        copy_tree(source, target)
        write(os.path.join(target, path), whole)
        os.truncate(os.path.join(target, path), HUGE)
    for way, make in stand_ins.items():
        target = os.path.join(out, "store/sessions", kind + "-" + way)
        copy_tree(source, target)
        put_in_place(make, target, path)
# Of what is no file of its own: a directory, and one that this recording does not have.
for way, make in stand_ins.items():
    for kind, path in ("cpu", "cpu0"), ("cuts", "cuts"):
        if (kind, way) != ("cpu", "directory"):
            target = os.path.join(out, "store/sessions", kind + "-" + way)
            copy_tree(session, target)
            put_in_place(make, target, path)
copy_tree(os.path.join(data, "symbols"), os.path.join(out, "store/symbols"))


def huge(kind, source, path, *parts):
    """A file that says itself that it is huge, with (offset, bytes) in it."""
    target = os.path.join(out, "store/sessions", kind)
    copy_tree(source, target)
    with open(os.path.join(target, path), "r+b") as f:
        f.truncate(HUGE)
        for at, content in parts:
            f.seek(at)
            f.write(content)


path = first_segment(session)
n_pages = struct.pack("<Q", (HUGE - 4096) // 4096)
page = read(os.path.join(session, path))[4096:8192]
huge("raw-claims", session, path, (56, n_pages))
huge("raw-claims-far", session, path, (56, n_pages), (HUGE // 4096 // 2 * 4096, page), (HUGE - 4096, page))
huge("raw-unclosed", session, path, (48, bytes(4)), (56, n_pages))
huge("raw-interrupted", session, path, (48, bytes(4)))
path = first_segment(sealed)
huge("sealed-headless", sealed, path, (0, bytes(80)))
huge("sealed-headless-far", sealed, path, (0, bytes(80)), (HUGE - 4096, b"ftracBLK" * 512))

for way, damage in ways.items():
    for name in os.listdir(os.path.join(data, "symbols")):
        path = os.path.join(data, "symbols", name)
        write(os.path.join(out, "symbols", way, "symbols", name), damage(read(path)))
    copy_tree(session, os.path.join(out, "symbols", way, "sessions/it"))
for way in ("sparse", *stand_ins):
    copy_tree(session, os.path.join(out, "symbols", way, "sessions/it"))
    for name in os.listdir(os.path.join(data, "symbols")):
        path = os.path.join(out, "symbols", way, "symbols", name)
        write(path, b"")
        if way == "sparse":
            os.truncate(path, HUGE)
        else:
            put_in_place(stand_ins[way], os.path.dirname(path), name)
for way in stand_ins:
    if way != "directory":
        copy_tree(session, os.path.join(out, "symbols", "all-" + way, "sessions/it"))
        copy_tree(os.path.join(data, "symbols"), os.path.join(out, "symbols", "all-" + way, "symbols"))
        put_in_place(stand_ins[way], os.path.join(out, "symbols", "all-" + way), "symbols")

for kind in ("v6", "v7", "zstd"):
    whole = read(os.path.join(out, kind + ".dat"))
    head = whole[:6000]
    for way, damage in ways.items():
        write(os.path.join(out, "files", kind + "-" + way + ".dat"), damage(whole))
        # The head is little of it, and where most of what can be wrong is.
        write(os.path.join(out, "files", kind + "-head-" + way + ".dat"), damage(head) + whole[6000:])
    for way, content in (("sparse", whole), ("hole", whole[:20]), ("head-sparse", head)):
        name = os.path.join(out, "files", kind + "-" + way + ".dat")
        write(name, content)
        os.truncate(name, HUGE)
# Where the pages of a CPU are, and that they are all that there may be: pairs of numbers behind "flyrecord".
whole = read(os.path.join(out, "v6.dat"))
at = whole.index(b"flyrecord\0") + 10
name = os.path.join(out, "files/v6-claims.dat")
last = max(range(2), key=lambda cpu: struct.unpack_from("<Q", whole, at + 16 * cpu)[0])
begin = struct.unpack_from("<Q", whole, at + 16 * last)[0]
write(name, whole[:at + 16 * last + 8] + struct.pack("<Q", HUGE - begin) + whole[at + 16 * last + 16:])
os.truncate(name, HUGE)
# Options whose next ones they are themselves.
v7 = read(os.path.join(out, "v7.dat"))
at = struct.unpack("<Q", v7[24:32])[0] if v7[18:24] == b"none\0\0" else 0
if at:
    n = struct.unpack("<Q", v7[at + 8:at + 16])[0]
    write(os.path.join(out, "files/v7-cyclic.dat"),
          v7[:at + 16 + n - 8] + struct.pack("<Q", at) + v7[at + 16 + n:])

texts = os.path.join(data, "text")
for kind, name in (("graph", "SyS_write-loopback.trace.txt"),
                   ("funcgraph", "udp_sendmsg-fragmented.funcgraph.txt"),
                   ("stap", "udp-client-server.stap.txt")):
    whole = read(os.path.join(texts, name))
    for way, damage in ways.items():
        write(os.path.join(out, "files", kind + "-" + way + ".txt"), damage(whole))
