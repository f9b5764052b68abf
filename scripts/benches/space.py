#!/usr/bin/python3
"""The time of space: purges against the host's own removal of such a tree, the counting of what is written where a device
has a capacity of its own, and the look through a hundred thousand purgeable entries."""

import os
import pathlib
import shutil
import statistics
import subprocess

from benches.common import APP, BEFORE, NATIVE, OURS, ROOT, drop_caches, elapsed, milliseconds, progress, run
from benches.ratios import Ratios
from benches.rows import make_tree

# A tree that was written through a mount, removed as the host's tools remove it.
BACKING = "backing"
HOST, BOUNDED, AGAIN = "unbounded", "bounded", "unbounded 2"
CAPACITY = "16G"
MANY = 100_000


class Phone:
    """A device with the sample app, mounted."""

    def __init__(self, work, binary, *options):
        self.work, self.binary, self.device, self.home = work, binary, work / "device", work / "home"
        self.home.mkdir(parents=True)
        run(binary, "create", self.device, *options)
        run(binary, "install", self.device, ROOT / "Tests/Fixtures/Notes.app")
        run(binary, "mount", self.device, APP, self.home)
        self.caches = self.home / "Library/Caches"

    def end(self):
        subprocess.run([self.binary, "unmount", self.home, "--lazy"], capture_output=True)
        subprocess.run([self.binary, "shutdown", self.device], capture_output=True)

    def remove(self):
        self.end()
        shutil.rmtree(self.work)


class Shape:
    """How many files lie in how many directories; in none, each is an entry of Library/Caches by itself."""

    def __init__(self, files, directories):
        self.files, self.directories = files, directories
        self.name = f"{files} entries" if not directories else \
            f"{directories} director{'y' if directories == 1 else 'ies'} of {files // directories} files"

    def fill(self, place, size):
        """Makes the files one after the other, each written and closed, and everything durable in the end."""
        piece = os.urandom(size)
        for number in range(self.files):
            folder = place
            if self.directories:
                folder = place / f"cache-{number * self.directories // self.files:06}"
                folder.mkdir(exist_ok=True)
            with open(folder / f"file-{number:06}", "xb", buffering=0) as file:
                file.write(piece)
        os.sync()


class Purge:
    """A tree in `Library/Caches` that is purged, and its like that the host removes."""

    def __init__(self, work, binaries, shape, size, cold):
        self.work, self.binaries, self.shape, self.size, self.cold = work, binaries, shape, size, cold

    def __call__(self, way):
        """Returns the seconds until the tool returned, and until all of it is on the host's disk."""
        if way == NATIVE:
            return self.native()
        phone = Phone(self.work / way, self.binaries[OURS if way == BACKING else way])
        try:
            self.shape.fill(phone.caches, self.size)
            return self.backing(phone) if way == BACKING else self.purge(phone)
        finally:
            phone.remove()

    def native(self):
        place = self.work / NATIVE
        place.mkdir()
        # As large as a backing file, which begins with a block of its own.
        self.shape.fill(place, (self.size + 4095) // 4096 * 4096 + 4096)
        return self.removal(self.work, "rm", "-rf", place)

    def backing(self, phone):
        container = run(phone.binary, "path", phone.device, APP, "data", "--backing").strip()
        phone.end()
        return self.removal(self.work, "rm", "-rf", pathlib.Path(container) / "Library/Caches")

    def purge(self, phone):
        times = self.removal(self.work, phone.binary, "purge", phone.device, "--level", "critical", "--json")
        # A purge's files are removed from the host when it returns, and not only out of sight.
        left = os.listdir(phone.device / "Trash") + os.listdir(phone.caches)
        if left:
            raise RuntimeError(f"{len(left)} entries are left after the purge, {left[0]} for one")
        return times

    def removal(self, place, *tool):
        if self.cold:
            drop_caches()
            # The files of a tool are not to be read from the disk meanwhile.
            run(tool[0], "--version")
        returned = elapsed(*tool)
        return returned, returned + elapsed("sync", "-f", place)


def purges(options, work, binary):
    binaries = {OURS: binary, BEFORE: options.before and pathlib.Path(options.before).resolve()}
    files = options.files or (1_000 if options.quick else 10_000)
    size = options.size * 1024
    table = Ratios(f"purge of {files} files of {options.size} KiB",
                   [NATIVE, OURS, BACKING] + ([BEFORE] if options.before else []), options)
    for directories in (1, 100, 0):
        shape = Shape(files, directories)
        for cold in (False, True) if os.geteuid() == 0 else (False,):
            table.measure(f"purge {shape.name}{', cold' if cold else ''}", 1.25,
                          Purge(work, binaries, shape, size, cold), further=("  until it is on the disk",))
    return table


def accounting(options, work, binary):
    """Untar into a device that counts what it may take, and into two that do not: those show what is noise."""
    ways = [HOST, BOUNDED, AGAIN] + ([BEFORE] if options.before else [])
    table = Ratios(f"accounting, with a capacity of {CAPACITY}", ways, options)
    name = "untar"
    if not table.wants(name):
        return table
    tar, files, _ = make_tree(work, 2_000 if options.quick else 10_000)
    phones = {}
    try:
        for way in ways:
            phones[way] = Phone(work / way.replace(" ", "-"), options.before if way == BEFORE else binary,
                                *(["--capacity", CAPACITY] if way in (BOUNDED, BEFORE) else []))

        def untar(way):
            tree = phones[way].home / "Documents/tree"
            shutil.rmtree(tree, ignore_errors=True)
            tree.mkdir()
            os.sync()
            return elapsed("tar", "-xf", tar, "-C", tree)

        # A few per cent want more rounds than a ratio of two does.
        table.measure(f"{name}, {files} files", 1.02, untar, repeated=3)
    finally:
        for phone in phones.values():
            phone.remove()
    return table


def looks(options, work, binary):
    """How long it takes to find out what would go; the plan that it ends in is a part of it."""
    name, count = "purge --dry-run", 10_000 if options.quick else MANY
    if options.rows and options.rows not in name:
        return []
    phone = Phone(work / "many", binary)
    rows = []
    try:
        progress(f"making {count} entries")
        Shape(count, 0).fill(phone.caches, 1)
        tools = [(f"{name} of {count} entries", ("purge", phone.device, "--level", "critical", "--dry-run", "--json")),
                 (f"status with {count} entries", ("status", phone.device, "--json"))]
        print(f"\n{'look':<42}{'median':>13}")
        for name, tool in tools:
            times = [elapsed(binary, *tool) for _ in range(options.rounds)]
            progress(None)
            print(f"{name:<42}{milliseconds(statistics.median(times)):>13}")
            rows.append({"row": name, "seconds": times})
    finally:
        phone.remove()
    return rows


def measure(options, work, binary):
    tables = [part(options, work, binary) for part in (purges, accounting)]
    rows = [row for table in tables for row in table.rows] + looks(options, work, binary)
    report = {"rounds": options.rounds, "files": options.files, "kibibytes": options.size, "rows": rows}
    return report, any(table.bad for table in tables)
