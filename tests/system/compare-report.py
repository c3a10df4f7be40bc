#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether ours draws what `trace-cmd report -t` prints: every event, in its order.

usage: compare-report.py REPORT DRAWN [BUFFER]

REPORT may be gzipped; of several buffers it has the one that is named, without a name the top-level
one.  DRAWN is `ftracectl report -O funcgraph-abstime -O funcgraph-proc`.  Compared are times, CPUs,
processes, calls, durations, losses, and the texts of other tracers' records; of the records of events
only the names, for trace-cmd has plugins that print some in words of its own.
"""
import gzip
import re
import sys

TRACERS = ('function', 'kernel_stack', 'raw_data')
REPORTED = re.compile(r'^ *(?:([^ :]+): +)?(.{1,16})-(\d+) +\[(\d+)\](?: (?!\d{5})[.A-Za-z0-9]{5})? *([0-9.]+): '
                      r'(\w+): +(.*)$')
DRAWN = re.compile(r'^ *([0-9.]+) \| +(\d+)\) +\S.*?-(\d+) +\| (.*)$')


def squeeze(text):
    """Without what the two draw in ways of their own: blanks, marks, digits behind the seventh."""
    match = re.match(r'[$@*#!+]? *(\d+)\.?(\d*) us(.*)', text, re.S)
    if match:
        text = '%s.%s us%s' % (match[1], match[2][:max(7 - len(match[1]), 0)], match[3])
    return ' '.join(text.split())


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        return f.read().decode(errors='replace').splitlines()


def microseconds(text):
    seconds, point, part = text.partition('.')
    return int(seconds + part[:6]) if point else int(seconds)


def reported(path, wanted):
    events, kept, before = [], False, None
    for line in read(path):
        lost = re.match(r'^(?:([^ :]+):)? *CPU:(\d+) \[(\d+ )?EVENTS DROPPED\]$', line)
        match = REPORTED.match(line)
        if lost:  # the name of the buffer is here, and not on the next line
            before = lost[1] or ''
            if before == wanted:
                events.append(('lost', int(lost[2]), int(lost[3] or 0)))
        elif match:
            buffer, _, pid, cpu, when, name, text = match.groups()
            kept, before = (buffer or before or '') == wanted, None
            if not kept:
                continue
            if name.startswith('funcgraph_'):
                what = text
            elif name == 'print':
                what = '/* ' + text.partition(': ')[2].strip() + ' */'
            elif name in TRACERS:
                what = '/* %s: %s' % (name, text.strip())
            else:
                what = '/* %s:' % name
            events.append((microseconds(when), int(cpu), int(pid), what))
        elif line.startswith('=> ') and kept:
            name = line[3:].split(' (')[0]
            name = '0x' + name if re.fullmatch('[0-9a-f]+', name) else name
            events[-1] = events[-1][:3] + (events[-1][3] + ' => ' + name,)
    return [e[:3] + (squeeze(e[3].strip()),) if len(e) > 3 else e for e in events]


def drawn(path):
    events = []
    for line in read(path):
        lost = re.match(r'^CPU:(\d+) \[LOST (\d+ )?EVENTS\]$', line)
        match = DRAWN.match(line)
        if lost:
            events.append(('lost', int(lost[1]), int(lost[2] or 0)))
        elif match and '==========' not in line:
            when, cpu, pid, text = match.groups()
            what = text.strip().lstrip('|').strip() if '/*' in text else text
            if what.startswith('/* '):
                what = what if what.split(':')[0][3:] in TRACERS or ': ' not in what else what[:what.index(':') + 1]
            what = re.sub(r'(\S) \[\w+\]\(', r'\1(', what)
            what = re.sub(r' <-- .*', '', re.sub(r'} /\* \S+( \[\w+\])? \*/$', '}', what))
            if what.split(':')[0][3:] in TRACERS:
                what = what.removesuffix(' */')
            events.append((microseconds(when), int(cpu), int(pid), squeeze(what.strip())))
    return events


def join_leaves(theirs, ours):
    """trace-cmd joins a call and its return only if no other CPU's event is between them, but then across
    a loss, too, of which it says nothing; that was another call of the same function."""
    open_leaves = {}  # of (CPU, process): the durations of returns that are joined in ours
    across = {}  # of a CPU: the return behind a loss that trace-cmd has joined
    joined, i = [], 0
    for event in theirs:
        while i < len(ours) and (ours[i][0] == 'lost' and ours[i][1] in across or
                                 len(ours[i]) > 3 and across.get(ours[i][1]) == ours[i][2:]):
            if ours[i][0] != 'lost':
                del across[ours[i][1]]
            joined.append(ours[i])
            i += 1
        if event[0] == 'lost' or len(event) < 4:
            joined.append(event)
            i += 1
            continue
        key, rest = event[1:3], event[3].partition('| ')[2]
        mine = ours[i] if i < len(ours) else ()
        if rest == '}' and event[3] in open_leaves.get(key, []):
            open_leaves[key].remove(event[3])
            continue
        if event[3].startswith('| ') and event[3].endswith('() {') and len(mine) > 3 and mine[:3] == event[:3]:
            duration, _, name = mine[3].partition('| ')
            if duration and name == event[3][2:-2] + ';':
                open_leaves.setdefault(key, []).append(duration + '| }')
                event = mine
        elif rest.endswith('();') and len(mine) > 3 and mine[:3] == event[:3] and mine[3] == '| ' + rest[:-1] + ' {':
            across[event[1]] = (event[2], event[3].partition('| ')[0] + '| }')
            event = mine
        joined.append(event)
        i += 1
    return joined


buffer = sys.argv[3] if len(sys.argv) > 3 else ''
theirs, ours = reported(sys.argv[1], buffer), drawn(sys.argv[2])
theirs = join_leaves(theirs, ours)
differences = [(a, b) for a, b in zip(theirs, ours) if a != b]
for a, b in differences[:10]:
    print('trace-cmd: %s\nftracectl: %s' % (a, b))
if len(theirs) != len(ours):
    print('trace-cmd has %d events, ftracectl %d' % (len(theirs), len(ours)))
print('%d events compared' % len(theirs))
sys.exit(bool(differences) or len(theirs) != len(ours) or not theirs)
