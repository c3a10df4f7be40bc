#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of ftraced-questions(7) and ftraced-reading(7), and whether what a page shows is what they print.
#
#       questions.py PAGE CLIENT DATA            says which sections differ, a line of TAP for each
#       questions.py --update PAGE CLIENT DATA   writes what is printed into the page
#
# A section is "## N. Question", or, on a page without questions, each command; in it are literal blocks of
# "$ COMMAND", where a line that ends with \\ goes on, and then all that COMMAND prints on standard output, in
# DATA, without its first line if the page leaves out what tracing costs.  Sentences are folded for the page, so
# blanks and ends of lines do not matter; tables are not folded.
import os
import re
import subprocess
import sys
import textwrap

WIDTH = 76
SUMMARY = r"(Shown|Recorded) .*"


def printed(command, client, data):
    path = os.path.dirname(client) + os.pathsep + os.environ["PATH"]
    p = subprocess.run(["bash", "-c", command], cwd=data, capture_output=True, text=True,
                       env=dict(os.environ, PATH=path, FTRACED_STORE=".", LC_ALL="C", TZ="UTC"))
    return p.stdout, p.stderr


def fold(line):
    if len(line) <= WIDTH or re.search(r"\S  +\S", line):
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)


class Block:
    def __init__(self, text):
        head = re.match(r"\$ ((?:.*\\\n)*.*)\n", text)
        self.head, self.shown = head[0], text[head.end():]
        self.command = head[1].replace(r"\\", "\\")  # scdoc's, also in literal blocks

    def as_shown(self, out):
        """The first line tells what tracing costs; a page that begins with the next one leaves it out."""
        if re.match(SUMMARY, out) and self.shown and not re.match(SUMMARY, self.shown):
            return out.partition("\n")[2]
        return out


def blocks(text):
    return [(m.start(1), m.end(1), Block(m[1])) for m in re.finditer(r"^```\n(\$ .*?)^```$", text, re.M | re.S)]


def check(page, client, data):
    sections = [(s.splitlines()[0], s) for s in re.split(r"^## (?=\d+\. )", page, flags=re.M)[1:]]
    sections = sections or [(b.command, page[start - 4 : end + 3]) for start, end, b in blocks(page)]
    failed = 0
    for n, (title, section) in enumerate(sections, 1):
        wrong = []
        if re.match(r"\d+\. ", title) and not title.startswith(f"{n}. "):
            wrong.append(f"it is the {n}. section")
        if not blocks(section):
            wrong.append("it has no command")
        for _, _, block in blocks(section):
            out, err = printed(block.command, client, data)
            out = block.as_shown(out)
            if not out:
                wrong.append(f"$ {block.command}: prints nothing: {err.strip()}")
            elif out.replace("\\", r"\\").split() != block.shown.split():
                wrong.append(f"$ {block.command}")
                wrong += out.splitlines()
        failed += bool(wrong)
        print(f"{'not ' * bool(wrong)}ok {n} - {title}")
        for line in wrong:
            print(f"# {line}")
    print(f"1..{len(sections)}")
    return 1 if failed or not sections else 0


def update(path, page, client, data):
    for start, end, block in reversed(blocks(page)):
        out, err = printed(block.command, client, data)
        out = block.as_shown(out)
        if not out:
            sys.exit(f"{block.command}: prints nothing: {err}")
        lines = [part for line in out.replace("\\", r"\\").splitlines() for part in fold(line)]
        page = page[:start] + block.head + "".join(f"{line}\n" for line in lines) + page[end:]
    with open(path, "w") as f:
        f.write(page)
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    is_update = words[0] == "--update"
    path, client, data = words[is_update:]
    client = os.path.abspath(client)
    with open(path) as f:
        page = f.read()
    sys.exit(update(path, page, client, data) if is_update else check(page, client, data))
