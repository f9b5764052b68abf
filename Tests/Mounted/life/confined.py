#!/usr/bin/python3
"""A confined command finds its container, nothing of others, and nothing to write to elsewhere. Prints its home.

    python3 - HIDDEN… <confined.py      HIDDEN: paths that it must not find; its own file would be one"""

import os
import socket
import sys

home = os.getcwd()
print(home)
assert os.environ["HOME"] == home and os.environ["TMPDIR"] == home + "/tmp"
assert sorted(os.listdir(home)) == sorted(["Documents", "Library", "Notes.app", "tmp"] + [
    name for name in os.listdir(home) if name.startswith(".com.apple")]), os.listdir(home)
for path in sys.argv[1:] + ["/root", "/home", "/var", "/sys", "/srv", "/etc/shadow", "/etc/hostname"]:
    assert not os.path.exists(path), path
for path in ["/usr/x", "/x", "/etc/x", "/usr/bin/x", "/run/x"]:
    try:
        open(path, "w")
        raise AssertionError(path + " was written")
    except OSError:
        pass
open("/tmp/private", "w").write("x")
open("Documents/kept", "w").write("kept\n")
try:
    open("Notes.app/x", "w")
    raise AssertionError("the bundle was written")
except PermissionError:
    pass
# Nobody else's processes, and no network but an interface to itself.
assert all(int(name) < 100 for name in os.listdir("/proc") if name.isdigit()), os.listdir("/proc")
assert [name for _, name in socket.if_nameindex()] == ["lo"], socket.if_nameindex()
for line in open("/proc/self/status"):
    if line.startswith("CapEff:"):
        # Of capability.h: none but the first, second, fourth and fifth, which concern files.
        assert int(line.split()[1], 16) & ~0b11011 == 0, line
