# SPDX-License-Identifier: GPL-2.0-or-later
"""json-tables.py TYPE < JSON

Holds JSON against a type of tests/tables.varlink or of the interface of the daemon: "Session",
"[]Session", or "GetStatus()" for the reply of a method.  Says what does not conform, and fails.
"""

import importlib.util
import json
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("conform", here / "varlink-conform.py")
conform = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conform)


def main(type_):
    wire = conform.Interface((here.parent / "lib/wire/org.ftraced.varlink").read_text())
    tables = conform.Interface((here / "tables.varlink").read_text())
    both = wire.types.keys() & tables.types.keys()
    assert not both, both
    tables.types.update(wire.types)
    if type_.endswith("()"):
        wanted = wire.methods[type_[:-2]][1]
    elif type_.startswith("[]"):
        wanted = ("array", ("name", type_[2:]))
    else:
        wanted = ("name", type_)
    problem = tables.hold(json.load(sys.stdin), wanted, "it")
    if problem:
        sys.exit(problem)


if __name__ == "__main__":
    main(*sys.argv[1:])
