#!/usr/bin/python3
"""Files of class A while the device locks in the middle of work.

    locking.py dirty COUNT      writes COUNT files, some removed while open, and locks before anything is written out
    locking.py detached         writes to a file of $MOUNT, unmounted by then, and locks before anything is written out
    locking.py pages            counts what the page cache holds of a mapped file before and after a lock
    locking.py queue ROUNDS     locks under many processes that write to few files, and wait for each other
    locking.py slow SECONDS     locks in the middle of one write(2) of 256 MiB whose source takes so long

The device is $DEVICE, with its daemon at $SOCKET and its passcode in $CODE. Works in the present directory, whose files get class A."""
import ctypes
import fcntl
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time

from kit import control

SOCKET = os.environ["SOCKET"]
with open(os.environ["CODE"]) as code:
    PASSCODE = code.readline().rstrip()
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.pwrite.restype = ctypes.c_ssize_t
LIBC.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]


def lock():
    start = time.monotonic()
    control(SOCKET, "lock", now=True)
    return time.monotonic() - start


def unlock():
    control(SOCKET, "unlock", passcode=PASSCODE)


def reads(descriptor, offset=0):
    """The answer of a read: the bytes, or the number of an error."""
    try:
        return os.pread(descriptor, 4096, offset)
    except OSError as error:
        return error.errno


EPERM, EIO = 1, 5
PATIENCE = 30


def dirty(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    content = [f"{number:07d}\n".encode() * 2500 for number in range(count)]
    files = [os.open(f"f{number}", os.O_RDWR | os.O_CREAT) for number in range(count)]
    for number in range(0, count, 10):
        os.unlink(f"f{number}")
    for file, bytes_ in zip(files, content):
        os.pwrite(file, bytes_, 0)
    growing = os.open("growing", os.O_WRONLY | os.O_CREAT)
    ended = []

    def write_on():
        """Until it is refused: what was taken until then is to be there."""
        taken = 0
        try:
            while True:
                taken += os.write(growing, b"%07d\n" % (taken // 8))
        except PermissionError:
            ended.append(taken)

    writer = threading.Thread(target=write_on, daemon=True)
    writer.start()
    lock()
    writer.join(timeout=30)
    assert ended, "a write was not refused by the lock"
    assert all(reads(file) == EPERM for file in files), "content of class A can be read while locked"
    unlock()
    for file, bytes_ in zip(files, content):
        assert os.pread(file, len(bytes_) + 1, 0) == bytes_, "what was written before the lock is not there after it"
    grown = open("growing", "rb").read()
    assert len(grown) == ended[0], f"{ended[0]} bytes were taken, {len(grown)} are there"
    assert all(grown[at:at + 8] == b"%07d\n" % (at // 8) for at in range(0, len(grown), 8)), "other bytes"


def detached():
    """The kernel cannot be told to write out all of a mount that is out of sight."""
    file = os.open("kept", os.O_RDWR | os.O_CREAT)
    os.chdir("/")
    subprocess.run(["appcontainer", "unmount", os.environ["MOUNT"], "--lazy"], check=True)
    content = os.urandom(100_001)
    os.pwrite(file, content, 0)
    lock()
    assert reads(file) == EPERM, "content of class A can be read while locked"
    unlock()
    assert os.pread(file, len(content) + 1, 0) == content, "what was written before the lock is not there after it"


def resident(address, size):
    pages = (size + 4095) // 4096
    vector = (ctypes.c_ubyte * pages)()
    assert LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), vector) == 0
    return sum(page & 1 for page in vector)


def pages():
    size = 4 << 20
    with open("open", "wb") as file:
        file.write(os.urandom(size))
    with open("closed", "wb") as file:
        file.write(os.urandom(size))
    mappings = []
    for name in ["open", "closed"]:
        file = os.open(name, os.O_RDONLY)
        os.pread(file, size, 0)
        mappings.append(LIBC.mmap(None, size, 1, 1, file, 0))
        os.close(file)
    before = [resident(mapping, size) for mapping in mappings]
    assert all(before), "nothing was in the page cache, so this shows nothing"
    lock()
    after = [resident(mapping, size) for mapping in mappings]
    assert after == [0, 0], f"pages of class A in the page cache after the lock: {after}"
    unlock()


def queue(rounds):
    size, processes, count = 64 * 4096, 24, 4
    files = [os.open(f"queue{number}", os.O_RDWR | os.O_CREAT) for number in range(count)]
    mappings = []
    for file in files:
        os.ftruncate(file, size)
        mappings.append(LIBC.mmap(None, size, 1, 1, file, 0))

    def write(number):
        os.nice(15)
        place = number
        os.pwrite(files[number % count], b"P" * 4096, place * 4096)
        os.write(say, b"w")
        while True:
            place = (place * 5 + 1) % 64
            try:
                os.pwrite(files[number % count], b"P" * 4096, place * 4096)
            except OSError:
                time.sleep(0.002)

    # Processes, because threads of this interpreter take turns. Each says when it has written.
    written, say = os.pipe()
    writers = []
    for number in range(processes):
        writers.append(os.fork())
        if writers[-1] == 0:
            write(number)
    try:
        said = 0
        while said < processes:
            assert select.select([written], [], [], PATIENCE)[0], f"only {said} of {processes} processes have written"
            said += len(os.read(written, processes))
        for turn in range(rounds):
            lock()
            for _ in range(2):
                left = [resident(mapping, size) for mapping in mappings]
                assert left == [0] * count, f"pages of class A in the page cache after lock {turn + 1}: {left}"
                time.sleep(0.02)
            unlock()
            time.sleep(0.01)
    finally:
        for writer in writers:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)


UFFDIO_API, UFFDIO_REGISTER, UFFDIO_COPY = 0xC018AA3F, 0xC020AA00, 0xC028AA03
SIZE, PIECE = 256 << 20, 1 << 20


def slow_source(seconds):
    """Memory whose every MiB comes late, by userfaultfd(2), and an event: some of it was asked for, and had."""
    faults = LIBC.syscall(323, os.O_CLOEXEC)
    assert faults >= 0, "userfaultfd(2) is not to be had"
    fcntl.ioctl(faults, UFFDIO_API, bytearray(struct.pack("QQQ", 0xAA, 0, 0)))
    address = LIBC.mmap(None, SIZE, 3, 0x22, -1, 0)
    fcntl.ioctl(faults, UFFDIO_REGISTER, bytearray(struct.pack("QQQQ", address, SIZE, 1, 0)))
    piece = LIBC.mmap(None, PIECE, 3, 0x22, -1, 0)
    ctypes.memset(piece, ord("P"), PIECE)

    begun = threading.Event()

    def serve():
        come = set()
        while True:
            select.select([faults], [], [])
            number = (struct.unpack_from("Q", os.read(faults, 32), 16)[0] - address) // PIECE
            if number not in come:
                come.add(number)
                if len(come) == 16:
                    begun.set()
                time.sleep(seconds * PIECE / SIZE)
                fcntl.ioctl(
                    faults, UFFDIO_COPY,
                    bytearray(struct.pack("QQQQq", address + number * PIECE, piece, PIECE, 0, 0)))

    threading.Thread(target=serve, daemon=True).start()
    return address, begun


def slow(seconds):
    address, begun = slow_source(seconds)
    file = os.open("slow", os.O_RDWR | os.O_CREAT)
    outcome = []
    writer = threading.Thread(target=lambda: outcome.append(LIBC.pwrite(file, address, SIZE, 0)))
    writer.start()
    assert begun.wait(PATIENCE), "the write has not begun"
    taken = lock()
    places = range(0, SIZE, 4096)
    if seconds < 5:
        writer.join()
        assert outcome == [SIZE], f"the write under way was not waited for: {outcome}"
    else:
        assert 5 <= taken < 8, f"the write under way was waited for {taken} s"
        writer.join()
        time.sleep(0.2)
    # Not all: each is an event, and would push the older ones out of the record.
    assert all(reads(file, at) == EPERM for at in places[::97]), "content of class A can be read while locked"
    unlock()
    found = [reads(file, at) for at in places]
    written, lost = found.count(b"P" * 4096), found.count(EIO)
    assert written + lost == len(found), "neither what was written nor an error"
    assert (lost == 0) == (seconds < 5), f"{lost} pages lost"
    # Pages that are written again can be read again.
    os.pwrite(file, b"Q" * 4096, SIZE - 4096)
    assert reads(file, SIZE - 4096) == b"Q" * 4096
    print(lost * 4096)


def main():
    command, *arguments = sys.argv[1:]
    {"dirty": dirty, "detached": detached, "pages": pages, "queue": queue, "slow": slow}[command](*(int(argument) for argument in arguments))


main()
