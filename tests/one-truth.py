#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Asks every verb and every format about one recording, and prints where two of them disagree: a line
# each, and a status of 1.
#
#       one-truth.py FTRACECTL SOURCE [OPTION...]
import csv
import html
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree
from collections import Counter

client, source = sys.argv[1], sys.argv[2:]
READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read-export.py")
spec = importlib.util.spec_from_file_location("read_export", READER)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
wrong = []


def run(verb, *words):
    p = subprocess.run([client, verb, "--no-pager", *source, *words], capture_output=True)
    if p.returncode == 3:
        print("there are no calls in it")
        sys.exit(0)
    if p.returncode not in (0, 6):
        sys.exit(f"{verb} {' '.join(words)}: status {p.returncode}: {p.stderr.decode()}")
    return p.stdout.decode(errors="replace")


def table(verb, *words):
    return json.loads(run(verb, "--json", *words))


def export(name):
    return run("export", f"--format={name}")


def timeline(name):
    """What tests/read-export.py says of one; it reads nothing that does not nest or goes back."""
    with tempfile.NamedTemporaryFile() as f:
        p = subprocess.run([client, "export", f"--format={name}", *source], stdout=f, stderr=subprocess.PIPE)
        if p.returncode not in (0, 6):
            sys.exit(f"{name}: status {p.returncode}: {p.stderr.decode()}")
        try:
            return reader.READERS[name](f.name)
        except Exception:
            wrong.append(f"{name} cannot be read: {traceback.format_exc()[-300:]}")
            return None


def agree(what, **figures):
    values = list(figures.values())
    if any(v != values[0] for v in values):
        shown = ", ".join(f"{k} {short(v, values[0])}" for k, v in figures.items())
        wrong.append(f"{what}: {shown}")


def short(value, other):
    """Of two tables what is not in the other one."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {k: v for k, v in value.items() if other.get(k) != v} or "(all of that)"
    return str(value)[:300]


def label(row):
    return f"{row['function']} [{row['module']}]" if row["module"] else row["function"]


def add_up(rows, key, name=label):
    sums = Counter()
    for row in rows:
        sums[name(row)] += row[key]
    return {k: v for k, v in sums.items() if v}


def walk(nodes):
    for node in nodes:
        yield node
        yield from walk(node["children"])


def number(text):
    return int(text) if text else None


# --- what they say -------------------------------------------------------------------------------

top, tree, hist = table("top"), table("tree"), table("hist", "*")
calls, roots = table("calls", "*"), table("calls")
# Where a root is named, what only waited for input is there, too (slow in ftracectl(1)).
named = [] if any(word.startswith("--root=") for word in source) else ["--root=*"]
slow, slowest = table("slow", "-n", "10000", *named), table("slow")
by_root = table("top", "--by=root")
nodes = list(walk(tree["tree"]))
rows = [
    {k: v if k in ("task", "function", "module", "root") else number(v) for k, v in row.items()}
    for row in csv.DictReader(io.StringIO(export("csv")), strict=True)
]
lines = [json.loads(line) for line in export("ndjson").splitlines()]
folded = [line.rsplit(" ", 1) for line in export("folded").splitlines()]
folded_cut = {stack.split(";")[-2] for stack, _ in folded if stack.endswith(";(cut)")}
flame = [
    g.attrib | {"title": "".join(g[0].itertext()), "function": g.attrib["data-name"]}
    for g in xml.etree.ElementTree.fromstring(export("flame")).iter("{http://www.w3.org/2000/svg}g")
]
frames = [g for g in flame if int(g["data-l"]) > 0]
page = export("html")
of_page = {m[1]: int(m[2]) for m in re.finditer(r'<td id="(\w+)" data-value="(\d+)"', page)}
in_page = [
    {"function": html.unescape(m[4]), "n": int(m[1]), "total_ns": int(m[2]), "self_ns": int(m[3]), "text": m[5]}
    for m in re.finditer(
        r'class="node"[^>]* data-n="(\d+)" data-total="(\d+)" data-self="(\d+)">'
        r"(?:<summary>)?<code>(.*?)</code>(.*)", page)
]
diff = table("diff", source[0])
texts = {
    "top": run("top"), "tree": run("tree", "--min=0"), "hist": run("hist"), "slow": run("slow"),
    "calls": run("calls", "*"), "diff": run("diff", source[0]), "waits": run("waits"),
    "flame": "\n".join(g["title"] for g in flame),
    # How long the recording is is no time of a call (lib/base/unit.h).
    "html": re.sub(r"<style>.*?</style>|<script.*?</script>|<th>Length</th><td>.*?</td>", "", page, flags=re.S),
}


# --- the same everywhere -------------------------------------------------------------------------

agree("the time of all",
      tree=tree["total_ns"], top=sum(r["self_ns"] for r in top), by_root=sum(r["self_ns"] for r in by_root),
      nodes=sum(n["self_ns"] for n in nodes), calls=sum(c["self_ns"] for c in calls),
      csv=sum(r["self_ns"] for r in rows), folded=sum(int(n) for _, n in folded),
      flame=int(flame[0]["data-w"]) if flame else 0, html=of_page["total"])
agree("how many calls there are",
      top=sum(r["count"] for r in top), tree=sum(n["count"] for n in nodes), calls=len(calls), csv=len(rows),
      hist=hist["all"]["count"] + hist["all"]["cut"], html=of_page["calls"])
agree("how many were cut",
      top=sum(r["cut"] for r in top), tree=sum(n["cut"] for n in nodes), calls=sum(c["cut"] for c in calls),
      csv=sum(r["cut"] for r in rows), hist=hist["all"]["cut"], html=of_page["cut"])
agree("how many are outermost", calls=len(roots), csv=sum(r["parent"] is None for r in rows),
      by_root=sum(r["count"] for r in by_root), html=of_page["outermost"],
      tree=sum(n["count"] for n in tree["tree"]))
agree("the calls of functions", top=add_up(top, "count"), calls=dict(Counter(label(c) for c in calls)),
      csv=dict(Counter(label({**r, "module": r["module"] or None}) for r in rows)),
      flame=add_up([{**g, "n": int(g["data-n"])} for g in frames], "n", lambda g: g["function"]))
agree("their own time", top=add_up(top, "self_ns"), tree=add_up(nodes, "self_ns"), calls=add_up(calls, "self_ns"),
      csv=add_up(rows, "self_ns"),
      flame=add_up([{**g, "s": int(g["data-s"])} for g in frames], "s", lambda g: g["function"]))
agree("rows in two formats", csv=[{k: r[k] or None for k in ("function", "task", "id", "parent", "self_ns")} for r in rows],
      ndjson=[{k: r[k] or None for k in ("function", "task", "id", "parent", "self_ns")} for r in lines])
SAME = ("function", "start_ns", "cpu", "pid", "duration_ns", "self_ns", "blocked_ns", "irq_ns")
agree("each call", calls=[[c[k] for k in SAME] + [int(c["cut"])] for c in calls],
      csv=[[r[k] for k in SAME] + [r["cut"]] for r in rows])

perfetto = timeline("perfetto")
timelines = {"perfetto": perfetto["cut"]} if perfetto else {}
if perfetto:
    agree("calls in the timeline", calls=len(calls), perfetto=perfetto["calls"])
    agree("their own time in the timeline", calls=add_up(calls, "self_ns"),
          perfetto={f: v["self_ns"] for f, v in perfetto["functions"].items() if v["self_ns"]})
cut_calls = add_up(calls, "cut")
agree("what is cut", calls=cut_calls, top=add_up(top, "cut"), nodes=add_up(nodes, "cut"), csv=add_up(rows, "cut"),
      ndjson=add_up(lines, "cut"), flame=add_up(
          [{**g, "cut": int((re.search(r"([\d,]+) of them cut off", g["title"]) or [0, "0"])[1].replace(",", ""))}
           for g in frames], "cut", lambda g: g["function"]),
      **timelines)
agree("functions with cut calls", calls=set(cut_calls), folded=folded_cut,
      html={n["function"] for n in in_page if "(cut)" in n["text"]} if len(in_page) == len(nodes) else set(cut_calls))
below, trees = Counter(), {}
for r in sorted(rows, key=lambda r: r["id"]):
    trees[r["id"]] = trees[r["parent"]] if r["parent"] else r["id"]
    below[trees[r["id"]]] += r["self_ns"]
agree("self times of trees", trees={r["id"]: below[r["id"]] for r in rows if r["parent"] is None},
      roots={r["id"]: r["duration_ns"] for r in rows if r["parent"] is None})

# Times off the CPU, and of interrupts.
outer = [r for r in rows if r["parent"] is None]
agree("what was waited", by_root=sum(r["blocked_ns"] for r in by_root), csv=sum(r["blocked_ns"] for r in outer),
      tree=sum(n["blocked_ns"] for n in nodes), slow=sum(v["blocked_ns"] for v in slow))
agree("interrupts in a tree", slow=sorted({n["function"] for v in slow for n in walk(v["tree"]) if n["interrupt"]}),
      tree=sorted({n["function"] for n in nodes if n["interrupt"]}),
      html=sorted({n["function"].split(" ")[0] for n in in_page if "(interrupt)" in n["text"]})
      if len(in_page) == len(nodes) else sorted({n["function"] for n in nodes if n["interrupt"]}),
      flame=sorted({g["function"].split(" ")[0] for g in frames if g["title"].endswith("\nan interrupt") or
                    "\nan interrupt\n" in g["title"]}))

# Quantiles, medians, the slowest.
whole = [c for c in roots if not c["cut"]]
agree("durations of outermost calls", slow=sorted(v["duration_ns"] for v in slow),
      calls=sorted(c["duration_ns"] for c in roots))
agree("the slowest, in the page", html=[int(m[1]) for m in re.finditer(r' data-duration="(\d+)"', page)],
      slow=[v["duration_ns"] for v in slowest])
idle = sum(left["calls"] for left in slowest[0]["left_out"]) if slowest else 0
agree("how many calls of any root are slow", shown=len(slowest), calls=min(10, len(roots) - idle))
for root in table("hist")["roots"]:
    mine = sorted(c["duration_ns"] for c in whole if label(c) == label(root))
    said = [v for v in slow if label(v) == label(root) and v["median_ns"] is not None]
    there = [d for d in diff if label(d) == label(root)]
    agree(f"how long {root['function']} took",
          hist=(root["count"], root["p50_ns"]), calls=(len(mine), root["p50_ns"]),
          slow=(len(mine), said[0]["median_ns"] if said else root["p50_ns"]),
          diff=(there[0]["before"]["calls"], there[0]["before"]["median_ns"]) if there
          else (len(mine), root["p50_ns"]))
    if mine:
        agree(f"the longest {root['function']}", hist=root["max_ns"], calls=mine[-1])
for d in diff:
    agree(f"diff with itself: {d['function']}", before=d["before"], now=d["now"])
    agree("causes", diff=d["causes"], itself=[])
    spent = sum(c["duration_ns"] for c in whole if c["function"] == d["function"])
    counted = d["usual_ns"] * d["before"]["calls"]
    if len(diff) == len({c["function"] for c in whole}) and abs(spent - counted) > 1:
        wrong.append(f"{d['function']}: its calls took {spent}, and diff accounts for {counted}")

# What tracing costs.
said = {verb: m[0] for verb, text in texts.items() if verb != "html"
        for m in [re.search(r"^(Shown|Recorded) .*", text)] if m}
cost = html.unescape(re.search(r'<p id="cost">(.*?)</p>', page)[1])
if "Too little" not in cost:
    said["html"] = cost
if not tree["tracing"]:
    said.setdefault("html", cost.replace(" Too little was recorded to tell.", "") or "")
if any(said.values()):
    agree("what tracing costs", **said)
if tree["tracing"] and "top" in said:
    t = tree["tracing"]
    agree("what it costs in JSON", tree=t, hist=hist["tracing"])
    percents = sorted({f"{t['low_percent']:.0f}", f"{t['high_percent']:.0f}"}, key=int)
    agree("per cent", JSON=" to ".join(percents), text=re.search(r"\(([\d to]+) % less\)", said["top"])[1].strip())
    awake = t["shown_ns"] - t["blocked_ns"]
    for low, high in (("low_percent", "real_high_ns"), ("high_percent", "real_low_ns")):
        if awake and abs(t[low] - 100 * (t["shown_ns"] - t[high]) / awake) > 0.01:
            wrong.append(f"{low} is {t[low]}, of {t}")

# What a table says is what JSON says, to its digits.
def figure(ns):
    """As lib/base/unit.c writes it."""
    value, unit = next((ns / n, u) for n, u in ((1e3, "us"), (1e6, "ms"), (1e9, "s")) if ns < 999.95 * n or u == "s")
    return f"{value:.{3 if value < 0.9995 else 2 if value < 9.995 else 1}f} {unit}"


def columns(text):
    """Rows of a table as {title: cell}; cells have no two blanks in them, but the last one."""
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    first = next((i for i, cells in enumerate(lines) if "SELF%" in cells), len(lines))
    return [dict(zip(lines[first], cells)) for cells in lines[first + 1:]]


TITLES = {"SELF": "self_ns", "TOTAL": "total_ns", "STOLEN": "irq_ns", "SOFTIRQ": "softirq_ns", "WAKING": "wake_ns",
          "NET": "net_of_all_ns", "BLOCKED": "blocked_ns", "ON-CPU": "on_cpu_ns", "AVG": "avg_ns", "MIN": "min_ns",
          "P50": "p50_ns", "P90": "p90_ns", "P99": "p99_ns", "MAX": "max_ns"}
for words in (["--columns=all"], []):
    shown = columns(run("top", *words, f"--limit={len(top) + 1}"))
    agree(f"rows of top {' '.join(words)}", text=len(shown), JSON=len(top))
    for cells, row in zip(shown, top):
        known = {t: cells[t] for t in TITLES if t in cells and cells[t] != "-"}
        agree(f"top {' '.join(words)}: {row['function']}", text=(known, cells["CALLS"]),
              JSON=({t: figure(row[TITLES[t]]) for t in known}, str(row["count"])))

# A time is written in the unit of its size, with as many digits as all have.
for where, text in texts.items():
    for m in re.finditer(r"(?<![\d.])(\d+(?:\.\d+)?) (ns|us|ms)\b", text):
        if float(m[1]) >= 1000 or (m[2] == "ns" and where != "html"):
            wrong.append(f"{where}: {m[0]} is more than a unit has")
            break
    for m in re.finditer(r"(?<![\d.,])(\d+\.\d+) (us|ms|s)\b", text):
        digits = len(m[1].split(".")[1])
        if where == "html" and digits == 6:  # when, not how long
            continue
        if digits != (3 if float(m[1]) < 1 else 2 if float(m[1]) < 10 else 1):
            wrong.append(f"{where}: {m[0]} has more or fewer digits than a time has elsewhere")
            break

for line in wrong:
    print(line)
sys.exit(bool(wrong))
