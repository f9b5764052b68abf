#!/usr/bin/python3
"""The needs of all measurements: tools, filesystems that come and go, and the output of figures."""

import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20
APP = "com.example.Notes"
OURS, BEFORE, NATIVE, PEER = "appcontainer", "before", "native", "gocryptfs"


def run(*command, **options):
    """Runs a tool that must succeed; returns what it printed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def elapsed(*command):
    """Seconds that a tool takes, by the wall clock."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr.strip()}")
    return seconds


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as control:
        control.write("3\n")


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + (text or ""))
        sys.stderr.flush()


def milliseconds(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 10 else f"{seconds:.1f} s"


class Filesystem:
    """A directory to measure in, and how it comes and goes."""

    def __init__(self, name, work, binary):
        self.name, self.work, self.binary = name, work / name, binary
        self.work.mkdir()
        self.directory = getattr(self, "mount_" + name)()

    def mount_native(self):
        return self.work

    def mount_appcontainer(self):
        device, home = self.work / "device", self.work / "home"
        home.mkdir()
        run(self.binary, "create", device)
        run(self.binary, "install", device, ROOT / "Tests/Fixtures/Notes.app")
        run(self.binary, "mount", device, APP, home)
        return home / "Documents"

    mount_before = mount_appcontainer

    def unmount_appcontainer(self):
        subprocess.run([self.binary, "unmount", self.work / "home", "--lazy"], capture_output=True)
        subprocess.run([self.binary, "shutdown", self.work / "device"], capture_output=True)

    unmount_before = unmount_appcontainer

    def mount_gocryptfs(self):
        cipher, plain, password = self.work / "cipher", self.work / "plain", self.work / "password"
        cipher.mkdir()
        plain.mkdir()
        password.write_text("bench\n")
        run("gocryptfs", "-q", "-init", "-scryptn", "10", "-passfile", password, cipher)
        run("gocryptfs", "-q", "-passfile", password, cipher, plain)
        return plain

    def mount_bindfs(self):
        source, shown = self.work / "source", self.work / "shown"
        source.mkdir()
        shown.mkdir()
        run("bindfs", source, shown)
        return shown

    def mount_tmpfs(self):
        memory = self.work / "memory"
        memory.mkdir()
        run("mount", "-t", "tmpfs", "-o", "huge=never", "bench", memory)
        return memory

    def unmount(self):
        special = getattr(self, "unmount_" + self.name, None)
        if special:
            special()
        elif self.directory != self.work:
            tool = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
            subprocess.run([*tool, str(self.directory)], capture_output=True)
