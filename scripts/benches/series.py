#!/usr/bin/python3
"""The work of --scale: series of numbers, and what is timed at each of them."""

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import time

from benches.common import APP, NATIVE, OURS, ROOT, elapsed, run
from benches.memory import resident

# Files of a directory of the tree.
TO_A_DIRECTORY = 1000
# Calls that are timed, where not all entries are worked on.
SAMPLE = 2000
BLOCK = b"x" * 4096
# Devices, the last of their number, of whose times the median is told.
LAST = 7


class Point:
    """The figures of one number: call → way → seconds, and the bytes of our process."""

    def __init__(self):
        self.seconds, self.memory = {}, 0

    def add(self, call, way, seconds):
        # A clock that did not move has no logarithm.
        self.seconds.setdefault(call, {})[way] = max(seconds, 1e-8)


class Phone:
    """A device with the sample app, whose commands are timed."""

    def __init__(self, work, binary, transport):
        self.work, self.binary, self.device, self.home = work, binary, work / "device", work / "home"
        self.options = ["--transport", transport] if transport else []
        self.home.mkdir(parents=True)
        self.created = elapsed(binary, "create", self.device)
        self.installed = elapsed(binary, "install", self.device, ROOT / "Tests/Fixtures/Notes.app")
        self.shut_down()

    def start(self):
        return elapsed(self.binary, "boot", self.device)

    def mount(self):
        return elapsed(self.binary, "mount", self.device, APP, self.home, *self.options)

    def shut_down(self):
        subprocess.run([self.binary, "unmount", self.home, "--lazy"], capture_output=True)
        subprocess.run([self.binary, "shutdown", self.device], capture_output=True)

    def memory(self):
        return resident(json.loads(run(self.binary, "status", self.device, "--json"))["daemon"]["pid"])

    def remove(self):
        self.shut_down()
        shutil.rmtree(self.work)


def each(call, arguments):
    """Seconds of a call with each of the arguments: the median of ten means, so that a moment's other work does not count."""
    parts, means = min(10, len(arguments)), []
    for part in range(parts):
        chosen = arguments[part::parts]
        start = time.perf_counter()
        for argument in chosen:
            call(argument)
        means.append((time.perf_counter() - start) / len(chosen))
    return statistics.median(means)


def read_file(path):
    file = os.open(path, os.O_RDONLY)
    os.read(file, 4096)
    os.close(file)


def rename_there_and_back(path):
    os.rename(path, path + ".new")
    os.rename(path + ".new", path)


def list_tree(place):
    """The number of entries."""
    with os.scandir(place) as entries:
        return sum(1 + (list_tree(entry.path) if entry.is_dir(follow_symlinks=False) else 0) for entry in entries)


class Files:
    """Files in one directory, or in directories of a thousand."""

    numbers, quick, unit = [1_000, 10_000, 100_000, 1_000_000], 10_000, "file"

    def __init__(self, key, title, is_tree):
        self.key, self.title, self.is_tree = key, title, is_tree

    def label(self, number):
        return f"{number:,}"

    def paths(self, place, number):
        for index in range(number):
            folder = f"{place}/{index // TO_A_DIRECTORY:04}" if self.is_tree else place
            yield f"{folder}/file-{index:07}"

    def fill(self, place, number):
        """Seconds to make, write and close a file."""
        place.mkdir()
        start = time.perf_counter()
        for index, path in enumerate(self.paths(place, number)):
            if self.is_tree and index % TO_A_DIRECTORY == 0:
                os.mkdir(os.path.dirname(path))
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            os.write(file, b"some content")
            os.close(file)
        seconds = (time.perf_counter() - start) / number
        os.sync()
        return seconds

    def calls(self, point, way, place, number):
        paths = random.Random(number).sample(list(self.paths(place, number)), min(number, SAMPLE))
        point.add("look, first time", way, each(os.stat, paths))
        point.add("open, read, close", way, each(read_file, paths))
        point.add("rename, both ways", way, each(rename_there_and_back, paths))
        start = time.perf_counter()
        list_tree(place)
        point.add("list", way, (time.perf_counter() - start) / number)

    def host(self, point, work, number):
        place, copy, archive = work / "files", work / "copy", work / "files.tar"
        point.add("make", NATIVE, self.fill(place, number))
        self.calls(point, NATIVE, place, number)
        for call, tool in (("check (host: cat)", ("find", place, "-type", "f", "-exec", "cat", "{}", "+")),
                           ("back up (tar)", ("tar", "-cf", archive, "-C", place, ".")),
                           ("clone (cp -a)", ("cp", "-a", place, copy)), ("purge (rm -r)", ("rm", "-r", place))):
            point.add(call, NATIVE, elapsed(*tool) / number)
        archive.unlink()
        shutil.rmtree(copy)

    def ours(self, point, work, number, options):
        phone, copy, archive = Phone(work / "phone", *options), work / "copy", work / "backup.tar"
        try:
            phone.mount()
            place, caches = phone.home / "Documents/files", phone.home / "Library/Caches/files"
            point.add("make", OURS, self.fill(place, number))
            # The kernel knows none of them any more.
            phone.shut_down()
            point.add("start", OURS, phone.start())
            point.add("mount", OURS, phone.mount())
            self.calls(point, OURS, place, number)
            point.memory = phone.memory()
            point.add("check (host: cat)", OURS, elapsed(phone.binary, "check", phone.device) / number)
            point.add("back up (tar)", OURS, elapsed(phone.binary, "backup", phone.device, archive) / number)
            phone.shut_down()
            point.add("clone (cp -a)", OURS, elapsed(phone.binary, "clone", phone.device, copy) / number)
            phone.mount()
            os.rename(place, caches)
            purge = elapsed(phone.binary, "purge", phone.device, "--level", "critical")
            if caches.exists():
                raise RuntimeError(f"{caches} is left after the purge")
            point.add("purge (rm -r)", OURS, purge / number)
        finally:
            phone.remove()
            archive.unlink(missing_ok=True)
            shutil.rmtree(copy, ignore_errors=True)

    def run(self, work, binary, numbers, transport):
        for number in numbers:
            point = Point()
            self.host(point, work, number)
            self.ours(point, work, number, (binary, transport))
            yield number, point


class Devices:
    """Devices that are on and mounted at the same time, each with a process of its own."""

    key, title, unit = "devices", "devices", "device"
    numbers, quick = [1, 10, 50, 100, 200], 10

    def label(self, number):
        return str(number)

    def run(self, work, binary, numbers, transport):
        phones, times = [], {"create": [], "install": [], "start": [], "mount": []}
        try:
            for number in numbers:
                point = Point()
                while len(phones) < number:
                    phone = Phone(work / f"phone-{len(phones)}", binary, transport)
                    phones.append(phone)
                    for call, seconds in zip(times, (phone.created, phone.installed, phone.start(), phone.mount())):
                        times[call].append(seconds)
                for call, seconds in times.items():
                    point.add(call, OURS, statistics.median(seconds[-LAST:]))
                for name, phone in ("first", phones[0]), ("last", phones[-1]):
                    paths = [f"{phone.home}/Documents/absent-{number}-{name}-{index}" for index in range(SAMPLE // 4)]
                    point.add(f"look, in the {name}", OURS, each(os.path.exists, paths))
                point.memory = sum(phone.memory() for phone in phones)
                yield number, point
        finally:
            for phone in phones:
                phone.remove()


class OnePlace:
    """A series in one mount, and the same in a directory of the host."""

    def run(self, work, binary, numbers, transport):
        native = work / NATIVE
        native.mkdir()
        phone = Phone(work / "phone", binary, transport)
        try:
            phone.mount()
            for number in numbers:
                point = Point()
                for way, place in (NATIVE, native), (OURS, phone.home / "Documents"):
                    self.calls(point, way, place, number, phone)
                yield number, point
        finally:
            phone.remove()


class OpenFiles(OnePlace):
    """Files that one process has open."""

    key, title, unit = "open", "open files", "open file"
    numbers, quick = [1, 10, 100, 1_000, 10_000], 1_000

    def label(self, number):
        return f"{number:,}"

    def calls(self, point, way, place, number, phone):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(self.numbers[-1], number) + 100), hard))
        paths = [f"{place}/open-{index:06}" for index in range(number)]
        files = []
        try:
            for path in paths:
                files.append(os.open(path, os.O_CREAT | os.O_RDWR, 0o644))
                os.write(files[-1], BLOCK)
            os.sync()
            # Of few files each is asked several times.
            chosen = random.Random(number).choices(files, k=SAMPLE // 4)
            point.add("open one more", way, each(read_file, [paths[0]] * len(chosen)))
            point.add("read", way, each(read_anew, chosen))
            point.add("write, fdatasync", way, each(write_durably, chosen[:50]))
            if way == OURS:
                point.memory = phone.memory()
            start = time.perf_counter()
            while files:
                os.close(files.pop())
            point.add("close", way, (time.perf_counter() - start) / number)
        finally:
            for file in files:
                os.close(file)
            for path in paths:
                os.unlink(path)


def read_anew(file):
    """From the filesystem, and not from the kernel's pages."""
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(file, 4096, 0)


def write_durably(file):
    os.pwrite(file, BLOCK, 0)
    os.fdatasync(file)


class Size(OnePlace):
    """One sparse file."""

    # Nothing is kept for a byte.
    key, title, unit = "size", "size of a sparse file", None
    numbers, quick = [1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30, 100 << 30], 1 << 30

    def label(self, number):
        for unit, scale in ("GiB", 1 << 30), ("MiB", 1 << 20):
            if number >= scale:
                return f"{number // scale} {unit}"
        return f"{number} B"

    def calls(self, point, way, place, number, phone):
        path = f"{place}/large"
        draw = random.Random(number)
        offsets = [draw.randrange(number // 4096) * 4096 for _ in range(200)]
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
        try:
            start = time.perf_counter()
            os.ftruncate(file, number)
            point.add("make it so large", way, time.perf_counter() - start)

            def write(offset):
                os.pwrite(file, BLOCK, offset)
                os.fdatasync(file)

            def read(offset):
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.pread(file, 4096, offset)

            def cut(offset):
                os.ftruncate(file, number - 1 - offset % 4096)
                os.ftruncate(file, number)

            point.add("write, fdatasync", way, each(write, offsets[:50]))
            point.add("read data", way, each(read, offsets[:50] * 4))
            point.add("read a hole", way, each(read, offsets[50:]))
            point.add("cut and lengthen", way, each(cut, offsets[:50]))
            point.add("find data", way, each(lambda _: os.lseek(file, 0, os.SEEK_DATA), offsets))
            point.add("open, read, close", way, each(read_file, [path] * 200))
            if way == OURS:
                point.memory = phone.memory()
        finally:
            os.close(file)
            start = time.perf_counter()
            os.unlink(path)
        point.add("remove", way, time.perf_counter() - start)


SERIES = [
    Files("files", "files in one directory", False), Files("tree", "files in a tree", True),
    Devices(), OpenFiles(), Size(),
]
