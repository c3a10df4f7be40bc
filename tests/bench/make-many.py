#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make-many.py STORE TEMPLATE N [--cpus N] [--roots N]

Fills a store with N sealed recordings, r00000 to the last, each a second after the one before: the files of
TEMPLATE, a session's directory, but for session.json, which has as many CPUs and roots as asked for.
No daemon may own the store.
"""

import argparse
import json
import os
import shutil
import time


def meta_of(template, n_cpus, n_roots):
    with open(os.path.join(template, "session.json"), encoding="utf-8") as f:
        meta = json.load(f)
    meta["roots"] = [f"{meta['roots'][0]}_{i:03}" for i in range(n_roots)]
    meta["spec"]["functions"] = meta["roots"]
    meta["host"] = "bench"
    meta["cpus"] = [dict(meta["cpus"][i % len(meta["cpus"])], cpu=i) for i in range(n_cpus)]
    meta["n_possible_cpus"] = n_cpus
    return meta


def tree_of(template):
    """Directories and files below it, but for session.json."""
    for path, _, names in os.walk(template):
        below = os.path.relpath(path, template)
        yield below, [n for n in names if n != "session.json"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("template")
    parser.add_argument("n", type=int)
    parser.add_argument("--cpus", type=int, default=8)
    parser.add_argument("--roots", type=int, default=40)
    a = parser.parse_args()

    meta = meta_of(a.template, a.cpus, a.roots)
    tree = list(tree_of(a.template))
    start_ns = (int(time.time()) - a.n - 60) * 10**9
    length_ns = meta["stop"]["realtime_ns"] - meta["start"]["realtime_ns"]
    os.makedirs(os.path.join(a.store, "sessions"), mode=0o750, exist_ok=True)
    for i in range(a.n):
        name = f"r{i:05}"
        session = os.path.join(a.store, "sessions", name)
        for below, files in tree:
            os.makedirs(os.path.join(session, below), mode=0o750, exist_ok=True)
            for file in files:
                shutil.copyfile(
                    os.path.join(a.template, below, file), os.path.join(session, below, file)
                )
        at_ns = start_ns + i * 10**9
        meta.update(name=name, id=f"{i + 1:016x}")
        meta["start"]["realtime_ns"] = at_ns
        meta["stop"]["realtime_ns"] = at_ns + length_ns
        path = os.path.join(session, "session.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(meta, f, indent=2)
        os.chmod(path, 0o640)
        os.utime(path, ns=(meta["stop"]["realtime_ns"],) * 2)


main()
