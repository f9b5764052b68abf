#!/usr/bin/python3
"""Calls that are refused, and what the record has of them.

    events.py after_lock FILE DEVICE    locks the device, and tries each call on the file, which is open
    events.py names MOUNT               tries to make directories with names of all kinds
    events.py names_told <EVENTS        their events are lines of JSON, and have the names
    events.py full MOUNT                tries 2000 times to make a directory, of which some refusals may be recorded
    events.py full_told EVENTS          ends with 1 while the record, in that file, does not tell of all 2000"""

import json
import os
import subprocess
import sys

from kit import check


def after_lock(path, device):
    reader, writer, both = (os.open(path, flags) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR))
    subprocess.run(["appcontainer", "lock", device, "--now"], check=True)
    calls = [
        ("read", lambda: os.pread(reader, 4, 0)),
        ("write", lambda: os.pwrite(writer, b"x", 0)),
        ("read", lambda: os.pread(both, 4096, 0)),  # beyond the file's end, for which the kernel asks first
        ("ftruncate", lambda: os.ftruncate(writer, 1)),
        ("fallocate", lambda: os.posix_fallocate(writer, 0, 8192)),
        ("open", lambda: os.open(path, os.O_RDONLY)),
    ]
    for name, call in calls:
        try:
            call()
            sys.exit(f"{name} succeeded")
        except PermissionError:
            print(name)


def names(mount):
    for name in [b"line\nend", b"\xff\xfe", b'"quoted\\"', b"\x01\x7f\x1b[31m", "Übung 🙂".encode()]:
        try:
            os.mkdir(os.fsencode(mount) + b"/" + name)
            sys.exit("made")
        except PermissionError:
            pass


def names_told():
    lines = sys.stdin.read().splitlines()
    check(not any(ord(char) < 32 or ord(char) == 127 for line in lines for char in line), lines)
    told = [json.loads(line)["path"] for line in lines]
    check(told == ["line\nend", "\ufffd\ufffd", '"quoted\\"', "\x01\x7f\x1b[31m", "Übung 🙂"], told)


def full(mount):
    for _ in range(2000):
        try:
            os.mkdir(mount + "/full")
        except PermissionError:
            continue
        sys.exit("made")


def full_told(path):
    with open(path) as file:
        events = [json.loads(line) for line in file]
    check(sum(event.get("path") == "two" for event in events) == 1, events)
    recorded = sum(event.get("path") == "full" for event in events)
    missing = sum(event.get("omitted", 0) + event.get("dropped", 0) for event in events)
    check(recorded + missing <= 2000, recorded, missing)
    sys.exit(recorded + missing < 2000)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
