#!/usr/bin/python3
"""Tries bare system calls and compares what each answers with what it should.

Standard input is a table, a call a line: the errno's name or `ok`, the call, its arguments (quoted as in a shell).
Nothing is retried and nothing is made on the way: one line, one call (open for those that need a descriptor)."""

import ctypes
import errno
import fcntl
import os
import shlex
import socket
import stat
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NODUMP = 0x80086601, 0x40086602, 0x40

FLAGS = {
    "r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR, "a": os.O_WRONLY | os.O_APPEND,
    "trunc": os.O_WRONLY | os.O_TRUNC, "creat": os.O_WRONLY | os.O_CREAT, "rtrunc": os.O_RDONLY | os.O_TRUNC,
    "excl": os.O_WRONLY | os.O_CREAT | os.O_EXCL, "tmpfile": os.O_RDWR | os.O_TMPFILE,
}


class Unexpected(Exception):
    pass


def same(got, wanted):
    if got != wanted:
        raise Unexpected(f"got {got!r}")


def with_file(path, mode, body):
    file = os.open(path, FLAGS[mode], 0o644)
    try:
        return body(file)
    finally:
        os.close(file)


def rename2(old, new, flags):
    if libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def set_flags(path, change):
    def body(file):
        flags = struct.unpack("i", fcntl.ioctl(file, FS_IOC_GETFLAGS, b"\0\0\0\0"))[0]
        flags = flags | FS_NODUMP if change == "+d" else flags & ~FS_NODUMP
        fcntl.ioctl(file, FS_IOC_SETFLAGS, struct.pack("i", flags))
    with_file(path, "r", body)


def read(path, wanted=None):
    with open(path, "rb", buffering=0) as file:
        got = b""
        while part := file.read(1 << 20):
            got += part
    if wanted is not None:
        same(got.decode(errors="replace").rstrip("\n"), wanted)


def make_socket(path):
    # The path of a socket's address is short; going there first makes any path do.
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
    finally:
        os.chdir(here)


def access(path, mode):
    # access(2) tells yes or no; the call is for its errno.
    if libc.access(os.fsencode(path), {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}[mode]) != 0:
        raise OSError(ctypes.get_errno(), "access")


def valid_acl():
    entries = [(1, 7, 0xFFFFFFFF), (4, 5, 0xFFFFFFFF), (32, 5, 0xFFFFFFFF)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def attribute_value(text):
    return valid_acl() if text == "ACL" else b"x" * int(text[1:]) if text.startswith("*") else text.encode()


CALLS = {
    "open": lambda path, mode="r": with_file(path, mode, lambda file: None),
    "read": read,
    "write": lambda path, text, mode="w": with_file(path, mode, lambda file: os.write(file, text.encode())),
    "truncate": lambda path, size: os.truncate(path, int(size)),
    "mkdir": lambda path: os.mkdir(path),
    "rmdir": lambda path: os.rmdir(path),
    "unlink": lambda path: os.unlink(path),
    "rename": lambda old, new: rename2(old, new, 0),
    "noreplace": lambda old, new: rename2(old, new, RENAME_NOREPLACE),
    "exchange": lambda old, new: rename2(old, new, RENAME_EXCHANGE),
    "link": lambda old, new: os.link(old, new, follow_symlinks=False),
    "symlink": lambda target, path: os.symlink(target, path),
    "readlink": lambda path, wanted: same(os.readlink(path), wanted),
    "mkfifo": lambda path: os.mkfifo(path),
    "mksocket": make_socket,
    "mkdevice": lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
    "chmod": lambda mode, path: os.chmod(path, int(mode, 8)),
    "chown": lambda path, user=None: os.chown(path, int(user or os.geteuid()), -1),
    "utimes": lambda path, seconds="1000000000": os.utime(path, ns=(int(seconds) * 10**9 + 123456789,) * 2,
                                                          follow_symlinks=False),
    "setxattr": lambda path, name, value: os.setxattr(path, name, attribute_value(value), follow_symlinks=False),
    "getxattr": lambda path, name, wanted=None: (
        lambda got: wanted is None or same(got, attribute_value(wanted)))(
            os.getxattr(path, name, follow_symlinks=False)),
    "removexattr": lambda path, name: os.removexattr(path, name, follow_symlinks=False),
    "listxattr": lambda path, *wanted: same(sorted(os.listxattr(path, follow_symlinks=False)), sorted(wanted)),
    "setflags": set_flags,
    "access": access,
    "stat": lambda path: os.lstat(path),
    "mode": lambda path, wanted: same(oct(stat.S_IMODE(os.lstat(path).st_mode))[2:], wanted),
    "owner": lambda path, wanted: same(str(os.lstat(path).st_uid), wanted),
    "group": lambda path, wanted: same(str(os.lstat(path).st_gid), wanted),
    "size": lambda path, wanted: same(str(os.lstat(path).st_size), wanted),
    "mtime": lambda path, wanted: same(str(os.lstat(path).st_mtime_ns), wanted),
    "links": lambda path, wanted: same(str(os.lstat(path).st_nlink), wanted),
    "list": lambda path, *wanted: same(sorted(os.listdir(path)), sorted(wanted)),
    "statfs": lambda path: os.statvfs(path),
}


def main():
    bad = tried = 0
    for line in sys.stdin:
        words = shlex.split(line, comments=True)
        if not words:
            continue
        wanted, call, *arguments = words
        tried += 1
        try:
            CALLS[call](*arguments)
            got = "ok"
        except OSError as problem:
            got = errno.errorcode.get(problem.errno, str(problem.errno))
        except Unexpected as problem:
            got = str(problem)
        # One number, two names.
        got = "EOPNOTSUPP" if got == "ENOTSUP" else got
        if got not in wanted.split("|"):
            bad += 1
            print(f"{line.strip()}   → {got}")
    if bad or not tried:
        print(f"{bad} of {tried} calls did not answer as they should")
        sys.exit(1)


main()
