#!/usr/bin/python3
"""Locks, unlocks and restarts a device while eight processes work in a directory of its mount.

    lock_stress.py SOCKET PASSCODE DIRECTORY ROUNDS

Each process writes, reads, maps and renames files of its own and of the others. The only errors it may meet are those
of the contract; what it reads back is what it, or another process, has written; and everything goes on."""
import errno
import fcntl
import mmap
import os
import random
import signal
import sys
import time
import traceback

from kit import control

SOCKET, PASSCODE, DIRECTORY, ROUNDS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
WORKERS, FILES, SIZE = 8, 16, 3 * 4096
ALLOWED = {errno.EPERM, errno.EIO, errno.ENOENT, errno.ESTALE, errno.EEXIST}


def ask(command, **values):
    control(SOCKET, command, **values)


def page(mark):
    return (b"%07d " % mark) * 512


def whole(data):
    """Each page was written by one write, or is one of zeros that a truncation left."""
    for start in range(0, len(data), 4096):
        piece = data[start:start + 4096]
        if piece != (piece[:8] * 512)[:len(piece)]:
            return False
    return True


def step(chance, descriptors):
    name = f"f{chance.randrange(FILES)}"
    kind = chance.randrange(8)
    if kind == 0 and len(descriptors) < 6:
        descriptors.append(os.open(name, os.O_RDWR | os.O_CREAT, 0o644))
    elif kind == 1 and descriptors:
        os.close(descriptors.pop(chance.randrange(len(descriptors))))
    elif kind == 2:
        os.rename(name, f"f{chance.randrange(FILES)}")
    elif kind == 3:
        os.stat(name)
    elif descriptors:
        descriptor = chance.choice(descriptors)
        # Reads and writes of a page at the same moment mix, on any filesystem.
        fcntl.flock(descriptor, fcntl.LOCK_SH if kind == 6 else fcntl.LOCK_EX)
        try:
            use(descriptor, kind, chance)
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def use(descriptor, kind, chance):
    if kind <= 5:
        os.pwrite(descriptor, page(chance.randrange(10**7)), 4096 * chance.randrange(SIZE // 4096))
    elif kind == 6:
        data = os.pread(descriptor, SIZE, 0)
        if not whole(data):
            runs = [data[at:at + 8] for at in range(0, len(data), 8)]
            changes = [(at * 8, runs[at]) for at in range(len(runs)) if at % 512 == 0 or runs[at] != runs[at - 1]]
            print(f"not pages of one write each: {changes}", flush=True)
            os._exit(3)
    elif os.fstat(descriptor).st_size >= 4096:
        with mmap.mmap(descriptor, 4096) as mapping:
            mapping[0:8] = mapping[8:16]


def work(seed):
    """Until it is told to end, or until a mapping is taken away from it: then another goes on in its place."""
    chance = random.Random(seed)
    descriptors = []
    while True:
        try:
            step(chance, descriptors)
        except OSError as error:
            if error.errno not in ALLOWED:
                print(f"errno {errno.errorcode.get(error.errno)}", flush=True)
                os._exit(4)
            # A descriptor of before a restart is of no use any more. Its close may tell of a page that was not written.
            if error.errno == errno.EIO and descriptors:
                try:
                    os.close(descriptors.pop(0))
                except OSError:
                    pass


def spawn(seed):
    process = os.fork()
    if process == 0:
        try:
            os.chdir(DIRECTORY)
            work(seed)
        finally:
            traceback.print_exc()
            os._exit(5)
    return process


def main():
    workers = {spawn(seed): seed for seed in range(WORKERS)}
    buses = 0
    chance = random.Random(1)
    try:
        for number in range(ROUNDS):
            ask("lock", now=True)
            if chance.randrange(4) == 0:
                ask("restart")
            ask("unlock", passcode=PASSCODE)
            if chance.randrange(8) == 0:
                ask("restart")
                ask("unlock", passcode=PASSCODE)
            time.sleep(chance.random() * 0.004)
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    break
                seed = workers.pop(process)
                if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGBUS:
                    sys.exit(f"worker {seed} ended with {status} in round {number}")
                buses += 1
                workers[spawn(seed + WORKERS)] = seed + WORKERS
    finally:
        for process in workers:
            os.kill(process, signal.SIGKILL)
        for process in workers:
            os.waitpid(process, 0)
    print(f"{ROUNDS} rounds, {buses} mappings taken away")


main()
