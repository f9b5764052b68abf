#!/usr/bin/python3
"""Locks at suspension: each row of a table is a program of the app, suspended.

suspension.py locks DEVICE APP GROUP | speed DEVICE APP GROUP"""

import json
import os
import statistics
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATABASES = ("delete", "wal")

# The deed of a program, and the lock for which it is killed; None: it lives.
FILES = {
    "nothing": None,
    "released": None,
    "flock_shared": "flock",
    "flock_exclusive": "flock",
    "posix_read": "posix",
    "posix_write": "posix",
    "ofd_write": "ofd",
    "thread": "posix",
    "exempt": None,
    "removed": None,
}
STATES = {
    "idle": None,
    "after_transaction": None,
    "read_transaction": "sqlite",
    "open_cursor": "sqlite",
    "write_transaction": "sqlite",
    "exclusive_mode": "sqlite",
    "exempt_database": None,
}


def check(condition, *words):
    if not condition:
        raise SystemExit("FAILED: " + " ".join(map(str, words)))


class Phone:
    def __init__(self, device, app, group):
        self.device, self.app, self.group = device, app, group
        self.home = None

    def command(self, name, *arguments, status=0):
        done = subprocess.run(
            ["appcontainer", name, self.device, self.app, *arguments], capture_output=True, text=True)
        check(done.returncode == status, name, arguments, done.returncode, done.stderr)
        return done.stdout

    def events(self):
        lines = subprocess.run(
            ["appcontainer", "events", self.device], capture_output=True, text=True, check=True).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def start(self, what, path):
        """A program of the app that has said that it is ready."""
        program = subprocess.Popen(
            ["appcontainer", "run", self.device, self.app, "--", "/usr/bin/python3", str(HERE / "holder.py"), what, path],
            stdout=subprocess.PIPE)
        check(program.stdout.readline() == b"ready\n", what, "is not ready")
        return program

    def end(self, program):
        """The program, which still runs."""
        self.command("terminate")
        program.wait()
        program.stdout.close()

    def steps(self):
        try:
            return int((Path(self.home) / "Documents/steps").read_text() or -1)
        except (FileNotFoundError, ValueError):
            return -1

    def goes_on(self):
        before = self.steps()
        deadline = time.monotonic() + 20
        while self.steps() == before:
            check(time.monotonic() < deadline, "it does not go on")
            time.sleep(0.005)

    def survives(self, what, path):
        program = self.start(what, path)
        report = json.loads(self.command("suspend", "--json"))
        check(report["terminated"] == [] and report["processes"] >= 1, what, path, report)
        self.command("resume")
        self.goes_on()
        check(program.poll() is None, what, "has ended with", program.returncode)
        self.end(program)

    def is_killed(self, what, path, lock):
        program = self.start(what, path)
        said = self.command("suspend")
        check(f"held a lock ({lock}) on {path}: killed, 0xdead10cc" in said, what, path, said)
        check(program.wait() == -9, what, "ended with", program.returncode)
        program.stdout.close()
        event = self.events()[-2]
        found = [event.get(key) for key in ("event", "app", "path", "lock", "reason")]
        if event["event"] != "terminated":
            # The mount may have ended already, or not yet.
            event = next(each for each in reversed(self.events()) if each["event"] == "terminated")
            found = [event.get(key) for key in ("event", "app", "path", "lock", "reason")]
        check(found == ["terminated", self.app, path, lock, "0xdead10cc"], found)
        check(isinstance(event["pid"], int) and event["process"] in ("python3", "sqlite3"), event)
        return event


def locks(phone):
    fresh = iter(range(1000))
    for what, lock in FILES.items():
        path = f"Groups/{phone.group}/file-{next(fresh)}"
        if lock:
            phone.is_killed(what, path, lock)
        else:
            phone.survives(what, path)
    for mode in DATABASES:
        for state, lock in STATES.items():
            path = f"Groups/{phone.group}/notes-{next(fresh)}.db"
            if lock:
                phone.is_killed(f"{mode}.{state}", path, lock)
            else:
                phone.survives(f"{mode}.{state}", path)
    for what in ("flock_exclusive", "posix_write", "ofd_write", "delete.write_transaction", "wal.write_transaction"):
        phone.survives(what, f"Documents/file-{next(fresh)}")
    # A file that only belongs to a database.
    for companion in ("-wal", "-shm", "-journal"):
        phone.survives("posix_write", f"Groups/{phone.group}/other.db{companion}")


def families(phone):
    """Of several processes the one that holds the lock is killed, and the others go on."""
    path = f"Groups/{phone.group}/family"
    program = phone.start("child", path)
    report = json.loads(phone.command("suspend", "--json"))
    check([each["lock"] for each in report["terminated"]] == ["posix"] and report["processes"] == 2, report)
    phone.command("resume")
    phone.goes_on()
    phone.end(program)
    # Both have the open file whose lock it is.
    program = phone.start("inherited", path)
    report = json.loads(phone.command("suspend", "--json"))
    check([each["lock"] for each in report["terminated"]] == ["flock", "flock"], report)
    check(len({each["pid"] for each in report["terminated"]}) == 2, report)
    check(program.wait() == -9, program.returncode)
    program.stdout.close()
    for mode in DATABASES:
        database = f"Groups/{phone.group}/shell-{mode}.db"
        program = phone.start(f"{mode}.shell", database)
        report = json.loads(phone.command("suspend", "--json"))
        found = [(each["path"], each["lock"], each["process"]) for each in report["terminated"]]
        check(found == [(database, "sqlite", "sqlite3")], found)
        phone.command("resume")
        phone.end(program)


def speed(phone):
    """Frozen within 20 ms, and killed within 100 ms after that: by the times of the events."""
    frozen, killed = [], []
    for number in range(9):
        program = phone.start("flock_exclusive", f"Groups/{phone.group}/speed")
        phone.command("suspend")
        program.wait()
        program.stdout.close()
        times = {event["event"]: datetime.fromisoformat(event["time"].replace("Z", "+00:00")) for event in phone.events()}
        frozen.append((times["suspended"] - times["entered"]).total_seconds() * 1000)
        killed.append((times["terminated"] - times["suspended"]).total_seconds() * 1000)
    print("frozen after", frozen, "ms, killed after", killed, "ms")
    check(statistics.median(frozen) <= 20 and statistics.median(killed) <= 100, frozen, killed)


def main():
    part, *place = sys.argv[1:]
    phone = Phone(*place)
    status = subprocess.run(["appcontainer", "status", phone.device, "--json"], capture_output=True, text=True)
    mounts = json.loads(status.stdout)["mounts"]
    phone.home = mounts[0]["mountPoint"]
    {"locks": locks, "families": families, "speed": speed}[part](phone)


if __name__ == "__main__":
    main()
