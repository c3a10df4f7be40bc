#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counts the calls of a recording by itself, from the bytes of a trace.dat of version 6 or from the
# lines of the kernel's text, and prints where ftracectl, an exporter or libftraced says something else:
# a line each, and a status of 1.  It shares nothing with ftraced but the recording: an end is a call
# with the duration that it has, a beginning without an end is cut, and took between what was seen of its
# task before a loss and what its task did next; who called whom it does not ask.
#
#       count-calls.py FTRACECTL READ-EXPORT SOURCE FILE [LIBFTRACED PATH]
#
# FILE is what is counted, SOURCE the same for ftracectl, PATH for the library.
import bisect
import csv
import ctypes
import importlib.util
import io
import json
import mmap
import re
import struct
import subprocess
import sys
import tempfile
import traceback
from collections import Counter, defaultdict

# --- a text --------------------------------------------------------------------------------------

LINE = re.compile(
    r"\s*(?:[\d.]+ \|\s+)?(?P<cpu>\d+)\)\s+(?:(?P<task>\S.*?-\d+)\s+\|\s+)?"
    r"(?:[$@*#!+]\s+)?(?:(?P<us>[\d.]+) us)?\s*\|(?P<indent>\s*)(?P<text>\S.*)"
)


def read_text(path):
    """Calls that have ended, (function, ns), function None where the text does not say; those that
    have not, None where it is not known when they began."""
    known, begun, open_calls = [], 0, defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = LINE.fullmatch(line.rstrip("\n"))
            if not m or m["text"].startswith("/*"):
                continue
            whole, _, rest = (m["us"] or "0").partition(".")
            ns = int(whole) * 1000 + int(f"{rest:0<3}"[:3])
            calls, depth = open_calls[m["cpu"], m["task"]], len(m["indent"])
            if m["text"].startswith("}"):
                while calls and calls[-1][0] > depth:
                    calls.pop()
                named = re.search(r"/\* (.*?)(?:\(\))? \*/", m["text"])
                function = named[1] if named else calls[-1][1] if calls and calls[-1][0] == depth else None
                for i in reversed(range(len(calls))):
                    if calls[i] == (depth, function):
                        del calls[i]
                        break
                else:
                    begun += 1
                known.append((function, ns))
                continue
            begun += 1
            name = m["text"].partition("(")[0].strip()
            if m["text"].endswith("{"):
                while calls and calls[-1][0] > depth:
                    calls.pop()
                calls.append((depth, name))
            else:
                known.append((name, ns))
    return known, [None] * (begun - len(known))


# --- a trace.dat ---------------------------------------------------------------------------------


class Dat:
    """Version 6: tracecmd's trace-cmd.dat.v6(5)."""

    def __init__(self, data):
        self.data, self.at = data, 10
        assert data[:10] == b"\x17\x08\x44tracing" and self.string() == "6"
        assert data[self.at : self.at + 1] == b"\0", "not of a little-endian machine"
        self.at += 2  # byte order, size of long
        self.page_bytes = self.number("I")
        for name in ("header_page", "header_event"):
            assert self.string() == name
            self.skip(8)
        self.formats = []
        for _ in range(self.number("I")):
            self.formats.append(self.block(8))
        for _ in range(self.number("I")):
            self.string()
            for _ in range(self.number("I")):
                self.formats.append(self.block(8))
        self.kallsyms = self.block(4)
        self.skip(4)  # printk formats
        self.skip(8)  # names of tasks
        n_cpus = self.number("I")
        while True:
            kind = self.data[self.at : self.at + 10]
            self.at += 10
            if kind.startswith(b"flyrecord"):
                break
            assert kind.startswith(b"options"), kind
            while self.number("H"):
                self.skip(4)
        self.cpus = [(self.number("Q"), self.number("Q")) for _ in range(n_cpus)]

    def string(self):
        end = self.data.find(b"\0", self.at)
        s, self.at = self.data[self.at : end].decode(), end + 1
        return s

    def number(self, kind):
        (n,) = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize(kind)
        return n

    def block(self, size):
        n = self.number("Q" if size == 8 else "I")
        self.at += n
        return self.data[self.at - n : self.at].decode(errors="replace")

    def skip(self, size):
        self.block(size)


def fields_of(formats, name):
    """The number of an event, and where its fields are."""
    for text in formats:
        if re.search(rf"^name: {name}$", text, re.M):
            fields = {
                m[1]: (int(m[2]), int(m[3]))
                for m in re.finditer(r"field:[^;]*?(\w+)(?:\[\w*\])?;\s*offset:(\d+);\s*size:(\d+);", text)
            }
            return int(re.search(r"^ID: (\d+)$", text, re.M)[1]), fields
    raise KeyError(name)


MISSED = 1 << 31


def events_of(page):
    """Times and records of a page of the ring buffer (linux include/linux/ring_buffer.h); None: a loss."""
    time, commit = struct.unpack_from("<QQ", page)
    at, end = 16, 16 + (commit & 0xFFFFF)
    if commit & MISSED:
        yield time, None
    while at < end:
        head, first = struct.unpack_from("<II", page + bytes(4), at)
        kind, delta = head & 0x1F, head >> 5
        if kind == 29:  # padding
            if not delta:
                break
            time += delta
            at += 4 + first
        elif kind == 30:  # a time extend
            time += delta + (first << 27)
            at += 8
        elif kind == 31:  # a time stamp
            time = (delta + (first << 27)) | (time >> 59 << 59)
            at += 8
        elif kind == 0:
            time += delta
            yield time, page[at + 8 : at + 4 + first]
            at += 4 + (first + 3 & ~3)
        else:
            time += delta
            yield time, page[at + 4 : at + 4 + kind * 4]
            at += 4 + kind * 4


SLACK_NS, DRIFT = 20000, 4096


def find_cut(events, lag, losses):
    """Beginnings without an end.  Behind a loss an end is not of a call that began before its clock
    was read: then that call is cut, and the end is of one whose beginning is lost."""
    begun, cut = defaultdict(list), []
    for time, _, key, calltime in events:
        if calltime is None:
            begun[key].append(time)
            continue
        while begun[key]:
            start = begun[key].pop()
            between = bisect.bisect(losses, time) - bisect.bisect_left(losses, start)
            if not between or start - lag + SLACK_NS + (time - start) // DRIFT >= calltime:
                break
            cut.append((start, key))
    return cut + [(start, key) for key, starts in begun.items() for start in starts]


def find_bounds(events, losses, start, key):
    """What a call that was cut took at least, seen before a loss; seen before it must have ended; and at
    most, None where nothing proves its end.  Events: (time, order, (task, depth, function), None of an entry)."""
    task, depth, _ = key
    mine = [e for e in events if e[2][0] == task and e[0] >= start]
    mine = mine[[e[2] for e in mine].index(key) + 1 :]
    proof = next((e for e in mine if e[2][1] <= depth), None)
    loss = next((t for t in losses if t > start), None)
    before = [e[0] for e in mine if not proof or e[1] < proof[1]]
    surely = [t for t in before if loss is None or t < loss]
    return max(surely, default=start) - start, max(before, default=start) - start, proof and proof[0] - start


def read_dat(path):
    with open(path, "rb") as f:
        data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        dat = Dat(data)
        entry_id, entry = fields_of(dat.formats, "funcgraph_entry")
        exit_id, leave = fields_of(dat.formats, "funcgraph_exit")
        symbols = {}
        for line in dat.kallsyms.splitlines():
            address, _, name, *module = line.split()
            symbols.setdefault(int(address, 16), name + (f" {module[0]}" if module else ""))
        addresses = sorted(symbols)

        def name_of(function):
            return symbols[addresses[bisect.bisect(addresses, function) - 1]]

        def value(record, where):
            return int.from_bytes(record[where[0] : where[0] + where[1]], "little")

        known, events, losses, lags = [], [], [], []
        for cpu, (begin, size) in enumerate(dat.cpus):
            before = None
            for at in range(begin, begin + size, dat.page_bytes):
                for time, record in events_of(data[at : at + dat.page_bytes]):
                    if record is None:
                        losses.append(time)
                        before = None
                        continue
                    kind, pid = value(record, (0, 2)), value(record, (4, 4))
                    fields = entry if kind == entry_id else leave
                    if kind not in (entry_id, exit_id):
                        continue
                    key = (pid or -1 - cpu, value(record, fields["depth"]), value(record, fields["func"]))
                    calltime = None
                    if kind == exit_id:
                        calltime = value(record, leave["calltime"])
                        known.append((name_of(key[2]), value(record, leave["rettime"]) - calltime))
                        if before and before[2:] == (key, None):
                            lags.append(before[0] - calltime)
                    before = (time, len(events), key, calltime)
                    events.append(before)
        lag = sorted(lags)[len(lags) // 2] if lags else 0
        events.sort()
        losses.sort()
        cut = find_cut(events, lag, losses)
        for start, key in cut:
            bounds[name_of(key[2]), start] = find_bounds(events, losses, start, key)
        return known, [(name_of(key[2]), start) for start, key in cut]


# --- what others say -----------------------------------------------------------------------------

client, reader_path, source, path = sys.argv[1:5]
spec = importlib.util.spec_from_file_location("read_export", reader_path)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
bounds = {}
known, unended = (read_dat if path.endswith(".dat") else read_text)(path)
n_calls = len(known) + len(unended)
counted = Counter(known)
wrong = []


def run(*words):
    p = subprocess.run([client, words[0], "--no-pager", source, *words[1:]], capture_output=True)
    if p.returncode not in (0, 6):
        sys.exit(f"{' '.join(words)}: status {p.returncode}: {p.stderr.decode()}")
    return p.stdout


def label(row):
    return f"{row['function']} [{row['module']}]" if row["module"] else row["function"]


def differ(who, what, theirs, ours):
    if theirs != ours:
        if isinstance(ours, Counter):
            theirs, ours = list((theirs - ours).items())[:3], list((ours - theirs).items())[:3]
        wrong.append(f"{who} says of {what} {theirs}, and it is {ours}")


def of_known(pairs):
    """Without the names where the recording has none."""
    nameless = [ns for name, ns in known if name is None]
    result = Counter(pairs)
    for ns in nameless:
        for pair in [p for p in result if p[1] == ns and p not in counted]:
            result[pair] -= 1
            result[None, ns] += 1
            break
    return +result


by_function = defaultdict(list)
for name, ns in known:
    by_function[name].append(ns)
cut = n_calls - len(known)

calls = json.loads(run("calls", "--json", "*"))
differ("calls", "calls that are known", of_known((label(c), c["duration_ns"]) for c in calls if not c["cut"]), counted)
differ("calls", "how many there are", len(calls), n_calls)
if None not in unended:
    differ("calls", "those that are cut", Counter((label(c), c["start_ns"]) for c in calls if c["cut"]), Counter(unended))
for c in calls:
    if c["cut"] and (label(c), c["start_ns"]) in bounds:
        surely, seen, most = bounds[label(c), c["start_ns"]]  # a leaf's end is recorded some ns behind it
        differ("calls", f"a {c['function']} at {c['start_ns']}, whether it is within {surely}, {seen} and {most}",
               (surely - 1000 <= c["duration_ns"] <= seen, most is None, most is not None and c["most_ns"] <= most),
               (True, c["most_ns"] is None, most is not None))
rows = list(csv.DictReader(io.StringIO(run("export", "--format=csv").decode())))
differ("csv", "calls that are known",
       of_known((label({**r, "module": r["module"] or None}), int(r["duration_ns"])) for r in rows if r["cut"] == "0"),
       counted)

trees, root_of = defaultdict(int), {}
for r in sorted(rows, key=lambda r: int(r["id"])):
    root_of[r["id"]] = root_of.get(r["parent"], r["id"])
    trees[root_of[r["id"]]] += int(r["self_ns"])
for r in rows:
    if not r["parent"]:
        differ("csv", f"self times below call {r['id']}", trees[r["id"]], int(r["duration_ns"]))

top = {label(r): r for r in json.loads(run("top", "--json"))}
nodes, todo = Counter(), list(json.loads(run("tree", "--json", "--min=0"))["tree"])
totals = Counter()
while todo:
    node = todo.pop()
    todo += node["children"]
    nodes[label(node)] += node["count"] - node["cut"]
    totals[label(node)] += node["total_ns"]
for name, list_ns in by_function.items():
    if name is None:
        continue
    row = top.get(name)
    if not row:
        wrong.append(f"top does not have {name}")
        continue
    said = (row["count"] - row["cut"], row["min_ns"], row["max_ns"], row["avg_ns"])
    differ("top", name, said, (len(list_ns), min(list_ns), max(list_ns), sum(list_ns) // len(list_ns)))
    differ("tree", f"calls of {name}", nodes[name], len(list_ns))
    if row["cut"] == 0:
        differ("tree", f"the time of {name}", totals[name], sum(list_ns))
differ("top", "calls that are cut", sum(r["cut"] for r in top.values()), cut)
hist = json.loads(run("hist", "--json", "*"))["all"]
differ("hist", "calls", (hist["count"], hist["cut"]), (len(known), cut))
if known:
    differ("hist", "the shortest and the longest", (hist["min_ns"], hist["max_ns"]),
           (min(ns for _, ns in known), max(ns for _, ns in known)))
roots = Counter((label(c), c["duration_ns"]) for c in calls if c["caller"] is None)
# Of roots that are named; else those that waited for input are left out.
named = [f"--root={name}" for name in {c["function"] for c in calls if c["caller"] is None}]
slow = json.loads(run("slow", "--json", "-n", "10000", *named))
differ("slow", "outermost calls", Counter((label(v), v["duration_ns"]) for v in slow), roots)
for v in slow:
    differ("slow", f"the tree of a {v['function']}", sum(n["total_ns"] for n in v["tree"]), v["duration_ns"])

# What overlaps, as calls of rounded durations do, has no room in a timeline.
below = Counter()
for r in rows:
    below[r["parent"]] += int(r["duration_ns"])
overlaps = any(below[r["id"]] > int(r["duration_ns"]) for r in rows)
with tempfile.NamedTemporaryFile() as f:
    f.write(run("export", "--format=perfetto"))
    f.flush()
    try:
        read = reader.READERS["perfetto"](f.name)
        spans = Counter((f, ns) for f, list_ns in read["durations"].items() for ns in list_ns)
        if cut == 0 and not overlaps:
            differ("perfetto", "durations", of_known(spans), counted)
    except Exception:
        wrong.append(f"perfetto cannot be read: {traceback.format_exc()[-300:]}")

if len(sys.argv) > 6:

    class Event(ctypes.Structure):
        _fields_ = [
            ("kind", ctypes.c_int), ("cpu", ctypes.c_uint32), ("pid", ctypes.c_int32), ("depth", ctypes.c_int32),
            ("time_ns", ctypes.c_uint64), ("duration_ns", ctypes.c_uint64), ("n_lost", ctypes.c_uint64),
            ("task", ctypes.c_char_p), ("function", ctypes.c_char_p), ("text", ctypes.c_char_p),
            ("is_root", ctypes.c_int),
        ]  # fmt: skip

    library = ctypes.CDLL(sys.argv[5])
    handle, event, said = ctypes.c_void_p(), ctypes.POINTER(Event)(), []
    assert library.ftraced_source_open(ctypes.byref(handle), sys.argv[6].encode()) == 0
    while library.ftraced_source_next(handle, ctypes.byref(event)) == 1:
        if event[0].kind in (2, 3):
            said.append((event[0].function.decode(), event[0].duration_ns))
    differ("libftraced", "calls that are known", of_known(said), counted)

if not known:
    wrong.append("there are no calls in it")
for line in wrong:
    print(line)
sys.exit(bool(wrong))
