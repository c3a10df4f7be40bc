#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""first-answer.py SCRATCH FTRACED [OPTION...]

Begins a daemon, whose socket is SCRATCH/socket, asks it as soon as it listens.  Its pid is in
SCRATCH/pid then; hundredths of milliseconds since its exec are added to SCRATCH/first, and those that it had a CPU
to first.cpu.
"""

import json
import os
import socket
import subprocess
import sys
import time

scratch, *command = sys.argv[1:]


def ask(method, parameters):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.path.join(scratch, "socket"))
        s.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            data = s.recv(1 << 20)
            if not data:
                sys.exit("the daemon hung up")
            answer += data
    return json.loads(answer[:-1])


def add(name, hundredths):
    with open(os.path.join(scratch, name), "a", encoding="ascii") as f:
        print(int(hundredths), file=f)


def note(name):
    with open(f"/proc/{daemon.pid}/schedstat", encoding="ascii") as f:
        add(name + ".cpu", int(f.read().split()[0]) / 1e4)
    add(name, (time.monotonic() - start) * 1e5)


start = time.monotonic()
daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL)
while True:
    try:
        ask("org.varlink.service.GetInfo", {})
        break
    except OSError:
        if daemon.poll() is not None:
            sys.exit("the daemon does not start")
        time.sleep(0.001)
note("first")
with open(os.path.join(scratch, "pid"), "w", encoding="ascii") as f:
    print(daemon.pid, file=f)
daemon.returncode = 0  # it goes on
