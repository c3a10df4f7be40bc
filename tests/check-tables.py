#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: check-tables.py SCHEMA NAME FILE

Whether the JSON in FILE is what $defs/NAME of SCHEMA says.  Understands what our schemas use of JSON
Schema, and refuses a schema with anything else; prints the first thing that is wrong, and where.
"""

import json
import sys

TYPES = {
    "array": list,
    "object": dict,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
KEYWORDS = {
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "items",
    "minimum",
    "properties",
    "required",
    "type",
}


class Wrong(Exception):
    pass


def is_of(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def check_object(defs, schema, value, where):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            raise Wrong(f"{where}: has no {name}")
    for name, member in value.items():
        if name in properties:
            check(defs, properties[name], member, f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            raise Wrong(f"{where}: {name} is not in the schema")


def check(defs, schema, value, where):
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise Wrong(f"the schema has {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        return check(defs, defs[schema["$ref"].removeprefix("#/$defs/")], value, where)
    if "anyOf" in schema:
        wrong = []
        for one in schema["anyOf"]:
            try:
                return check(defs, one, value, where)
            except Wrong as e:
                wrong.append(str(e))
        raise Wrong(wrong[-1])
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        raise Wrong(f"{where}: {json.dumps(value)[:60]} is no {' or '.join(names)}")
    if "enum" in schema and value not in schema["enum"]:
        raise Wrong(f"{where}: {json.dumps(value)[:60]} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        raise Wrong(f"{where}: {value} is less than {schema['minimum']}")
    if isinstance(value, dict):
        check_object(defs, schema, value, where)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(defs, schema["items"], item, f"{where}[{i}]")
    return None


def main():
    sys.setrecursionlimit(20000)
    with open(sys.argv[1], encoding="utf-8") as f:
        defs = json.load(f)["$defs"]
    with open(sys.argv[3], encoding="utf-8") as f:
        value = json.load(f)
    try:
        check(defs, defs[sys.argv[2]], value, sys.argv[2])
    except Wrong as e:
        sys.exit(f"{sys.argv[3]}: {e}")


main()
