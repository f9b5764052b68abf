#!/usr/bin/python3
"""Random calls on the mount, compared with a model: an array in memory, or the host's own filesystem."""

import ctypes
import errno
import os
import random
import subprocess
import time

from kit import KEEP_SIZE, PUNCH_HOLE, check, libc


def torture(path, seconds="3", seed="1"):
    """Random writes, truncations, holes and appends, compared with an array in memory."""
    source = random.Random(int(seed))
    model = bytearray()
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    end = time.monotonic() + float(seconds)
    steps = 0
    while time.monotonic() < end:
        steps += 1
        offset, count = source.randrange(300000), source.choice((1, 17, 4096, 4097, 20000, 70000))
        what = source.randrange(6)
        if what <= 1:
            data = source.randbytes(count)
            os.pwrite(file, data, offset)
            if len(model) < offset + count:
                model.extend(bytes(offset + count - len(model)))
            model[offset:offset + count] = data
        elif what == 2:
            os.ftruncate(file, offset)
            model = model[:offset] + bytes(max(0, offset - len(model)))
        elif what == 3:
            if libc.fallocate(file, KEEP_SIZE | PUNCH_HOLE, offset, count) != 0:
                raise OSError(ctypes.get_errno(), "fallocate")
            stop = min(offset + count, len(model))
            if stop > offset:
                model[offset:stop] = bytes(stop - offset)
        elif what == 4:
            got = os.pread(file, count, offset)
            check(got == model[offset:offset + count], f"seed {seed} step {steps}: read {count} at {offset}")
        elif source.randrange(4) == 0:
            os.fsync(file)
            os.close(file)
            file = os.open(path, os.O_RDWR)
    check(os.pread(file, len(model) + 1, 0) == model, f"seed {seed}: the whole file after {steps} steps")
    os.close(file)
    with open(path + ".model", "wb") as kept:
        kept.write(model)


NAMES = [f"n{number}" for number in range(12)] + ["dir/a", "dir/b", "dir/sub/c", "other/d", "other/e"]


def twins(ours, theirs, seconds="5", seed="1"):
    """The same random calls in two directories, one of them on the host: every answer and the end are the same."""
    pair = Twins(ours, theirs, seed)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        pair.step()
    pair.ours.leave()
    pair.theirs.leave()
    print(f"seed {seed}: {pair.steps} calls")


class Twin:
    """One of two directories in which the same is done: the calls, and the files that are held open."""

    def __init__(self, place):
        os.makedirs(place)
        self.place = place
        self.held = []

    def at(self, name):
        return os.path.join(self.place, name)

    def create(self, name, mode):
        os.close(os.open(self.at(name), os.O_RDWR | os.O_CREAT | mode, 0o640))

    def hold_open(self, name):
        try:
            self.held.append(os.open(self.at(name), os.O_RDWR))
        except OSError:
            self.held.append(None)
            raise

    def let_go(self, number):
        file = self.held.pop(number)
        if file is not None:
            os.close(file)

    def write_held(self, number, offset, data):
        file = self.held[number]
        return None if file is None else os.pwrite(file, data, offset)

    def read_held(self, number):
        file = self.held[number]
        return None if file is None else (os.pread(file, 1 << 20, 0), os.fstat(file).st_nlink)

    def write(self, name, offset, data, flags):
        file = os.open(self.at(name), os.O_WRONLY | flags)
        try:
            return os.write(file, data) if flags & os.O_APPEND else os.pwrite(file, data, offset)
        finally:
            os.close(file)

    def read_file(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def state(self, name):
        seen = os.lstat(self.at(name))
        directory = seen.st_mode & 0o170000 == 0o040000
        # Link counts of directories are the host filesystem's own affair, and so is their size.
        return seen.st_mode, None if directory else (seen.st_nlink, seen.st_size), seen.st_uid

    def rename(self, old, new, flags):
        if libc.renameat2(-100, os.fsencode(self.at(old)), -100, os.fsencode(self.at(new)), flags) != 0:
            raise OSError(ctypes.get_errno(), "renameat2")

    def mkdir(self, name):
        os.mkdir(self.at(name), 0o750)

    def rmdir(self, name):
        os.rmdir(self.at(name))

    def unlink(self, name):
        os.unlink(self.at(name))

    def link(self, old, new):
        os.link(self.at(old), self.at(new), follow_symlinks=False)

    def symlink(self, target, name):
        os.symlink(target, self.at(name))

    def readlink(self, name):
        return os.readlink(self.at(name))

    def truncate(self, name, size):
        os.truncate(self.at(name), size)

    def set_attribute(self, name, key, value):
        os.setxattr(self.at(name), key, value, follow_symlinks=False)

    def attributes(self, name):
        return {key: os.getxattr(self.at(name), key, follow_symlinks=False)
                for key in os.listxattr(self.at(name), follow_symlinks=False) if key.startswith("user.")}

    def remove_attribute(self, name, key):
        os.removexattr(self.at(name), key, follow_symlinks=False)

    def chmod(self, name, mode):
        os.chmod(self.at(name), mode)

    def utimes(self, name, time_ns):
        os.utime(self.at(name), ns=(time_ns, time_ns), follow_symlinks=False)
        return os.lstat(self.at(name)).st_mtime_ns

    def listing(self, name):
        return sorted(os.listdir(self.at(name)))

    def leave(self):
        """Closes what is open; then every directory can be entered by whoever compares the trees."""
        while self.held:
            self.let_go(0)
        for folder, folders, _ in os.walk(self.place):
            for name in folders:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o700)


class Twins:
    """Both directories, and the random choice of the next call in them."""

    def __init__(self, ours, theirs, seed):
        self.ours, self.theirs = Twin(ours), Twin(theirs)
        self.seed, self.steps = seed, 0
        self.source = random.Random(int(seed))

    def both(self, what, *arguments):
        """Does it in both directories: the answer has to be the same."""
        answers = []
        for twin in (self.ours, self.theirs):
            try:
                answers.append(("ok", what(twin, *arguments)))
            except OSError as problem:
                answers.append((errno.errorcode[problem.errno], None))
        if answers[0] != answers[1]:
            ours, theirs = self.ours, self.theirs
            subprocess.run(["ls", "-lai", ours.place, theirs.place, ours.at("dir"), theirs.at("dir")])
        check(answers[0] == answers[1], f"seed {self.seed}, step {self.steps}: {what.__name__}{arguments}:", *answers)

    def step(self):
        self.steps += 1
        choice = self.source.choice
        one, two = choice(NAMES), choice(NAMES)
        data = self.source.randbytes(choice((1, 100, 4096, 10000)))
        offset = choice((0, 10, 4000, 4096, 50000))
        what = self.source.randrange(22)
        if what <= 7:
            self.step_of_content(what, one, data, offset)
        elif what <= 15:
            self.step_of_names(what, one, two)
        elif what <= 20:
            self.step_of_metadata(what, one, data, offset)
        else:
            self.step_of_open_files(one, data, offset)

    def step_of_content(self, what, one, data, offset):
        choice = self.source.choice
        if what <= 2:
            self.both(Twin.create, one, choice((0, os.O_EXCL, os.O_TRUNC)))
        elif what <= 5:
            self.both(Twin.write, one, offset, data, choice((0, 0, os.O_APPEND, os.O_TRUNC)))
        elif what == 6:
            self.both(Twin.read_file, one)
        else:
            self.both(Twin.state, one)

    def step_of_names(self, what, one, two):
        choice = self.source.choice
        if what <= 9:
            self.both(Twin.rename, one, two, choice((0, 0, 1, 2)))
        elif what == 10:
            self.both(Twin.mkdir, choice(("dir", "dir/sub", "other", one)))
        elif what == 11:
            self.both(Twin.rmdir, choice(("dir", "dir/sub", "other", one)))
        elif what == 12:
            self.both(Twin.unlink, one)
        elif what == 13:
            self.both(Twin.link, one, two)
        elif what == 14:
            self.both(Twin.symlink, choice(("n1", "dir/a", "missing", "../x", "dir")), one)
        else:
            self.both(Twin.readlink, one)

    def step_of_metadata(self, what, one, data, offset):
        choice = self.source.choice
        if what == 16:
            self.both(Twin.truncate, one, offset)
        elif what == 17:
            self.step_of_attributes(one, f"user.k{self.source.randrange(3)}", data[:100])
        elif what == 18:
            self.both(Twin.chmod, one, choice((0o600, 0o644, 0o755, 0o700)))
        elif what == 19:
            self.both(Twin.utimes, one, self.source.randrange(10**18, 2 * 10**18))
        else:
            self.both(Twin.listing, choice(("dir", "dir/sub", "other", ".")))

    def step_of_attributes(self, one, key, value):
        """Symbolic links carry none here, and on the host neither."""
        what = self.source.randrange(3)
        if what == 0:
            self.both(Twin.set_attribute, one, key, value)
        elif what == 1:
            self.both(Twin.remove_attribute, one, key)
        else:
            self.both(Twin.attributes, one)

    def step_of_open_files(self, one, data, offset):
        if len(self.ours.held) < 6:
            self.both(Twin.hold_open, one)
            return
        number = self.source.randrange(len(self.ours.held))
        what = self.source.randrange(4)
        if what == 0:
            self.ours.let_go(number)
            self.theirs.let_go(number)
        elif what == 1:
            self.both(Twin.write_held, number, offset, data)
        else:
            self.both(Twin.read_held, number)
