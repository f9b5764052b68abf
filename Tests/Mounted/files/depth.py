#!/usr/bin/python3
"""Trees as deep as an app likes, files with as many names as the host allows, direct writes, and file handles.

    depth.py WHAT PATH [ARGUMENT…]"""

import ctypes
import errno
import mmap
import os
import resource
import struct
import sys
import threading

from kit import check, libc


def descend(path, count, name="d"):
    """Makes directories in each other, and a file at the bottom, which is used like any other."""
    os.chdir(path)
    for _ in range(int(count)):
        os.mkdir(name)
        os.chdir(name)
    with open("file", "w") as file:
        file.write("text")
    check(open("file").read() == "text", "content at the bottom")
    check(os.stat("file").st_size == 4, "length at the bottom")
    os.rename("file", "other")
    check(os.listdir(".") == ["other"], os.listdir("."))
    os.unlink("other")
    open("left", "w").close()


def bottom(path, count):
    """Goes down what descend made."""
    os.chdir(path)
    for _ in range(int(count)):
        os.chdir("d")
    check(os.listdir(".") == ["left"], os.listdir("."))


def remove(path):
    """Removes what descend made. Inner directories are moved up to the top: in a bind, which root's mounts are, the
    kernel follows `..` by a look at each directory above."""
    parent = os.open(path, os.O_RDONLY)
    top = os.open("d", os.O_RDONLY, dir_fd=parent)
    moved = 0
    while names := os.listdir(top):
        for name in names:
            if name == "left":
                os.unlink(name, dir_fd=top)
                continue
            directory = os.open(name, os.O_RDONLY, dir_fd=top)
            for inner in os.listdir(directory):
                if inner == "left":
                    os.unlink(inner, dir_fd=directory)
                    continue
                moved += 1
                os.rename(inner, f"up-{moved}", src_dir_fd=directory, dst_dir_fd=top)
            os.close(directory)
            os.rmdir(name, dir_fd=top)
    os.close(top)
    os.rmdir("d", dir_fd=parent)


def link(path, count):
    """Gives a file so many names, opens it, and takes the names away again in the order in which they came."""
    os.chdir(path)
    names = [f"{number}" for number in range(int(count))]
    with open(names[0], "w") as file:
        file.write("text")
    for name in names[1:]:
        os.link(names[0], name)
    check(os.stat(names[-1]).st_nlink == len(names), os.stat(names[-1]).st_nlink)
    check(open(names[-1]).read() == "text")
    for name in names[:-1]:
        os.unlink(name)
    check(os.stat(names[-1]).st_nlink == 1 and open(names[-1]).read() == "text")


class Block(ctypes.Structure):
    """struct iocb of <linux/aio_abi.h>."""
    _fields_ = [
        ("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("flags", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16), ("priority", ctypes.c_int16), ("file", ctypes.c_uint32),
        ("buffer", ctypes.c_uint64), ("count", ctypes.c_uint64), ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64), ("flags2", ctypes.c_uint32), ("event", ctypes.c_uint32)]


SETUP, GET_EVENTS, SUBMIT = {"x86_64": (206, 208, 209), "aarch64": (0, 4, 2)}[os.uname().machine]


def direct(path, count):
    """Writes by AIO with O_DIRECT while another thread reads through the kernel's pages: once a write has ended, every
    read gives the new bytes."""
    size = 4096
    with open(path, "wb") as file:
        file.write(bytes(size))
    os.sync()
    reader = os.open(path, os.O_RDONLY)
    writer = os.open(path, os.O_RDWR | os.O_DIRECT)
    context = ctypes.c_ulong(0)
    check(libc.syscall(SETUP, 1, ctypes.byref(context)) == 0, "io_setup")
    memory = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    is_over = threading.Event()

    def read_on():
        while not is_over.is_set():
            os.pread(reader, size, 0)

    threads = [threading.Thread(target=read_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    old = 0
    events = ctypes.create_string_buffer(32)
    for number in range(1, int(count) + 1):
        memory[:] = struct.pack("<Q", number) * (size // 8)
        block = Block(opcode=1, file=writer, buffer=address, count=size, offset=0)
        blocks = (ctypes.c_void_p * 1)(ctypes.addressof(block))
        check(libc.syscall(SUBMIT, context, ctypes.c_long(1), blocks) == 1, "io_submit", ctypes.get_errno())
        check(libc.syscall(GET_EVENTS, context, ctypes.c_long(1), ctypes.c_long(1), events, None) == 1, "io_getevents")
        check(struct.unpack("<qq", events.raw[16:32])[0] == size, "written", events.raw)
        found = os.pread(reader, size, 0)
        old += found != memory[:]
    is_over.set()
    for thread in threads:
        thread.join()
    check(old == 0, old, "of", count, "reads gave old bytes")


class Handle(ctypes.Structure):
    """struct file_handle of name_to_handle_at(2)."""
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int), ("bytes", ctypes.c_ubyte * 128)]


def handle(path):
    """Prints the file handle of a path."""
    found, mount = Handle(size=128), ctypes.c_int()
    check(libc.name_to_handle_at(-100, os.fsencode(path), ctypes.byref(found), ctypes.byref(mount), 0) == 0,
          os.strerror(ctypes.get_errno()))
    print(found.type, bytes(found.bytes[:found.size]).hex())


def by_handle(mount, kind, text, wanted):
    """Opens a file by its handle: it is the file with the content WANTED, or the handle is stale."""
    content = bytes.fromhex(text)
    found = Handle(size=len(content), type=int(kind))
    ctypes.memmove(found.bytes, content, len(content))
    top = os.open(mount, os.O_RDONLY)
    file = libc.open_by_handle_at(top, ctypes.byref(found), os.O_RDONLY)
    if file < 0:
        check(ctypes.get_errno() == errno.ESTALE, os.strerror(ctypes.get_errno()))
        print("stale")
        return
    check(os.read(file, 100).decode() == wanted, "another file")
    print("same")


def burst(path, count):
    """Opens so many files at once, each with content, and closes them."""
    count = int(count)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
    os.makedirs(path, exist_ok=True)
    files = []
    for number in range(count):
        file = os.open(f"{path}/{number}", os.O_RDWR | os.O_CREAT, 0o600)
        os.pwrite(file, bytes([number % 256]) * 5000, 0)
        files.append(file)
    for file in files:
        os.fsync(file) if file % 100 == 0 else None
        os.pread(file, 10, 0)
    for file in files:
        os.close(file)


def seek(file):
    """Finds places in an open file whose content is closed: by its length, which fstat(2) tells."""
    file = int(file)
    length = os.fstat(file).st_size
    check(os.lseek(file, 0, os.SEEK_END) == length, "SEEK_END")
    check(os.lseek(file, -1, os.SEEK_CUR) == length - 1, "SEEK_CUR")
    check(os.lseek(file, 2, os.SEEK_SET) == 2, "SEEK_SET")
    try:
        os.read(file, 1)
    except PermissionError:
        return
    check(False, "the content is open")


globals()[sys.argv[1]](*sys.argv[2:])
