#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""varlink-client.py SOCKET METHOD [JSON] [--more] [--oneway] [--count N]

A Varlink client that shares no code with ftraced: prints the parameters of each reply as a line of
JSON, and on stderr how many descriptors came with it, if any.  An error reply is printed whole and
makes the exit status 1; 2: wrong usage; 3: no connection, or an answer that is not Varlink.
--count N ends a stream after N replies.
"""

import array
import json
import os
import socket
import sys

FDS_MAX = 253  # SCM_MAX_FD


def fail(text):
    print(f"varlink-client: {text}", file=sys.stderr)
    sys.exit(3)


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a member twice")
    return members


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.buffer = b""
        self.fds = []

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        """The next message and its descriptors, or None at the end."""
        while b"\0" not in self.buffer:
            data, ancillary, flags, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(4 * FDS_MAX))
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    fds = array.array("i")
                    fds.frombytes(content[: len(content) // 4 * 4])
                    self.fds += fds
            if flags & socket.MSG_CTRUNC:
                fail("descriptors were lost")
            if not data:
                if self.buffer:
                    fail("the connection ended within a message")
                return None
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        fds, self.fds = self.fds, []
        try:
            message = json.loads(text.decode("utf-8"), object_pairs_hook=unique)
        except ValueError as e:
            fail(f"not a message: {e}")
        if not isinstance(message, dict):
            fail("the message is not an object")
        if message.keys() - {"parameters", "continues", "error"}:
            fail(f"members that Varlink does not know: {sorted(message)}")
        return message, fds


def main(args):
    words = []
    flags = {}
    count = None
    while args:
        a = args.pop(0)
        if a in ("--more", "--oneway"):
            flags[a[2:]] = True
        elif a == "--count" and args:
            count = int(args.pop(0))
        else:
            words.append(a)
    if len(words) not in (2, 3):
        print(__doc__, file=sys.stderr, end="")
        return 2

    call = {"method": words[1], "parameters": json.loads(words[2]) if len(words) == 3 else {}}
    call.update(flags)
    try:
        c = Connection(words[0])
        c.send(call)
        if "oneway" in flags:
            return 0
        while True:
            answer = c.receive()
            if answer is None:
                fail("the connection ended before the answer")
            message, fds = answer
            if fds:
                print(f"{len(fds)} descriptors", file=sys.stderr)
            for fd in fds:
                os.close(fd)
            if "error" in message:
                print(json.dumps(message, sort_keys=True), flush=True)
                return 1
            print(json.dumps(message.get("parameters", {}), sort_keys=True), flush=True)
            if count is not None:
                count -= 1
            if not message.get("continues", False) or count == 0:
                return 0
            if "more" not in flags:
                fail("a stream that was not asked for")
    except OSError as e:
        fail(f"{words[0]}: {e.strerror or e}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
