#!/usr/bin/python3
"""Compares what calls do to set-user-ID and set-group-ID bits with what the host's own filesystem does.

    set_ids.py MOUNT HOST FACTS [USER GROUP]

MOUNT and HOST are empty directories that everybody may write to. Without USER, another user with a supplementary GROUP,
all calls are the caller's own. FACTS gets the modes of all files that are left, for `set_ids.py --again MOUNT FACTS` after
a remount."""

import ctypes
import json
import mmap
import os
import socket
import stat
import sys

from kit import check

libc = ctypes.CDLL(None, use_errno=True)
MODES = (0o4755, 0o2755, 0o6755, 0o6644, 0o2644, 0o4644, 0o1644, 0o7777, 0o4700, 0o6711, 0o4555, 0o755)


def mode(path):
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def changing(flags, call):
    def run(path):
        file = os.open(path, flags)
        try:
            call(file, path)
        finally:
            os.close(file)

    return run


def copy(file, path):
    source = os.open(os.path.dirname(path) + "/source", os.O_RDONLY)
    os.copy_file_range(source, file, 4)
    os.close(source)


def fallocate(file, _):
    if libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(9000)) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def mapped(file, _):
    with mmap.mmap(file, 4) as memory:
        memory[0] = 65
        memory.flush()


WRITING = os.O_WRONLY
CHANGES = {
    "write": changing(WRITING, lambda file, _: os.pwrite(file, b"x", 0)),
    "write twice": changing(WRITING, lambda file, _: (os.pwrite(file, b"x", 0), os.pwrite(file, b"y", 1))),
    "append": changing(WRITING | os.O_APPEND, lambda file, _: os.write(file, b"x" * 5000)),
    "write and sync": changing(WRITING, lambda file, _: (os.pwrite(file, b"x", 0), os.fsync(file))),
    "nothing written": changing(WRITING, lambda file, _: None),
    "mapped": changing(os.O_RDWR, mapped),
    "ftruncate": changing(WRITING, lambda file, _: os.ftruncate(file, 2)),
    "truncate": lambda path: os.truncate(path, 2),
    "truncate longer": lambda path: os.truncate(path, 8000),
    "truncate to nothing": lambda path: os.truncate(path, 0),
    "O_TRUNC": changing(WRITING | os.O_TRUNC, lambda file, _: None),
    "O_CREAT and O_TRUNC": changing(WRITING | os.O_TRUNC | os.O_CREAT, lambda file, _: None),
    "fallocate": changing(WRITING, fallocate),
    "copy_file_range": changing(WRITING, copy),
}


# All of them, as one alone says little.
differences = []
# How many calls succeeded, and how many of these changed the bits.
successes = {"all": 0, "changed": 0}


class Callers:
    """The callers: the test itself, or also another user, with and without the file's group."""

    def __init__(self, user, group):
        self.user, self.group = user, group

    def all(self):
        if self.user is None:
            return {"self": None}
        return {"root": None, "owner": (self.user, self.user, [self.group]), "stranger": (self.user + 7, self.user + 7, [])}

    def owners(self):
        if self.user is None:
            return {"own": (os.getuid(), os.getgid())}
        return {"own": (self.user, self.user), "by group": (self.user, self.group), "other's group": (self.user, 60007)}


def act(caller, call, path):
    """Makes a call in a process of the caller's. Returns the error's number, 0 for none."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 0
    try:
        if caller:
            user, group, groups = caller
            os.setgroups(groups)
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
        call(path)
    except OSError as error:
        code = error.errno
    except BaseException:
        code = 255
    os._exit(code)


def make(path, owner, bits):
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.write(file, b"text")
    if os.getuid() == 0:
        os.fchown(file, *owner)
    os.fchmod(file, bits)
    os.close(file)


def both(places, what, prepare, caller, call):
    """The same on the mount and on the host: the call's error, and the mode after it, at once and by a descriptor."""
    found = []
    for place in places:
        path = os.path.join(place, what.replace("/", "-").replace(" ", "-"))
        prepare(path)
        before = mode(path) if os.path.lexists(path) else "none"
        code = act(caller, call, path)
        after = mode(path) if os.path.lexists(path) else "none"
        found.append((before, code, after))
    before, code, after = found[1]
    successes["all"] += code == 0
    successes["changed"] += code == 0 and before != after
    if found[0] != found[1]:
        differences.append(f"{what}: on the mount {found[0]}, on the host {found[1]}")


def contents(places, callers):
    for owner_name, owner in callers.owners().items():
        for bits in MODES:
            for caller_name, caller in callers.all().items():
                # So that everybody may write, as far as that leaves the bits' meaning.
                wide = bits | 0o666 if caller_name == "stranger" else bits
                for name, call in CHANGES.items():
                    what = f"{owner_name} {bits:04o} {caller_name} {name}"
                    both(places, what, lambda path, o=owner, m=wide: make(path, o, m), caller, call)


def chmods(places, callers):
    for owner_name, owner in callers.owners().items():
        for caller_name, caller in callers.all().items():
            for first in (0o644, 0o6755, 0o1644):
                for bits in MODES:
                    what = f"chmod {owner_name} {first:04o} {bits:04o} {caller_name}"
                    both(
                        places, what, lambda path, o=owner, m=first: make(path, o, m), caller,
                        lambda path, m=bits: os.chmod(path, m))


def chowns(places, callers):
    if callers.user is None:
        changes = {"to the same": (os.getuid(), os.getgid()), "to the same group": (-1, os.getgid()), "to nobody": (-1, -1)}
    else:
        user, group = callers.user, callers.group
        changes = {
            "to root": (0, 0), "to the user": (user, -1), "to a group": (-1, group), "to its group": (-1, user),
            "to another": (user + 7, user + 7), "to nobody": (-1, -1)}
    for owner_name, owner in callers.owners().items():
        for bits in MODES:
            for caller_name, caller in callers.all().items():
                for name, change in changes.items():
                    what = f"chown {owner_name} {bits:04o} {caller_name} {name}"
                    both(
                        places, what, lambda path, o=owner, m=bits: make(path, o, m), caller,
                        lambda path, c=change: os.chown(path, *c))
                    what = f"chown fifo {owner_name} {bits:04o} {caller_name} {name}"

                    def fifo(path, o=owner, m=bits):
                        os.mkfifo(path)
                        if os.getuid() == 0:
                            os.chown(path, *o)
                        os.chmod(path, m)

                    both(places, what, fifo, caller, lambda path, c=change: os.chown(path, *c))


def making(places, callers):
    def created(bits):
        return lambda path: os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, bits))

    def written(bits):
        def run(path):
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, bits)
            os.write(file, b"text")
            os.close(file)

        return run

    def bound(bits):
        def run(path):
            os.chdir(os.path.dirname(path))
            socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
            os.chmod(path, bits)

        return run

    nothing = lambda path: None
    for caller_name, caller in callers.all().items():
        for bits in MODES:
            end = f"{bits:04o} {caller_name}"
            os.umask(0)
            both(places, f"open {end}", nothing, caller, created(bits))
            both(places, f"open and write {end}", nothing, caller, written(bits))
            both(places, f"mknod {end}", nothing, caller, lambda path, m=bits: os.mknod(path, m | stat.S_IFREG))
            both(places, f"mkfifo {end}", nothing, caller, lambda path, m=bits: os.mkfifo(path, m))
            both(places, f"bind {end}", nothing, caller, bound(bits))
            both(places, f"mkdir {end}", nothing, caller, lambda path, m=bits: os.mkdir(path, m))


def facts(place):
    return {name: mode(os.path.join(place, name)) for name in sorted(os.listdir(place))}


def main():
    if sys.argv[1] == "--again":
        place, kept = sys.argv[2:]
        with open(kept, encoding="utf-8") as file:
            wanted = json.load(file)
        found = facts(place)
        for name in wanted.keys() | found.keys():
            check(found.get(name) == wanted.get(name), "after a remount:", name, found.get(name), wanted.get(name))
        return
    places, kept = sys.argv[1:3], sys.argv[3]
    callers = Callers(*[int(number) for number in sys.argv[4:6]]) if len(sys.argv) > 4 else Callers(None, None)
    for place in places:
        make(os.path.join(place, "source"), (os.getuid(), os.getgid()), 0o644)
    contents(places, callers)
    chmods(places, callers)
    chowns(places, callers)
    making(places, callers)
    check(not differences, len(differences), "differences:", *("\n" + line for line in differences[:100]))
    check(facts(places[0]) == facts(places[1]), "the modes of all files differ")
    with open(kept, "w", encoding="utf-8") as file:
        json.dump(facts(places[0]), file)
    print(len(facts(places[0])), "files", successes)
    # A test whose calls are all refused would show nothing.
    check(successes["changed"] > len(facts(places[0])) / 10, "too few calls changed a mode:", successes)


main()
