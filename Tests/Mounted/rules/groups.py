#!/usr/bin/python3
"""The calls of two apps in one group, each in its own home."""

import ctypes
import errno
import fcntl
import hashlib
import json
import mmap
import os
import random
import shutil
import subprocess
import sys
import time

from kit import check, eventually, in_another_process

libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2


def fails(code, body, *arguments):
    try:
        body(*arguments)
    except OSError as problem:
        check(problem.errno == code, f"errno {problem.errno}, expected {code}")
        return
    check(False, "succeeded, expected errno", code)


def where():
    """getcwd(2), or the error number."""
    try:
        return os.getcwd()
    except OSError as problem:
        return problem.errno


def rename(old, new, flags=0):
    if libc.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def text(path):
    with open(path) as file:
        return file.read()


def places(mine, theirs):
    """A process in a directory is where the directory is, whoever moves it."""
    for directory in ["p", "p/a", "p/a/b", "p/c"]:
        os.mkdir(f"{mine}/{directory}")
    os.chdir(f"{theirs}/p/a/b")
    inode = os.stat(".").st_ino
    os.rename(f"{mine}/p/a/b", f"{mine}/p/a/renamed")
    eventually(lambda: where() == f"{theirs}/p/a/renamed", where())
    os.rename(f"{mine}/p/a/renamed", f"{mine}/p/c/moved")
    eventually(lambda: where() == f"{theirs}/p/c/moved", where())
    check(os.stat("..").st_ino == os.stat(f"{mine}/p/c").st_ino, "the directory above")
    check(os.stat(".").st_ino == inode == os.stat(f"{mine}/p/c/moved").st_ino)
    # The one above is moved.
    os.rename(f"{mine}/p/c", f"{mine}/p/a/c")
    eventually(lambda: where() == f"{theirs}/p/a/c/moved", where())
    put("here", "here")
    check(text(f"{mine}/p/a/c/moved/here") == "here")
    # Two change places.
    os.mkdir(f"{mine}/p/other")
    rename(f"{mine}/p/other", f"{mine}/p/a/c/moved", EXCHANGE)
    eventually(lambda: where() == f"{theirs}/p/other", where())
    check(os.listdir(f"{theirs}/p/a/c/moved") == [] and os.listdir(".") == ["here"])
    # A move by the one of what the other has just moved, with no look in between.
    for step in range(50):
        os.rename(f"{mine}/p/other", f"{mine}/p/a/{step}")
        eventually(lambda: where() == f"{theirs}/p/a/{step}", where())
        os.rename(f"{theirs}/p/a/{step}", f"{theirs}/p/other")
        check(where() == f"{theirs}/p/other")
        check(not os.path.exists(f"{mine}/p/a/{step}") and os.path.exists(f"{mine}/p/other/here"))
    # Removed.
    os.unlink(f"{mine}/p/other/here")
    os.rmdir(f"{mine}/p/other")
    eventually(lambda: where() == errno.ENOENT, where())
    fails(errno.ENOENT, put, "new", "")
    fails(errno.ENOENT, os.stat, f"{theirs}/p/other")
    # Moved to where only one app sees it: the other works on where it is.
    os.mkdir(f"{mine}/p/gone")
    os.chdir(f"{theirs}/p/gone")
    mine_only = os.path.join(mine, "..", "..", "Documents", "gone")
    os.rename(f"{mine}/p/gone", mine_only)
    eventually(lambda: where() == errno.ENOENT, where())
    put("kept", "kept")
    check(text(f"{mine_only}/kept") == "kept")
    fails(errno.ENOENT, os.stat, f"{theirs}/p/gone")
    os.rename(mine_only, f"{mine}/p/back")
    eventually(lambda: where() == f"{theirs}/p/back", where())
    os.chdir("/")
    for path, directories, files in os.walk(f"{mine}/p", topdown=False):
        for name in files:
            os.unlink(f"{path}/{name}")
        os.rmdir(path)
    check(not os.path.exists(f"{theirs}/p"))


def changes(mine, theirs):
    """No call of the other app sees what was before."""
    for step in range(200):
        name = f"n{step % 7}"
        check(not os.path.exists(f"{theirs}/{name}"), "there before it was made")
        os.mkdir(f"{mine}/{name}")
        os.listdir(f"{theirs}/{name}")
        links = os.stat(f"{theirs}/{name}").st_nlink
        put(f"{theirs}/{name}/f", str(step))
        check(text(f"{mine}/{name}/f") == str(step))
        check(os.listdir(f"{mine}/{name}") == ["f"], "the list of one")
        os.mkdir(f"{mine}/{name}/d")
        check(sorted(os.listdir(f"{theirs}/{name}")) == ["d", "f"], "the list of the other")
        seen = os.stat(f"{theirs}/{name}")
        check((seen.st_nlink, seen.st_mtime_ns) != (links, 0))
        check(seen.st_mtime_ns == os.stat(f"{mine}/{name}").st_mtime_ns, "the time of a directory")
        os.chmod(f"{mine}/{name}", 0o700)
        check(os.stat(f"{theirs}/{name}").st_mode & 0o777 == 0o700, "its mode")
        os.link(f"{mine}/{name}/f", f"{mine}/{name}/g")
        check(os.stat(f"{theirs}/{name}/f").st_nlink == os.stat(f"{theirs}/{name}/g").st_nlink == 2)
        put(f"{mine}/{name}/new", "replaced")
        os.rename(f"{mine}/{name}/new", f"{mine}/{name}/f")
        check(text(f"{theirs}/{name}/f") == "replaced", "what replaced a file")
        os.unlink(f"{mine}/{name}/f")
        fails(errno.ENOENT, os.stat, f"{theirs}/{name}/f")
        check(os.stat(f"{theirs}/{name}/g").st_nlink == 1, "links")
        os.unlink(f"{theirs}/{name}/g")
        os.rmdir(f"{theirs}/{name}/d")
        os.rmdir(f"{mine}/{name}")
        fails(errno.ENOENT, os.listdir, f"{theirs}/{name}")


def content(mine, theirs):
    put(f"{mine}/f", "0" * 8192)
    with open(f"{mine}/f", "r+b") as one, open(f"{theirs}/f", "r+b") as other:
        check(os.fstat(one.fileno()).st_ino == os.fstat(other.fileno()).st_ino)
        a, b = mmap.mmap(one.fileno(), 8192), mmap.mmap(other.fileno(), 8192)
        a[100:105] = b"first"
        check(b[100:105] == b"first", "a mapping")
        b[5000:5006] = b"second"
        check(os.pread(one.fileno(), 6, 5000) == b"second", "what a mapping wrote")
        os.pwrite(one.fileno(), b"third", 0)
        check(b[:5] == b"third" and os.pread(other.fileno(), 5, 0) == b"third", "what a write wrote")
        fcntl.flock(one, fcntl.LOCK_EX)
        fails(errno.EWOULDBLOCK, fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(one, fcntl.LOCK_UN)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(one, fcntl.LOCK_EX, 10)

        def locked():
            with open(f"{theirs}/f", "r+b") as third:
                fails(errno.EAGAIN, fcntl.lockf, third, fcntl.LOCK_EX | fcntl.LOCK_NB, 10)

        in_another_process(locked)
        # Removed by the one, it is there for the other as long as it is open.
        os.unlink(f"{mine}/f")
        fails(errno.ENOENT, os.stat, f"{theirs}/f")
        check(os.fstat(other.fileno()).st_nlink == 0)
        a[:5] = b"still"
        check(os.pread(other.fileno(), 5, 0) == b"still")
        a.close()
        b.close()
    # A file that nobody has open takes no room, though the other app has looked at it.
    before = os.statvfs(mine).f_bfree
    put(f"{mine}/big", "x" * (8 << 20))
    os.sync()
    check(len(text(f"{theirs}/big")) == 8 << 20)
    os.unlink(f"{mine}/big")
    eventually(lambda: os.statvfs(mine).f_bfree > before - 1000, "room")


def learn(mine):
    """Has the kernel know what is there and what is not, then waits for another app to change it."""
    inside = os.open(f"{mine}/d", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir(f"{mine}/in")
    check(not os.path.exists(f"{mine}/absent") and not os.path.exists("absent"))
    check(not os.path.exists(f"{mine}/d/absent"))
    file = open(f"{mine}/d/f")
    check(sorted(os.listdir(inside)) == ["f"])
    check(sorted(os.listdir(mine)) == ["Library", "d", "in"])
    os.stat(f"{mine}/d")
    put("learned", "")
    eventually(lambda: os.path.exists("changed"), "the other app's word")
    check(os.path.exists(f"{mine}/absent") and os.path.exists("absent"), "absence")
    check(os.path.exists(f"{mine}/d/absent"), "absence in a directory that is open")
    check(not os.path.exists(f"{mine}/d/f"), "a file that is open")
    check(sorted(os.listdir(inside)) == ["absent", "g"], "a list")
    check(sorted(os.listdir(mine)) == ["Library", "absent", "d", "in"], "a list")
    check(os.stat(f"{mine}/d").st_mode & 0o777 == 0o711, "a mode")
    check(file.read() == "old\n" and text(f"{mine}/d/g") == "old\n", "content")
    check(where() == f"{mine}/in", where())


def change(theirs):
    for name in ["absent", "in/absent", "d/absent"]:
        put(f"{theirs}/{name}", "")
    os.rename(f"{theirs}/d/f", f"{theirs}/d/g")
    os.chmod(f"{theirs}/d", 0o711)
    put(f"{theirs}/in/changed", "")


def holding(first, second, what):
    """Has a file open in both homes while the device locks or restarts."""
    work = os.environ["WORK"]
    with open(first, "rb", buffering=0) as one, open(second, "rb", buffering=0) as other:
        check(one.read() == other.read() == b"secret\n")
        put(f"{work}/{what}.ready", "")
        eventually(lambda: os.path.exists(f"{work}/{what}.done"), what)
        for file in [one, other]:
            fails(errno.EPERM if what == "locked" else errno.EIO, os.pread, file.fileno(), 10, 0)
        if what == "locked":
            for path in [first, second]:
                fails(errno.EPERM, open, path)


USUAL = [
    errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP,
]


def work(top, seed, seconds, counts):
    """Makes, moves and removes at random. POSIX allows each refusal but ESTALE (see docs/Limits.md)."""
    choice = random.Random(seed)
    end = time.monotonic() + seconds
    names = "abcd"

    def place():
        return "/".join([top] + [choice.choice(names) for _ in range(choice.randrange(1, 4))])

    while time.monotonic() < end:
        call = choice.randrange(10)
        try:
            if call < 2:
                os.mkdir(place())
            elif call < 4:
                put(place() + choice.choice("xy"), str(choice.random()))
            elif call == 4:
                os.unlink(place() + choice.choice("xy"))
            elif call == 5:
                shutil.rmtree(place())
            elif call == 6:
                os.listdir(place())
            elif call == 7:
                rename(place(), place(), EXCHANGE)
            elif call == 8:
                os.rename(place() + choice.choice("xy"), place() + choice.choice("xy"))
            else:
                os.rename(place(), place())
            counts["done"] = counts.get("done", 0) + 1
        except OSError as problem:
            # rmtree has an error of its own for a directory in whose place there is another.
            name = errno.errorcode.get(problem.errno, "rmtree")
            counts[name] = counts.get(name, 0) + 1
            check(name == "rmtree" or problem.errno in USUAL + [errno.ESTALE], problem)


def at_random(first, second, seconds):
    seed = int.from_bytes(os.urandom(4), "big")
    print("seed", seed)
    children = []
    for number, top in enumerate([first, second]):
        child = os.fork()
        if child == 0:
            counts = {}
            try:
                work(top, seed + number, float(seconds), counts)
            except BaseException as problem:
                print(f"{problem!r} {counts}", file=sys.stderr)
                os._exit(1)
            print(top, counts, flush=True)
            stale = counts.get("ESTALE", 0)
            os._exit(0 if counts["done"] > 100 and stale * 100 <= sum(counts.values()) else 2)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        check(status == 0, "seed", seed, "status", status)


def protected(socket, app, path, place):
    """Protects a file by its path through an app while it is written to, and writes more."""
    with open(place, "wb", buffering=0) as file:
        file.write(b"w" * 100_000)
        os.fsync(file)
        order = {"app": app, "path": path, "protection": "NSFileProtectionComplete"}
        subprocess.run(
            ["curl", "-sS", "--fail-with-body", "--unix-socket", socket, "http://device/v1/protect",
             "--json", json.dumps(order)], check=True)
        file.write(b"w" * 100_000)
        os.fsync(file)


def tree(top):
    """Every entry: its path, inode, mode, links and content."""
    entries = {}
    for path, directories, files, descriptor in os.fwalk(top):
        for name in directories + files:
            status = os.lstat(name, dir_fd=descriptor)
            content = ""
            if name in files:
                with open(os.open(name, os.O_RDONLY, dir_fd=descriptor)) as file:
                    content = hashlib.sha256(file.read().encode()).hexdigest()
            entries[os.path.relpath(os.path.join(path, name), top)] = (
                status.st_ino, status.st_mode, status.st_nlink, content)
    return entries


def compare(first, second):
    one, other = tree(first), tree(second)
    check(one == other, "the homes differ:", set(one.items()) ^ set(other.items()))
    listing(first)


def listing(top):
    for path, what in sorted(tree(top).items()):
        print(path, *what)


if __name__ == "__main__":
    calls = [places, changes, content, learn, change, holding, protected, compare, listing]
    named = {call.__name__: call for call in calls} | {"random": at_random}
    named[sys.argv[1]](*sys.argv[2:])
