#!/usr/bin/python3
"""Writers on a device that is full: what was acknowledged is there, and what was refused is not to be read.

capacity.py fill DIRECTORY [WRITERS]    writers until each has been refused three times
capacity.py refused FILE                 a range that is refused, read, and written anew
capacity.py mapped FILE                  a shared mapping that finds no room
capacity.py left FILE                    a range that is refused and left so, with a block behind it that was written
capacity.py again FILE COMMAND…          a file that a command removes, opened once more by what only names it
"""

import ctypes
import errno
import mmap
import multiprocessing
import os
import random
import signal
import subprocess
import sys

from kit import KEEP_SIZE, MIB, PUNCH_HOLE, check, eventually, libc, pattern


def name(error):
    return errno.errorcode.get(error.errno, str(error.errno))


def attempt(call, *arguments):
    """The result of the call, or the name of its errno."""
    try:
        return call(*arguments)
    except OSError as error:
        return name(error)


def writer(directory, number, results):
    """Writes files until it was refused three times; notes how far each was synchronized."""
    choice = random.Random(number)
    refusals, acknowledged = 0, []
    for index in range(1000):
        path = f"{directory}/w{number}-{index}"
        descriptor = attempt(os.open, path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        if descriptor == "ENOSPC":
            refusals += 1
            if refusals == 3:
                break
            continue
        check(isinstance(descriptor, int), path, descriptor)
        size, done, synchronized = choice.choice([3000, 50_000, 400_000, 3 * MIB]), 0, 0
        data = pattern(size, number * 1000 + index)
        while done < size:
            count = attempt(os.write, descriptor, data[done:done + choice.choice([500, 4096, 65536, MIB])])
            if not isinstance(count, int):
                check(count == "ENOSPC", path, "write", count)
                refusals += 1
                break
            done += count
        outcome = attempt(os.fsync, descriptor)
        if outcome is None:
            synchronized = done
        else:
            check(outcome == "ENOSPC", path, "fsync", outcome)
            refusals += 1
        outcome = attempt(os.close, descriptor)
        check(outcome in (None, "ENOSPC"), path, "close", outcome)
        acknowledged.append((path, number * 1000 + index, size, synchronized))
        if refusals >= 3:
            break
    results.put((refusals, acknowledged))


def content(path, seed, size, synchronized):
    """Nothing but what was written, or EIO; all of it, where that was acknowledged."""
    data = pattern(size, seed)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        length = os.fstat(descriptor).st_size
        check(length >= synchronized, path, "is shorter than what was synchronized:", length, synchronized)
        for offset in range(0, length, 4096):
            got = attempt(os.pread, descriptor, 4096, offset)
            if got == "EIO":
                check(offset >= synchronized, path, "lost what was synchronized, at", offset)
                continue
            check(got == data[offset:offset + len(got)], path, "has other bytes at", offset)
    finally:
        os.close(descriptor)


def fill(directory, writers=8):
    results = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=writer, args=(directory, number, results)) for number in range(int(writers))]
    for process in processes:
        process.start()
    refusals, files = 0, []
    for _ in processes:
        count, acknowledged = results.get(timeout=200)
        refusals += count
        files += acknowledged
    for process in processes:
        process.join()
        check(process.exitcode == 0, "a writer failed")
    check(refusals > 0, "nobody was refused")
    for file in files:
        content(*file)
    print(len(files), refusals)


def refused(path):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(descriptor, 1 << 30)
    offset, step, accepted = 0, 16 * MIB, 0
    while True:
        data = pattern(8 * MIB, offset)
        accepted = attempt(os.pwrite, descriptor, data, offset)
        if attempt(os.fsync, descriptor) == "ENOSPC" or accepted == "ENOSPC":
            break
        check(accepted == len(data), "a write that was not refused wrote", accepted)
        offset += step
    accepted = 0 if accepted == "ENOSPC" else accepted
    states = set()
    os.close(descriptor)
    descriptor = os.open(path, os.O_RDWR)
    # Each page that write(2) took is there, or EIO; one that it did not take is the hole that it was.
    for page in range(0, len(data), 4096):
        got = attempt(os.pread, descriptor, 4096, offset + page)
        if page < accepted:
            states.add("EIO" if got == "EIO" else "data" if got == data[page:page + 4096] else "other")
        else:
            check(got == bytes(4096), "a page that was never taken is", got)
    check("other" not in states, "what was refused reads as something else:", states)
    # Room again, and the range is written anew.
    for back in range(0, offset, step):
        check(os.pread(descriptor, len(data), back) == pattern(len(data), back), "what was synchronized is gone at", back)
        fallocate_hole(descriptor, back, len(data))
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], offset + written)
    os.fsync(descriptor)
    check(os.pread(descriptor, len(data), offset) == data, "what was written anew is not there")
    os.close(descriptor)
    print("refused and written anew:", " ".join(sorted(states)))


def fallocate_hole(descriptor, offset, count):
    check(libc.fallocate(descriptor, KEEP_SIZE | PUNCH_HOLE, offset, count) == 0, "cannot punch a hole")


def store_until_refused(descriptor, size, start=0):
    """Stores to a mapping and synchronizes, a MiB at a time, in another process: a page that was written out and refused
    before the next one is stored to is gone already, which is SIGBUS.
    Returns the beginning of the MiB that was refused."""
    done = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        mapping = mmap.mmap(descriptor, size)
        for offset in range(start, size, MIB):
            done[:] = offset.to_bytes(8, "little")
            mapping[offset:offset + MIB] = pattern(MIB, offset)
            outcome = attempt(mapping.flush, offset, MIB)
            if outcome is not None:
                os._exit(0 if outcome == "ENOSPC" else 1)
        os._exit(2)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    check(ended in (0, -signal.SIGBUS), "storing to a mapping on a full device ended with", ended)
    return int.from_bytes(done[:], "little")


def mapped(path):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(descriptor, 256 * MIB)
    mapping = mmap.mmap(descriptor, 256 * MIB)
    offset = store_until_refused(descriptor, 256 * MIB)
    for back in range(0, offset, MIB):
        check(mapping[back:back + 4096] == pattern(MIB, back)[:4096], "what was synchronized is gone at", back)
    mapping.close()
    attempt(os.close, descriptor)
    print("msync was refused")


def left(path):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    check(os.pwrite(descriptor, pattern(4096), 256 * MIB - 4096) == 4096, "the last block")
    os.fsync(descriptor)
    # Of the first MiB that is refused there may have been room for nearly all, of the next one there is for nearly none.
    full = store_until_refused(descriptor, 255 * MIB)
    offset = store_until_refused(descriptor, 255 * MIB, full + MIB)
    check(offset == full + MIB, "there was room for more after a refusal")
    check_next_opening(path, 256 * MIB - 4096)
    attempt(os.close, descriptor)
    descriptor = os.open(path, os.O_RDONLY)
    got = [attempt(os.pread, descriptor, 4096, page) for page in range(offset, offset + MIB, 4096)]
    check("EIO" in got, "nothing was refused")
    check(os.pread(descriptor, 4096, 256 * MIB - 4096) == pattern(4096), "the last block is gone")
    os.close(descriptor)


def check_next_opening(path, offset):
    """A refused page may be in the cache still when a file is opened: nothing of the cache is kept then."""
    descriptor = os.open(path, os.O_RDONLY)
    # Pages that are refused now are dropped a moment later, with others.
    eventually(lambda: os.pread(descriptor, 4096, offset) and is_cached(descriptor, offset), "a page in the cache")
    os.close(os.open(path, os.O_RDONLY))
    check(not is_cached(descriptor, offset), "a cache that may have a refused page is kept")
    os.close(descriptor)


def is_cached(descriptor, offset):
    """Whether the kernel holds a page of the file."""
    with mmap.mmap(descriptor, 4096, access=mmap.ACCESS_COPY, offset=offset) as mapping:
        first = ctypes.c_ubyte.from_buffer(mapping)
        state = ctypes.c_ubyte()
        outcome = libc.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(4096), ctypes.byref(state))
        # The mapping cannot be closed while something refers to it.
        del first
    check(outcome == 0, "mincore(2) failed")
    return bool(state.value & 1)


def again(path, *command):
    named = os.open(path, os.O_PATH)
    subprocess.run(command, check=True)
    way = f"/proc/self/fd/{named}"
    with open(way, "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(pattern(MIB))
    os.truncate(way, 0)
    os.close(named)


if __name__ == "__main__":
    {"fill": fill, "refused": refused, "mapped": mapped, "left": left, "again": again}[
        sys.argv[1]
    ](*sys.argv[2:])
