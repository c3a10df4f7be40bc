#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""varlink-conform.py SOCKET INTERFACE < CALLS
varlink-conform.py SOCKET INTERFACE N SEED

Reads the interface from the service itself, makes the calls, one a line, and holds every answer
against the types that the interface declares: no member too many, none missing, none of another type;
errors likewise.  A line is METHOD [JSON] [more|oneway] [= ERROR]; the last says which error is due.
Prints a sentence for each call, with "not ok" before what does not conform.

The second invents N calls from the interface's grammar, of words that mean something to it and of numbers at
their ends; now and then a member is missing, or one too many, or of another type.  It prints what does not conform,
how many calls there were of each method, and the errors that they met: whatever is declared may be one.

Grammar: https://varlink.org/Interface-Definition
"""

import collections
import json
import random
import re
import socket
import sys

BASIC = {
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool) and -(2**63) <= v < 2**63,
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "object": lambda v: isinstance(v, dict),
}


NUMBERS = [0, 1, -1, 2, 7, 4096, 10**6, 2**31 - 1, 2**32, 2**63 - 1, -(2**63)]
WORDS = (
    ["one", "two", "one", "", ".", "..", "../one", "a/b", "-", "7", "0-3", "3-0", "4294967296", "*", "[", "udp_*"]
    + ["udp_sendmsg", "udp_recvmsg", "nothing_at_all", "nf_conntrack_in", "[nf_conntrack]", "a b", "w" * 300, "%s%n"]
    + ["mono", "boot", "x86-tsc", "sched:sched_switch", "sched:", ":", "a:b:c > 1 || x", "/a/../b", "udp-client"]
    + ["start,stop:10s function:udp_sendmsg", "snapshot slower:1ms", "start event:a:b:c == 1", "stop command", "start"]
    + ["\x1b[31m", "\u202eabc", "a\nb", "\x7f", "ü" * 100]
)

# What is most often valid there, by the member's name.
LIKELY = {
    "session": ["one", "two", "typed"],
    "name": ["one", "two"],
    "functions": ["udp_sendmsg", "udp_recvmsg", "udp_*"],
    "hooked": ["udp_sendmsg", "ip_make_skb"],
    "clock": ["mono", "boot"],
    "triggers": ["start command", "stop:10s command"],
}


class Interface:
    def __init__(self, text):
        text = re.sub(r"#[^\n]*", "", text)
        self.tokens = re.findall(r"\[\]|\[string\]|->|[A-Za-z0-9_.-]+|[():,?]", text)
        self.types, self.methods, self.errors, self.used = {}, {}, {}, set()
        assert self.next() == "interface"
        self.name = self.next()
        while self.tokens:
            kind, name = self.next(), self.next()
            assert re.fullmatch("[A-Z][A-Za-z0-9]*", name), name
            assert name not in self.types | self.methods | self.errors, f"{name} is there twice"
            if kind == "type":
                self.types[name] = self.type()
            elif kind == "method":
                arguments = self.type()
                assert self.next() == "->"
                self.methods[name] = (arguments, self.type())
            elif kind == "error":
                self.errors[name] = self.type()
            else:
                raise ValueError(kind)

    def next(self):
        return self.tokens.pop(0)

    def type(self):
        t = self.next()
        if t == "?":
            return ("maybe", self.type())
        if t == "[]":
            return ("array", self.type())
        if t == "[string]":
            return ("map", self.type())
        if t != "(":
            self.used.add(t)
            return ("name", t)
        members, words = {}, []
        while (t := self.next()) != ")":
            if t == ",":
                continue
            if self.tokens[0] == ":":
                self.next()
                assert t not in members, f"{t} is there twice"
                members[t] = self.type()
            else:
                words.append(t)
        return ("enum", words) if words else ("struct", members)

    def hold(self, value, type_, at):
        """Says what is wrong, or nothing."""
        kind, what = type_
        if kind == "maybe":
            return None if value is None else self.hold(value, what, at)
        if kind == "array":
            if not isinstance(value, list):
                return f"{at} is no array"
            return next((p for i, v in enumerate(value) if (p := self.hold(v, what, f"{at}[{i}]"))), None)
        if kind == "map":
            if not isinstance(value, dict):
                return f"{at} is no map"
            return next((p for k, v in value.items() if (p := self.hold(v, what, f"{at}.{k}"))), None)
        if kind == "enum":
            return None if value in what else f"{at} is {value!r}, not one of {what}"
        if kind == "name" and what in BASIC:
            return None if BASIC[what](value) else f"{at} is {value!r}, no {what}"
        if kind == "name":
            return self.hold(value, self.types[what], at)
        if not isinstance(value, dict):
            return f"{at} is no object"
        if extra := value.keys() - what.keys():
            return f"{at} has {sorted(extra)}, which is not declared"
        for name, member in what.items():
            if name not in value:
                if member[0] != "maybe":
                    return f"{at} lacks {name}"
            elif problem := self.hold(value[name], member, f"{at}.{name}"):
                return problem
        return None


    def invent(self, type_, rng, member=None):
        kind, what = type_
        if rng.random() < 0.02:
            return rng.choice([None, True, "udp_*", [], {}, [[]], -1, 1.5, {"a": ["b"]}])
        if kind == "maybe":
            return self.invent(what, rng, member)
        if kind == "array":
            n = 300 if rng.random() < 0.01 else rng.choice([0, 1, 1, 1, 2, 5])
            return [self.invent(what, rng, member) for _ in range(n)]
        if kind == "map":
            return {rng.choice(WORDS): self.invent(what, rng) for _ in range(rng.randrange(3))}
        if kind == "enum":
            return rng.choice(what)
        if kind == "name" and what not in BASIC:
            return self.invent(self.types[what], rng)
        if kind == "name":
            return {
                "bool": rng.random() < 0.5,
                "int": rng.choice(NUMBERS),
                "float": rng.choice(NUMBERS) / 3,
                "string": rng.choice(LIKELY.get(member, WORDS) if rng.random() < 0.9 else WORDS),
                "object": {rng.choice(WORDS): rng.choice(WORDS)},
            }[what]
        # Of many members few, or hardly any object would be valid.
        few = min(0.5, 2 / max(len(what), 1))
        value = {
            k: self.invent(t, rng, k) for k, t in what.items() if rng.random() < (few if t[0] == "maybe" else 0.98)
        }
        if rng.random() < 0.02:
            value[rng.choice(WORDS)] = rng.choice(NUMBERS)
        return value


def messages(s):
    data = b""
    while True:
        while b"\0" not in data:
            more, fds, _, _ = s.recvmsg(65536, 4096)
            if not more:
                return
            data += more
        text, data = data.split(b"\0", 1)
        yield json.loads(text)


def call(path, method, parameters, flag, n_answers=2):
    """All answers; those to a oneway call are what comes before the answer to another one."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        message = {"method": method, "parameters": parameters}
        if flag:
            message[flag] = True
        s.sendall(json.dumps(message).encode() + b"\0")
        if flag == "oneway":
            s.sendall(b'{"method":"org.varlink.service.GetInfo"}\0')
        answers = []
        for m in messages(s):
            if flag == "oneway" and "vendor" in m.get("parameters", {}):
                break
            answers.append(m)
            if not m.get("continues") or len(answers) == n_answers:
                break
        return answers


def look(interface, services, method, answers, flag, due):
    if flag == "oneway":
        return "it was answered" if answers else None
    if not answers:
        return "there was no answer"
    for m in answers:
        if extra := m.keys() - {"parameters", "continues", "error"}:
            return f"an answer has {sorted(extra)}"
        if m.get("continues") and flag != "more":
            return "it continues, which nobody asked for"
        parameters = m.get("parameters", {})
        if "error" in m:
            name = m["error"]
            i, _, short = name.rpartition(".")
            known = next((s for s in services if s.name == i), None)
            if due not in (short, "*"):
                return f"the error is {name}: {parameters.get('message')}"
            if not known or short not in known.errors:
                return f"the error {name} is not declared"
            if i != interface.name:
                # The service interface has errors without a message; one more member is ours.
                parameters = {k: v for k, v in parameters.items() if k != "message"}
            return known.hold(parameters, known.errors[short], name)
        if due not in (None, "*"):
            return f"it succeeds, and {due} is due"
        if problem := interface.hold(parameters, interface.methods[method][1], method):
            return problem
    return None


def invent_calls(path, interface, services, n, seed):
    rng = random.Random(seed)
    counts, errors = collections.Counter(), collections.Counter()
    for _ in range(n):
        method = rng.choice(list(interface.methods))
        parameters = interface.invent(interface.methods[method][0], rng)
        if not isinstance(parameters, dict):
            parameters = {"session": parameters}  # else it is no call, and the connection is closed
        flag = rng.choice([None, None, "more", "oneway"])
        answers = call(path, f"{interface.name}.{method}", parameters, flag, 1)
        if problem := look(interface, services, method, answers, flag, "*"):
            print(f"not ok {method} {json.dumps(parameters)[:300]} {flag or ''}: {problem}")
        counts[method] += 1
        errors.update(m["error"].rpartition(".")[2] if "error" in m else "answered" for m in answers)
    for kind, counter in (("call", counts), ("answer", errors)):
        for word, number in sorted(counter.items()):
            print(kind, word, number)


def main(path, name, n_calls=None, seed=None):
    services = []
    for n in (name, "org.varlink.service"):
        m = call(path, "org.varlink.service.GetInterfaceDescription", {"interface": n}, None)
        services.append(Interface(m[0]["parameters"]["description"]))
        undeclared = services[-1].used - BASIC.keys() - services[-1].types.keys()
        assert not undeclared, undeclared
    interface = services[0]
    if n_calls:
        invent_calls(path, interface, services, int(n_calls), seed)
        return
    for line in sys.stdin:
        m = re.fullmatch(r"(\w+)(?: (\{.*\}))?(?: (more|oneway))?(?: = (\w+))?\s*", line)
        if not m:
            sys.exit(f"not a call: {line}")
        method, parameters, flag, due = m.groups()
        parameters = json.loads(parameters or "{}")
        problem = None
        if not due or due not in ("InvalidParameter",):
            problem = interface.hold(parameters, interface.methods[method][0], "the call")
        problem = problem or look(
            interface, services, method, call(path, f"{name}.{method}", parameters, flag), flag, due
        )
        print(f"{'not ok' if problem else 'ok'} {line.strip()[:100]}{': ' + problem if problem else ''}")


if __name__ == "__main__":
    main(*sys.argv[1:])
