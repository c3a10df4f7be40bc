#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A kernel's own module, changed so that it does harm when it is loaded:

        break-module.py fault|hang MODULE.ko[.xz] OUT.ko

fault: its init function begins with an instruction that there is not, as BUG() does; hang: with a jump to itself.
So nothing has to be compiled for a kernel.  Its signature, which would be wrong, is cut off; the kernel is tainted.
x86-64 only.
"""

import lzma
import struct
import sys

HARM = {"fault": b"\x0f\x0b", "hang": b"\xeb\xfe"}
SIGNATURE = b"~Module signature appended~\n"


def cut_signature(data):
    if not data.endswith(SIGNATURE):
        return data
    # linux 6.12 include/linux/module_signature.h: the last word of 12 bytes says how long what is before is
    end = len(data) - len(SIGNATURE)
    return data[:end - 12 - struct.unpack(">I", data[end - 4:end])[0]]


def init_function(data):
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n = struct.unpack_from("<HH", data, 0x3a)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(n)]
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections[section[6]][4]
        for i in range(section[5] // 24):
            name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", data, section[4] + i * 24)
            if data[names + name:].startswith(b"init_module\0"):
                return sections[index][4] + value
    sys.exit("it has no init_module")


def main():
    opened = lzma.open if sys.argv[2].endswith(".xz") else open
    with opened(sys.argv[2], "rb") as file:
        data = bytearray(cut_signature(file.read()))
    at = init_function(data)
    # Behind what the kernel itself writes there: endbr64, and the call of __fentry__.
    if data[at:at + 4] == b"\xf3\x0f\x1e\xfa":
        at += 4
    if data[at] == 0xe8:
        at += 5
    data[at:at + 2] = HARM[sys.argv[1]]
    with open(sys.argv[3], "wb") as file:
        file.write(data)


main()
