# SPDX-License-Identifier: GPL-2.0-or-later
"""hold-thread.py PID

Stops a thread of that process that reads what the kernel records ("cpu0", ...), with ptrace(2); the
others run on.  Says its number when it stands, and holds it until it ends, or until this process does.
"""

import ctypes
import os
import sys
import time

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000


def readers(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as f:
            if f.read().startswith("cpu"):
                yield int(tid)


def main(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(100):  # it has its name a moment later
        tid = next(readers(pid), None)
        if tid:
            break
        time.sleep(0.1)
    else:
        sys.exit(f"hold-thread: no thread of {pid} is a reader")
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if libc.ptrace(request, tid, None, None) < 0:
            sys.exit(f"hold-thread: {tid}: {os.strerror(ctypes.get_errno())}")
    os.waitpid(tid, WALL)
    print(tid, flush=True)
    # A thread that is traced does not go before its tracer knows that it has ended.
    while os.WIFSTOPPED(os.waitpid(tid, WALL)[1]):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
