#!/usr/bin/python3
"""The process of a device is killed, or the power of its disk is cut, while an app is updated or installed.

    updates.py kill DEVICE MOUNT ROUNDS SEED FIRST SECOND
                                        kills the process over and over while the app of one is updated to the other
    updates.py kill_install DEVICE ROUNDS SEED APP
                                        the same while an app is installed that is not there
    updates.py power DEVICE MOUNT DISK CUT CUTS SEED FIRST SECOND
                                        cuts the power of the disk, as power.py does, while updates go on"""

import fcntl
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

from kill import served_by, wait_for_end
from kit import bundle_of, check, read
from power import FICLONE, Look

APP = "com.example.Notes"


def run(*command, **keywords):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **keywords)


def tree(path):
    """Every name below a path, with its content."""
    found = {}
    for directory, directories, files in os.walk(path):
        for name in directories:
            found[os.path.relpath(os.path.join(directory, name), path)] = None
        for name in files:
            place = os.path.join(directory, name)
            found[os.path.relpath(place, path)] = os.readlink(place) if os.path.islink(place) else read(place)
    return {name: content for name, content in found.items() if "_CodeSignature" not in name}


class Home:
    """The files that an update has to leave alone."""

    def __init__(self, mount):
        self.mount = mount
        self.files = {}
        self.number = 0

    def change(self, source):
        self.number += 1
        name = source.choice(("Documents", "Library/Caches", "Library/Preferences")) + f"/{source.randrange(12)}"
        content = source.randbytes(source.randrange(20000))
        with open(os.path.join(self.mount, name), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.files[name] = content
        with open(os.path.join(self.mount, "tmp/passing"), "w") as file:
            file.write("x")

    def compare(self):
        for name, content in self.files.items():
            check(read(os.path.join(self.mount, name)) == content, name, "is not what it was")


def waits(rounds, usual, source, endings):
    """A wait before each kill, in a random order and spread evenly from none to well past what an update takes: by chance
    alone, twenty kills could all come before its end. A machine that others load may be much slower than it was: where
    every kill has come too early, further ones come later and later, and where every one has come too late, at once.

    The endings are counted meanwhile: first those after an early kill, then those after a late one."""
    longest = usual * 1.4
    spread = [(number + source.random()) * longest / rounds for number in range(rounds)]
    source.shuffle(spread)
    yield from spread
    early, late = endings
    for _ in range(MORE_KILLS):
        if endings[early] == 0:
            yield 0
        elif endings[late] == 0:
            longest *= 2
            yield longest


# Each waits twice as long as the one before: the last for longer than a case may take.
MORE_KILLS = 12


def kill(device, mount, rounds, seed, first, second):
    """One app becomes the other and back; half of the time it is mounted, and used, meanwhile."""
    source = random.Random(int(seed))
    apps = {read(os.path.join(app, "version")).strip(): (app, tree(app)) for app in (first, second)}
    home = Home(mount)
    endings = {"old": 0, "new": 0}

    def backing(part):
        return run("appcontainer", "path", device, APP, part, "--backing", check=True).stdout.strip()

    def mounted():
        done = run("appcontainer", "mount", device, APP, mount)
        check(done.returncode == 0, "mount:", done.stderr)

    # How long one takes here.
    mounted()
    home.change(source)
    began = time.monotonic()
    run("appcontainer", "install", device, second, check=True)
    usual = time.monotonic() - began
    run("appcontainer", "unmount", mount, check=True)
    present, other = sorted(apps, key=lambda version: apps[version][0] != second)
    for number, wait in enumerate(waits(int(rounds), usual, source, endings)):
        is_live = number % 2 == 0
        mounted()
        home.compare()
        home.change(source)
        if not is_live:
            run("appcontainer", "unmount", mount, check=True)
        pid = served_by(device)
        before = backing("data")
        update = threading.Thread(target=run, args=("appcontainer", "install", device, apps[other][0]))
        update.start()
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
        update.join()
        wait_for_end(pid)
        # Before anybody has started it again, the command says where things are.
        check(os.path.isdir(backing("data")), f"round {number}: no", backing("data"))
        checked = run("appcontainer", "check", device)
        check(checked.stdout.strip() == "whole", f"seed {seed}, round {number}: check:", checked.stdout, checked.stderr)
        found = backing("app")
        version = read(os.path.join(found, "version")).strip()
        check(tree(found) == apps[version][1], f"seed {seed}, round {number}: the bundle is not", version)
        is_new = version == other
        endings["new" if is_new else "old"] += 1
        check((backing("data") != before) == is_new, f"seed {seed}, round {number}: the container's path")
        for place, names in (("Containers/Bundle/Application", 1), ("Containers/Data/Application", 1), ("Staging", 0)):
            there = os.listdir(os.path.join(device, place))
            check(len(there) == names, f"seed {seed}, round {number}: {place}:", there)
        if is_new:
            present, other = other, present
    mounted()
    home.compare()
    run("appcontainer", "unmount", mount, check=True)
    print(f"seed {seed}: {rounds} kills or more, {rounds} within {usual * 1.4:.2f} s, {json.dumps(endings)}")
    check(min(endings.values()) > 0, "every update ended in the same way:", endings)


def kill_install(device, rounds, seed, app):
    """An app that is not there is installed."""
    source = random.Random(int(seed))
    content = tree(app)
    began = time.monotonic()
    run("appcontainer", "install", device, app, check=True)
    usual = time.monotonic() - began
    run("appcontainer", "uninstall", device, APP, check=True)
    endings = {"not": 0, "there": 0}
    for number, wait in enumerate(waits(int(rounds), usual, source, endings)):
        pid = served_by(device)
        install = threading.Thread(target=run, args=("appcontainer", "install", device, app))
        install.start()
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
        install.join()
        wait_for_end(pid)
        checked = run("appcontainer", "check", device)
        check(checked.stdout.strip() == "whole", f"seed {seed}, round {number}: check:", checked.stdout, checked.stderr)
        found = run("appcontainer", "path", device, APP, "app", "--backing")
        is_there = found.returncode == 0
        endings["there" if is_there else "not"] += 1
        if is_there:
            check(tree(found.stdout.strip()) == content, f"seed {seed}, round {number}: the bundle is not whole")
            run("appcontainer", "uninstall", device, APP, check=True)
        for place in ("Containers/Bundle/Application", "Containers/Data/Application", "Staging"):
            there = os.listdir(os.path.join(device, place))
            check(there == [], f"seed {seed}, round {number}: {place}:", there)
    print(f"seed {seed}: {rounds} kills or more, {rounds} within {usual * 1.4:.2f} s, {json.dumps(endings)}")
    check(min(endings.values()) > 0, "every installation ended in the same way:", endings)


class Updated(Look):
    """One cut: the app stands, in one of the versions that it may have had, and its Documents are whole."""

    def run(self):
        self.boot()
        checked = run("appcontainer", "check", self.device)
        check(checked.stdout.strip() == "whole", "check:", checked.stdout, checked.stderr)
        version = read(bundle_of(self.mount) + "/version").strip()
        check(version in self.versions, version, "is none of", self.versions)
        backing = run("appcontainer", "path", self.device, APP, "app", "--backing").stdout.strip()
        for found in (backing, bundle_of(self.mount)):
            check(tree(found) == tree(self.apps[version]), f"the bundle in {found} is not", version)
        home = Home(self.mount)
        home.files = self.files
        home.compare()
        for place, names in (("Containers/Bundle/Application", 1), ("Containers/Data/Application", 1), ("Staging", 0)):
            there = os.listdir(os.path.join(self.device, place))
            check(len(there) == names, place, there)
        self.end()
        subprocess.run(["umount", self.place], check=True)
        return version == self.versions[-1]


def power(device, mount, disk, cut, cuts, seed, first, second):
    """An answered installation is there after a power cut, and Documents in any case."""
    source = random.Random(int(seed))
    apps = {read(os.path.join(app, "version")).strip(): app for app in (first, second)}
    home = Home(mount)
    for _ in range(20):
        home.change(source)
    # The version that was installed for certain, and the one that is on its way, if any.
    versions = [b"one"]
    stopped = threading.Event()
    problems = []

    def updates():
        while not stopped.is_set():
            other = b"two" if versions == [b"one"] else b"one"
            versions.append(other)
            done = run("appcontainer", "install", device, apps[other])
            if done.returncode:
                return problems.append(done.stderr)
            versions[:] = [other]

    updating = threading.Thread(target=updates)
    updating.start()
    new = 0
    for number in range(int(cuts)):
        time.sleep(source.uniform(0.1, 0.4))
        # The versions that may be there are known before and after the instant itself.
        before = list(versions)
        with open(disk, "rb") as held, open(cut, "wb") as copy:
            fcntl.ioctl(copy, FICLONE, held.fileno())
        may = before + [version for version in versions if version not in before]
        job = dict(work=os.environ["WORK"], name=os.path.basename(device), app=APP, cut=cut, files=home.files,
                   versions=may, apps=apps)
        looked = subprocess.run(
            ["unshare", "-m", "--propagation", "private", sys.executable, __file__, "look"], input=pickle.dumps(job),
            stdout=subprocess.PIPE)
        check(looked.returncode == 0, f"seed {seed}, cut {number} is not as it should be (above)")
        new += looked.stdout.strip() == b"True"
        os.unlink(cut)
    stopped.set()
    updating.join()
    check(not problems, problems)
    print(f"seed {seed}: {cuts} cuts, after {new} of which the latest version stood")


def look():
    print(Updated(pickle.load(sys.stdin.buffer)).run())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
