#!/usr/bin/python3
"""Cuts the power of the disk that a device lies on, again and again, while several writers are at work on its mount.

    power.py DEVICE APP MOUNT DISK CUT CUTS SEED

DISK is the file behind the loop device whose filesystem holds DEVICE, and lies on a filesystem that can clone files: a
clone has at one instant what reached the disk, and nothing of what the kernel holds in memory. That is what is left when
the power fails. Each clone, CUT, is mounted in a namespace of its own in which the host has booted anew, and looked at
while writers and device go on. disk_writers.py says what has to be there."""

import fcntl
import json
import os
import pickle
import random
import re
import subprocess
import sys
import time
import uuid

import writers
from disk_writers import Database, Kept, Writer

FICLONE = 0x40049409


def run(*command, codes=(0,)):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in codes, f"{command}: exit status {done.returncode}: {done.stdout} {done.stderr}"
    return done


class Look:
    """One cut, looked at in a namespace of its own."""

    def __init__(self, job):
        self.__dict__.update(job)
        self.place = os.path.join(self.work, "after")
        self.mount = os.path.join(self.work, "after-home")
        self.documents = os.path.join(self.mount, "Documents")
        self.device = os.path.join(self.place, self.name)

    def boot(self):
        for directory in (self.place, self.mount):
            os.makedirs(directory, exist_ok=True)
        boot = os.path.join(self.work, "boot-id")
        with open(boot, "w") as file:
            file.write(f"{uuid.uuid4()}\n")
        run("mount", "--bind", boot, "/proc/sys/kernel/random/boot_id")
        run("mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", "/run/appcontainer")
        # The loop device goes with the mount, and that with the namespace.
        run("mount", "-o", "loop", self.cut, self.place)
        self.serve()
        with open(os.path.join(self.device, "Sessions.json")) as file:
            sessions = json.load(file)
        assert sessions["powerLost"] and not sessions["killed"], f"not taken for a power failure: {sessions}"

    def serve(self):
        run("appcontainer", "mount", self.device, self.app, self.mount)

    def end(self):
        run("appcontainer", "unmount", self.mount)
        run("appcontainer", "shutdown", self.device)

    def compare(self):
        for directory, files in self.files.items():
            directory = os.path.join(self.documents, directory)
            writers.compare(directory, files)
            moving = [files[name].states[0] is None for name in ("here/moving", "there/moving")]
            assert sorted(moving) == [False, True], f"{directory}: moving is in {moving.count(False)} directories"

    def kept(self):
        for directory, files in self.files.items():
            for name, kept in files.items():
                yield os.path.join(directory, name), kept

    def check(self, repair=False):
        """The blocks that `check` names, by file."""
        command = ["appcontainer", "check", self.device] + ["--repair"] * repair
        done = run(*command, codes=(0, 22))
        lines = [line for line in done.stdout.splitlines() if not line.startswith("repaired: ")]
        assert (done.returncode == 0) == (lines == ["whole"]), f"exit status {done.returncode}: {done.stdout}"
        named = {}
        for line in lines if done.returncode else ():
            if line.startswith("device/") and line.endswith("left by an interrupted operation"):
                continue
            match = re.fullmatch(
                re.escape(self.app) + r"/(.*): blocks? (\d+)(?: to (\d+))? do(?:es)? not authenticate", line)
            assert match, f"check says: {line}"
            first = int(match[2])
            named.setdefault(match[1], set()).update(range(first, int(match[3] or first) + 1))
        return named

    def run(self):
        self.boot()
        before = self.check()
        self.compare()
        canary = os.path.join(self.documents, "unsynchronized")
        lost = not os.path.exists(canary) or os.path.getsize(canary) != self.canary
        unreadable = {
            "Documents/" + name: kept.unreadable for name, kept in self.kept() if kept.unreadable}
        for named in (before, self.check()):
            # The database's own files are its own business, until it has looked at them.
            named = {name: blocks for name, blocks in named.items() if name.startswith("Documents/writer-")}
            assert named == unreadable, f"check names {named}, and {unreadable} is not readable"
        Database.compare(
            os.path.join(self.documents, "rows.db"), *self.rows, unreadable=before.get("Documents/rows.db-wal"))
        for name, kept in self.kept():
            if kept.unreadable:
                kept.mend(os.path.join(self.documents, name))
        self.check(repair=True)
        assert not self.check(), "check names something after all was overwritten"
        # And what was found stays so.
        self.end()
        self.serve()
        self.compare()
        assert not self.check(), "check names something in the next session"
        self.end()
        run("umount", self.place)
        return {"lost": sum(kept.lost for _, kept in self.kept()), "unreadable": sum(map(len, unreadable.values())),
                "canary": lost}


def look_at(job):
    one = Look(job)
    try:
        print(json.dumps(one.run()))
    except BaseException:
        log = os.path.join(one.device, "daemon.log")
        if os.path.exists(log):
            subprocess.run(["tail", "-n", "12", log], stdout=sys.stderr)
        subprocess.run(["appcontainer", "shutdown", one.device], stdout=sys.stderr)
        raise


def cut_power(disk, cut, working, database):
    """Clones the disk: what may be on it, as every writer knows it."""
    with Kept.lock:
        Kept.holding = True
        for writer in working:
            for kept in list(writer.files.values()):
                kept.drop()
    committed = database.committed
    with open(disk, "rb") as source, open(cut, "wb") as target:
        fcntl.ioctl(target, FICLONE, source.fileno())
    rows = (committed, database.asked)
    with Kept.lock:
        # A list at once: a writer may begin another file meanwhile.
        files = {os.path.basename(writer.directory): {name: kept.copy() for name, kept in list(writer.files.items())}
                 for writer in working}
        Kept.holding = False
    return files, rows


def look(job):
    process = subprocess.run(
        ["unshare", "-m", "--propagation", "private", sys.executable, __file__, "--look"], input=pickle.dumps(job),
        stdout=subprocess.PIPE)
    assert process.returncode == 0, "this cut is not as it should be (above)"
    return json.loads(process.stdout)


def main(device, app, mount, disk, cut, cuts, seed):
    source = random.Random(int(seed))
    directory = os.path.join(mount, "Documents")
    working = [Writer(directory, number, source.random()) for number in range(3)]
    database = Database(os.path.join(directory, "rows.db"))
    threads = [*working, database]
    for thread in threads:
        thread.daemon = True
        thread.start()
    for thread in threads:
        assert thread.ready.wait(60), f"a writer does not begin: {thread.problem}"
    totals = {"lost": 0, "unreadable": 0, "canary": 0}
    for number in range(int(cuts)):
        for thread in threads:
            thread.go.set()
        time.sleep(source.uniform(0.1, 0.8))
        # Written, and not synchronized: a disk that has this has too much, or the test sees too little.
        with open(os.path.join(directory, "unsynchronized"), "wb") as file:
            canary = file.write(os.urandom(200_000 + number))
        files, rows = cut_power(disk, cut, working, database)
        for thread in threads:
            thread.go.clear()
            assert thread.problem is None, f"seed {seed}, cut {number}: {thread.problem}"
        try:
            found = look(dict(work=os.environ["WORK"], name=os.path.basename(device), app=app, cut=cut, files=files,
                              rows=rows, canary=canary))
        except AssertionError as problem:
            raise AssertionError(f"seed {seed}, cut {number}: {problem}") from None
        for key, value in found.items():
            totals[key] += value
        os.unlink(cut)
    for thread in threads:
        thread.stopped = True
        thread.go.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive() and thread.problem is None, f"a writer did not end well: {thread.problem}"
    print(f"seed {seed}: {cuts} cuts in {sum(writer.calls for writer in working)} calls,"
          f" {sum(writer.acknowledged for writer in working)} of which were acknowledged as safe, and"
          f" {database.committed} commits; {totals['lost']} files had lost what was not synchronized,"
          f" {totals['unreadable']} blocks were unreadable")
    assert totals["canary"], "no cut has lost what was not synchronized: they show more than what is on the disk"


if __name__ == "__main__":
    if sys.argv[1:] == ["--look"]:
        look_at(pickle.load(sys.stdin.buffer))
    else:
        main(*sys.argv[1:])
