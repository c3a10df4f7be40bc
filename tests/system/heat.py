#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""heat.py FTRACECTL SOURCE FUNCTION|- [OPTION...]: whether a heat map is what the calls are.

Prints where it is not, a line each, with a status of 1:
  - of each range the cells add up to what the histogram has, with and without --over-time
  - each cell has as many of the calls that are listed as it says
  - what --from and --to of a cell leave has its calls as a whole (of the busiest and of the slowest)
  - the picture has the same cells, if the recording's columns are as many there
"""

import collections
import json
import re
import subprocess
import sys

client, source, function, *options = sys.argv[1:]
word = [] if function == "-" else [function]
wrong = []


def run(verb, *words, statuses=(0, 6)):
    p = subprocess.run([client, verb, *words, *options], capture_output=True)
    assert p.returncode in statuses, (verb, words, p.returncode, p.stderr)
    return p.stdout.decode()


def table(verb, *words, **kwargs):
    return json.loads(run(verb, "--json", source, *word, *words, **kwargs))


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def label(row):
    return f"{row['function']} [{row['module']}]" if row["module"] else row["function"]


heat, hist = table("hist", "--over-time"), table("hist")
calls = [c for c in table("calls") if not c["cut"]]
if len(calls) != hist["all"]["count"]:
    wrong.append(f"{len(calls)} calls, {hist['all']['count']} in the histogram")
for mine, other in [(heat["all"], hist["all"]), *zip(heat["roots"], hist["roots"])]:
    name = mine.get("function", "all")
    if {k: v for k, v in mine.items() if k != "cells"} != other:
        wrong.append(f"{name}: the histogram changes with --over-time")
    rows = collections.Counter()
    for cell in mine["cells"]:
        rows[cell["from_ns"], cell["to_ns"]] += cell["count"]
    ranges = {(r["from_ns"], r["to_ns"]): r["count"] for r in other["ranges"] if r["count"]}
    if rows != ranges:
        wrong.append(f"{name}: rows add up to {rows}, ranges are {ranges}")


def is_in(call, cell):
    return cell["begin_ns"] <= call["start_ns"] < cell["end_ns"] and (
        cell["from_ns"] <= call["duration_ns"] and (cell["to_ns"] is None or call["duration_ns"] < cell["to_ns"]))


cells = heat["all"]["cells"]
for cell in cells:
    n = sum(is_in(c, cell) for c in calls)
    if n != cell["count"]:
        wrong.append(f"{cell}: {n} calls are listed")
for cell in sorted(cells, key=lambda c: (c["count"], c["from_ns"]))[-4:] + sorted(cells, key=lambda c: c["from_ns"])[-4:]:
    to = max(cell["end_ns"] - 1, cell["recorded_ns"])
    left = table("calls", f"--from={seconds(cell['begin_ns'])}", f"--to={seconds(to)}", statuses=(0, 3, 6))
    n = sum(is_in(c, cell) and not c["cut"] for c in left)
    if n != cell["count"]:
        wrong.append(f"{cell}: its window has {n} of its calls as a whole")

if not word:
    svg = run("export", "--format=heatmap", source)
    drawn = {}
    for grid in re.finditer(r'<g class="heat-grid".*?data-name="(.*?)".*?</g>', svg, re.S):
        drawn[grid[1]] = sum(int(n) for n in re.findall(r' data-n="(\d+)"', grid[0]))
    for row in heat["roots"]:
        if drawn.get(label(row), row["count"]) != row["count"]:
            wrong.append(f"{label(row)}: the picture has {drawn[label(row)]}, {row['count']} are listed")
    if heat["all"]["count"] and not drawn:
        wrong.append("the picture is empty")
for line in wrong:
    print(line)
sys.exit(bool(wrong))
