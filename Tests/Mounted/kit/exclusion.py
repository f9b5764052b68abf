#!/usr/bin/python3
"""Looks at every form of the mark that keeps something out of backups, and fails where one disagrees.

    exclusion.py yes|no PATH…      each path bears the mark, or none does
    exclusion.py extended PATH     sets and clears the flag by FS_IOC_FSSETXATTR, the younger way
    exclusion.py tag PATH          a CACHEDIR.TAG, read in every way
"""

import errno
import fcntl
import mmap
import os
import struct
import sys

APPLE = "com.apple.metadata:com_apple_backup_excludeItem"
PLIST = (b"bplist00" + b"\x5f\x10\x11com.apple.backupd" + b"\x08" + bytes([0] * 6 + [1, 1]) + bytes([0] * 7 + [1])
         + bytes([0] * 8) + bytes([0] * 7 + [28]))
FORMS = {APPLE: PLIST, "user." + APPLE: PLIST, "com.apple.MobileBackup": b"\1",
         "user.com.apple.MobileBackup": b"\1", "user.xdg.robots.backup": b"false"}
LISTED = {"user." + APPLE, "user.xdg.robots.backup"}
FS_IOC_GETFLAGS, FS_NODUMP = 0x80086601, 0x40
FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR, FS_XFLAG_NODUMP = 0x801C581F, 0x401C5820, 0x80
# A form that only says so: it lists nothing, because nobody could set it elsewhere.
ALWAYS = ("Library/Caches", "/tmp", ".app", "/iCloud", ".metadata.plist")


def forms(path, wanted):
    for name, value in FORMS.items():
        try:
            got = os.getxattr(path, name)
        except OSError as error:
            assert error.errno == errno.ENODATA, (path, name, error)
            got = None
        assert got == (value if wanted else None), (path, name, got)
    listed = LISTED & set(os.listxattr(path))
    is_listed = wanted and not path.endswith(ALWAYS)
    assert listed == (LISTED if is_listed else set()), (path, listed)
    try:
        file = os.open(path, os.O_RDONLY)
    except PermissionError:
        # A locked file has no flags to be read: the kernel opens it for that.
        return
    flags = struct.unpack("i", fcntl.ioctl(file, FS_IOC_GETFLAGS, bytes(4)))[0]
    extended = struct.unpack("I", fcntl.ioctl(file, FS_IOC_FSGETXATTR, bytes(28))[:4])[0]
    os.close(file)
    assert bool(flags & FS_NODUMP) == wanted, (path, flags)
    assert bool(extended & FS_XFLAG_NODUMP) == wanted, (path, extended)


def extended(path):
    file = os.open(path, os.O_RDONLY)
    for flags in (FS_XFLAG_NODUMP, 0, FS_XFLAG_NODUMP, 0):
        fcntl.ioctl(file, FS_IOC_FSSETXATTR, struct.pack("I24x", flags))
        forms(path, flags != 0)
    os.close(file)


def tag(path):
    with open(path, "rb") as file:
        content = file.read()
        assert content.startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n"), content
        assert os.fstat(file.fileno()).st_size == len(content)
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            assert mapped[:] == content
        assert os.pread(file.fileno(), 32, 11) == b"8a477f597d28d172789f06886806bc55"
        assert os.lseek(file.fileno(), 0, os.SEEK_DATA) == 0
        assert os.lseek(file.fileno(), 0, os.SEEK_HOLE) == len(content)
    for way in (os.listdir, lambda place: [entry.name for entry in os.scandir(place)]):
        names = way(os.path.dirname(path))
        assert names.count("CACHEDIR.TAG") == 1, names
    assert os.listxattr(path) == [], os.listxattr(path)


if sys.argv[1] == "tag":
    tag(sys.argv[2])
elif sys.argv[1] == "extended":
    extended(sys.argv[2])
else:
    for each in sys.argv[2:]:
        forms(each, sys.argv[1] == "yes")
