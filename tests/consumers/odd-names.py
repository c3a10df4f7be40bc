#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Gives functions and tasks of a trace.dat, as `ftracectl fetch` writes it, names of any bytes of the same length, but for
# those that end a name there.
#       odd-names.py FROM TO SEED
import random
import re
import sys

source, target, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
texts = ["größe", "関数", "🦀", "a'b\"c", "\\N", "\\", "a\\tb", "</script>", "%s", "NULL", "'; DROP TABLE calls; --"]


def odd(match):
    """Letters of several bytes, some of them cut, and anything."""
    n, name = len(match[2]), b""
    while len(name) < n:
        name += chance.choice(texts).encode() if chance.random() < 0.5 else bytes([chance.randrange(1, 256)])
    name = bytes(b if b not in b" \t\r\n[]" else ord("_") for b in name[:n])
    return match[1] + (match[2] if b"udp_" in match[2] else name)


data = open(source, "rb").read()
data, n_functions = re.subn(rb"(?m)^([0-9a-f]{16} [a-zA-Z] )([^\t\n ]+)", odd, data)
data, n_tasks = re.subn(rb"(?m)^([0-9]+ )([^\n]{1,15})$", odd, data)
open(target, "wb").write(data)
print(f"{n_functions} functions, {n_tasks} tasks")
