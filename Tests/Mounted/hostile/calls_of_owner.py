#!/usr/bin/python3
"""Every call of the bridge, by a client on the mount of a device whose owner exchanges its entries.

    calls_of_owner.py PLACE ROUNDS PROTOCOL [SEED]

PROTOCOL is the source of the bridge's protocol: each of its methods has an entry in the table here. In each round
another entry of the device has something else in its place, before the calls or all the time during them."""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import random
import re
import signal
import stat
import struct
import sys

from kit import KEEP_SIZE, check, libc
from owner import CONTENT, ENTRIES, KINDS, SEALED, Owner, entry_of
from world import APP, World

# A call may answer these while its files are exchanged: the entry is gone, is another thing, is not the caller's, or is
# none of the device's own.
ANSWERS = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE,
           errno.EEXIST, errno.ENOTEMPTY, errno.EXDEV, errno.EINVAL, errno.ENXIO, errno.ENODATA, errno.EOPNOTSUPP,
           errno.ENOTTY, errno.EBUSY, errno.ESPIPE}
OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FOLDERS = ["Documents/d", "Library/Caches/d", "Groups/group.com.example.shared/d", "Notes.app", "tmp", "Documents/d/sub", "."]
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NODUMP = 0x80086601, 0x40086602, 0x40
RENAME_EXCHANGE = 2


class Client:
    """A process of the owner that makes each call, through no link: it would touch by itself where a link leads to."""

    def __init__(self, home, answers):
        self.home = home
        self.answers = answers
        self.folder = self.number = None

    def walk(self, path):
        folder = os.open(self.home, os.O_RDONLY | os.O_DIRECTORY | OPEN)
        for name in path.split("/"):
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | OPEN, dir_fd=folder)
            finally:
                os.close(folder)
            folder = below
        return folder

    def new(self):
        self.number += 1
        return f"new-{self.number}"

    def file(self, name="file", flags=os.O_RDWR):
        above, _, last = name.rpartition("/")
        if not above:
            return Opened(os.open(name, flags | OPEN, 0o644, dir_fd=self.folder))
        with Opened(os.open(above, os.O_RDONLY | os.O_DIRECTORY | OPEN, dir_fd=self.folder)) as folder:
            return Opened(os.open(last, flags | OPEN, 0o644, dir_fd=folder))

    def work(self, method, calls):
        """All calls of one method in each folder; errno by errno into the answers."""
        for path in FOLDERS:
            try:
                self.folder = self.walk(path)
            except OSError as problem:
                self.answers(method, problem.errno)
                continue
            try:
                for call in calls:
                    try:
                        call(self)
                        self.answers(method, 0)
                    except OSError as problem:
                        self.answers(method, problem.errno)
            finally:
                os.close(self.folder)


class Opened:
    """A descriptor that is closed at the end of a block."""

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        return self.number

    def __exit__(self, *_):
        os.close(self.number)


def on(name, body, flags=os.O_RDWR):
    def call(client):
        with client.file(name, flags) as file:
            body(file)
    return call


def at(body):
    return lambda client: body(client, client.folder)


def move(client, folder, old, new, flags=0):
    if libc.renameat2(folder, os.fsencode(old), folder, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def ioctl_flags(file):
    flags = struct.unpack("i", fcntl.ioctl(file, FS_IOC_GETFLAGS, b"\0\0\0\0"))[0]
    fcntl.ioctl(file, FS_IOC_SETFLAGS, struct.pack("i", flags ^ FS_NODUMP))


def allocate(mode):
    def body(file):
        if libc.fallocate(file, mode, 4096, 8192) != 0:
            raise OSError(ctypes.get_errno(), "fallocate")
    return body


def copy(client):
    with client.file() as source, client.file("other") as target:
        os.copy_file_range(source, target, 9000, 10, 20)


def map_file(file):
    if os.fstat(file).st_size < 4096:
        return
    with mmap.mmap(file, 4096) as mapped:
        # The first byte, and back: a page is read and later written.
        mapped[0] = mapped[0]
        mapped.flush()


def remove_new(client):
    name = client.new()
    with client.file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
        pass
    os.unlink(name, dir_fd=client.folder)


def remove_new_directory(client):
    name = client.new()
    os.mkdir(name, dir_fd=client.folder)
    os.rmdir(name, dir_fd=client.folder)


def end_of_hidden(client):
    """A file without a name, which its last descriptor takes away."""
    name = client.new()
    with client.file(name, os.O_RDWR | os.O_CREAT | os.O_EXCL) as file:
        os.write(file, b"x" * 9000)
        os.unlink(name, dir_fd=client.folder)
        os.pread(file, 100, 0)


NAMES = ("file", "other", "link", "hard", "fifo", "sub", "sub/file", "Info.plist", "Notes", "nothing")
METHODS = {
    "lookup": [at(lambda c, d, n=name: os.stat(n, dir_fd=d, follow_symlinks=False)) for name in NAMES],
    "status": [on("file", os.fstat), on("sub", os.fstat, os.O_RDONLY), on("Notes", os.fstat, os.O_RDONLY)],
    "changeStatus": [
        on("file", lambda f: os.fchmod(f, 0o640)), on("file", lambda f: os.fchown(f, -1, os.getegid())),
        on("file", lambda f: os.ftruncate(f, 5000)), on("file", lambda f: os.ftruncate(f, 20000)),
        on("file", lambda f: os.utime(f, ns=(1, 2))), on("file", os.utime),
        on("sub", lambda f: os.fchmod(f, 0o750), os.O_RDONLY),
        at(lambda c, d: os.utime("link", ns=(1, 2), dir_fd=d, follow_symlinks=False)),
        at(lambda c, d: os.chown("link", -1, os.getegid(), dir_fd=d, follow_symlinks=False)),
        on("Notes", lambda f: os.fchmod(f, 0o777), os.O_RDONLY)],
    "symbolicLinkTarget": [at(lambda c, d, n=name: os.readlink(n, dir_fd=d)) for name in ("link", "FirstNote.txt")],
    "makeSymbolicLink": [at(lambda c, d: os.symlink("target", c.new(), dir_fd=d))],
    "makeNode": [at(lambda c, d: os.mknod(c.new(), stat.S_IFIFO | 0o644, dir_fd=d)),
                 at(lambda c, d: os.mknod(c.new(), stat.S_IFREG | 0o644, dir_fd=d))],
    "makeDirectory": [at(lambda c, d: os.mkdir(c.new(), dir_fd=d)), at(lambda c, d: os.mkdir("sub", dir_fd=d))],
    "removeFile": [remove_new, at(lambda c, d: os.unlink("hard", dir_fd=d))],
    "removeDirectory": [remove_new_directory, at(lambda c, d: os.rmdir("sub", dir_fd=d))],
    "rename": [at(lambda c, d: move(c, d, "file", "moved")), at(lambda c, d: move(c, d, "moved", "file")),
               at(lambda c, d: move(c, d, "file", "other", RENAME_EXCHANGE)),
               at(lambda c, d: move(c, d, "other", "sub/file", RENAME_EXCHANGE)), at(lambda c, d: move(c, d, "sub", "moved")),
               at(lambda c, d: move(c, d, "moved", "sub"))],
    "link": [at(lambda c, d: os.link("file", c.new(), src_dir_fd=d, dst_dir_fd=d, follow_symlinks=False)),
             at(lambda c, d: os.link("link", c.new(), src_dir_fd=d, dst_dir_fd=d, follow_symlinks=False))],
    "open": [on(name, lambda f: None, flags) for name in NAMES for flags in (os.O_RDONLY, os.O_RDWR)]
    + [on("other", lambda f: None, os.O_WRONLY | os.O_TRUNC)],
    "create": [at(lambda c, d: os.close(os.open(c.new(), os.O_RDWR | os.O_CREAT | OPEN, 0o600, dir_fd=d))),
               at(lambda c, d: os.close(os.open("file", os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN, 0o600, dir_fd=d)))],
    "read": [on(name, lambda f: os.pread(f, 9000, 0), os.O_RDONLY) for name in ("file", "Info.plist", "Notes", "sub/file")]
    + [on("file", map_file)],
    "write": [on("file", lambda f: os.pwrite(f, b"y" * 9000, 100)),
              on("file", lambda f: os.write(f, b"z" * 100), os.O_WRONLY | os.O_APPEND)],
    "synchronize": [on("file", os.fsync), on("file", os.fdatasync)],
    "allocate": [on("file", allocate(mode)) for mode in (0, KEEP_SIZE, 3, 0x11)],
    "seek": [on("file", lambda f: os.lseek(f, 0, os.SEEK_HOLE)), on("file", lambda f: os.lseek(f, 0, os.SEEK_DATA))],
    "copy": [copy],
    "list": [at(lambda c, d: os.listdir(d)), at(lambda c, d: [e.stat(follow_symlinks=False) for e in os.scandir(d)])],
    "synchronizeDirectory": [at(lambda c, d: os.fsync(d))],
    "statistics": [at(lambda c, d: os.fstatvfs(d))],
    "extendedAttribute": [on(n, lambda f: os.getxattr(f, "user.note"), os.O_RDONLY) for n in ("file", "sub")]
    + [on("file", lambda f: os.getxattr(f, "user.appcontainer.protection"), os.O_RDONLY)],
    "setExtendedAttribute": [
        on("file", lambda f: os.setxattr(f, "user.note", b"more")),
        on("file", lambda f: os.setxattr(f, "user.appcontainer.protection", b"NSFileProtectionComplete")),
        on("sub", lambda f: os.setxattr(f, "com.apple.metadata:com_apple_backup_excludeItem", b"x"), os.O_RDONLY)],
    "extendedAttributeNames": [on(n, os.listxattr, os.O_RDONLY) for n in ("file", "sub", "Info.plist")],
    "removeExtendedAttribute": [on("file", lambda f: os.removexattr(f, "user.note"))],
    "inodeFlags": [on(n, lambda f: fcntl.ioctl(f, FS_IOC_GETFLAGS, b"\0\0\0\0"), os.O_RDONLY) for n in ("file", "sub")],
    "setInodeFlags": [on("file", ioctl_flags), on("sub", ioctl_flags, os.O_RDONLY)],
    "close": [end_of_hidden],
}
# Without a call of their own: the kernel's, and questions of the bridge. They come with the calls above.
IMPLIED = {"forget", "mustZeroContent", "ended"}


def methods_of(protocol):
    with open(protocol) as source:
        text = source.read()
    body = text[text.index("public protocol FileSystem"):]
    return set(re.findall(r"^    func (\w+)\(", body[:body.index("\n}")], re.M))


def calls(world, chance):
    """A client's calls; the answers of each method, or None where they came to no end."""
    told, tell = os.pipe()

    def body():
        signal.alarm(60)
        with open(tell, "w") as answers:
            client = Client(world.home, lambda method, code: print(method, code, file=answers))
            client.number = 0
            names = list(METHODS)
            chance.shuffle(names)
            for name in names:
                client.work(name, METHODS[name])

    child = world.as_owner(body, wait=False)
    os.close(tell)
    with open(told) as answers:
        lines = answers.read().split("\n")[:-1]
    return os.waitpid(child, 0)[1] == 0, [(line.split()[0], int(line.split()[1])) for line in lines]


def main(place, rounds, protocol, seed=None):
    seed = int(seed or random.randrange(1 << 32))
    print(f"seed {seed}: {rounds} rounds", flush=True)
    chance = random.Random(seed)
    table = set(METHODS) | IMPLIED
    check(table == methods_of(protocol), "methods without calls, or calls without a method:", table ^ methods_of(protocol))
    world = World(place)
    # Entries that calls go through have more turns than those that the device's process alone uses.
    entries = CONTENT * 2 + SEALED + ENTRIES
    answered, good = {}, set()
    for number in range(int(rounds)):
        world.begin()
        code = world.run(["mount", world.device, APP, world.home, "--allow-other"])
        check(code == 0, f"mount, exit code {code}:", world.output, *world.complaints)
        with open(world.device + "/daemon.json") as told:
            daemon = json.load(told)["pid"]
        entry, kind, during = entry_of(world, chance.choice(entries)), chance.choice(list(KINDS)), chance.random() < 0.6
        told = f"calls [{kind} for {os.path.relpath(entry, world.place)}{', during' if during else ''}]"
        owner = Owner(world, entry, kind, during)
        try:
            ended, answers = calls(world, chance)
        finally:
            owner.stop()
        if not ended:
            world.complaints.append(f"the client's calls came to no end: {world.state(daemon)}")
        for method, code in answers:
            answered.setdefault(code, set()).add(method)
            if code == 0:
                good.add(method)
            elif code not in ANSWERS:
                world.complaints.append(f"{method} answered {errno.errorcode.get(code, code)}")
        if daemon not in world.children():
            world.complaints.append("the device's process has ended")
        os.statvfs(world.home)
        world.finish(told)
    for code in sorted(answered):
        print(errno.errorcode.get(code, "ok"), *sorted(answered[code]))
    check(good == set(METHODS), "never succeeded:", set(METHODS) - good)
    world.done()


if __name__ == "__main__":
    main(*sys.argv[1:])
