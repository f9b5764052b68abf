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


def twins(ours, theirs, seconds="5", seed="1"):
    """The same random calls in two directories, one of them on the host: every answer and the end are the same."""
    source = random.Random(int(seed))
    os.makedirs(ours)
    os.makedirs(theirs)
    names = [f"n{number}" for number in range(12)] + ["dir/a", "dir/b", "dir/sub/c", "other/d", "other/e"]
    open_files = []

    def both(what, *arguments):
        """Does it in both directories; returns the common answer."""
        answers = []
        for place, index in ((ours, 0), (theirs, 1)):
            try:
                answers.append(("ok", what(place, index, *arguments)))
            except OSError as problem:
                answers.append((errno.errorcode[problem.errno], None))
        if answers[0] != answers[1]:
            subprocess.run(["ls", "-lai", ours, theirs, ours + "/dir", theirs + "/dir"])
        check(answers[0] == answers[1], f"seed {seed}, step {steps}: {what.__name__}{arguments}:", *answers)
        return answers[0]

    def at(place, name):
        return os.path.join(place, name)

    def create(place, index, name, mode):
        os.close(os.open(at(place, name), os.O_RDWR | os.O_CREAT | mode, 0o640))

    def hold_open(place, index, name):
        if index == 0:
            open_files.append([])
        try:
            open_files[-1].append(os.open(at(place, name), os.O_RDWR))
        except OSError:
            open_files[-1].append(None)
            raise

    def write_held(place, index, number, offset, data):
        file = open_files[number][index]
        return None if file is None else os.pwrite(file, data, offset)

    def read_held(place, index, number):
        file = open_files[number][index]
        return None if file is None else (os.pread(file, 1 << 20, 0), os.fstat(file).st_nlink)

    def write(place, index, name, offset, data, flags):
        file = os.open(at(place, name), os.O_WRONLY | flags)
        try:
            return os.write(file, data) if flags & os.O_APPEND else os.pwrite(file, data, offset)
        finally:
            os.close(file)

    def read_file(place, index, name):
        with open(at(place, name), "rb") as file:
            return file.read()

    def state(place, index, name):
        seen = os.lstat(at(place, name))
        directory = seen.st_mode & 0o170000 == 0o040000
        # Link counts of directories are the host filesystem's own affair, and so is their size.
        return seen.st_mode, None if directory else (seen.st_nlink, seen.st_size), seen.st_uid

    def rename(place, index, old, new, flags):
        if libc.renameat2(-100, os.fsencode(at(place, old)), -100, os.fsencode(at(place, new)), flags) != 0:
            raise OSError(ctypes.get_errno(), "renameat2")

    def mkdir(place, index, name):
        os.mkdir(at(place, name), 0o750)

    def rmdir(place, index, name):
        os.rmdir(at(place, name))

    def unlink(place, index, name):
        os.unlink(at(place, name))

    def link(place, index, old, new):
        os.link(at(place, old), at(place, new), follow_symlinks=False)

    def symlink(place, index, target, name):
        os.symlink(target, at(place, name))

    def readlink(place, index, name):
        return os.readlink(at(place, name))

    def truncate(place, index, name, size):
        os.truncate(at(place, name), size)

    def set_attribute(place, index, name, key, value):
        os.setxattr(at(place, name), key, value, follow_symlinks=False)

    def attributes(place, index, name):
        return {key: os.getxattr(at(place, name), key, follow_symlinks=False)
                for key in os.listxattr(at(place, name), follow_symlinks=False) if key.startswith("user.")}

    def remove_attribute(place, index, name, key):
        os.removexattr(at(place, name), key, follow_symlinks=False)

    def chmod(place, index, name, mode):
        os.chmod(at(place, name), mode)

    def utimes(place, index, name, time_ns):
        os.utime(at(place, name), ns=(time_ns, time_ns), follow_symlinks=False)
        return os.lstat(at(place, name)).st_mtime_ns

    def listing(place, index, name):
        return sorted(os.listdir(at(place, name)))

    end = time.monotonic() + float(seconds)
    steps = 0
    while time.monotonic() < end:
        steps += 1
        one, two = source.choice(names), source.choice(names)
        data = source.randbytes(source.choice((1, 100, 4096, 10000)))
        offset = source.choice((0, 10, 4000, 4096, 50000))
        what = source.randrange(22)
        if what <= 2:
            both(create, one, source.choice((0, os.O_EXCL, os.O_TRUNC)))
        elif what <= 5:
            both(write, one, offset, data, source.choice((0, 0, os.O_APPEND, os.O_TRUNC)))
        elif what == 6:
            both(read_file, one)
        elif what == 7:
            both(state, one)
        elif what <= 9:
            both(rename, one, two, source.choice((0, 0, 1, 2)))
        elif what == 10:
            both(mkdir, source.choice(("dir", "dir/sub", "other", one)))
        elif what == 11:
            both(rmdir, source.choice(("dir", "dir/sub", "other", one)))
        elif what == 12:
            both(unlink, one)
        elif what == 13:
            both(link, one, two)
        elif what == 14:
            both(symlink, source.choice(("n1", "dir/a", "missing", "../x", "dir")), one)
        elif what == 15:
            both(readlink, one)
        elif what == 16:
            both(truncate, one, offset)
        elif what == 17:
            key = f"user.k{source.randrange(3)}"
            choice = source.randrange(3)
            # Symbolic links carry none here, and on the host neither.
            if choice == 0:
                both(set_attribute, one, key, data[:100])
            elif choice == 1:
                both(remove_attribute, one, key)
            else:
                both(attributes, one)
        elif what == 18:
            both(chmod, one, source.choice((0o600, 0o644, 0o755, 0o700)))
        elif what == 19:
            both(utimes, one, source.randrange(10**18, 2 * 10**18))
        elif what == 20:
            both(listing, source.choice(("dir", "dir/sub", "other", ".")))
        elif len(open_files) < 6:
            both(hold_open, one)
        else:
            number = source.randrange(len(open_files))
            choice = source.randrange(4)
            if choice == 0:
                for file in open_files.pop(number):
                    if file is not None:
                        os.close(file)
            elif choice == 1:
                both(write_held, number, offset, data)
            else:
                both(read_held, number)
    for held in open_files:
        for file in held:
            if file is not None:
                os.close(file)
    # So that whoever compares the trees can get into every directory.
    for place in (ours, theirs):
        for folder, folders, _ in os.walk(place):
            for name in folders:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o700)
    print(f"seed {seed}: {steps} calls")
