#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads what "ftracectl export" wrote, as a program that knows nothing of ftraced would, and prints
# one JSON object: for each function how often it was called and its own time, and what else the
# format says.
#
#       read-export.py FORMAT FILE [SCHEMA]
#
# Programs that read many files import it, for what it needs takes longer to load than most of them.
import base64
import csv
import hashlib
import html.parser
import json
import re
import sys
import xml.etree.ElementTree


class Functions(dict):
    def add(self, name, self_ns, count=1):
        entry = self.setdefault(name, {"count": 0, "self_ns": 0})
        entry["count"] += count
        entry["self_ns"] += self_ns


def label(function, module):
    return f"{function} [{module}]" if module else function


def read_rows(rows):
    """Rows of calls: sums, and whether parents, totals and own times fit each other."""
    functions, rows = Functions(), list(rows)
    by_id = {row["id"]: row for row in rows}
    below = {}
    for row in rows:
        functions.add(label(row["function"], row["module"]), row["self_ns"])
        if row["parent"] is not None:
            parent = by_id[row["parent"]]
            below[parent["id"]] = below.get(parent["id"], 0) + row["duration_ns"]
            assert parent["depth"] < row["depth"], row
    for row in rows:
        if not row["cut"]:
            left = row["duration_ns"] - below.get(row["id"], 0)
            assert row["self_ns"] == max(left, 0), row
    roots = sum(row["duration_ns"] for row in rows if row["parent"] is None)
    return {"functions": functions, "calls": len(rows), "roots_ns": roots}


def number(text):
    return int(text) if text else None


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f, strict=True))
    texts = ("task", "function", "module", "root")
    return read_rows({k: v if k in texts else number(v) for k, v in row.items()} for row in rows)


def read_json(path):
    with open(path, encoding="utf-8") as f:
        whole = json.load(f)
    assert int(whole["begin_ns"]) >= 0
    for row in whole["calls"]:
        for value in row.values():
            assert not isinstance(value, int) or abs(value) < 2**53, row
    return read_rows(whole["calls"]) | {"events_lost": whole["events_lost"]}


TYPES = {"string": str, "integer": int, "boolean": bool, "null": type(None)}


def read_ndjson(path, schema_path):
    with open(schema_path, encoding="utf-8") as f:
        schema = json.load(f)
    with open(path, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    for row in rows:
        assert list(row) == schema["required"] == list(schema["properties"]), list(row)
        for name, value in row.items():
            said = schema["properties"][name]
            types = said["type"] if isinstance(said["type"], list) else [said["type"]]
            assert type(value) in [TYPES[t] for t in types], (name, value)
            assert not isinstance(value, int) or value >= said.get("minimum", value), (name, value)
    return read_rows(rows)


class Timeline:
    """Beginnings and ends on tracks, which must nest."""

    def __init__(self):
        self.functions, self.stacks, self.last = Functions(), {}, {}
        self.durations, self.cut = {}, {}
        self.n_calls = self.roots_ns = 0
        self.roots = Functions()

    def begin(self, track, name, at):
        assert at >= self.last.get(track, at), (track, name, at)
        self.last[track] = at
        self.stacks.setdefault(track, []).append([name, at, 0])

    def end(self, track, at, name=None, cut=False):
        begun, start, below = self.stacks[track].pop()
        if cut:
            self.cut[begun] = self.cut.get(begun, 0) + 1
        assert name in (None, begun) and at >= self.last[track], (track, begun, name, at)
        self.last[track] = at
        self.functions.add(begun, at - start - below)
        self.durations.setdefault(begun, []).append(at - start)
        self.n_calls += 1
        if self.stacks[track]:
            self.stacks[track][-1][2] += at - start
        else:
            self.roots_ns += at - start
            self.roots.add(begun, at - start)
            self.roots[begun].setdefault("durations", []).append(at - start)
            self.roots[begun]["cut"] = self.roots[begun].get("cut", 0) + cut

    def result(self):
        assert not any(self.stacks.values()), "some calls do not end"
        return {
            "functions": self.functions,
            "durations": self.durations,
            "cut": self.cut,
            "calls": self.n_calls,
            "roots_ns": self.roots_ns,
            "roots": self.roots,
        }


def fields(data):
    """(number, value) of a message of Protocol Buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at : at + 8], "little")
            at += 8
        else:
            assert key & 7 == 2, key
            n = varint()
            assert at + n <= len(data)
            yield key >> 3, data[at : at + n]
            at += n


def message(data):
    result = {}
    for key, value in fields(data):
        result.setdefault(key, []).append(value)
    return result


def read_perfetto(path):
    with open(path, "rb") as f:
        trace = message(f.read())
    assert list(trace) == [1]
    names, notes, tracks, events, wakes = {}, {}, {}, [], {}
    for packet in map(message, trace[1]):
        assert packet[10] == [1]
        for interned in map(message, packet.get(12, [])):
            for name in map(message, interned.get(2, [])):
                names[name[1][0]] = name[2][0].decode()
            for note in map(message, interned.get(3, [])):
                notes[note[1][0]] = note[2][0].decode()
        for track in map(message, packet.get(60, [])):
            tracks[track[1][0]] = (track[2][0].decode(), track.get(5, [None])[0])
        for event in map(message, packet.get(11, [])):
            name = names[event[10][0]] if 10 in event else event.get(23, [b""])[0].decode()
            noted = {notes[note[1][0]] for note in map(message, event.get(4, []))}
            events.append((packet[8][0], event[11][0], event[9][0], name, event.get(3), noted))
            for flow in event.get(47, []):
                wakes.setdefault(flow, [None, None])[0] = (packet[8][0], tracks[event[11][0]][0])
            for flow in event.get(48, []):
                wakes.setdefault(flow, [None, None])[1] = (packet[8][0], tracks[event[11][0]][0])
    groups = {uuid: name.split(" with ")[0] for uuid, (name, parent) in tracks.items() if parent is None}
    timelines = {name: Timeline() for name in groups.values()}
    for at, uuid, kind, name, _, noted in events:
        timeline = timelines[groups[tracks[uuid][1]]]
        if kind == 1:
            timeline.begin(uuid, name, at)
        elif kind == 2:
            timeline.end(uuid, at, cut="cut" in noted)
    result = timelines["Tasks"].result()
    irqs, cpus = timelines["Interrupts"].result(), timelines["CPUs"].result()
    # An interrupt's outermost call is in both, in the task's track with all its time.
    for name, entry in irqs["functions"].items():
        result["functions"].add(name, entry["self_ns"], entry["count"])
    for name, entry in irqs["roots"].items():
        result["functions"].add(name, -entry["self_ns"], -entry["count"])
    for name, durations in irqs["durations"].items():
        result["durations"].setdefault(name, []).extend(durations)
    for name, entry in irqs["roots"].items():
        for ns in entry["durations"]:
            result["durations"][name].remove(ns)
    for name, n in irqs["cut"].items():
        result["cut"][name] = result["cut"].get(name, 0) + n
    for name, entry in irqs["roots"].items():
        result["cut"][name] = result["cut"].get(name, 0) - entry["cut"]
    result["cut"] = {name: n for name, n in result["cut"].items() if n}
    result["calls"] += irqs["calls"] - sum(entry["count"] for entry in irqs["roots"].values())
    return result | {
        "interrupts": irqs["functions"],
        "interrupts_ns": irqs["roots_ns"],
        "runs": cpus["calls"],
        "tasks": [name for name, parent in tracks.values() if groups.get(parent) == "Tasks"],
        "wakes": list(wakes.values()),
        "losses": [name for _, _, kind, name, category, _ in events if category == [5]],
    }


def read_pprof(path):
    """Strings, mappings, functions and locations are there, whatever their order; the leaf is a stack's first."""
    with open(path, "rb") as f:
        profile = [(field, value if isinstance(value, int) else bytes(value)) for field, value in fields(f.read())]

    def packed(data):
        n = shift = 0
        for byte in data:
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                yield n
                n = shift = 0

    strings = [value.decode("utf-8") for field, value in profile if field == 6]
    assert strings[0] == ""
    types = [[strings[v] for _, v in fields(value)] for field, value in profile if field == 1]
    assert [name for name, _ in types] == ["calls", "time", "waiting"] and types[1][1] == types[2][1], types
    by_id = {kind: {} for kind in (3, 4, 5)}
    for field, value in profile:
        if field in by_id:
            entry = dict(fields(value))
            assert entry[1] not in by_id[field] and entry[1] > 0
            by_id[field][entry[1]] = entry
    mappings, locations, names = by_id[3], by_id[4], by_id[5]
    assert not any(3 in function for function in names.values())  # a system name would be demangled
    functions, roots, waiting, cut = Functions(), 0, 0, 0
    for field, value in profile:
        if field != 2:
            continue
        sample = list(fields(value))
        stack = [locations[i] for f, v in sample if f == 1 for i in packed(v)]
        count, self_ns, waiting_ns = [n for f, v in sample if f == 2 for n in packed(v)]
        labels = [strings[dict(fields(v))[1]] for f, v in sample if f == 3]
        assert all(place[2] in mappings for place in stack)
        leaf = strings[names[dict(fields(stack[0][4]))[1]][2]]
        module = strings[mappings[stack[0][2]][5]]
        assert leaf.endswith(f" {module}") or module == "[kernel.kallsyms]", (leaf, module)
        functions.add(leaf, self_ns, count)
        roots += self_ns
        waiting += waiting_ns
        cut += count if "cut" in labels else 0
    comments = [strings[value] for field, value in profile if field == 13]
    head = {"unit": types[1][1], "time_ns": next((value for field, value in profile if field == 9), None)}
    return {"functions": functions, "roots_ns": roots, "waiting_ns": waiting, "cut": cut, "comments": comments, **head}


def read_folded(path):
    functions, total, cut = Functions(), 0, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, self_ns = re.fullmatch(r"(.+) (\d+)\n", line).groups()
            frames = stack.split(";")
            assert all(frames), line
            if frames[-1] == "(cut)":
                frames.pop()
                cut[frames[-1]] = 1
            functions.add(frames[-1], int(self_ns))
            total += int(self_ns)
    return {"functions": functions, "roots_ns": total, "cut": cut}


def read_frames(svg):
    """Frames of a flame graph: inside their callers, with exactly what these leave them."""
    functions, ends = Functions(), {}
    for g in svg.iter("{http://www.w3.org/2000/svg}g"):
        x, w, own, n, level = (int(g.get("data-" + name)) for name in "xwsnl")
        if level > 0:
            assert ends[level - 1][0] <= x and x + w <= ends[level - 1][1], g.attrib
            ends[level - 1][2] -= w
            functions.add(g.get("data-name"), own, n)
        for deeper in [d for d in ends if d >= level]:
            assert ends.pop(deeper)[2] == 0
        ends[level] = [x, x + w, w - own]
    total = int(svg.get("data-total"))
    return {"functions": functions, "roots_ns": total}


def read_flame(path):
    return read_frames(xml.etree.ElementTree.parse(path).getroot())


class Page(html.parser.HTMLParser):
    """The tree, the flame graph and the policy of a page; nothing may come from elsewhere."""

    def __init__(self):
        super().__init__()
        self.scripts, self.policy, self.nodes, self.frames, self.inside = [], "", [], [], None
        self.values, self.data = {}, ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not {"src", "onload", "onclick"} & set(attrs), (tag, attrs)
        assert attrs.get("href", "#").startswith("#"), (tag, attrs)
        self.inside = tag
        if tag == "script" and attrs.get("type") == "application/json":
            self.inside = "data"
        elif tag == "script":
            self.scripts.append("")
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if "data-value" in attrs:
            self.values[attrs["id"]] = int(attrs["data-value"])
        if tag == "g" and attrs.get("class") == "f":
            self.frames.append(attrs)

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        if self.inside == "data":
            self.data += data

    def handle_endtag(self, tag):
        self.inside = None


def read_html(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    page = Page()
    page.feed(text)
    assert len(page.scripts) == 1
    digest = hashlib.sha256(page.scripts[0].encode()).digest()
    assert f"'sha256-{base64.b64encode(digest).decode()}'" in page.policy, digest
    assert "default-src 'none'" in page.policy
    for call in json.loads(page.data):
        spans = [call["spans"][i : i + 5] for i in range(0, len(call["spans"]), 5)]
        for begin, length, level, name, kind in spans:
            assert begin + length <= call["ns"] and 0 <= name < len(call["names"]) and level >= 0 and 0 <= kind < 4
            assert level == 0 or any(
                s[2] == level - 1 and s[0] <= begin and s[0] + s[1] >= begin + length for s in spans
            ), (call["title"], begin)
    begin = text.index('<svg class="flame"')
    svg = text[begin : text.index("</svg>", begin) + 6]
    result = read_frames(xml.etree.ElementTree.fromstring(svg))
    assert page.values["total"] == result["roots_ns"]
    return result | {"calls": page.values["calls"]}


READERS = {
    "csv": read_csv,
    "json": read_json,
    "ndjson": read_ndjson,
    "perfetto": read_perfetto,
    "pprof": read_pprof,
    "folded": read_folded,
    "flame": read_flame,
    "html": read_html,
}
if __name__ == "__main__":
    json.dump(READERS[sys.argv[1]](*sys.argv[2:]), sys.stdout)
