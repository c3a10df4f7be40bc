#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py FTRACECTL DATA WORK: what reaches a terminal, of recordings whose names are hostile.

Plants names that a terminal would obey, in a store, a trace.dat, texts and file names, and runs every
verb that --help has, in every format, into a pipe and on a terminal.  Prints what came out and should
not have; the last line says how much was tried.
"""
import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys

ftracectl, data, work = sys.argv[1:4]
evil = [b"\x1b[31mE", b"\xc2\x9b31mC", b"\x9b5mX", b"a\rb", b"b\x08\x08b", b"\xe2\x80\xaeR", b"\xff\xfe", b"t\tt",
        b"\xe2\x81\xa6i", b"d\x7fd", b"\x1b]0;T\x07", b"1234567\xce\xb1", b"123456\xce\xb1"]
# What is ours: colours, the place of a table that is drawn again and again, a line that is written over itself.
ours = re.compile(rb"\x1b\[(?:0|1|3[1-3]|1;31)m|\x1b\[H\x1b\[J|\r\x1b\[K")
refused = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")
bad = []
n_tried = 0


def check(what, output, on_terminal):
    global n_tried
    n_tried += 1
    if on_terminal:
        output = output.replace(b"\r\n", b"\n")
    text = ours.sub(b"", output)
    try:
        found = refused.search(text.decode())
    except UnicodeDecodeError as e:
        bad.append(f"{what}: no UTF-8: {text[max(e.start - 30, 0):e.start + 10]!r}")
        return
    if found:
        at = text.decode()
        bad.append(f"{what}: {at[max(found.start() - 40, 0):found.end() + 10]!r}")


def run(words, stdin=None):
    """Into pipes: status, stdout, stderr."""
    # Python forks unless it may leave all descriptors open, and itself it has none that a child could inherit.
    p = subprocess.run([ftracectl, *words], stdin=stdin or subprocess.DEVNULL, capture_output=True, timeout=200,
                       close_fds=False)
    return p.returncode, p.stdout, p.stderr


def start_on_terminal(words):
    fd, terminal = pty.openpty()
    p = subprocess.Popen([ftracectl, *words], stdin=terminal, stdout=terminal, stderr=terminal, close_fds=False)
    os.close(terminal)
    return p, fd


def read_terminal(p, fd):
    output = b""
    try:
        while piece := os.read(fd, 65536):
            output += piece
    except OSError:
        pass
    os.close(fd)
    p.wait()
    return output


def name_of(words):
    return " ".join(repr(w)[2:-1] if isinstance(w, bytes) else w for w in words)


def parses(words, output):
    try:
        if "--format=csv" in words:
            rows = list(csv.reader(io.StringIO(output.decode(), newline=""), strict=True))
            return len({len(row) for row in rows}) <= 1
        if "--format=ndjson" in words or (words[0] == "report" and "--json" in words):
            return all(json.loads(line) for line in output.decode().splitlines())
        if "--json" in words or "--format=json" in words:
            json.loads(output.decode())
    except (ValueError, csv.Error):
        return False
    return True


def try_all(*words, is_binary=False):
    terminal = start_on_terminal(words)
    status, out, err = run(words)
    if not is_binary:
        check(name_of(words) + " | ", out, False)
        if status in (0, 6) and not parses(words, out):
            bad.append(f"{name_of(words)}: is not valid")
    check(name_of(words) + " 2>", err, False)
    check(name_of(words) + " on a terminal", read_terminal(*terminal), True)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


def names(text):
    return [w.strip(".") for w in text.split(",")]


# --- what is planted --------------------------------------------------------------------------------

# libtracefs keeps the name of a directory that it has looked for: other tests look for leaks of ours.
os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
os.environ.update(LC_ALL="C.UTF-8", TERM="xterm", SYSTEMD_PAGER="", COLUMNS="150")
session = os.path.join(work, "store/sessions/evil")
shutil.copytree(os.path.join(data, "sessions/udp_sendmsg-6.12"), session)
shutil.copytree(os.path.join(data, "symbols"), os.path.join(work, "store/symbols"))
for directory, _, files in os.walk(os.path.join(work, "store")):
    os.chmod(directory, 0o755)
    for name in files:
        os.chmod(os.path.join(directory, name), 0o644)
tasks = os.path.join(session, "tracing/saved_cmdlines")
lines = read(tasks).splitlines()
sources = []
for turn in range(3):
    name = "evil" + str(turn)
    copy = os.path.join(work, "store/sessions", name)
    shutil.copytree(session, copy)
    write(os.path.join(copy, "tracing/saved_cmdlines"), b"".join(
        line.split(b" ")[0] + b" " + evil[(turn * 5 + i) % len(evil)] + b"\n" for i, line in enumerate(lines)))
    with open(os.path.join(copy, "session.json")) as f:
        meta = json.load(f)
    for key in ("host", "kernel", "machine", "reason"):
        meta[key] = "\x1b[31m\u009b5m\u202e\x7f"
    meta["warnings"] = ["\u009b31m\u202e"]
    meta["neighbours"] = ["\u009b31m\u202e"]
    with open(os.path.join(copy, "session.json"), "w") as f:
        json.dump(meta, f)
    sources.append(("--store=" + os.path.join(work, "store"), name))
shutil.rmtree(session)
for i, word in enumerate(evil[:7]):
    path = os.path.join(work.encode(), b"files", word + b".dat")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    run([*sources[i % 3][:1], "fetch", sources[i % 3][1], "-q", b"-o" + path])
    sources.append((path,))
# The same names inside as the first; what a drawing says of the file's own is in its messages.  Each verb has a third
# of them, as it has of the words.
renamed = sources[4:]
del sources[4:]
share = 1 if os.environ.get("FTRACED_LONG") else 3
graph = b"# tracer: function_graph\n" + 40 * b" 0)     good-1     |   0.500 us    |  good();\n"
for i, word in enumerate(evil):
    task = b" 0) " + (b"%s-%d" % (word[:7], 10 + i)).center(14) + b" | "
    graph += task + b"              |  f%s() {\n" % word
    graph += task + b"  0.500 us    |    g%s [m%s]();\n" % (word, word)
    graph += task + b"              |    /* sched_switch: %s */\n" % word
    graph += task + b"  1.500 us    |  } /* %s */\n" % word
indent = 40 * b"     0 good(1): -> good\n     9 good(1): <- good\n" + b"".join(b"     0 %s(%d): -> f%s\n     9 %s(%d): <- f%s\n" % (w, i, w, w, i, w) for i, w in enumerate(evil))
for name, content in (("graph", graph), ("indent", indent)):
    path = os.path.join(work.encode(), b"files", name.encode() + evil[1] + b".txt")
    write(path, content)
    sources.append((path,))
missing = [(os.path.join(work.encode(), b"files", w),) for w in evil if b"/" not in w]

# --- what is tried ----------------------------------------------------------------------------------

help_text = run(["--help"])[1].decode()
verbs = re.findall(r"^  (\S+)  +\S", help_text.split("Verbs")[1].split("Options")[0], re.M)
drawings = names(run(["report", *sources[0], "--format=?"])[2].decode().split("only: ")[1].strip())
exports = names(run(["export", *sources[0], "--format=?"])[2].decode().split("one of ")[1].strip())
for verb in verbs:
    synopsis = run([verb, "--help"])[1].decode()
    has_json = "--json" in synopsis
    if verb in ("run", "follow"):  # they record what they are told, here nothing that there is
        try_all(verb, *sources[0][:1], evil[0], "--", "true")
        try_all(verb, "--format=" + "\x1b[31m", "x", "--", "true")
        continue
    if "SOURCE" not in synopsis.splitlines()[0]:
        try_all(verb)
        for word in evil[verbs.index(verb) % share :: share]:
            try_all(verb, word)
            try_all(verb, "--" + "x", word)
        if has_json:
            try_all(verb, "--json")
        try_all(verb, "--store=" + os.path.join(work, "store"))
        continue
    turn = verbs.index(verb)
    for source in sources + renamed[turn % share::share] + missing[turn % 4::4]:
        words = [verb, *source]
        if verb == "diff":
            words += source[-1:]
        if verb == "fetch":
            words += [b"-o" + os.path.join(work.encode(), b"again" + evil[0])]
        if verb == "export":
            for f in exports:
                try_all(*words, "--format=" + f, is_binary=f == "perfetto")
            continue
        try_all(*words)
        if source in renamed:
            pass
        elif verb == "report":
            for f in drawings:
                try_all(*words, "--format=" + f)
                try_all(*words, "--format=" + f, "--color=always", "-Ofuncgraph-proc", "-Oabstime", "-Otail")
        elif verb in ("top", "calls", "slow", "waits", "path", "hist", "tree"):
            try_all(*words, "--comm=" + "\x1b[31m")
            try_all(*words, "--by=task")
        if verb == "hist" and source not in renamed:
            try_all(*words, "--over-time", "--color=always")
            try_all(*words, "--over-time", "--json")
        if has_json:
            try_all(*words, "--json")
print("\n".join(sorted(set(bad))[:60]))
print("tried", n_tried, "bad", len(bad))
