#!/usr/bin/python3
"""The owner at work: things that take the place of a device's entries, before a call or again and again during it."""

import glob
import mmap
import os
import socket

from kit import check, libc

AT_FDCWD, RENAME_EXCHANGE = -100, 2

# Entries of a device, below its directory; `?` at the end is whatever appears there.
DATA, BUNDLE = "Containers/Data/Application/*", "Containers/Bundle/Application/*"
RECORDS = ["Device.json", "Apps.json", "Sessions.json", "Keybag", "PasswordKeybag", "UID.key", "Identity.pem", "Events.jsonl",
           "Reserve"]
RUNTIME = ["daemon.json", "daemon.log", "lock", "?"]
AREAS = ["Staging", "Trash", "Staging/?", "Trash/?", "Containers", "Containers/Data", "Containers/Data/Application",
         "Containers/Data/Application/?", "Containers/Bundle", "Containers/Bundle/Application", "Containers/Bundle/Application/?",
         "Containers/Shared/AppGroup", "Containers/Shared/AppGroup/*"]
CONTENT = [DATA, DATA + "/Documents", DATA + "/Documents/d", DATA + "/Documents/d/file", DATA + "/Documents/d/other",
           DATA + "/Documents/d/link", DATA + "/Documents/d/sub", DATA + "/Documents/d/sub/file", DATA + "/Documents/d/?",
           DATA + "/Library", DATA + "/Library/Caches", DATA + "/Library/Caches/d", DATA + "/tmp", DATA + "/.com.apple*",
           "Containers/Shared/AppGroup/*/d", "Containers/Shared/AppGroup/*/d/file"]
SEALED = [BUNDLE, BUNDLE + "/Notes.app", BUNDLE + "/Notes.app/Notes", BUNDLE + "/Notes.app/Info.plist",
          BUNDLE + "/Notes.app/Samples", BUNDLE + "/Notes.app/FirstNote.txt", BUNDLE + "/Notes.app/_CodeSignature",
          BUNDLE + "/Notes.app/_CodeSignature/CodeResources", BUNDLE + "/Digests", BUNDLE + "/HashTrees"]
ENTRIES = ["", *RECORDS, *RUNTIME, *AREAS, *CONTENT, *SEALED]


def exchange(one, other):
    return libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0


def link(target):
    return lambda world, path, entry: os.symlink(world.at(target), path)


def twin(world, path, entry):
    """A link to the same entry of a copy of the device, where everybody may write."""
    target = world.at("roots/twin/" + os.path.relpath(entry, world.device).replace("/?", ""))
    os.symlink(target if os.path.lexists(target) else world.at("roots/public/new"), path)


def hard(target):
    return lambda world, path, entry: os.link(world.at(target), path)


def directory(world, path, entry):
    os.makedirs(path + "/of/the/owner")
    # For whoever counts on an empty one.
    os.symlink(world.at("roots/secret"), path + "/link")


def socket_file(world, path, entry):
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.basename(path))


def file(content):
    def make(world, path, entry):
        with open(path, "wb") as made:
            made.write(content)
    return make


KINDS = {
    "a link to its twin": twin,
    "a link to a secret file": link("roots/secret"),
    "a link to a closed directory": link("roots/closed"),
    "a link to a new name": link("roots/public/new"),
    "a link to a device node": link("roots/zero"),
    "a link to a device of root's": link("roots/device"),
    "a link to another's file": link("others/file"),
    "a link to a file of the owner's": link("his/file"),
    "a link to a directory of the owner's": link("his/folder"),
    "a link to itself": lambda world, path, entry: os.symlink(entry, path),
    "a fifo": lambda world, path, entry: os.mkfifo(path, 0o666),
    "a socket": socket_file,
    "a hard link to a file of the owner's": hard("owned/linked"),
    "a hard link to a file of root's": hard("roots/shared"),
    "a directory": directory,
    "an empty file": file(b""),
    "a file of other content": file(b"{\"format\": 1}" * 400),
}


class Owner:
    """A process of the owner that puts something in the place of an entry, once or all the time, until it is stopped."""

    def __init__(self, world, entry, kind, during):
        self.stop_flag = mmap.mmap(-1, 1)
        begun, began = os.pipe()
        stopped, self.stopping = os.pipe()
        self.world = world

        def work():
            decoy = world.at("owned/decoys/decoy")
            KINDS[kind](world, decoy, entry)
            self.put(entry, decoy)
            os.write(began, b"x")
            os.close(self.stopping)
            while during and not self.stop_flag[0]:
                self.put(entry, decoy)
            os.read(stopped, 1)
            if self.away:
                exchange(self.away, decoy)

        self.away = None
        self.process = world.as_owner(work, wait=False)
        os.close(began)
        os.close(stopped)
        check(os.read(begun, 1) == b"x", "the owner did not begin:", entry, kind)
        os.close(begun)

    def put(self, entry, decoy):
        """One exchange; `away` is the entry whose own thing is the decoy now."""
        if self.away:
            exchange(self.away, decoy)
            self.away = None
            return
        for path in self.all(entry):
            if exchange(path, decoy):
                self.away = path
                return

    @staticmethod
    def all(entry):
        if not entry.endswith("/?"):
            return [entry]
        try:
            return [entry[:-1] + name for name in os.listdir(entry[:-2])]
        except OSError:
            return []

    def stop(self):
        self.stop_flag[0] = 1
        os.close(self.stopping)
        os.waitpid(self.process, 0)


def entry_of(world, name):
    """The path of an entry of the device, as it is now; of one that is not there, the path where it will be."""
    path = os.path.normpath(os.path.join(world.device, name)) if name else world.device
    last = path.endswith("/?")
    found = glob.glob(path[:-2] if last else path)
    return (found[0] if found else path.removesuffix("/?")) + ("/?" if last else "")
