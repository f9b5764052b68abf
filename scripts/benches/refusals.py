#!/usr/bin/python3
"""The time that one process's refused calls take from another's work."""

import os
import pathlib
import signal
import subprocess
import sys
import time

if __name__ != "__main__":
    from benches.common import BEFORE, OURS
    from benches.ratios import Ratios
    from benches.space import Phone

RATE = 10_000
ALONE, REFUSED, GRANTED = "alone", "refused", "granted"


# The other process's work: this file, run by itself.

def calls(kind, home):
    """Calls at a pace, until the process is told to end; then it says how many a second there were."""
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    bundle = os.path.join(home, "Notes.app/Info.plist")
    print("ready", flush=True)
    count, start = 0, time.perf_counter()
    while not ended:
        for _ in range(int((time.perf_counter() - start) * RATE) - count):
            if kind == REFUSED:
                try:
                    os.open(bundle, os.O_WRONLY)
                    sys.exit("a call was not refused")
                except PermissionError:
                    pass
            else:
                # As many requests, of which none is refused.
                os.listxattr(bundle)
            count += 1
        time.sleep(0.0005)
    print(count / (time.perf_counter() - start), flush=True)


class Others:
    """A process that makes calls while something else is measured."""

    fewest = {}

    def __init__(self, kind, home):
        self.kind = kind
        self.process = kind != ALONE and subprocess.Popen(
            [sys.executable, __file__, kind, str(home)], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self.process:
            self.process.stdout.readline()
            time.sleep(0.2)

    def __exit__(self, *_):
        if not self.process:
            return
        self.process.terminate()
        said = self.process.communicate()[0]
        if self.process.returncode != 0:
            raise RuntimeError("the calls beside the work ended early")
        Others.fewest[self.kind] = min(float(said), Others.fewest.get(self.kind, RATE))


def read(files, count):
    """Opens, reads and closes files in turn; returns the seconds."""
    start = time.perf_counter()
    for number in range(count):
        file = os.open(files[number % len(files)], os.O_RDONLY)
        os.read(file, 4096)
        os.close(file)
    return time.perf_counter() - start


def make(directory, count):
    """Makes and removes files; returns the seconds."""
    path = directory / "passing"
    start = time.perf_counter()
    for _ in range(count):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        os.unlink(path)
    return time.perf_counter() - start


def measure(options, work, binary):
    binaries = {OURS: binary}
    if options.before:
        binaries[BEFORE] = pathlib.Path(options.before).resolve()
    share = 10 if options.quick else 1
    bad, rows = False, []
    for name, tool in binaries.items():
        table = Ratios(f"{name}: work beside {RATE} calls a second of another process",
                       [ALONE, REFUSED, GRANTED], options)
        phone = Phone(work / name, tool)
        try:
            documents = phone.home / "Documents"
            files = [documents / f"file-{number}" for number in range(100)]
            for file in files:
                file.write_bytes(os.urandom(4096))
            os.sync()

            def beside(job, *arguments):
                def measured(kind):
                    with Others(kind, phone.home):
                        return job(*arguments)
                return measured

            table.measure("open, read and close", 1.10, beside(read, files, 50_000 // share))
            table.measure("create and unlink", 1.10, beside(make, documents, 15_000 // share))
        finally:
            phone.remove()
        rows += [{"system": name, **row} for row in table.rows]
        # Another build is there to compare with, not to be judged.
        bad = bad or name == OURS and table.bad
    for kind, rate in Others.fewest.items():
        if rate < 0.95 * RATE:
            print(f"on this machine there were only {rate:.0f} {kind} calls a second at times: the rows do not count")
            bad = True
    return {"rounds": options.rounds, "calls_per_second": RATE, "fewest": Others.fewest, "rows": rows}, bad


if __name__ == "__main__":
    calls(*sys.argv[1:])
