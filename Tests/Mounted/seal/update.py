#!/usr/bin/python3
"""An app is updated while its home is in use.

    update.py live MOUNT COMMAND…       what is open in the home while COMMAND updates the app
    update.py paths DEVICE MOUNT ROUNDS APP
                                        calls by path in the home while the app is updated over and over"""

import errno
import mmap
import os
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
    documents, tmp, bundle = os.path.join(mount, "Documents"), os.path.join(mount, "tmp"), bundle_of(mount)
    welcome = read(bundle + "/Samples/Welcome.txt")
    kept = os.open(documents + "/kept", os.O_RDWR | os.O_CREAT)
    os.pwrite(kept, b"before", 0)
    mapped = os.open(documents + "/mapped", os.O_RDWR | os.O_CREAT)
    os.ftruncate(mapped, 8192)
    shared = mmap.mmap(mapped, 8192, mmap.MAP_SHARED)
    os.makedirs(tmp + "/inner")
    passing = os.open(tmp + "/inner/passing", os.O_RDWR | os.O_CREAT)
    os.write(passing, b"a")
    with open(tmp + "/closed", "wb") as file:
        file.write(b"closed")
    path_only = os.open(tmp + "/closed", os.O_PATH)
    os.link(documents + "/kept", tmp + "/linked")
    linked = os.open(tmp + "/linked", os.O_RDWR)
    sealed = os.open(bundle + "/Samples/Welcome.txt", os.O_RDONLY)
    code = mmap.mmap(sealed, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    metadata = os.open(mount + "/.com.apple.mobile_container_manager.metadata.plist", os.O_RDONLY)
    plist = os.pread(metadata, 4096, 0)
    in_bundle = os.open(bundle + "/Samples", os.O_RDONLY | os.O_DIRECTORY)
    in_tmp = os.open(tmp + "/inner", os.O_RDONLY | os.O_DIRECTORY)
    inodes = {name: os.stat(os.path.join(mount, name)).st_ino
              for name in ("", "Documents", "Documents/kept", "Library", "Library/Caches")}
    times = os.stat(documents).st_mtime_ns

    subprocess.run(command, check=True)

    # The same files, under the same descriptors and under the same names.
    for name, inode in inodes.items():
        check(os.stat(os.path.join(mount, name)).st_ino == inode, "another inode:", name)
    check(os.stat(documents).st_mtime_ns == times, "Documents has another time")
    os.pwrite(kept, b" after", 6)
    os.fsync(kept)
    check(read(documents + "/kept") == b"before after", "what was written on")
    os.pwrite(linked, b"X", 0)
    check(read(documents + "/kept") == b"Xefore after", "by a name that was in tmp")
    check(os.fstat(kept).st_nlink == 1, "links", os.fstat(kept).st_nlink)
    shared[4096:4101] = b"later"
    shared.flush()
    check(read(documents + "/mapped")[4096:4101] == b"later", "a mapping of Documents")
    # The old bundle, as long as somebody has it.
    new = bundle_of(mount)
    check(os.pread(sealed, 4096, 0) == welcome and code[:] == welcome, "the old bundle's content")
    check(os.fstat(sealed).st_size == len(welcome), "its length")
    again = os.open("Welcome.txt", os.O_RDONLY, dir_fd=in_bundle)
    check(os.read(again, 4096) == welcome, "found in the old bundle")
    os.close(again)
    check(os.listdir(in_bundle) == ["Welcome.txt"], "listed in the old bundle", os.listdir(in_bundle))
    refuses(errno.EPERM, os.open, "Welcome.txt", os.O_RDWR, dir_fd=in_bundle)
    check(read(new + "/Samples/Later.txt") == b"later\n", "the new bundle's content")
    if new != bundle:
        refuses(errno.ENOENT, os.stat, bundle)
    check(os.pread(metadata, 4096, 0) == plist, "the old metadata")
    check(read(mount + "/.com.apple.mobile_container_manager.metadata.plist") != plist, "the new metadata")
    # The old tmp is what a removed directory is.
    check(os.listdir(tmp) == [], "tmp has", os.listdir(tmp))
    os.write(passing, b"b")
    check(os.pread(passing, 10, 0) == b"ab", "a file of the old tmp")
    os.fsync(passing)
    os.ftruncate(passing, 1)
    check(os.fstat(passing).st_nlink == 0, "links of a file of the old tmp", os.fstat(passing).st_nlink)
    check(os.fstat(path_only).st_size == 6, "of one that nobody reads")
    check(os.fstat(in_tmp).st_mode & 0o170000 == 0o040000, "a directory of the old tmp")
    refuses(errno.ENOENT, os.open, "new", os.O_RDWR | os.O_CREAT, dir_fd=in_tmp)
    refuses(errno.ENOENT, os.mkdir, "new", dir_fd=in_tmp)
    refuses(errno.ENOENT, os.stat, "passing", dir_fd=in_tmp)
    with open(tmp + "/inner", "wb") as file:
        file.write(b"another")
    check(read(tmp + "/inner") == b"another", "the new tmp")
    for file in (kept, mapped, passing, path_only, linked, sealed, metadata, in_bundle, in_tmp):
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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
