#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
#       on-terminal.py COLUMNS COMMAND...       what COMMAND prints on a terminal that is so wide, and 5 lines high
import fcntl
import os
import pty
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 5, columns, 0, 0))
    os.execvp(command[0], command)
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
