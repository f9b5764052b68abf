#!/usr/bin/python3
"""An app is updated while its home is in use.

    update.py live MOUNT COMMAND…       what is open in the home while COMMAND updates the app
    update.py paths DEVICE MOUNT ROUNDS APP
                                        calls by path in the home while the app is updated over and over
    update.py rows DATABASE STOP        inserts rows until STOP is there, 100 at least; writes their number to STOP.count"""

import errno
import mmap
import os
import sqlite3
import subprocess
import sys
import threading

from kit import bundle_of, check, read


def refuses(code, body, *arguments, **keywords):
    try:
        body(*arguments, **keywords)
    except OSError as problem:
        check(problem.errno == code, body.__name__, arguments, errno.errorcode[problem.errno])
        return
    check(False, body.__name__, arguments, "succeeded")


def live(mount, *command):
    """Descriptors, mappings and directories of before, used after."""
    opened = Opened(mount)
    subprocess.run(command, check=True)
    opened.home_has_the_same_files()
    opened.old_bundle_is_there_for_who_has_it()
    opened.old_metadata_is_there_for_who_has_it()
    opened.old_tmp_is_a_removed_directory()
    opened.close()


class Opened:
    """All that is open in a home while its app is updated, and what each is to be afterwards."""

    def __init__(self, mount):
        self.mount, self.bundle = mount, bundle_of(mount)
        self.documents, self.tmp = os.path.join(mount, "Documents"), os.path.join(mount, "tmp")
        self.welcome = read(self.bundle + "/Samples/Welcome.txt")
        self.kept = os.open(self.documents + "/kept", os.O_RDWR | os.O_CREAT)
        os.pwrite(self.kept, b"before", 0)
        self.mapped = os.open(self.documents + "/mapped", os.O_RDWR | os.O_CREAT)
        os.ftruncate(self.mapped, 8192)
        self.shared = mmap.mmap(self.mapped, 8192, mmap.MAP_SHARED)
        os.makedirs(self.tmp + "/inner")
        self.passing = os.open(self.tmp + "/inner/passing", os.O_RDWR | os.O_CREAT)
        os.write(self.passing, b"a")
        with open(self.tmp + "/closed", "wb") as file:
            file.write(b"closed")
        self.path_only = os.open(self.tmp + "/closed", os.O_PATH)
        os.link(self.documents + "/kept", self.tmp + "/linked")
        self.linked = os.open(self.tmp + "/linked", os.O_RDWR)
        self.sealed = os.open(self.bundle + "/Samples/Welcome.txt", os.O_RDONLY)
        self.code = mmap.mmap(self.sealed, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
        self.metadata = os.open(self.metadata_path(), os.O_RDONLY)
        self.plist = os.pread(self.metadata, 4096, 0)
        self.in_bundle = os.open(self.bundle + "/Samples", os.O_RDONLY | os.O_DIRECTORY)
        self.in_tmp = os.open(self.tmp + "/inner", os.O_RDONLY | os.O_DIRECTORY)
        self.inodes = {name: os.stat(os.path.join(mount, name)).st_ino
                       for name in ("", "Documents", "Documents/kept", "Library", "Library/Caches")}
        self.time = os.stat(self.documents).st_mtime_ns

    def metadata_path(self):
        return self.mount + "/.com.apple.mobile_container_manager.metadata.plist"

    def home_has_the_same_files(self):
        """Under the same descriptors and under the same names."""
        for name, inode in self.inodes.items():
            check(os.stat(os.path.join(self.mount, name)).st_ino == inode, "another inode:", name)
        check(os.stat(self.documents).st_mtime_ns == self.time, "Documents has another time")
        os.pwrite(self.kept, b" after", 6)
        os.fsync(self.kept)
        check(read(self.documents + "/kept") == b"before after", "what was written on")
        os.pwrite(self.linked, b"X", 0)
        check(read(self.documents + "/kept") == b"Xefore after", "by a name that was in tmp")
        check(os.fstat(self.kept).st_nlink == 1, "links", os.fstat(self.kept).st_nlink)
        self.shared[4096:4101] = b"later"
        self.shared.flush()
        check(read(self.documents + "/mapped")[4096:4101] == b"later", "a mapping of Documents")

    def old_bundle_is_there_for_who_has_it(self):
        new = bundle_of(self.mount)
        check(os.pread(self.sealed, 4096, 0) == self.welcome and self.code[:] == self.welcome,
              "the old bundle's content")
        check(os.fstat(self.sealed).st_size == len(self.welcome), "its length")
        again = os.open("Welcome.txt", os.O_RDONLY, dir_fd=self.in_bundle)
        check(os.read(again, 4096) == self.welcome, "found in the old bundle")
        os.close(again)
        listed = os.listdir(self.in_bundle)
        check(listed == ["Welcome.txt"], "listed in the old bundle", listed)
        refuses(errno.EPERM, os.open, "Welcome.txt", os.O_RDWR, dir_fd=self.in_bundle)
        check(read(new + "/Samples/Later.txt") == b"later\n", "the new bundle's content")
        if new != self.bundle:
            refuses(errno.ENOENT, os.stat, self.bundle)

    def old_metadata_is_there_for_who_has_it(self):
        check(os.pread(self.metadata, 4096, 0) == self.plist, "the old metadata")
        check(read(self.metadata_path()) != self.plist, "the new metadata")

    def old_tmp_is_a_removed_directory(self):
        check(os.listdir(self.tmp) == [], "tmp has", os.listdir(self.tmp))
        os.write(self.passing, b"b")
        check(os.pread(self.passing, 10, 0) == b"ab", "a file of the old tmp")
        os.fsync(self.passing)
        os.ftruncate(self.passing, 1)
        links = os.fstat(self.passing).st_nlink
        check(links == 0, "links of a file of the old tmp", links)
        check(os.fstat(self.path_only).st_size == 6, "of one that nobody reads")
        check(os.fstat(self.in_tmp).st_mode & 0o170000 == 0o040000, "a directory of the old tmp")
        refuses(errno.ENOENT, os.open, "new", os.O_RDWR | os.O_CREAT, dir_fd=self.in_tmp)
        refuses(errno.ENOENT, os.mkdir, "new", dir_fd=self.in_tmp)
        refuses(errno.ENOENT, os.stat, "passing", dir_fd=self.in_tmp)
        with open(self.tmp + "/inner", "wb") as file:
            file.write(b"another")
        check(read(self.tmp + "/inner") == b"another", "the new tmp")

    def close(self):
        for file in (self.kept, self.mapped, self.passing, self.path_only, self.linked, self.sealed, self.metadata,
                     self.in_bundle, self.in_tmp):
            os.close(file)


def made_by_path(kind, path, kept):
    """Makes one thing by its path, which may be gone at once, and must have been made."""
    if kind == "create":
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    elif kind == "mkdir":
        os.mkdir(path)
    elif kind == "mkfifo":
        os.mkfifo(path)
    elif kind == "symlink":
        os.symlink("nowhere", path)
    elif kind == "link":
        os.link(kept, path)
    elif kind == "rename":
        os.close(os.open(kept + ".moved", os.O_RDWR | os.O_CREAT))
        os.rename(kept + ".moved", path)
    else:
        os.listdir(os.path.dirname(path))
    try:
        os.rmdir(path) if kind == "mkdir" else os.unlink(path)
    except FileNotFoundError:
        pass


def paths(device, mount, rounds, app):
    """Names that are there before and after an update are there all the time."""
    places = [("tmp", kind) for kind in ("create", "mkdir", "mkfifo", "symlink", "link", "rename", "list")]
    places += [("Documents", "create"), ("Library/Caches", "create")]
    over, failures, counts = threading.Event(), [], []
    begun, done = [0], [0]

    def loop(place, kind):
        kept = f"{mount}/Documents/kept-{kind}-{place.replace('/', '-')}"
        os.close(os.open(kept, os.O_RDWR | os.O_CREAT))
        number = 0
        while not over.is_set():
            number += 1
            before = done[0]
            try:
                made_by_path(kind, f"{mount}/{place}/{kind}{number}", kept)
            except OSError as problem:
                # The kernel begins a path anew once; a second update may come in between.
                if problem.errno != errno.ESTALE or begun[0] - before < 2:
                    failures.append((place, kind, errno.errorcode[problem.errno]))
        counts.append(number)

    loops = [threading.Thread(target=loop, args=place) for place in places]
    for thread in loops:
        thread.start()
    try:
        for _ in range(int(rounds)):
            begun[0] += 1
            subprocess.run(["appcontainer", "install", device, app], check=True)
            done[0] += 1
    finally:
        over.set()
        for thread in loops:
            thread.join()
    check(not failures, f"{len(failures)} calls failed:", sorted(set(failures)))
    check(min(counts) > int(rounds), "too few calls:", counts)


def rows(path, stop):
    database = sqlite3.connect(path, timeout=60)
    database.execute("pragma journal_mode=wal")
    database.execute("create table rows (number integer primary key)")
    database.commit()
    number = 0
    while not os.path.exists(stop) or number < 100:
        database.execute("insert into rows values (?)", (number,))
        database.commit()
        number += 1
    count, = database.execute("select count(*) from rows").fetchone()
    check(count == number, count, number)
    with open(stop + ".count", "w") as file:
        file.write(str(number))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
