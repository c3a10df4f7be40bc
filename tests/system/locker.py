# SPDX-License-Identifier: GPL-2.0-or-later
#
# Takes every lock that it can get, as somebody who may only read: on all that can be opened below a store, also on
# what comes later, and on the descriptors that the daemon hands out, on copies of them, and on what is opened
# anew through them.  Shared ones, which are then made exclusive, and those of ranges.
#
#       locker.py STORE MODE [SOCKET SESSION...]        MODE: shared, exclusive, ranges, all
#
# Prints "held N" when it has been everywhere once, and holds them until it is killed.
import array
import fcntl
import json
import os
import socket
import struct
import sys
import time

F_OFD_SETLK = 37
store, mode, *rest = sys.argv[1:]
held = {}  # (device, inode, how) -> descriptor
kept = []


def ofd(fd):
    fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))


ways = {
    "shared": [lambda fd: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)],
    "exclusive": [lambda fd: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB),
                  lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)],
    "ranges": [ofd, lambda fd: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)],
}
modes = list(ways) if mode == "all" else [mode]


def take(path, how):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    st = os.fstat(fd)
    key = st.st_dev, st.st_ino, how
    if key in held:
        os.close(fd)
        return
    for way in ways[how]:
        try:
            way(fd)
            held[key] = fd
        except OSError:
            pass
    if held.get(key) != fd:
        os.close(fd)


def walk(top):
    for how in modes:
        take(top, how)
    for path, dirs, files in os.walk(top, onerror=lambda e: None):
        for name in dirs + files:
            for how in modes:
                take(os.path.join(path, name), how)


def handed_out(path, session):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    call = {"method": "org.ftraced.Open", "parameters": {"session": session}}
    s.sendall(json.dumps(call).encode() + b"\0")
    data, fds = b"", array.array("i")
    while not data.endswith(b"\0"):
        part, ancillary, _, _ = s.recvmsg(1 << 20, socket.CMSG_SPACE(64))
        data += part
        for _, kind, raw in ancillary:
            if kind == socket.SCM_RIGHTS:
                fds.frombytes(raw)
    kept.append(s)
    return list(fds)


for session in rest[1:]:
    for fd in handed_out(rest[0], session):
        kept.append(fd)
        for how in modes:
            for way in ways[how]:
                try:
                    way(fd)
                except OSError:
                    pass
        for top in f"/proc/self/fd/{fd}/", f"/proc/self/fd/{fd}/../..":
            walk(top)
walk(store)
print("held", len(held), flush=True)
while True:
    time.sleep(0.02)
    walk(store)
