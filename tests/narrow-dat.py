#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""narrow-dat.py FILE RET [--big-endian] [--data-at=16]

Makes of a trace.dat of version 6 what a kernel of 32 bits would have recorded: the same calls, with a page header whose
length has 4 bytes, addresses of 4 bytes, and kallsyms of 8 digits.  Knows nothing of ftraced."""

import re
import struct
import sys

args = [a for a in sys.argv[1:] if not a.startswith('--')]
big = '--big-endian' in sys.argv
data_at = 16 if '--data-at=16' in sys.argv else 12
order = '>' if big else '<'
data = open(args[0], 'rb').read()
at = 0
out = bytearray()


def take(n):
    global at
    at += n
    return data[at - n:at]


def number(n):
    return int.from_bytes(take(n), 'little')


def put(v, n):
    out.extend(v.to_bytes(n, 'big' if big else 'little'))


def copy_text():
    """A string with its NUL."""
    end = data.index(b'\0', at) + 1
    out.extend(take(end - at))


HEADER_PAGE = ('\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
               '\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n'
               '\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
               '\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n')
calls = {}  # id: [(offset, size, new offset, new size)]


def narrow_format(text):
    """The formats of calls, whose func is 4 bytes shorter."""
    text = text.decode()
    name = re.search(r'^name: (\w+)', text).group(1)
    if name not in ('funcgraph_entry', 'funcgraph_exit'):
        return text.encode()
    fields = []
    shift = 0

    def narrow(m):
        nonlocal shift
        offset, size = int(m.group(2)), int(m.group(3))
        n = 4 if m.group(1).split()[-1] == 'func' else size
        fields.append((offset, size, offset - shift, n))
        shift += size - n
        return '\tfield:%s;\toffset:%d;\tsize:%d;' % (m.group(1), fields[-1][2], n)
    text = re.sub(r'\tfield:([^;]*);\toffset:(\d+);\tsize:(\d+);', narrow, text)
    calls[int(re.search(r'^ID: (\d+)', text, re.M).group(1))] = fields
    return text.encode()


def formats():
    n = number(4)
    put(n, 4)
    for _ in range(n):
        text = narrow_format(take(number(8)))
        put(len(text), 8)
        out.extend(text)


def record(body):
    """Its bytes; None: it is of no call."""
    fields = calls.get(int.from_bytes(body[:2], 'little'))
    if not fields:
        return None
    new = bytearray((fields[-1][2] + fields[-1][3] + 3) // 4 * 4)
    for offset, size, new_offset, n in fields:
        v = int.from_bytes(body[offset:offset + size], 'little') & ((1 << 8 * n) - 1)
        new[new_offset:new_offset + n] = v.to_bytes(n, 'big' if big else 'little')
    return bytes(new)


def head(kind, delta):
    return struct.pack(order + 'I', kind << 27 | delta if big else delta << 5 | kind)


def narrow_page(page):
    stamp, commit = struct.unpack('<QQ', page[:16])
    payload = page[16:16 + (commit & 0x7ffffff)]
    new, i, owed = bytearray(), 0, 0
    while i < len(payload):
        word = int.from_bytes(payload[i:i + 4], 'little')
        kind, delta = word & 31, word >> 5
        i += 4
        if kind == 29 and delta == 0:
            break
        if kind in (30, 31):  # with all that is owed before it
            assert kind == 30
            owed += (int.from_bytes(payload[i:i + 4], 'little') << 27) + delta
            i += 4
            continue
        n = kind * 4
        if kind in (0, 29):
            n = int.from_bytes(payload[i:i + 4], 'little') - 4
            i += 4
        body = record(payload[i:i + n]) if kind != 29 else None
        i += n
        owed += delta
        if body is None:
            continue
        if owed >> 27:
            new += head(30, owed & 0x7ffffff) + struct.pack(order + 'I', owed >> 27)
            owed = 0
        new += head(len(body) // 4, owed) + body
        owed = 0
    flags = commit & (3 << 30)
    ret = struct.pack(order + 'QI', stamp, len(new) | flags).ljust(data_at, b'\0') + new
    if flags == 3 << 30:
        ret += struct.pack(order + 'I', struct.unpack('<Q', page[16 + len(payload):][:8])[0])
    return ret.ljust(len(page), b'\0')


out.extend(take(10))
copy_text()
assert take(2) == b'\0\x08'
out.extend(bytes([big, 4]))
page_bytes = number(4)
put(page_bytes, 4)
out.extend(take(12))
take(number(8))
text = (HEADER_PAGE % (data_at, page_bytes - data_at)).encode()
put(len(text), 8)
out.extend(text)
out.extend(take(13))
text = take(number(8))
put(len(text), 8)
out.extend(text)
formats()
n = number(4)
put(n, 4)
for _ in range(n):
    copy_text()
    formats()
kallsyms = re.sub(rb'(?m)^[0-9a-f]{8}([0-9a-f]{8}) ', rb'\1 ', take(number(4)))
put(len(kallsyms), 4)
out.extend(kallsyms)
text = take(number(4))
put(len(text), 4)
out.extend(text)
text = take(number(8))
put(len(text), 8)
out.extend(text)
n_cpus = number(4)
put(n_cpus, 4)
if data[at:at + 10] == b'options  \0':
    out.extend(take(10))
    while True:
        option = number(2)
        put(option, 2)
        if option == 0:
            break
        n = number(4)
        put(n, 4)
        if option == 8:  # how many CPUs there may be
            put(number(n), n)
        else:
            out.extend(take(n))
out.extend(take(10))
assert out.endswith(b'flyrecord\0')
places = [(number(8), number(8)) for _ in range(n_cpus)]
begin = (len(out) + 16 * n_cpus + page_bytes - 1) // page_bytes * page_bytes
pages = b''
for place, n in places:
    put(begin + len(pages), 8)
    put(n, 8)
    for i in range(0, n, page_bytes):
        pages += narrow_page(data[place + i:place + i + page_bytes])
open(args[1], 'wb').write(out.ljust(begin, b'\0') + pages)
