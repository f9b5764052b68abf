#!/usr/bin/python3
"""Holds the Python package against the control API's document: the calls, the keys of requests, and the keys of answers.

python_package.py DOCUMENT: with the package in PYTHONPATH."""

import dataclasses
import pathlib
import re
import sys
import typing

import pytest_appcontainer
import yaml
from pytest_appcontainer.decoding import _plan

import kit

# Of the schemas that are no records: parts of the wire, what one call alone sends, and what `own` is told and answers.
NO_RECORDS = {"Nothing", "Failure", "Complaint", "WorkLine", "ProtectionClass"}
NO_RECORDS |= {"DeviceOrder", "DeviceSettings", "StartReport"}
OTHER_NAMES = {"CapacityReport": "Capacity"}


def may_be_null(schema):
    kinds = [schema.get("type"), *(each.get("type") for each in schema.get("oneOf", []))]
    return None in schema.get("enum", []) or any("null" in kind for kind in kinds if kind)


def records(schemas):
    """A field for each key, and a default where, and only where, the key may be missing or null."""
    for name, schema in schemas.items():
        if name in NO_RECORDS or name.endswith("Request"):
            continue
        record = getattr(pytest_appcontainer, OTHER_NAMES.get(name, name))
        kit.check(dataclasses.is_dataclass(record), name, "is no record")
        fields = {key: (hint, needed) for _, key, hint, needed in _plan(record)}
        kit.check(set(fields) == set(schema["properties"]), name, set(fields) ^ set(schema["properties"]))
        for key, (hint, needed) in fields.items():
            optional = key not in schema["required"] or may_be_null(schema["properties"][key])
            kit.check(needed != optional, name, key, "has a default" if not needed else "has no default")
            if may_be_null(schema["properties"][key]):
                kit.check(type(None) in typing.get_args(hint), name, key, "cannot be None")


def requests(document, source):
    for path in document["paths"]:
        kit.check(f'"{path.removeprefix("/v1/")}"' in source, path, "is not called")
    said = set(re.findall(r'"(\w+)":', source)) | set(re.findall(r"(\w+)=", source))
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Request"):
            # Only the command detaches a process, and only it has a supervisor for each.
            missing = set(schema["properties"]) - said - {"detached", "supervisor"}
            kit.check(not missing, name, "lacks", missing)


def main():
    document = yaml.safe_load(open(sys.argv[1]))
    package = pathlib.Path(pytest_appcontainer.__file__).parent
    records(document["components"]["schemas"])
    requests(document, "".join((package / name).read_text() for name in ("client.py", "files.py", "following.py", "running.py")))


main()
