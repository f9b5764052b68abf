#!/usr/bin/python3
"""Times of files that were just made, written or emptied.

    times.py make DIRECTORY FACTS
    times.py again DIRECTORY FACTS          after a remount

FACTS gets the times as the calls themselves show them."""

import json
import os
import sys
import time

from kit import check

ROUNDS = 20
# The host dates a change of these when the content, or its time of modification, reaches it.
WRITTEN = ("written", "slowly", "emptied by open")
# The kernel dates a truncation itself, and the host does a moment later, before the call returns.
TRUNCATED = ("emptied by truncate",)


def times(path_or_file):
    status = os.stat(path_or_file)
    return status.st_mtime_ns, status.st_ctime_ns


def make(path):
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o4755)


def write(path):
    file = make(path)
    os.write(file, b"text")
    shown = times(file)
    os.close(file)
    return shown


def empty(path):
    file = make(path)
    shown = times(file)
    os.close(file)
    return shown


def slowly(path):
    file = make(path)
    first = times(file)
    while times(file) == first:
        os.write(file, b"text")
    shown = times(file)
    os.close(file)
    return shown


def node(path):
    os.mknod(path)
    return times(path)


def truncated(path):
    write(path)
    os.truncate(path, 0)
    return times(path) + (time.time_ns(),)


def emptied(path):
    write(path)
    file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    shown = times(file)
    os.close(file)
    return shown


WAYS = {
    "written": write, "empty": empty, "slowly": slowly, "node": node, "emptied by truncate": truncated,
    "emptied by open": emptied}

what, directory, facts = sys.argv[1:]
if what == "make":
    found = {f"{way} {number}": call(f"{directory}/{way} {number}") for number in range(ROUNDS) for way, call in WAYS.items()}
    for name, shown in found.items():
        now = times(f"{directory}/{name}")
        check(now == shown[:2], name, "moved at the next look:", shown, now)
    with open(facts, "w", encoding="utf-8") as file:
        json.dump(found, file)
else:
    with open(facts, encoding="utf-8") as file:
        found = json.load(file)
    for name, shown in found.items():
        now = times(f"{directory}/{name}")
        check(now[0] == shown[0], name, "modified at another time:", shown[0], now[0])
        if name.startswith(TRUNCATED):
            check(now[1] <= shown[2], name, "changed after the call:", shown[2], now[1])
        elif not name.startswith(WRITTEN):
            check(now[1] == shown[1], name, "changed at another time:", shown[1], now[1])
