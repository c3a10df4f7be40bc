#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Holds what was rescued after each crash of bench-crashes against what the load (tests/workload/numbered.c) did:

        check-crash.py FTRACECTL DIR LABEL

A life is whole if, of each task, the last mark is the last that the machine's port was told of or the one after it,
no mark before it is missing as far back as the ring reaches, behind each are as many trees as it says, and each is the
tree that all are, but for one at the end that the crash has cut.  It reads what `report` draws, as a person would.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys

LINE = re.compile(r" *(\d+)\.(\d{6}) \| +(\d+)\) +.+-(\d+) +\|[^|]*\|  ( *)(.*)")
MARK = re.compile(r"/\* load (\d+) (\d+)")
NAME = re.compile(r"/\* (\S+) \*/")
BEGIN = 255  # what a life tells the port before its load
ENDS = {
    "panic": r"by a panic: .*sysrq triggered crash",
    "bug": r"by a panic: .*(Oops|invalid opcode)",
    "reboot": r"by a reboot: .*reboot: Restarting system",
    "reset": r"without a message of the kernel",
}


def stretches(ftracectl, store, session, gaps):
    """The steps of each task, in stretches: before a gap of its CPU, within it, and behind it."""
    drawn = subprocess.run([ftracectl, "report", "--store", store, "-O", "funcgraph-proc", "-O", "funcgraph-tail", "-O",
                            "funcgraph-abstime", "--no-pager", session], capture_output=True, text=True,
                           errors="replace", check=False)
    tasks, last_us = collections.defaultdict(lambda: [[]]), {}
    for line in drawn.stdout.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        seconds, micros, cpu, pid, indent, text = found.groups()
        us, depth = int(seconds) * 1000000 + int(micros), len(indent) // 2
        if any(g["cpu"] == int(cpu) and last_us.get(pid, us) < g[end] // 1000 <= us
               for g in gaps for end in ("from_ns", "to_ns")):
            tasks[pid].append([])
        last_us[pid] = us
        mark = MARK.match(text)
        if mark:
            tasks[pid][-1].append(("mark", int(mark[1]), int(mark[2])))
        elif text.endswith("{"):
            tasks[pid][-1].append(("in", depth, text.split("(")[0]))
        elif text.startswith("}"):
            tasks[pid][-1].append(("out", depth, NAME.search(text)[1] if NAME.search(text) else "?"))
        elif text.endswith(");"):
            tasks[pid][-1].append(("leaf", depth, text.split("(")[0]))
    return tasks


class Stretch:
    """The marks of one task without a gap, and the trees behind each."""

    def __init__(self, steps):
        self.task = None
        self.marks = []  # [number, trees behind it]
        self.cut = 0
        self.trees = collections.Counter()
        self.problems = []
        tree = None
        for kind, depth, name in steps:
            if kind == "mark":
                if tree is not None:
                    self.problems.append(f"a tree is not complete before mark {name}")
                self.task, tree = depth, None
                if self.marks and name != self.marks[-1][0] + 1:
                    self.problems.append(f"mark {name} comes after {self.marks[-1][0]}")
                self.marks.append([name, 0])
                continue
            if depth == 0 and kind == "in":
                if tree is not None:
                    self.problems.append("a tree begins in a tree")
                tree = []
            if tree is None:
                if self.marks:
                    self.problems.append(f"{kind} {name} at depth {depth} is in no tree")
                continue
            tree.append((kind, depth, name))
            if depth == 0 and kind != "in":
                self.trees[tuple(tree)] += 1
                tree = None
                if self.marks:
                    self.marks[-1][1] += 1
        self.cut = tree is not None
        for number, n in self.marks[:-1]:
            if n != 1 + number % 3:
                self.problems.append(f"behind mark {number} are {n} trees")
        if self.marks and self.marks[-1][1] + self.cut > 1 + self.marks[-1][0] % 3:
            self.problems.append("more trees than there were calls")


def same_tree(steps):
    """As the kernel draws it: what calls nothing is a leaf, whose entry or exit may be apart."""
    flat = []
    for kind, depth, name in steps:
        flat += [("in", depth, name), ("out", depth, name)] if kind == "leaf" else [(kind, depth, name)]
    return tuple(flat)


def state_of(directory):
    with open(f"{directory}/state", encoding="ascii") as file:
        return dict(re.findall(r'declare -- (\w+)="(.*)"', file.read()))


def why_lost(directory, state, has_kaslr):
    """Chance put the memory elsewhere, or the kernel over it, so that the kernel found no magic number there; or None."""
    if state["at"] != state["boot_at"]:
        return f"the memory was at {state['at']} and is at {state['boot_at']}"
    with open(f"{directory}/dmesg", encoding="utf-8", errors="replace") as file:
        if has_kaslr and "mismatch of magic" in file.read():
            return "the kernel was loaded over it"
    return None


def check_life(ftracectl, directory, told, trees, has_kaslr):
    """("whole" | "lost" | "emptied" | "wrong", why, marks, trees)"""
    state, store, problems = state_of(directory), f"{directory}/store", []
    name = f"blackbox-{state['dead']}"
    boot = int(os.path.basename(directory))
    with open(f"{directory}/tracefs.diff", encoding="utf-8", errors="replace") as file:
        if file.read():
            problems.append("tracefs is not clean")
    if not os.path.isdir(f"{store}/sessions/{name}"):
        shown = subprocess.run([ftracectl, "show", "--store", store, f"box-{boot - 1}"], capture_output=True,
                               text=True, check=False).stdout
        why = why_lost(directory, state, has_kaslr)
        if why and "nothing of it survived" in shown and not problems:
            return "lost", why, 0, 0
        return "wrong", "; ".join(problems + ["there is no session of it"]), 0, 0

    ran = subprocess.run([ftracectl, "verify", "--json", "--store", store, name], capture_output=True, text=True,
                         check=False)
    said = json.loads(ran.stdout)
    said = said[0] if isinstance(said, list) else said
    # A snapshot switches recording off, in the middle of calls perhaps, and of the pages before it the last are there
    # again, or all; the ring may have overwritten what came next.  That is one gap of each CPU.
    gaps = [g for g in said["gaps"] if g["cause"] == "snapshot" and (boot - 1) % 5 == 4]
    tasks = [[Stretch(steps) for steps in parts]
             for parts in stretches(ftracectl, store, name, gaps).values()]
    n_marks = sum(len(s.marks) for task in tasks for s in task)
    seen = collections.Counter()
    for task in tasks:
        numbers = [number for s in task for number, _ in s.marks]
        problems += [p for s in task for p in s.problems][:3] + ["marks go back"] * (numbers != sorted(set(numbers)))
        for s in task:
            seen.update(same_tree(tree) for tree in s.trees.elements())
    trees.update(seen)
    empty = [int(c) for c in re.findall(r"CPU (\d+): ?nothing", ran.stdout)]
    for number, n in told.items():
        ends = [task[-1].marks[-1][0] for task in tasks if task[-1].task == number and task[-1].marks]
        if not ends:
            if number % int(state["n_cpus"]) not in empty:
                problems.append(f"nothing of task {number}, which told of {n} marks")
        elif ends[0] not in (n - 1, n):
            problems.append(f"task {number} told of {n} marks, and the last is {ends[0]}")
    text = " ".join(said.get("notes", []) + said.get("problems", []))
    if empty:
        return ("wrong" if problems else "emptied"), "; ".join(problems or [text]), n_marks, sum(seen.values())
    if len(said["problems"]) != len(gaps) or (not gaps and (not said["complete"] or ran.returncode)):
        problems.append(f"verify: {said['problems']}")
    if not re.search(ENDS[state["kind"]], text):
        problems.append(f"verify says: {text}")
    return ("wrong" if problems else "whole"), "; ".join(problems), n_marks, sum(seen.values())


def main():
    ftracectl, out, label = sys.argv[1:]
    with open(f"{out}/.vmrun/port", "rb") as file:
        lives = file.read().split(bytes([BEGIN]))[1:]
    results, trees = collections.defaultdict(collections.Counter), collections.Counter()
    n_marks = n_trees = 0
    for directory in sorted(glob.glob(f"{out}/[0-9]*"), key=lambda d: int(os.path.basename(d))):
        if not os.path.exists(f"{directory}/state"):
            continue
        kind = state_of(directory)["kind"]
        told = collections.Counter(lives[int(os.path.basename(directory)) - 2])
        result, why, marks, n = check_life(ftracectl, directory, told, trees, " kaslr" in label)
        n_marks, n_trees = n_marks + marks, n_trees + n
        results[kind][result] += 1
        if result != "whole":
            print(f"{label}: boot {os.path.basename(directory)}, after a {kind}: {result}: {why}")
    for kind, each in sorted(results.items()):
        print(f"{label}: {kind}: {sum(each.values())} crashes: " + ", ".join(f"{n} {r}" for r, n in each.items()))
    print(f"{label}: {n_marks} marks, {n_trees} complete trees of {len(trees)} kind" + "s" * (len(trees) != 1))
    for tree, n in trees.most_common()[1:4]:
        print(f"{label}: {n} are " + " ".join(f"{kind}:{depth}:{name}" for kind, depth, name in tree))
    sys.exit(len(trees) != 1 or any(each["wrong"] for each in results.values()))


main()
