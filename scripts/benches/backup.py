#!/usr/bin/python3
"""Backups against the tools that a user would take instead: tar reading and filling the same mount. And what a backup of many
files takes in memory, and how many it opens."""

import os
import pathlib
import re
import shutil

from benches.common import APP, BEFORE, MIB, OURS, ROOT, drop_caches, elapsed, progress, run
from benches.ratios import Ratios
from benches.rows import make_tree
from benches.space import Phone

TOOL = "tar"
# A speed of 70 %.
GOAL = round(1 / 0.7, 2)
MANY = 100_000
# Growth that is no growth with the number: lists of names of one directory, and what an allocator keeps.
MOST_GROWTH = 8 * MIB


class Work:
    """A tree in Documents, backed up by either tool; with --before by another binary too, of a device of its own."""

    def __init__(self, work, binaries, fill):
        self.work, self.phones = work, {}
        for way, binary in binaries.items():
            self.phones[way] = Phone(work / way, binary)
            fill(self.phones[way].home / "Documents")
        os.sync()

    def end(self):
        for phone in self.phones.values():
            phone.remove()

    def backup(self, way, cold=False, *options):
        output = self.work / "output"
        phone = self.phones[OURS if way == TOOL else way]
        if cold:
            drop_caches()
            run(phone.binary, "--version")
            run(TOOL, "--version")
        try:
            if way == TOOL:
                # Durable as ours is, with what ours keeps.
                return elapsed("sh", "-c", 'tar --xattrs --xattrs-include="user.*" --format=posix -cf "$1" -C "$2" . '
                               '&& sync "$1"', "sh", output, phone.home / "Documents")
            return elapsed(phone.binary, "backup", phone.device, output, *options)
        finally:
            if output.is_dir():
                shutil.rmtree(output)
            else:
                output.unlink(missing_ok=True)


def restores(table, work, binaries, tar, name):
    if not table.wants(name):
        return
    phones = {way: Phone(work / f"restore-{way}", binary) for way, binary in binaries.items()}
    source = Phone(work / "source", binaries[OURS])
    try:
        run("tar", "-xf", tar, "-C", source.home / "Documents")
        backup = work / "backup.tar"
        run(source.binary, "backup", source.device, backup)
        plain = work / "plain.tar"
        run("tar", "-cf", plain, "-C", source.home / "Documents", ".")

        def restore(way):
            phone = phones[OURS if way == TOOL else way]
            if way == TOOL:
                run(phone.binary, "mount", phone.device, APP, phone.home)
                try:
                    run("find", phone.home / "Documents", "-mindepth", "1", "-delete")
                    return elapsed("tar", "-xf", plain, "-C", phone.home / "Documents") + elapsed(
                        "sync", "-f", phone.home / "Documents")
                finally:
                    run(phone.binary, "unmount", phone.home)
            return elapsed(phone.binary, "restore", phone.device, backup)

        for phone in phones.values():
            run(phone.binary, "unmount", phone.home)
        table.measure(name, None, restore)
    finally:
        for phone in [source, *phones.values()]:
            phone.remove()


def peak(phone):
    """The most memory that the device's process has had, in bytes."""
    pid = re.search(r'"pid" : (\d+)', run(phone.binary, "status", phone.device, "--json"))[1]
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def memory(options, work, binary):
    """The peak of the process with few files and with many, each in a process of its own."""
    name = "memory"
    if options.rows and options.rows not in name:
        return [], False
    peaks = {}
    few, many = 1_000, 10_000 if options.quick else MANY
    for count in (few, many):
        progress(f"making {count} files")
        phone = Phone(work / f"memory-{count}", binary)
        try:
            for number in range(count):
                folder = phone.home / f"Documents/{number // 1000:03}"
                folder.mkdir(exist_ok=True)
                (folder / f"file-{number:06}").write_bytes(b"x" * 100)
            run(phone.binary, "unmount", phone.home)
            run(phone.binary, "shutdown", phone.device)
            run(phone.binary, "backup", phone.device, work / f"{count}.tar")
            peaks[count] = peak(phone)
        finally:
            phone.remove()
    progress(None)
    growth = peaks[many] - peaks[few]
    verdict = "ok" if growth <= MOST_GROWTH else "missed"
    print(f"\nmemory at its peak: {peaks[few] / MIB:.1f} MiB with {few} files, {peaks[many] / MIB:.1f} MiB with {many}  {verdict}")
    return [{"row": name, "bytes": peaks}], verdict == "missed"


def measure(options, work, binary):
    binaries = {OURS: binary, **({BEFORE: pathlib.Path(options.before).resolve()} if options.before else {})}
    ways = [TOOL, OURS] + ([BEFORE] if options.before else [])
    table = Ratios("backup beside tar on the same mount", ways, options)
    tar, files, _ = make_tree(work, 2_000 if options.quick else 8_151)
    colds = (False, True) if os.geteuid() == 0 else (False,)
    size = 128 * MIB
    for name, fill in (
            (f"{files} files", lambda place: run("tar", "-xf", tar, "-C", place)),
            ("1 file of 128 MiB", lambda place: (place / "large").write_bytes(os.urandom(size)))):
        if not any(table.wants(f"{form} of {name}") for form in ("backup", "finder")):
            continue
        subject = Work(work / "subject", binaries, fill)
        try:
            for cold in colds:
                suffix = ", cold" if cold else ""
                table.measure(f"backup of {name}{suffix}", GOAL, lambda way, cold=cold: subject.backup(way, cold))
            table.measure(f"finder backup of {name}", None,
                          lambda way: subject.backup(way, False, *(() if way == TOOL else ("--format", "finder"))))
        finally:
            subject.end()
    restores(table, work, binaries, tar, f"restore of {files} files")
    rows, bad = memory(options, work, binary)
    return {"rounds": options.rounds, "rows": table.rows + rows}, table.bad or bad
