#!/usr/bin/python3
"""The time of data protection: lock, unlock, and the change of a class."""

import http.client
import json
import os
import resource
import socket
import statistics
import time

from benches.common import APP, MIB, ROOT, milliseconds, progress, run

PASSCODE = "271828"
GIB = 1 << 30


class ControlSocket(http.client.HTTPConnection):
    """The device's control API, so that the start of a command does not count."""

    def __init__(self, path):
        super().__init__("device")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def post(self, command, **body):
        self.request("POST", "/v1/" + command, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.getresponse()
        text = answer.read()
        self.close()
        if answer.status != 200:
            raise RuntimeError(f"{command}: {answer.status} {text.decode()}")
        return json.loads(text)


def seconds(call, *arguments, **options):
    start = time.perf_counter()
    call(*arguments, **options)
    return time.perf_counter() - start


class Phone:
    """A device with a passcode of the usual cost, mounted, and a directory of class A in it."""

    def __init__(self, work, binary):
        self.binary, self.device, self.home, self.code = binary, work / "device", work / "home", work / "code"
        self.home.mkdir()
        self.code.write_text(PASSCODE)
        self.code.chmod(0o600)
        run(binary, "create", self.device, "--passcode-file", self.code)
        run(binary, "install", self.device, ROOT / "Tests/Fixtures/Notes.app")
        run(binary, "mount", self.device, APP, self.home, "--passcode-file", self.code)
        status = json.loads(run(binary, "status", self.device, "--json"))
        self.control = ControlSocket(status["daemon"]["socket"])
        self.directory = self.home / "Documents" / "protected"
        self.directory.mkdir()
        run(binary, "protect", "complete", self.directory)

    def lock(self):
        return seconds(self.control.post, "lock", now=True)

    def unlock(self):
        return seconds(self.control.post, "unlock", passcode=PASSCODE)

    def unlock_by_command(self):
        return seconds(run, self.binary, "unlock", self.device, "--passcode-file", self.code)

    def close(self):
        run(self.binary, "unmount", self.home, "--lazy")
        run(self.binary, "shutdown", self.device)


def lock_and_unlock(phone, count, rounds, flags, times):
    files = []
    try:
        for number in range(count):
            path = phone.directory / f"file-{number}"
            path.write_bytes(b"x" * 8192)
            files.append(os.open(path, flags))
        for turn in range(rounds):
            for file in files:
                if flags == os.O_RDWR:
                    # Its dirty data is on the disk before the clock starts.
                    os.pwrite(file, b"%08d" % turn * 1024, 0)
                    os.fsync(file)
                os.pread(file, 8192, 0)
            times[0].append(phone.lock())
            times[1].append(phone.unlock())
            times[2].append(phone.lock())
            times[3].append(phone.unlock_by_command())
            if len(os.pread(files[0], 8192, 0)) != 8192:
                raise RuntimeError("a file has not its content any more")
    finally:
        for file in files:
            os.close(file)


def class_changes(phone, rounds):
    """Of a file of 1 GiB that is open, from one class to another and back."""
    path = phone.home / "Documents" / "large"
    with open(path, "wb") as file:
        for _ in range(GIB // MIB):
            file.write(os.urandom(4096) * (MIB // 4096))
        os.fsync(file.fileno())
        names = [b"NSFileProtectionComplete", b"NSFileProtectionNone"]
        changes = [
            seconds(os.setxattr, file.fileno(), "user.appcontainer.protection", names[turn % 2])
            for turn in range(20 * rounds)
        ]
    path.unlink()
    return changes


def measure(options, work, binary):
    count = options.files or 1000
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, max(count + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    writing, reading = [[], [], [], []], [[], [], [], []]
    phone = Phone(work, binary)
    try:
        progress("lock and unlock")
        lock_and_unlock(phone, count, options.rounds, os.O_RDWR, writing)
        lock_and_unlock(phone, count, options.rounds, os.O_RDONLY, reading)
        progress("class changes")
        changes = class_changes(phone, options.rounds)
        progress(None)
    finally:
        phone.close()
    rows = [
        (f"lock, {count} files open for writing", 0.100, writing[0]),
        (f"lock, {count} files open for reading", 0.100, reading[0]),
        ("unlock", 0.150, writing[1] + reading[1]),
        ("unlock, with the command's start", 0.150, writing[3] + reading[3]),
        ("class change of a file of 1 GiB", 0.001, changes),
    ]
    print(f"{'work':<41}{'median':>11}{'worst':>11}{'goal':>11}  verdict")
    bad = False
    for name, goal, times in rows:
        median = statistics.median(times)
        bad = bad or median > goal
        print(f"{name:<41}{milliseconds(median):>11}{milliseconds(max(times)):>11}{milliseconds(goal):>11}"
              f"  {'ok' if median <= goal else 'missed'}")
    report = {"rows": [{"row": name, "goal": goal, "seconds": times} for name, goal, times in rows]}
    return report, bad
