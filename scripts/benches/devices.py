#!/usr/bin/python3
"""The time of a device for one test: a copy of a template, unlocked and mounted, and its end; beside it the host's
own copy and removal of the same directory."""

import json
import pathlib
import statistics
import subprocess
import time

from benches.common import APP, BEFORE, NATIVE, OURS, ROOT, milliseconds
from benches.lock import ControlSocket
from benches.ratios import Ratios

PASSCODE = "1234"
# The start of a process that waits for its order, before the order comes: less than a short test takes.
AHEAD = 0.15
# Seconds within which a device of a template is to be mounted.
GOAL = 0.05
PARTS = ("copied and booted", "unlocked", "mounted")


class Owned:
    """A process that makes a device by an order, serves it, and deletes it when its input ends."""

    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "own"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def order(self, **order):
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        report = json.loads(self.process.stdout.readline())
        if "complaint" in report:
            raise RuntimeError(report["complaint"]["message"])
        return report

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Copies:
    """A template of each binary, and copies of it one after the other."""

    def __init__(self, work, binaries):
        self.work, self.binaries, self.count = work, binaries, 0
        self.templates, self.parts = {}, {}
        for name, binary in binaries.items():
            self.templates[name] = Owned(binary)
            self.templates[name].order(
                device=str(work / f"template-{name}"), create={"passcode": PASSCODE, "kdfCost": 1},
                install=[{"app": str(ROOT / "Tests/Fixtures/Notes.app")}], template=True)

    def end(self):
        for template in self.templates.values():
            template.end()

    def __call__(self, way, ahead):
        """Returns the seconds until the copy is mounted, and those of its end."""
        self.count += 1
        place = self.work / f"copy-{self.count}"
        if way == NATIVE:
            start = time.perf_counter()
            subprocess.run(["cp", "-a", self.work / f"template-{OURS}", place], check=True)
            copied = time.perf_counter()
            subprocess.run(["rm", "-r", place], check=True)
            return copied - start, time.perf_counter() - copied
        times = [time.perf_counter()]
        owned = Owned(self.binaries[way])
        if ahead:
            time.sleep(AHEAD)
            times = [time.perf_counter()]
        control = ControlSocket(owned.order(device=str(place), clone=str(self.work / f"template-{way}"))["socket"])
        times.append(time.perf_counter())
        control.post("unlock", passcode=PASSCODE)
        times.append(time.perf_counter())
        home = control.post("mount", app=APP)["mountPoint"]
        # Somebody can use it.
        (pathlib.Path(home) / "Documents").stat()
        times.append(time.perf_counter())
        owned.end()
        for part, start, end in zip(PARTS, times, times[1:]):
            self.parts.setdefault((way, ahead, part), []).append(end - start)
        return times[-1] - times[0], time.perf_counter() - times[-1]


def measure(options, work, binary):
    binaries = {OURS: binary}
    if options.before:
        binaries[BEFORE] = pathlib.Path(options.before).resolve()
    copies = Copies(work, binaries)
    table = Ratios("a device of a template, with a passcode, unlocked and mounted (native: cp -a and rm -r of it)",
                   [NATIVE, *binaries], options)
    # One takes so little time that many make a median.
    repeated = 1 if options.quick else 4
    waiting, cold = "its process waits for the order", "its process starts with the order"
    try:
        for name, ahead in (waiting, True), (cold, False):
            table.measure(name, None, lambda way, ahead=ahead: copies(way, ahead), repeated, ["  the end of it"])
    finally:
        copies.end()
    for name, ahead in (waiting, True), (cold, False):
        for way in binaries:
            told = [f"{part} {milliseconds(statistics.median(copies.parts[way, ahead, part]))}"
                    for part in PARTS if (way, ahead, part) in copies.parts]
            if told:
                print(f"{way}, {name}: " + ", ".join(told))
    times = [row["seconds"][OURS] for row in table.rows if row["row"] == waiting]
    missed = bool(times) and statistics.median(times[0]) > GOAL
    if times:
        print(f"goal: {milliseconds(GOAL)} where {waiting}: {'missed' if missed else 'ok'}")
    return {"rounds": options.rounds * repeated, "goal_seconds": GOAL, "rows": table.rows}, missed
