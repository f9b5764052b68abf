#!/usr/bin/python3
"""Content that was acknowledged before a kill, a flipped bit or a full disk, compared with what is found after it."""

import errno
import os
import random

from kit import check, pattern


def acknowledge(path, report, seed="1"):
    """Overwrites, appends and truncates until killed; after each fsync, tells REPORT what the file must hold.

    The report is `offset of the step, length` and the whole content of each acknowledged state, newest last."""
    source = random.Random(int(seed))
    model = bytearray(source.randbytes(source.randrange(1, 200000)))
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(file, model, 0)
    while True:
        os.fsync(file)
        # Renamed into place: the state that a reader finds is always a whole one.
        with open(report + ".new", "wb") as kept:
            kept.write(model)
        os.rename(report + ".new", report)
        what = source.randrange(3)
        if what == 0:
            offset = source.randrange(len(model))
            data = source.randbytes(min(source.choice((1, 100, 4096, 50000)), len(model) - offset))
            os.pwrite(file, data, offset)
            model[offset:offset + len(data)] = data
        elif what == 1:
            data = source.randbytes(source.choice((1, 100, 4096, 50000)))
            os.pwrite(file, data, len(model))
            model += data
        elif len(model) > 10:
            size = source.randrange(1, len(model))
            os.ftruncate(file, size)
            del model[size:]


def acknowledged(path, report):
    """After a kill: every 4 KiB block that the last unacknowledged step did not touch is as acknowledged.

    A step touches one range; what it wrote may be there, in part too. So at most one run of blocks may differ,
    every block can be read, and the length is the acknowledged one or that of the step under way."""
    wanted = open(report, "rb").read()
    got = open(path, "rb").read()
    common = min(len(wanted), len(got))
    differing = [index for index in range(0, common, 4096)
                 if wanted[index:min(index + 4096, common)] != got[index:min(index + 4096, common)]]
    if differing:
        check(differing[-1] - differing[0] <= 50000 + 4096, "blocks differ far apart:", differing[0], differing[-1])
        check(len(got) == len(wanted), "an overwrite changed the length:", len(wanted), "→", len(got))
    check(len(got) <= len(wanted) + 50000, "length", len(wanted), "→", len(got))


def flip(directory, prefix, report):
    """Flips one byte in each file of DIRECTORY whose name begins with PREFIX, each at another place; tells where."""
    names = sorted(name for name in os.listdir(directory) if name.startswith(prefix))
    with open(report, "w") as kept:
        for number, name in enumerate(names):
            path = os.path.join(directory, name)
            size = os.path.getsize(path)
            offset = min(size - 1, number * size // len(names))
            with open(path, "r+b") as file:
                file.seek(offset)
                byte = file.read(1)
                file.seek(offset)
                file.write(bytes([byte[0] ^ (1 << number % 8)]))
            print(name, offset, size, file=kept)


def flipped(directory, report, original):
    """Every flipped file gives EIO or its own content, never anything else; and most give EIO."""
    wanted = open(original, "rb").read()
    refused, total = 0, 0
    for line in open(report):
        name, offset, size = line.split()
        total += 1
        try:
            got = open(os.path.join(directory, name), "rb").read()
        except OSError as problem:
            check(problem.errno == errno.EIO, name, "flipped at", offset, "of", size, "answers", problem)
            refused += 1
            continue
        check(got == wanted, name, "flipped at", offset, "of", size, "shows other bytes:", len(got))
    print(f"{refused} of {total} refused")
    # The last quarter of the backing file is nothing but data.
    check(refused >= total // 4, "only", refused, "of", total, "flips were noticed")


def fill(directory, kept):
    """Writes and fsyncs files until the filesystem is full; KEPT names those that were acknowledged."""
    number = 0
    with open(kept, "w") as report:
        while True:
            path = os.path.join(directory, f"file-{number:05}")
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                try:
                    data = pattern(300000, number)
                    while data:
                        data = data[os.write(file, data):]
                    os.fsync(file)
                finally:
                    os.close(file)
            except OSError as problem:
                check(problem.errno == errno.ENOSPC, "a full filesystem answers", problem)
                break
            print(number, file=report, flush=True)
            number += 1
            check(number < 5000, "it does not get full")
    check(number > 10, "full after", number, "files")


def filled(directory, kept):
    """Everything that fill was told is safe is there."""
    for line in open(kept):
        path = os.path.join(directory, f"file-{int(line):05}")
        check(open(path, "rb").read() == pattern(300000, int(line)), path)
