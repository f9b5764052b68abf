#!/usr/bin/python3
"""A program of an app that holds something, says `ready`, and counts its steps into a file from then on.

holder.py WHAT FILE: WHAT is a function below, such as flock_exclusive."""

import fcntl
import os
import sqlite3
import struct
import subprocess
import sys
import threading
import time


def opened(path):
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def record_lock(kind, first=0, length=0):
    """struct flock of this kernel, for a call that takes its size from the argument."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, first, length, 0)


def flock_shared(path):
    fcntl.flock(opened(path), fcntl.LOCK_SH)


def flock_exclusive(path):
    fcntl.flock(opened(path), fcntl.LOCK_EX)


def posix_read(path):
    fcntl.fcntl(opened(path), fcntl.F_SETLK, record_lock(fcntl.F_RDLCK, 5, 1))


def posix_write(path):
    fcntl.lockf(opened(path), fcntl.LOCK_EX)


def ofd_write(path):
    fcntl.fcntl(opened(path), fcntl.F_OFD_SETLK, record_lock(fcntl.F_WRLCK))


def nothing(path):
    opened(path)


def released(path):
    file = opened(path)
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_UN)
    fcntl.flock(file, fcntl.LOCK_UN)


def removed(path):
    flock_exclusive(path)
    os.unlink(path)


def exempt(path):
    flock_exclusive(path)
    os.setxattr(path, "com.apple.runningboard.can-suspend-locked", b"1")


def thread(path):
    """The thread that took the lock has ended."""
    worker = threading.Thread(target=posix_write, args=[path])
    worker.start()
    worker.join()


def child(path):
    """A child holds it, and this process does not."""
    if os.fork() == 0:
        posix_write(path)
        os.write(1, b"ready\n")
        time.sleep(300)
    return "child"


def inherited(path):
    """This process and its child share the lock of one open file."""
    fcntl.flock(opened(path), fcntl.LOCK_EX)
    if os.fork() == 0:
        time.sleep(300)


# Databases: MODE_STATE, with everything kept open.


def database(path, mode):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"pragma journal_mode={mode}")
    connection.execute("create table if not exists note(text)")
    connection.execute("insert into note values ('a'), ('b'), ('c')")
    return connection


def idle(path, mode):
    return database(path, mode)


def read_transaction(path, mode):
    connection = database(path, mode)
    connection.execute("begin")
    connection.execute("select count(*) from note").fetchall()
    return connection


def open_cursor(path, mode):
    """A statement that has not come to its end."""
    connection = database(path, mode)
    cursor = connection.execute("select * from note")
    cursor.fetchone()
    return connection, cursor


def write_transaction(path, mode):
    connection = database(path, mode)
    connection.execute("begin immediate")
    connection.execute("insert into note values ('d')")
    return connection


def exclusive_mode(path, mode):
    """The connection keeps its locks between transactions."""
    connection = database(path, mode)
    connection.execute("pragma locking_mode=exclusive")
    connection.execute("insert into note values ('d')")
    return connection


def after_transaction(path, mode):
    connection = write_transaction(path, mode)
    connection.execute("commit")
    return connection


def exempt_database(path, mode):
    connection = write_transaction(path, mode)
    os.setxattr(path, "user.com.apple.runningboard.can-suspend-locked", b"")
    return connection


def shell(path, mode):
    """The program sqlite3, in the middle of a transaction."""
    database(path, mode).close()
    process = subprocess.Popen(["sqlite3", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"begin immediate; insert into note values ('e'); select 'open';\n")
    process.stdin.flush()
    process.stdout.readline()
    return process


def main():
    what, path = sys.argv[1:]
    if "." in what:
        mode, state = what.split(".")
        held = globals()[state](path, mode)
    else:
        held = globals()[what](path)
    if held != "child":
        os.write(1, b"ready\n")
    count = 0
    while True:
        with open("Documents/steps", "w") as steps:
            steps.write(f"{count}\n")
        count += 1
        time.sleep(0.005)


if __name__ == "__main__":
    main()
