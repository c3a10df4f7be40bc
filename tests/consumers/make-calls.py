#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The text of calls that never were, as the kernel prints them: trees of three roots, in which functions also call
# themselves, and one cause is planted: in one tree of fifty of made_sendmsg, shrink_slab takes 900 us.
#       make-calls.py SEED TREES
import random
import sys

ROOTS = ["made_sendmsg", "tcp_sendmsg", "vfs_read"]
NAMES = ["ip_make_skb", "kfree", "schedule", "__alloc_skb", "shrink_slab", "mutex_lock", "nf_hook [nf_nat]", "a.b"]


def draw(name, depth, slow):
    """Its lines, and how many ns it took."""
    calls = random.randrange(4) if 0 < depth < 7 else 4 if depth == 0 else 0
    lines, total = [], random.randrange(30, 3000)
    for _ in range(calls):
        below, n = draw(random.choice(NAMES), depth + 1, slow)
        lines += below
        total += n
    if depth == 0:
        below, n = draw("shrink_slab", 7, slow)
        lines += below
        total += n
    if depth == 7 and name == "shrink_slab" and slow:
        total += 900_000
    indent = "  " * (depth + 1)
    us = f"{total / 1000:.3f} us"
    if not lines:
        return [f" 0) {us:>14} |{indent}{name}();"], total
    return [f" 0) {'':14} |{indent}{name}() {{", *lines, f" 0) {us:>14} |{indent}}}"], total


random.seed(int(sys.argv[1]))
for i in range(int(sys.argv[2])):
    root = random.choice(ROOTS)
    print("\n".join(draw(root, 0, root == "made_sendmsg" and random.random() < 0.02)[0]))
