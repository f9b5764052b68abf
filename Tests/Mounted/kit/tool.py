#!/usr/bin/python3
"""Calls of no ordinary tool: mappings shared by two processes, holes, descriptors without a name, locks.

    tool.py WHAT PATH [ARGUMENT…]

Each function makes what it needs at PATH and fails by an exception that says what was seen."""

import ctypes
import errno
import fcntl
import mmap
import os
import signal
import struct
import sys
import time

from kit import KEEP_SIZE, MIB, PUNCH_HOLE, check, in_another_process, libc, pattern
from models import torture, twins  # noqa: F401
from survivors import acknowledge, acknowledged, fill, filled, flip, flipped  # noqa: F401


def shared_mapping(path):
    """Another process reads the bytes that one writes into a shared mapping, from its mapping and by read(2)."""
    with open(path, "wb") as file:
        file.write(bytes(64 * 1024))
    file = os.open(path, os.O_RDWR)
    ours = mmap.mmap(file, 64 * 1024, mmap.MAP_SHARED)
    other = os.open(path, os.O_RDWR)
    theirs = mmap.mmap(other, 64 * 1024, mmap.MAP_SHARED)
    ready, done = os.pipe(), os.pipe()

    child = os.fork()
    if child == 0:
        # Opened again, so that nothing is inherited but the name.
        mine = mmap.mmap(os.open(path, os.O_RDWR), 64 * 1024, mmap.MAP_SHARED)
        os.read(ready[0], 1)
        good = mine[5000:5005] == b"hello" and os.pread(other, 5, 5000) == b"hello"
        mine[60000:60005] = b"world"
        os.write(done[1], b"y" if good else b"n")
        os._exit(0)
    ours[5000:5005] = b"hello"
    os.write(ready[1], b"x")
    check(os.read(done[0], 1) == b"y", "the other process did not see the write")
    os.waitpid(child, 0)
    check(theirs[60000:60005] == b"world", "its write was not seen here")
    ours.flush()
    with open(path, "rb") as again:
        content = again.read()
    check(content[5000:5005] == b"hello" and content[60000:60005] == b"world", "not in the file after msync")


def private_mapping(path):
    """A private mapping keeps its changes to itself."""
    content = pattern(20000)
    with open(path, "wb") as file:
        file.write(content)
    file = os.open(path, os.O_RDONLY)
    private = mmap.mmap(file, 20000, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    check(private[:] == content, "content through a private mapping")
    private[0:5] = b"other"
    with open(path, "rb") as again:
        check(again.read() == content, "a private change reached the file")


def punch_hole(path):
    """Punching gives zeros and space back, and nothing beside the hole changes."""
    content = bytearray(pattern(2 * MIB))
    with open(path, "wb") as file:
        file.write(content)
    file = os.open(path, os.O_RDWR)
    os.fsync(file)
    before = os.fstat(file).st_blocks
    for start, count in ((256 * 1024, 512 * 1024), (MIB + 100, 10000), (MIB + 65536 - 7, 20)):
        if libc.fallocate(file, KEEP_SIZE | PUNCH_HOLE, start, count) != 0:
            raise OSError(ctypes.get_errno(), "fallocate(PUNCH_HOLE)")
        content[start:start + count] = bytes(count)
    check(os.pread(file, len(content), 0) == content, "content around the holes")
    os.fsync(file)
    check(os.fstat(file).st_blocks < before - 900, "blocks", before, os.fstat(file).st_blocks)
    check(os.fstat(file).st_size == 2 * MIB, "the size changed")
    hole = os.lseek(file, 0, os.SEEK_HOLE)
    check(hole <= 256 * 1024 or hole == 2 * MIB, "SEEK_HOLE", hole)


def preallocate(path):
    """fallocate makes a longer file of zeros; KEEP_SIZE does not change its length."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(file, b"x" * 1000)
    os.posix_fallocate(file, 0, 300000)
    check(os.fstat(file).st_size == 300000, "size", os.fstat(file).st_size)
    check(os.pread(file, 300000, 0) == b"x" * 1000 + bytes(299000), "content")
    code = libc.fallocate(file, KEEP_SIZE, 0, 500000)
    check(code == 0 or ctypes.get_errno() == errno.EOPNOTSUPP, "KEEP_SIZE", ctypes.get_errno())
    check(os.fstat(file).st_size == 300000, "KEEP_SIZE changed the size")


def seek_dirty(path):
    """SEEK_DATA finds data that was written a moment ago and is not on the backing file yet."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(file, 8 * MIB)
    os.pwrite(file, b"data", 4 * MIB)
    found = os.lseek(file, 0, os.SEEK_DATA)
    check(found <= 4 * MIB, "SEEK_DATA from 0", found)
    found = os.lseek(file, 4 * MIB, os.SEEK_DATA)
    check(found == 4 * MIB, "SEEK_DATA at the data", found)
    hole = os.lseek(file, 4 * MIB, os.SEEK_HOLE)
    check(4 * MIB + 4 <= hole <= 8 * MIB, "SEEK_HOLE", hole)
    try:
        os.lseek(file, 8 * MIB, os.SEEK_DATA)
        check(False, "SEEK_DATA at the end found something")
    except OSError as problem:
        check(problem.errno == errno.ENXIO, problem)


def unlink_open(path):
    """A descriptor works on after its file's name is gone."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(file, b"before")
    os.unlink(path)
    check(os.fstat(file).st_nlink == 0, "link count", os.fstat(file).st_nlink)
    os.pwrite(file, b"after", 100000)
    os.fsync(file)
    check(os.pread(file, 6, 0) == b"before" and os.pread(file, 5, 100000) == b"after", "content")
    os.ftruncate(file, 50)
    check(os.fstat(file).st_size == 50, "size")
    os.fchmod(file, 0o640)
    os.utime(file, ns=(10**18 + 1, 10**18 + 2))
    os.setxattr(file, "user.note", b"still here")
    state = os.fstat(file)
    check(state.st_mode & 0o777 == 0o640 and state.st_mtime_ns == 10**18 + 2, "mode or time", state)
    check(os.getxattr(file, "user.note") == b"still here", "attribute")
    with open(path, "wb") as again:
        again.write(b"another file")
    check(os.pread(file, 6, 0) == b"before", "a new file of the same name shows through")
    os.close(file)
    check(open(path, "rb").read() == b"another file", "the new file")


def rename_open(path):
    """A descriptor follows its file to another name, and survives being replaced."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(file, b"one")
    os.rename(path, path + ".moved")
    os.write(file, b"two")
    check(open(path + ".moved", "rb").read() == b"onetwo", "content under the new name")
    with open(path + ".new", "wb") as new:
        new.write(b"replacement")
    os.rename(path + ".new", path + ".moved")
    check(os.pread(file, 6, 0) == b"onetwo", "the replaced file")
    check(open(path + ".moved", "rb").read() == b"replacement", "the replacement")


def appenders(path, processes="4", records="200"):
    """Records appended by several processes neither overlap nor get lost."""
    children = []
    for number in range(int(processes)):
        child = os.fork()
        if child == 0:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            for record in range(int(records)):
                os.write(file, f"{number:3} {record:6} {'x' * 40}\n".encode())
            os._exit(0)
        children.append(child)
    for child in children:
        check(os.waitpid(child, 0)[1] == 0, "an appender failed")
    lines = open(path).read().splitlines()
    check(len(lines) == int(processes) * int(records), "records", len(lines))
    check(len(set(lines)) == len(lines) and all(len(line) == 51 for line in lines), "records overlap")


def locks(path):
    """flock, POSIX and open-file-description locks keep another process out, and let it in afterwards."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(100))
    F_OFD_SETLK = 37
    whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    none = struct.pack("hhqqi4x", fcntl.F_UNLCK, 0, 0, 0, 0)
    kinds = {
        "flock": (lambda f: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB), lambda f: fcntl.flock(f, fcntl.LOCK_UN)),
        "POSIX": (lambda f: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10), lambda f: fcntl.lockf(f, fcntl.LOCK_UN)),
        "OFD": (lambda f: fcntl.fcntl(f, F_OFD_SETLK, whole), lambda f: fcntl.fcntl(f, F_OFD_SETLK, none)),
    }
    for name, (take, give) in kinds.items():
        take(file)

        def kept_out():
            other = os.open(path, os.O_RDWR)
            try:
                take(other)
            except OSError as problem:
                check(problem.errno in (errno.EAGAIN, errno.EACCES), name, problem)
                return
            check(False, name, "lock was granted twice")

        in_another_process(kept_out)
        give(file)
        in_another_process(lambda: take(os.open(path, os.O_RDWR)))


def copy_range(path):
    """copy_file_range copies between two files of the mount, at any offset."""
    content = pattern(3 * MIB + 777)
    with open(path, "wb") as file:
        file.write(content)
    source = os.open(path, os.O_RDONLY)
    target = os.open(path + ".copy", os.O_RDWR | os.O_CREAT)
    done = 0
    while done < len(content) - 1001:
        count = os.copy_file_range(source, target, len(content) - 1001 - done, 1001 + done, done)
        check(count > 0, "copy_file_range ended early at", done)
        done += count
    check(open(path + ".copy", "rb").read() == content[1001:], "the copy")


def big_sparse(path, size=str(5 << 30)):
    """Beyond 4 GiB: data at both ends, nothing between them, and the host's blocks show it."""
    size = int(size)
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(file, b"begin", 0)
    os.pwrite(file, b"middle", (1 << 32) - 3)
    os.ftruncate(file, size)
    os.pwrite(file, b"end", size - 3)
    os.fsync(file)
    check(os.fstat(file).st_size == size, "size", os.fstat(file).st_size)
    check(os.fstat(file).st_blocks * 512 < 4 * MIB, "not sparse:", os.fstat(file).st_blocks, "blocks")
    big_sparse_check(path, str(size))


def big_sparse_check(path, size=str(5 << 30)):
    size = int(size)
    file = os.open(path, os.O_RDONLY)
    check(os.fstat(file).st_size == size, "size", os.fstat(file).st_size)
    check(os.pread(file, 8, 0) == b"begin\0\0\0", "the beginning")
    check(os.pread(file, 10, (1 << 32) - 5) == b"\0\0middle\0\0", "at 4 GiB")
    check(os.pread(file, 100, size - 5) == b"\0\0end", "the end")
    check(os.pread(file, 65536, 1 << 31) == bytes(65536), "the hole")


def modes(path):
    """A descriptor works on whatever becomes of its file's mode."""
    for mode in (0o000, 0o200, 0o444):
        file = os.open(f"{path}.{mode:o}", os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        check(os.fstat(file).st_mode & 0o777 == mode, "mode", oct(os.fstat(file).st_mode))
        os.write(file, b"content")
        os.fsync(file)
        os.pwrite(file, b"C", 0)
        check(os.pread(file, 7, 0) == b"Content", "content of mode", oct(mode))
        os.ftruncate(file, 4)
        os.close(file)
        os.chmod(f"{path}.{mode:o}", 0o600)
        check(open(f"{path}.{mode:o}", "rb").read() == b"Cont", "content afterwards")
        os.chmod(f"{path}.{mode:o}", mode)


def closed_directory(path):
    """A descriptor works on when nobody may go through its directory any more."""
    os.mkdir(path)
    file = os.open(path + "/f", os.O_RDWR | os.O_CREAT)
    os.write(file, b"x" * 5000)
    os.chmod(path, 0o600)
    try:
        os.pwrite(file, b"y", 10)
        os.fsync(file)
        os.ftruncate(file, 100)
        os.fchmod(file, 0o640)
        os.utime(file, ns=(10**18, 10**18))
        check(os.pread(file, 2, 10) == b"yx" and os.fstat(file).st_size == 100, "content or size")
        check(os.fstat(file).st_mode & 0o777 == 0o640, "mode", oct(os.fstat(file).st_mode))
        os.close(file)
    finally:
        os.chmod(path, 0o700)
    check(open(path + "/f", "rb").read() == b"x" * 10 + b"y" + b"x" * 89, "content afterwards")


def open_all(directory, most, socket):
    """Opens files until that is refused; what is open works on, who asks the daemon is answered, and one file that is
    closed is one that can be opened."""
    import socket as sockets
    opened = []
    try:
        while len(opened) < int(most):
            opened.append(os.open(f"{directory}/{len(opened)}", os.O_RDWR | os.O_CREAT | os.O_EXCL))
        raise AssertionError(f"{most} files are open")
    except OSError as refusal:
        check(refusal.errno == errno.ENFILE, "refused with", refusal)
    check(len(os.listdir(directory)) == len(opened), "a file that was refused is there")
    os.pwrite(opened[-1], b"works on", 0)
    os.fsync(opened[0])
    # The daemon's threads find their descriptors too, while it is kept busy, for longer than they do without.
    end = time.monotonic() + 3
    while time.monotonic() < end:
        with sockets.socket(sockets.AF_UNIX) as client:
            client.connect(socket)
            client.sendall(b"GET /v1/status HTTP/1.1\r\nHost: d\r\n\r\n")
            answer = client.recv(64)
            check(answer.startswith(b"HTTP/1.1 200"), "answered with", answer)
    check(os.pread(opened[-1], 8, 0) == b"works on", "content")
    os.close(opened.pop())
    # A close returns before the device hears of it.
    end = time.monotonic() + 30
    while True:
        try:
            opened.append(os.open(f"{directory}/one-more", os.O_RDWR | os.O_CREAT | os.O_EXCL))
            break
        except OSError as refusal:
            check(refusal.errno == errno.ENFILE and time.monotonic() < end, "refused with", refusal)
            time.sleep(0.01)
    print(len(opened))


def many(directory, count):
    """COUNT empty files in one directory: made, listed in one pass and in pieces, each once."""
    count = int(count)
    os.mkdir(directory)
    for number in range(count):
        os.close(os.open(f"{directory}/entry-{number:06}", os.O_WRONLY | os.O_CREAT, 0o644))
    names = sorted(os.listdir(directory))
    check(len(names) == count and len(set(names)) == count, "listed", len(names), "names")
    check(names[0] == "entry-000000" and names[-1] == f"entry-{count - 1:06}", names[0], names[-1])
    seen = 0
    with os.scandir(directory) as entries:
        for entry in entries:
            seen += 1
            # Removing while listing must neither lose nor repeat what stays.
            if entry.name.endswith("7"):
                os.unlink(entry.path)
    check(seen == count, "a listing with removals saw", seen)
    check(len(os.listdir(directory)) == count - count // 10, "left", len(os.listdir(directory)))


def talk(path, *parts):
    """Sends bytes to a Unix socket (PART: text with \\r\\n escapes, or *N for N bytes of x); prints the first line."""
    import socket
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(path)
        try:
            for part in parts:
                data = b"x" * int(part[1:]) if part.startswith("*") else part.encode().decode("unicode_escape").encode()
                line.sendall(data)
            answer = line.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            answer = b"closed"
    print((answer or b"closed").split(b"\r\n")[0].decode(errors="replace"))


def listen_for_end(pid, seconds="10"):
    """Waits until a process is gone."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        try:
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    check(False, "process", pid, "is still there")


def hold(path, go):
    """Keeps PATH open until GO appears; then says what reading from it gives."""
    file = os.open(path, os.O_RDWR)
    print("held", flush=True)
    while not os.path.exists(go):
        time.sleep(0.02)
    try:
        os.pread(file, 1, 0)
        print("ok", flush=True)
    except OSError as problem:
        print(errno.errorcode[problem.errno], flush=True)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
globals()[sys.argv[1]](*sys.argv[2:])
