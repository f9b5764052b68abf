#!/usr/bin/python3
"""Sees every touch of files that nobody may touch, and every file that the program opens elsewhere: fanotify(7).

`Touches` has marks on canaries themselves, so that it does not matter by which name they were reached. `Openings` has
marks on the mounts of this process's namespace, where only the program and processes that are told apart run."""

import ctypes
import errno
import os
import struct

from kit import check, libc

AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
FAN_CLOEXEC, FAN_NONBLOCK, FAN_UNLIMITED_QUEUE, FAN_UNLIMITED_MARKS, FAN_REPORT_FID = 1, 2, 0x10, 0x20, 0x200
FAN_MARK_ADD, FAN_MARK_DONT_FOLLOW, FAN_MARK_MOUNT = 1, 4, 0x10
FAN_ONDIR, FAN_EVENT_ON_CHILD, FAN_Q_OVERFLOW = 0x40000000, 0x08000000, 0x4000
NAMES = {
    0x1: "read", 0x2: "changed", 0x4: "attributes changed", 0x20: "opened", 0x40: "moved from", 0x80: "moved to",
    0x100: "entry made", 0x200: "entry removed", 0x400: "removed", 0x800: "moved", 0x1000: "run",
}
TOUCHES = sum(NAMES)
READ, LINKS, OPENED, MOVED = 0x1, 0x4, 0x20, 0x800
METADATA, INFO, HANDLE = struct.Struct("IBBHQii"), struct.Struct("BBH"), struct.Struct("Ii")

libc.fanotify_mark.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]


def called(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def handle_of(path):
    """The kernel's own name of an inode, by which events tell it."""
    room = ctypes.create_string_buffer(HANDLE.pack(128, 0) + bytes(128))
    mount = ctypes.c_int()
    called(libc.name_to_handle_at(AT_FDCWD, os.fsencode(path), room, ctypes.byref(mount), 0), "name_to_handle_at")
    count, kind = HANDLE.unpack_from(room)
    return kind, room.raw[HANDLE.size:HANDLE.size + count]


class Group:
    def __init__(self, flags):
        flags |= FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS
        opening = os.O_RDONLY | os.O_NONBLOCK | os.O_NOATIME | os.O_CLOEXEC
        self.file = called(libc.fanotify_init(flags, opening), "fanotify_init")
        # Processes that are not the program: of the test itself, and of the owner.
        self.others = {os.getpid()}

    def mark(self, flags, mask, path):
        called(libc.fanotify_mark(self.file, FAN_MARK_ADD | flags, mask, AT_FDCWD, os.fsencode(path)), f"mark {path}")

    def events(self):
        """(process, mask, descriptor, rest of the event) of everything until now."""
        while True:
            try:
                data = os.read(self.file, 1 << 16)
            except BlockingIOError:
                return
            place = 0
            while place < len(data):
                size, _, _, begin, mask, file, process = METADATA.unpack_from(data, place)
                check(not mask & FAN_Q_OVERFLOW, "events were lost")
                yield process, mask, file, data[place + begin:place + size]
                place += size


def name_of(process):
    try:
        with open(f"/proc/{process}/comm") as file:
            return f"{file.read().strip()} ({process})"
    except OSError:
        return f"process {process}"


class Touches(Group):
    """Every touch of the files and directories below some directories."""

    def __init__(self, *tops):
        super().__init__(FAN_REPORT_FID)
        self.paths = {}
        # Files that the owner may have given a name in the device: everybody may read them, and that name goes.
        self.linked = set()
        self.readable = set()
        for top in tops:
            self.watch(top)
            for folder, folders, files in os.walk(top):
                for name in folders + files:
                    self.watch(os.path.join(folder, name))

    def watch(self, path):
        on_entries = FAN_ONDIR | FAN_EVENT_ON_CHILD if os.path.isdir(path) and not os.path.islink(path) else 0
        self.mark(FAN_MARK_DONT_FOLLOW, TOUCHES | on_entries, path)
        self.paths[handle_of(path)] = path

    def seen(self):
        """Lines that tell what was touched, by which process."""
        lines = []
        for process, mask, _, rest in self.events():
            if process in self.others:
                continue
            _, _, _ = INFO.unpack_from(rest)
            count, kind = HANDLE.unpack_from(rest, INFO.size + 8)
            begin = INFO.size + 8 + HANDLE.size
            path = self.paths.get((kind, rest[begin:begin + count]), "something new")
            if path in self.linked:
                mask &= ~(READ | OPENED | LINKS | MOVED)
            if path in self.readable:
                mask &= ~(OPENED | READ)
            kinds = [name for bit, name in NAMES.items() if mask & bit]
            if kinds:
                lines.append(f"{name_of(process)}: {path} was {', '.join(kinds)}")
        return lines


class Openings(Group):
    """Every opening on the mounts of this namespace, apart from those where a device may lie."""

    def __init__(self, *mounts):
        super().__init__(0)
        for mount in mounts:
            try:
                self.mark(FAN_MARK_MOUNT, OPENED | FAN_ONDIR, mount)
            except OSError as problem:
                # Where there are no such marks, as for proc.
                if mount == "/" or problem.errno not in (errno.EINVAL, errno.ENODEV, errno.ENOENT):
                    raise

    def seen(self, allowed):
        """Paths that were opened and that `allowed`, a pattern, does not match, with the process."""
        found = set()
        for process, _, file, _ in self.events():
            if file < 0:
                continue
            path = os.readlink(f"/proc/self/fd/{file}")
            os.close(file)
            if process not in self.others and not allowed.fullmatch(path):
                found.add(f"{name_of(process)}: {path} was opened")
        return sorted(found)
