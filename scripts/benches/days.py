#!/usr/bin/python3
"""The time of a device's days: a year of a device with many apps, and the suspension of one of them."""

import json
import plistlib
import shutil
import statistics
import subprocess
import time

from benches.common import APP, ROOT, milliseconds, progress, run
from benches.lock import ControlSocket, seconds

APPS = 200
YEAR = 365 * 86_400
# Seconds.
GOALS = {"year": 2.0, "suspension": 0.02}
PROCESSES = 20


class Phone:
    """A device with many apps, of which one is mounted."""

    def __init__(self, work, binary, apps):
        self.binary, self.device, self.home = binary, work / "device", work / "home"
        self.home.mkdir()
        run(binary, "create", self.device)
        run(binary, "install", self.device, ROOT / "Tests/Fixtures/Notes.app")
        run(binary, "mount", self.device, APP, self.home)
        self.control = ControlSocket(json.loads(run(binary, "status", self.device, "--json"))["daemon"]["socket"])
        bundle = work / "Other.app"
        shutil.copytree(ROOT / "Tests/Fixtures/Notes.app", bundle, symlinks=True)
        shutil.rmtree(bundle / "_CodeSignature", ignore_errors=True)
        information = plistlib.loads((bundle / "Info.plist").read_bytes())
        for number in range(1, apps):
            progress(f"app {number + 1} of {apps}")
            information["CFBundleIdentifier"] = f"com.example.App{number}"
            (bundle / "Info.plist").write_bytes(plistlib.dumps(information))
            self.control.post("install", app=str(bundle))
        progress(None)

    def leave_something_in_tmp(self, turn):
        """An old item of each app, put where its container lies."""
        for tmp in self.device.glob("Containers/Data/Application/*/tmp"):
            (tmp / f"item-{turn}").mkdir()
        # The time of a file may be a tick early, so one from just before an advance counts as one from after it.
        time.sleep(0.05)

    def pass_a_year(self):
        return seconds(self.control.post, "clock", advance=YEAR)

    def suspend(self):
        """Returns the seconds until an app of several processes stands still."""
        shell = f"for n in $(seq {PROCESSES}); do sleep 600 & done; echo; wait"
        with subprocess.Popen([self.binary, "run", self.device, APP, "--", "sh", "-c", shell],
                              stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                taken = seconds(self.control.post, "suspend", app=APP)
                self.control.post("resume", app=APP)
            finally:
                self.control.post("terminate", app=APP)
            process.stdout.read()
        return taken

    def close(self):
        run(self.binary, "unmount", self.home, "--lazy")
        run(self.binary, "shutdown", self.device)


def measure(options, work, binary):
    apps = 20 if options.quick else APPS
    times = {name: [] for name in ("year", "backups", "suspension")}
    backups = work / "backups"
    backups.mkdir()
    phone = Phone(work, binary, apps)
    try:
        for turn in range(options.rounds):
            progress(f"round {turn + 1} of {options.rounds}")
            phone.leave_something_in_tmp(turn)
            times["year"].append(phone.pass_a_year())
            left = list(phone.device.glob(f"Containers/Data/Application/*/tmp/item-{turn}"))
            if left:
                raise RuntimeError(f"{len(left)} items of tmp are there after a year")
            phone.control.post("schedule", backup=str(backups))
            times["backups"].append(phone.pass_a_year())
            phone.control.post("schedule", ends=True)
            times["suspension"].append(statistics.median(phone.suspend() for _ in range(5)))
            for backup in backups.iterdir():
                shutil.rmtree(backup)
    finally:
        progress(None)
        phone.close()
    names = {"year": f"a year of {apps} apps, of which each has an old item of tmp",
             "backups": f"a year of {apps} apps with a backup each day",
             "suspension": f"an app of {PROCESSES} processes is suspended"}
    missed = False
    for name, taken in times.items():
        median = statistics.median(taken)
        verdict = ""
        if name in GOALS:
            ok = median <= GOALS[name]
            missed = missed or not ok
            verdict = f"goal {milliseconds(GOALS[name])}: {'ok' if ok else 'missed'}"
        print(f"{names[name]:<62} {milliseconds(median):>12}   {verdict}".rstrip())
    return {"rounds": options.rounds, "apps": apps, "goals": GOALS, "seconds": times}, missed
