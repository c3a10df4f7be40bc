#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A kernel's own module, changed so that it does harm when it is loaded:

        break-module.py fault|hang MODULE.ko[.xz] OUT.ko

fault: its init function begins with an instruction that there is not, as BUG() does; hang: it keeps its CPU for 2^35
ticks of the time stamp counter, ten to twenty seconds, and returns 0.  So nothing has to be compiled for a kernel.  Its
signature, which would be wrong, is cut off; the kernel is tainted.  x86-64 only.
"""

import lzma
import struct
import sys

NOW = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0"  # rdtsc; shl $32, %rdx; or %rdx, %rax
HARM = {
    "fault": b"\x0f\x0b",  # ud2
    "hang": NOW + b"\x48\x89\xc6"  # mov %rax, %rsi
            + b"\xf3\x90" + NOW + b"\x48\x29\xf0"  # again: pause; rdtsc ...; sub %rsi, %rax
            + b"\x48\xc1\xe8\x23\x74\xec"  # shr $35, %rax; jz again
            + b"\x31\xc0\xc3",  # xor %eax, %eax; ret
}
SIGNATURE = b"~Module signature appended~\n"


def cut_signature(data):
    if not data.endswith(SIGNATURE):
        return data
    # linux 6.12 include/linux/module_signature.h: the last word of 12 bytes says how long what is before is
    end = len(data) - len(SIGNATURE)
    return data[:end - 12 - struct.unpack(">I", data[end - 4:end])[0]]


def sections(data):
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n = struct.unpack_from("<HH", data, 0x3a)
    return [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(n)]


def init_function(data):
    """(number of its section, where it is in that)"""
    for section in sections(data):
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections(data)[section[6]][4]
        for i in range(section[5] // 24):
            name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", data, section[4] + i * 24)
            if data[names + name:].startswith(b"init_module\0"):
                return index, value
    sys.exit("it has no init_module")


def drop_relocations(data, index, begin, end):
    for section in sections(data):
        if section[1] != 4 or section[7] != index:  # SHT_RELA
            continue
        for at in range(section[4], section[4] + section[5], 24):
            if begin - 4 < struct.unpack_from("<Q", data, at)[0] < end:
                struct.pack_into("<Q", data, at + 8, 0)  # R_X86_64_NONE


def main():
    opened = lzma.open if sys.argv[2].endswith(".xz") else open
    with opened(sys.argv[2], "rb") as file:
        data = bytearray(cut_signature(file.read()))
    index, value = init_function(data)
    base = sections(data)[index][4]
    at = base + value
    # Behind what the kernel itself writes there: endbr64, and the call of __fentry__.
    if data[at:at + 4] == b"\xf3\x0f\x1e\xfa":
        at += 4
    if data[at] == 0xe8:
        at += 5
    harm = HARM[sys.argv[1]]
    data[at:at + len(harm)] = harm
    drop_relocations(data, index, at - base, at - base + len(harm))
    with open(sys.argv[3], "wb") as file:
        file.write(data)


main()
