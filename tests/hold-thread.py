# SPDX-License-Identifier: GPL-2.0-or-later
"""hold-thread.py PID

Stops the thread of that process that was begun last, and is not its first, with ptrace(2); the others
run on.  Says its number when it stands, and holds it until it ends, or until this process does.
"""

import ctypes
import os
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000


def main(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    tid = max(int(t) for t in os.listdir(f"/proc/{pid}/task"))
    if tid == int(pid):
        sys.exit(f"hold-thread: {pid} has one thread")
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
