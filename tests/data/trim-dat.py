#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a trace.dat that trace-cmd recorded small: it keeps of symbols and formats what occurs.

usage: trim-dat.py RECORDED OCCURRING... NEW

OCCURRING is what `ftracectl fetch --compress=none RECORDED` wrote, of which the symbols and the
formats of events are taken; one for each buffer.
Pages and options stay as trace-cmd wrote them, but for offsets.
"""
import struct
import subprocess
import sys

KALLSYMS, FORMATS, BUFFER, DONE = 19, 18, 3, 0
POINTERS = {16, 17, 18, 19, 20, 21}  # options that are a section's offset


def pack(data):
    packed = subprocess.run(['zstd', '-19', '-q', '-c'], input=data, capture_output=True, check=True).stdout
    return struct.pack('<II', len(packed), len(data)) + packed


def unpack(data):
    n, _ = struct.unpack_from('<II', data)
    return subprocess.run(['zstd', '-d', '-q', '-c'], input=data[8:8 + n], capture_output=True,
                          check=True).stdout


def options_of(data, at):
    while True:
        option, n = struct.unpack_from('<HI', data, at)
        yield option, data[at + 6:at + 6 + n]
        at += 6 + n
        if option == DONE:
            return


class Seven:
    """A file of version 7: what is in its sections, and its options."""

    def __init__(self, path):
        self.data = open(path, 'rb').read()
        assert self.data.startswith(b'\x17\x08\x44tracing7\0'), path
        at = 18
        for _ in range(2):
            at = self.data.index(0, at) + 1
        self.head = self.data[:at]
        self.sections, self.options = {}, []
        first, = struct.unpack_from('<Q', self.data, at)
        while first:
            _, flags, _, n = struct.unpack_from('<HHIQ', self.data, first)
            body = self.data[first + 16:first + 16 + n]
            for option, content in options_of(unpack(body) if flags & 1 else body, 0):
                if option == DONE:
                    first, = struct.unpack('<Q', content)
                    continue
                if option in POINTERS:
                    self.sections[option] = self.section(struct.unpack('<Q', content)[0])
                self.options.append((option, content))

    def section(self, at):
        _, flags, _, n = struct.unpack_from('<HHIQ', self.data, at)
        body = self.data[at + 16:at + 16 + n]
        return unpack(body) if flags & 1 else body


def write_seven(old, occurring, path):
    out = bytearray(old.head + bytes(8))
    is_packed = b'none' not in old.head

    def section(number, plain):
        at = len(out)
        data = pack(plain) if is_packed else plain
        out.extend(struct.pack('<HHIQ', number, is_packed, 0xffffffff, len(data)) + data)
        return at

    options = bytearray()
    for option, content in old.options:
        if option in POINTERS:
            plain = occurring.sections[option] if option in (KALLSYMS, FORMATS) else old.sections[option]
            content = struct.pack('<Q', section(option, plain))
        elif option == BUFFER:
            texts = content.index(0, content.index(0, 8) + 1) + 1
            page_bytes, n = struct.unpack_from('<II', content, texts)
            flags, = struct.unpack_from('<H', old.data, struct.unpack_from('<Q', content)[0] + 2)
            head = len(out)
            out.extend(struct.pack('<HHIQ', BUFFER, flags, 0xffffffff, 0))
            cpus = b''
            for i in range(n):
                cpu, at, length = struct.unpack_from('<IQQ', content, texts + 8 + 20 * i)
                if not flags & 1:
                    out.extend(bytes(-len(out) % page_bytes))
                cpus += struct.pack('<IQQ', cpu, len(out), length)
                out.extend(old.data[at:at + length + (4 if flags & 1 else 0)])
            struct.pack_into('<Q', out, head + 8, len(out) - head - 16)
            content = struct.pack('<Q', head) + content[8:texts + 8] + cpus
        options += struct.pack('<HI', option, len(content)) + content
    options += struct.pack('<HIQ', DONE, 8, 0)
    struct.pack_into('<Q', out, len(old.head), len(out))
    out.extend(struct.pack('<HHIQ', DONE, 0, 0xffffffff, len(options)) + options)
    open(path, 'wb').write(out)


class Six:
    """A file of version 6, its parts in their order."""

    def __init__(self, path):
        self.data = open(path, 'rb').read()
        assert self.data.startswith(b'\x17\x08\x44tracing6\0'), path
        at = 18
        for name in (b'header_page\0', b'header_event\0'):
            assert self.data.startswith(name, at)
            at += len(name)
            at += 8 + struct.unpack_from('<Q', self.data, at)[0]
        at = self.skip_formats(at)
        self.head = self.data[:at]
        n, = struct.unpack_from('<I', self.data, at)
        at += 4
        for _ in range(n):
            at = self.skip_formats(self.data.index(0, at) + 1)
        at += 4 + struct.unpack_from('<I', self.data, at)[0]
        rest = at
        at += 4 + struct.unpack_from('<I', self.data, at)[0]
        at += 8 + struct.unpack_from('<Q', self.data, at)[0]
        self.before_options = self.data[rest:at + 4]
        self.n_cpus, = struct.unpack_from('<I', self.data, at)
        at += 4
        assert self.data.startswith(b'options  \0', at)
        at += 10
        self.options = []
        while struct.unpack_from('<H', self.data, at)[0] != DONE:
            option, n = struct.unpack_from('<HI', self.data, at)
            self.options.append((option, self.data[at + 6:at + 6 + n]))
            at += 6 + n
        self.table = at + 2

    def skip_formats(self, at):
        n, = struct.unpack_from('<I', self.data, at)
        at += 4
        for _ in range(n):
            at += 8 + struct.unpack_from('<Q', self.data, at)[0]
        return at

    def cpus(self, at):
        """Of the table at @at: its pages, and where what follows it is."""
        assert self.data.startswith(b'flyrecord\0', at)
        at += 10
        cpus = [struct.unpack_from('<QQ', self.data, at + 16 * i) for i in range(self.n_cpus)]
        return [self.data[o:o + n] for o, n in cpus], at + 16 * self.n_cpus


def write_six(old, occurring, path):
    out = bytearray(old.head + occurring.sections[FORMATS] + occurring.sections[KALLSYMS] +
                    old.before_options + b'options  \0')
    pointers = []
    for option, content in old.options:
        if option == BUFFER:
            pointers.append((len(out) + 6, struct.unpack_from('<Q', content)[0]))
        out += struct.pack('<HI', option, len(content)) + content
    out += struct.pack('<H', DONE)
    for pointer, at in [(None, old.table)] + pointers:
        if pointer:
            struct.pack_into('<Q', out, pointer, len(out))
        pages, end = old.cpus(at)
        out += b'flyrecord\0'
        table = len(out)
        out += bytes(16 * old.n_cpus)
        n_clock, = struct.unpack_from('<Q', old.data, end)
        out += old.data[end:end + 8 + n_clock]
        for i, data in enumerate(pages):
            out += bytes(-len(out) % 4096)
            struct.pack_into('<QQ', out, table + 16 * i, len(out), len(data))
            out += data
    open(path, 'wb').write(out)


def formats_of(section):
    """{system: [format]} of the section of events' formats."""
    systems, (n,), at = {}, struct.unpack_from('<I', section), 4
    for _ in range(n):
        end = section.index(0, at)
        system, (m,), at = section[at:end], struct.unpack_from('<I', section, end + 1), end + 5
        systems[system] = []
        for _ in range(m):
            length, = struct.unpack_from('<Q', section, at)
            systems[system].append(section[at + 8:at + 8 + length])
            at += 8 + length
    return systems


def formats_section(systems):
    section = struct.pack('<I', len(systems))
    for system, formats in sorted(systems.items()):
        section += system + b'\0' + struct.pack('<I', len(formats))
        section += b''.join(struct.pack('<Q', len(f)) + f for f in sorted(formats))
    return section


recorded, *others, new = sys.argv[1:]
others = [Seven(o) for o in others]
lines = sorted({line for o in others for line in o.sections[KALLSYMS][4:].splitlines()})
symbols = b''.join(line + b'\n' for line in lines)
others[-1].sections[KALLSYMS] = struct.pack('<I', len(symbols)) + symbols
systems = {}
for other in others:
    for system, formats in formats_of(other.sections[FORMATS]).items():
        systems[system] = set(formats) | systems.get(system, set())
others[-1].sections[FORMATS] = formats_section(systems)
if open(recorded, 'rb').read(11).endswith(b'6'):
    write_six(Six(recorded), others[-1], new)
else:
    write_seven(Seven(recorded), others[-1], new)
