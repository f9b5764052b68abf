#!/usr/bin/python3
"""Kills the daemon in the middle of purges, at moments spread over the time that a purge takes, and looks each time at
what is there: every entry is whole or gone, and `check` finds nothing. The trash is emptied."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from kit import ControlConnection, check

device, data, template, kills = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4])
trash = pathlib.Path(device) / "Trash"
places = ["Library/Caches", "tmp"]


def run(*arguments):
    return subprocess.run(["appcontainer", *arguments], check=True, capture_output=True, text=True).stdout


def refill():
    """Puts back what went, behind the daemon's back: nothing is mounted."""
    for place in places:
        for entry in (template / pathlib.Path(place).name).iterdir():
            target = data / place / entry.name
            if not target.exists():
                subprocess.run(["cp", "-a", entry, target], check=True)


def ask(socket):
    """Begins a purge and does not wait for its end."""
    connection = ControlConnection(socket)
    connection.request("POST", "/v1/purge", json.dumps({"level": "critical"}))
    return connection


def left():
    """How many entries are left; each has to be whole."""
    count = 0
    for place in places:
        for entry in (data / place).iterdir():
            count += 1
            if entry.is_dir():
                check(sorted(os.listdir(entry)) == ["1", "2", "3"], entry, "is there in part:", os.listdir(entry))
    return count


seed = random.randrange(1 << 30)
chance = random.Random(seed)
print("seed", seed)
complete = 2 * 40
interrupted = 0
longest = 0.03
for turn in range(kills):
    refill()
    status = json.loads(run("status", device, "--json"))
    if status["daemon"]["pid"] is None:
        # Starting the daemon is what removes the trash; it is alone with the device then.
        check(run("check", device).strip() == "whole", "turn", turn)
        status = json.loads(run("status", device, "--json"))

    connection = ask(status["daemon"]["socket"])
    time.sleep(chance.uniform(0, longest))
    os.kill(status["daemon"]["pid"], signal.SIGKILL)
    connection.close()
    # The next daemon takes over when the kernel has taken the old one's lock away.
    check(run("check", device).strip() == "whole", "turn", turn)
    now = left()
    if 0 < now < complete:
        interrupted += 1
    # Kept about as long as a purge takes, whatever the machine.
    if now == 0:
        longest = max(longest * 0.9, 0.001)
    elif now == complete:
        longest *= 1.1
    deadline = time.monotonic() + 20
    while os.listdir(trash):
        check(time.monotonic() < deadline, "turn", turn, "left in the trash:", os.listdir(trash))
        time.sleep(0.005)
print(kills, "kills,", interrupted, "in the middle of a purge")
check(interrupted * 10 >= kills, "hardly any kill met a purge: only", interrupted)
