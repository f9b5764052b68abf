#!/usr/bin/python3
"""Processes that give, take and exchange names of files at random, and a look at what they left.

    name_storm.py run DIRECTORY SECONDS SEED    a storm in three directories of DIRECTORY
    name_storm.py verify DIRECTORY              every name leads to a whole file with as many names as it says

A file is made under a name that no other process takes, and is whole before it comes into the storm. Every process has
a file of its own too, which it moves through the same directories."""

import collections
import ctypes
import errno
import os
import random
import sys
import time

from kit import check, libc, read

AT_FDCWD = -100
REPLACE, KEEP, EXCHANGE = 0, 1, 2
PROCESSES = 4
DIRECTORIES = ["one", "two", "three"]
NAMES = "abcde"


def content(number):
    return f"{number}\n".encode() + random.Random(number).randbytes([0, 100, 5000, 30_000][number % 4])


def check_whole(found, path):
    number = found.partition(b"\n")[0]
    check(number.isdigit() and content(int(number)) == found, path, "has", len(found), "bytes:", found[:40])


def rename(old, new, mode):
    """Whether there was such a name, and room for the other."""
    if libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), mode) == 0:
        return True
    problem = ctypes.get_errno()
    if problem in (errno.ENOENT, errno.EEXIST):
        return False
    raise OSError(problem, f"rename {old} {new} {mode}")


class Storm:
    def __init__(self, directory, process, seed):
        self.directory = directory
        self.process = process
        self.random = random.Random(f"{seed}-{process}")
        self.made = 0
        self.own = self.make()

    def any(self):
        return f"{self.directory}/{self.random.choice(DIRECTORIES)}/{self.random.choice(NAMES)}"

    def make(self):
        self.made += 1
        path = f"{self.directory}/{self.random.choice(DIRECTORIES)}/new-{self.process}-{self.made}"
        with open(path, "xb") as file:
            file.write(content(self.process * 1_000_000 + self.made))
        return path

    def give(self):
        path = self.make()
        if not rename(path, self.any(), self.random.choice([REPLACE, KEEP])):
            os.unlink(path)

    def link(self):
        os.link(self.any(), self.any())

    def remove(self):
        os.unlink(self.any())

    def rename(self):
        rename(self.any(), self.any(), self.random.choice([REPLACE, KEEP, EXCHANGE]))

    def read(self):
        path = self.any()
        check_whole(read(path), path)

    def remove_while_open(self):
        path = self.any()
        with open(path, "rb") as file:
            try:
                os.unlink(path)
            finally:
                check_whole(file.read(), path)

    def move_own(self):
        target = f"{self.directory}/{self.random.choice(DIRECTORIES)}/own-{self.process}"
        check(rename(self.own, target, REPLACE), "lost", self.own)
        self.own = target
        check(read(target) == content(self.process * 1_000_000 + 1), "another file at", target)

    def move_directory(self):
        name = f"directory-{self.process}"
        old, new = (f"{self.directory}/{place}/{name}" for place in self.random.sample(DIRECTORIES, 2))
        os.mkdir(old)
        with open(f"{old}/inner", "xb") as file:
            file.write(content(1))
        check(rename(old, new, KEEP), "lost", old)
        check(read(f"{new}/inner") == content(1), "another file in", new)
        os.unlink(f"{new}/inner")
        os.rmdir(new)

    def run(self, seconds):
        calls = [self.give, self.give, self.link, self.remove, self.rename, self.rename, self.rename, self.read]
        calls += [self.remove_while_open, self.move_own, self.move_own]
        end = time.monotonic() + seconds
        steps = 0
        while time.monotonic() < end:
            steps += 1
            try:
                (self.move_directory if steps % 50 == 0 else self.random.choice(calls))()
            except (FileNotFoundError, FileExistsError):
                pass
        print("process", self.process, "made", steps, "calls")


def run(directory, seconds, seed):
    for place in DIRECTORIES:
        os.makedirs(f"{directory}/{place}", exist_ok=True)
    children = []
    for process in range(1, PROCESSES + 1):
        child = os.fork()
        if child == 0:
            try:
                Storm(directory, process, seed).run(float(seconds))
                os._exit(0)
            except BaseException as problem:
                print(f"process {process}: {problem!r}", file=sys.stderr)
                os._exit(1)
        children.append(child)
    failures = [os.waitpid(child, 0)[1] for child in children]
    check(not any(failures), "processes of the storm failed:", failures)
    verify(directory)


def verify(directory):
    names = collections.Counter()
    said = {}
    own = 0
    for place in DIRECTORIES:
        for name in os.listdir(f"{directory}/{place}"):
            path = f"{directory}/{place}/{name}"
            status = os.lstat(path)
            names[status.st_ino] += 1
            said[status.st_ino] = status.st_nlink
            own += name.startswith(("own-", "new-"))
            check_whole(read(path), path)
    check(own == PROCESSES, own, "files of their own are left")
    check(dict(names) == said, "names found and told:", dict(names), said)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
