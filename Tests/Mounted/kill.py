#!/usr/bin/python3
"""Kills the process that serves a device, again and again, while several writers are at work on its mount.

    kill.py DEVICE APP MOUNT KILLS SEED

Each writer keeps outside the mount what it was told is safe: what was there at the last fsync or close that
succeeded, and every state that it asked for since. After each kill the device is mounted again, and every file must
be made of these: each block of 4 KiB is as it was in one of the states, and so is the length between the shortest
and the longest; what was acknowledged and not touched since is there in full."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

BLOCK = 4096
LARGEST = 300_000
GONE = {errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.EINTR, errno.ESHUTDOWN}


class Kept:
    """One file: its states since the last acknowledgement, oldest first; None where it did not exist."""

    def __init__(self, state=None):
        self.states = [state]
        self.history = []

    def note(self, what):
        """The last things that happened, for a failure's message."""
        self.history = self.history[-7:] + [what]

    def ask(self, state):
        self.states.append(state)
        self.note(None if state is None else len(state))

    def acknowledge(self, by):
        self.states = [self.states[-1]]
        self.note(by)

    def compare(self, path):
        """What the file holds now, which is acknowledged from now on; or fails."""
        try:
            with open(path, "rb") as file:
                got = file.read()
        except FileNotFoundError:
            assert None in self.states, f"{path} is gone"
            got = None
        if got is None:
            self.states = [None]
            return
        assert len(got) == os.stat(path).st_size, f"{path}: stat tells another length than {len(got)}"
        states = [state for state in self.states if state is not None]
        assert states, f"{path} was removed"
        # A file that was created and not yet written is empty.
        lengths = [len(state) for state in states] + ([0] if None in self.states else [])
        assert min(lengths) <= len(got) <= max(lengths), \
            f"{path}: {len(got)} bytes, not between {min(lengths)} and {max(lengths)}"
        for start in range(0, len(got), BLOCK):
            block = got[start:start + BLOCK]
            known = [state[start:start + len(block)].ljust(len(block), b"\0") for state in states]
            if None in self.states:
                known.append(bytes(len(block)))
            if block not in known:
                same = max(sum(a == b for a, b in zip(block, state)) for state in known)
                raise AssertionError(
                    f"{path}: block {start // BLOCK} of {len(got)} bytes is of no state of {len(states)}: {same} bytes"
                    f" as in the nearest, {block.count(0)} zeros; lengths lately {self.history}")
        self.states = [got]
        self.note("looked at")


class Writer(threading.Thread):
    """Works on one large file that stays open, on small ones, and on one that is replaced; until the daemon is gone."""

    def __init__(self, directory, number, seed):
        super().__init__()
        self.directory = os.path.join(directory, f"writer-{number}")
        self.source = random.Random(seed)
        self.files = {}
        self.acknowledged = 0
        self.calls = 0
        self.problem = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def kept(self, name):
        return self.files.setdefault(name, Kept())

    def run(self):
        try:
            os.makedirs(self.directory, exist_ok=True)
            while True:
                what = self.source.randrange(6)
                if what <= 2:
                    self.change("large", self.source.randrange(1, 12))
                elif what == 3:
                    self.change(f"middle-{self.source.randrange(4)}", self.source.randrange(1, 4))
                elif what == 4:
                    self.small(f"small-{self.source.randrange(20)}")
                else:
                    self.replace("replaced")
        except OSError as problem:
            if problem.errno not in GONE:
                self.problem = repr(problem)
        except BaseException as problem:
            self.problem = repr(problem)

    def change(self, name, steps):
        """Overwrites, appends and truncations of one file, made safe by fsync, by close, or not at all."""
        kept = self.kept(name)
        created = kept.states[-1] is None
        model = bytearray(kept.states[-1] or b"")
        if created:
            kept.ask(b"")
        file = os.open(self.path(name), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            for _ in range(steps):
                self.calls += 1
                data = self.source.randbytes(self.source.choice((1, 100, 4096, 8192, 50_000, 131_072)))
                what = self.source.randrange(5)
                if what <= 1 and model:
                    offset = self.source.randrange(len(model))
                    if self.source.randrange(2):
                        offset -= offset % BLOCK
                    data = data[:len(model) - offset]
                    model[offset:offset + len(data)] = data
                    kept.ask(bytes(model))
                    os.pwrite(file, data, offset)
                elif what == 2 and len(model) + len(data) <= LARGEST:
                    offset = len(model)
                    model += data
                    kept.ask(bytes(model))
                    os.pwrite(file, data, offset)
                elif what == 3:
                    size = self.source.randrange(min(len(model) + 10_000, LARGEST))
                    if size < len(model):
                        del model[size:]
                    else:
                        model += bytes(size - len(model))
                    kept.ask(bytes(model))
                    os.ftruncate(file, size)
                elif what == 4:
                    os.fsync(file)
                    kept.acknowledge("fsync")
                    self.acknowledged += 1
        except BaseException:
            try:
                os.close(file)
            except OSError:
                pass
            raise
        os.close(file)
        self.closed(kept)

    def closed(self, kept):
        """A close counts when the daemon was still there after it: on a connection that has ended already the kernel
        drops what it has not written, and close answers 0 where FLUSH is not asked for."""
        os.statvfs(self.directory)
        kept.acknowledge("close")
        self.acknowledged += 1

    def small(self, name):
        """A small file, made or removed: one call that was answered has happened."""
        kept = self.kept(name)
        self.calls += 1
        if kept.states[-1] is not None:
            kept.ask(None)
            os.unlink(self.path(name))
            kept.acknowledge("unlink")
            return
        data = self.source.randbytes(self.source.choice((0, 1, 100, 5000)))
        kept.ask(data)
        with open(self.path(name), "xb") as file:
            file.write(data)
        self.closed(kept)

    def replace(self, name):
        """A file written beside the old one and renamed over it: whole, the old or the new one."""
        new = self.kept(name + ".new")
        self.calls += 1
        data = self.source.randbytes(self.source.choice((10, 5000, 20_000)))
        # A kill may have left one behind, which is cut to nothing first.
        new.ask(b"")
        new.ask(data)
        with open(self.path(name + ".new"), "wb") as file:
            file.write(data)
        self.closed(new)
        kept = self.kept(name)
        kept.ask(data)
        new.ask(None)
        os.rename(self.path(name + ".new"), self.path(name))
        kept.acknowledge("rename")
        new.acknowledge("rename")

    def compare(self):
        for name, kept in self.files.items():
            states = kept.states
            kept.compare(self.path(name))
            if name == "replaced":
                assert kept.states[0] in states, f"{self.path(name)} is neither the old nor the new file"
        present = set(os.listdir(self.directory)) if os.path.isdir(self.directory) else set()
        expected = {name for name, kept in self.files.items() if kept.states[0] is not None}
        assert present == expected, f"{self.directory} lists {sorted(present ^ expected)} wrongly"


def served_by(device):
    with open(os.path.join(device, "daemon.json")) as record:
        return json.load(record)["pid"]


def mounts_of(mount):
    with open("/proc/self/mountinfo") as table:
        return sum(line.split()[4] == mount for line in table)


def wait_for_end(pid):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as status:
                if status.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.002)
    raise AssertionError(f"process {pid} is still there")


def main(device, app, mount, kills, seed):
    source = random.Random(int(seed))
    directory = os.path.join(mount, "Documents")
    writers = [Writer(directory, number, source.random()) for number in range(4)]
    acknowledged = calls = 0
    for kill in range(int(kills)):
        for index, writer in enumerate(writers):
            fresh = Writer(directory, index, source.random())
            fresh.files = writer.files
            writers[index] = fresh
        for writer in writers:
            writer.start()
        time.sleep(source.uniform(0.02, 0.25))
        pid = served_by(device)
        os.kill(pid, signal.SIGKILL)
        for writer in writers:
            writer.join(30)
            assert not writer.is_alive(), f"kill {kill}: a writer hangs"
            assert writer.problem is None, f"kill {kill}: {writer.problem}"
            acknowledged += writer.acknowledged
            calls += writer.calls
        wait_for_end(pid)
        mounted = subprocess.run(["appcontainer", "mount", device, app, mount], capture_output=True, text=True)
        assert mounted.returncode == 0, f"kill {kill}: mount: {mounted.stderr}"
        assert mounts_of(mount) == 1, f"kill {kill}: {mounts_of(mount)} mounts"
        for writer in writers:
            try:
                writer.compare()
            except (AssertionError, OSError) as problem:
                raise AssertionError(f"seed {seed}, kill {kill}: {problem!r}") from None
        if kill % 10 == 9:
            checked = subprocess.run(["appcontainer", "check", device], capture_output=True, text=True)
            assert checked.stdout.strip() == "whole", f"kill {kill}: check: {checked.stdout} {checked.stderr}"
    print(f"seed {seed}: {kills} kills in {calls} calls, {acknowledged} of which were acknowledged as safe")


main(*sys.argv[1:])
