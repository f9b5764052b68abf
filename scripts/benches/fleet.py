#!/usr/bin/python3
"""Many devices at once, as volumes of one template: the time from a request to a mount while others are made, and the
memory, threads and processor time of those that nobody uses."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import socket
import statistics
import subprocess
import time

from benches.common import APP, MIB, ROOT, progress, run
from benches.scale import bars, duration

# Volumes that are asked for at a time.
MAKERS = 2
# Seconds for which nobody uses a device before it is looked at, and for which it is.
QUIET, WATCHED = 60, 60
GOALS = {"seconds": 0.060, "dirty": 3 * MIB, "threads": 5}


class PluginConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Volumes:
    """A plugin whose volumes are copies of one template."""

    def __init__(self, work, binary):
        self.work, self.binary, self.names = work, binary, []
        templates = work / "templates"
        templates.mkdir()
        run(binary, "create", templates / "phone")
        run(binary, "install", templates / "phone", ROOT / "Tests/Fixtures/Notes.app")
        run(binary, "shutdown", templates / "phone")
        self.socket = str(work / "volumes.sock")
        self.process = subprocess.Popen(
            [binary, "volumes", "serve", "--socket", self.socket, "--templates", templates, "--state", work / "state"],
            stdin=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not os.path.exists(self.socket):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("volumes are not served")
            time.sleep(0.01)

    def ask(self, connection, request, **values):
        connection.request("POST", "/VolumeDriver." + request, json.dumps(values))
        answer = json.loads(connection.getresponse().read())
        if answer.get("Err"):
            raise RuntimeError(f"{request}: {answer['Err']}")
        return answer

    def make(self, name):
        """Seconds until a new volume is mounted."""
        connection = PluginConnection(self.socket)
        start = time.perf_counter()
        self.ask(connection, "Create", Name=name, Opts={"template": "phone", "app": APP})
        place = self.ask(connection, "Mount", Name=name, ID="bench")["Mountpoint"]
        # Somebody can use it.
        os.stat(place + "/Documents")
        seconds = time.perf_counter() - start
        connection.close()
        return seconds

    def grow(self, number):
        """Makes volumes until there are so many. Returns the seconds of each."""
        fresh = [f"volume-{index:04}" for index in range(len(self.names), number)]
        self.names += fresh
        with concurrent.futures.ThreadPoolExecutor(MAKERS) as makers:
            return list(makers.map(self.make, fresh))

    def processes(self):
        """For each volume the processes of its device: the one that serves it, and its guard."""
        found = {str(self.work / "state/devices" / name): [] for name in self.names}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                for word in pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")[1:]:
                    found.get(os.fsdecode(word), []).append(int(entry))
        # The guard is made by the other.
        return [sorted(pids) for pids in found.values()]

    def remove(self, name):
        connection = PluginConnection(self.socket)
        self.ask(connection, "Unmount", Name=name, ID="bench")
        self.ask(connection, "Remove", Name=name)
        connection.close()

    def end(self):
        with concurrent.futures.ThreadPoolExecutor(MAKERS) as makers:
            list(makers.map(self.remove, self.names))
        self.process.terminate()
        self.process.wait()


def private_dirty(pid):
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith("Private_Dirty"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no Private_Dirty of process {pid}")


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def wake_ups(pids):
    """How often the threads of processes have gone to sleep since they began."""
    count = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/status") as status:
                count += sum(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches"))
    return count


def processor_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(options, work, binary):
    last = next((int(word.partition("=")[2]) for word in options.most if word.startswith("devices=")),
                20 if options.quick else 500)
    steps = sorted({max(1, last * step // 10) for step in range(1, 11)})
    volumes, points = Volumes(work, binary), {}
    try:
        for number in steps:
            progress(f"{number} of {last} devices")
            times = volumes.grow(number)
            every = [pid for pids in volumes.processes() for pid in pids]
            points[number] = {"seconds": statistics.median(times), "worst_seconds": max(times),
                              "dirty": sum(map(private_dirty, every)) / number}
        progress("waiting until they are idle")
        time.sleep(2 if options.quick else QUIET)
        idle = look(volumes, 2 if options.quick else WATCHED)
        progress("removing them")
    finally:
        volumes.end()
        progress(None)
    return show(points, idle, options)


def look(volumes, seconds):
    """The figures of devices that nobody uses."""
    each = volumes.processes()
    every = [pid for pids in each for pid in pids]
    woken, used = wake_ups(every), processor_seconds(every)
    time.sleep(seconds)
    dirty = [sum(map(private_dirty, pids)) for pids in each]
    count = [sum(map(threads, pids)) for pids in each]
    own = [threads(pids[0]) for pids in each]
    return {"watched": seconds, "wake_ups": wake_ups(every) - woken, "processor_seconds": processor_seconds(every) - used,
            "dirty": statistics.median(dirty), "most_dirty": max(dirty), "threads": max(own), "with_guard": max(count)}


def show(points, idle, options):
    numbers = list(points)
    print(f"devices at once, {MAKERS} made at a time, each a copy of a template\n{'':<30}"
          + "".join(f"{number:>9}" for number in numbers))
    for key, title, shown in (
            ("seconds", "request to mounted, median", duration), ("worst_seconds", "  the longest", duration),
            ("dirty", "private memory of each", lambda value: f"{value / MIB:.2f} MiB")):
        values = [point[key] for point in points.values()]
        print(f"{title:<30}" + "".join(f"{shown(value):>9}" for value in values)
              + "  " + bars(values, min(values), max(values)))
    print(f"idle, with their guards: {idle['dirty'] / MIB:.2f} MiB private and dirty ({idle['most_dirty'] / MIB:.2f} at "
          f"most), {idle['threads']} threads ({idle['with_guard']} with the guard); in {idle['watched']} s "
          f"{idle['wake_ups']} wake-ups and {idle['processor_seconds']:.2f} s of a processor for all {numbers[-1]}")
    median = statistics.median(point["seconds"] for point in points.values())
    missed = [name for name, is_met in (
        ("seconds", median <= GOALS["seconds"]), ("dirty", idle["dirty"] < GOALS["dirty"]),
        ("threads", idle["threads"] <= GOALS["threads"])) if not is_met]
    print(f"goals: {duration(GOALS['seconds'])} from request to mounted, less than {GOALS['dirty'] / MIB:.0f} MiB, "
          f"{GOALS['threads']} threads: {'missed: ' + ', '.join(missed) if missed else 'ok'}")
    return {"points": points, "idle": idle, "goals": GOALS}, bool(missed) and not options.quick
