#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gives each function of a trace.dat a name of 40 characters: what tables do with such, system/test-narrow.sh asks.
#
#       long-names.py OLD.dat NEW.dat      OLD: of "ftracectl fetch", version 6
import struct
import sys

PAGE = 4096
data = open(sys.argv[1], "rb").read()


def past_formats(at):
    at += 10 + 2                                        # "\27\10\104tracing", "6\0"
    at += 1 + 1 + 4                                     # byte order, bytes of a long, of a page
    for name in (b"header_page\0", b"header_event\0"):
        assert data[at:at + len(name)] == name
        at += len(name)
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    (n,) = struct.unpack_from("<I", data, at)           # events of ftrace itself
    at += 4
    for _ in range(n):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    (n_systems,) = struct.unpack_from("<I", data, at)
    at += 4
    for _ in range(n_systems):
        at = data.index(b"\0", at) + 1
        (n,) = struct.unpack_from("<I", data, at)
        at += 4
        for _ in range(n):
            at += 8 + struct.unpack_from("<Q", data, at)[0]
    return at


def long_name(line):
    address, kind, name = line.split(b" ", 2)
    name, tab, module = name.partition(b"\t")
    return b" ".join((address, kind, (name + b"_has_a_name_that_takes_all_of_a_column")[:40])) + tab + module


at = past_formats(0)
(n,) = struct.unpack_from("<I", data, at)
symbols = b"".join(long_name(line) + b"\n" for line in data[at + 4:at + 4 + n].splitlines() if line.count(b" ") >= 2)
grown = -(-(len(symbols) - n) // PAGE) * PAGE           # so that pages stay on pages
symbols += b"\n" * (grown - (len(symbols) - n))
new = bytearray(data[:at] + struct.pack("<I", len(symbols)) + symbols + data[at + 4 + n:])
at += 4 + len(symbols)
at += 4 + struct.unpack_from("<I", new, at)[0]          # printk's formats
at += 8 + struct.unpack_from("<Q", new, at)[0]          # names of tasks
(n_cpus,) = struct.unpack_from("<I", new, at)
at += 4
assert new[at:at + 10] == b"options  \0"
at += 10
while (option := struct.unpack_from("<H", new, at)[0]) != 0:
    at += 6 + struct.unpack_from("<I", new, at + 2)[0]
at += 2
assert new[at:at + 10] == b"flyrecord\0"
at += 10
for cpu in range(n_cpus):
    (offset,) = struct.unpack_from("<Q", new, at + 16 * cpu)
    if offset > 0:
        struct.pack_into("<Q", new, at + 16 * cpu, offset + grown)
open(sys.argv[2], "wb").write(new)
