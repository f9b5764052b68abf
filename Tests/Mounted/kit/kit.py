#!/usr/bin/python3
"""Functions that the programs of all themes share."""

import ctypes
import http.client
import json
import os
import random
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
KEEP_SIZE, PUNCH_HOLE = 1, 2
MIB = 1 << 20


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(map(str, seen)) or "not as it should be")


def eventually(body, *seen):
    """Half a minute is for a machine with much else to do, and for the time that a device takes to lock."""
    for _ in range(6000):
        if body():
            return
        time.sleep(0.005)
    check(False, "did not come true:", *seen)


def in_another_process(body):
    """Runs body in a child, which must succeed."""
    child = os.fork()
    if child == 0:
        try:
            body()
            os._exit(0)
        except BaseException as problem:
            print(f"in the other process: {problem!r}", file=sys.stderr)
            os._exit(1)
    _, status = os.waitpid(child, 0)
    check(status == 0, "the other process failed")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def bundle_of(mount):
    found = [name for name in os.listdir(mount) if name.endswith(".app")]
    check(len(found) == 1, "bundles:", found)
    return os.path.join(mount, found[0])


def pattern(size, seed=1):
    return random.Random(seed).randbytes(size)


class ControlConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("device")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def control(path, command, **values):
    """Asks the daemon at the socket without a further process, whose end would have the kernel write out its files."""
    connection = ControlConnection(path)
    connection.request("POST", "/v1/" + command, json.dumps(values))
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    check(answer.status == 200, command, answer.status, body)
