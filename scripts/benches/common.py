#!/usr/bin/python3
"""The needs of all measurements: tools, filesystems that come and go, and the output of figures."""

import os
import pathlib
import random
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20
APP = "com.example.Notes"
OURS, BEFORE, NATIVE, PEER = "appcontainer", "before", "native", "gocryptfs"
# The same bridge to the kernel without encryption, rules and records, and libfuse's example of the same kind.
FLOOR, EXAMPLE = "passthrough", "passthrough_hp"


def failure(command, done):
    """An error with the end of what the tool said: tar has a line for each file."""
    said = "\n".join(done.stderr.strip().splitlines()[-5:])
    return RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{said}")


def run(*command, **options):
    """Runs a tool that must succeed; returns what it printed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise failure(command, done)
    return done.stdout


def elapsed(*command):
    """Seconds that a tool takes, by the wall clock."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise failure(command, done)
    return seconds


def drawn(things, turn, row):
    """The order of a round. A rotation would have each one follow the same other always, and the disk is busy with that
    one's removed files."""
    return random.Random(f"{turn} {row}").sample(things, len(things))


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


def require_ring():
    """Refuses a kernel that does not take FUSE's requests over io_uring."""
    switch = pathlib.Path("/sys/module/fuse/parameters/enable_uring")
    if not switch.exists():
        raise RuntimeError("this kernel has no FUSE over io_uring: Linux 6.14 has it")
    if switch.read_text().strip() != "Y":
        raise RuntimeError(f"FUSE over io_uring is switched off: as root, echo Y >{switch}")


class Filesystem:
    """A directory to measure in, and how it comes and goes.

    - transport: the way of the kernel's requests, `dev-fuse` or `io-uring`; None leaves it to each filesystem."""

    def __init__(self, name, work, binary, transport=None):
        self.name, self.work, self.binary = name, work / name, binary
        self.transport, self.process = transport, None
        self.work.mkdir()
        self.directory = getattr(self, "mount_" + name)()

    def mount_native(self):
        return self.work

    def mount_appcontainer(self):
        device, home = self.work / "device", self.work / "home"
        home.mkdir()
        run(self.binary, "create", device)
        run(self.binary, "install", device, ROOT / "Tests/Fixtures/Notes.app")
        run(self.binary, "mount", device, APP, home, *self.transport_option())
        return home / "Documents"

    def transport_option(self):
        return ["--transport", self.transport] if self.transport else []

    mount_before = mount_appcontainer

    def unmount_appcontainer(self):
        subprocess.run([self.binary, "unmount", self.work / "home", "--lazy"], capture_output=True)
        subprocess.run([self.binary, "shutdown", self.work / "device"], capture_output=True)

    unmount_before = unmount_appcontainer

    def source_and_shown(self):
        source, shown = self.work / "source", self.work / "shown"
        source.mkdir()
        shown.mkdir()
        return source, shown

    def mount_passthrough(self):
        source, shown = self.source_and_shown()
        self.process = subprocess.Popen([self.binary, source, shown, *self.transport_option()],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise RuntimeError(self.process.communicate()[1].strip() or "passthrough has not mounted")
        return shown

    def mount_passthrough_hp(self):
        source, shown = self.source_and_shown()
        knows = subprocess.run([self.binary, "--help"], capture_output=True, text=True).stdout
        # Younger ones hand open files to the kernel, which then makes no requests for their content.
        options = ["--nopassthrough"] if "nopassthrough" in knows else []
        run(self.binary, *options, *(["-o", "io_uring"] if self.transport == "io-uring" else []), source, shown)
        return shown

    def mount_gocryptfs(self):
        cipher, plain, password = self.work / "cipher", self.work / "plain", self.work / "password"
        cipher.mkdir()
        plain.mkdir()
        password.write_text("bench\n")
        run("gocryptfs", "-q", "-init", "-scryptn", "10", "-passfile", password, cipher)
        run("gocryptfs", "-q", "-passfile", password, cipher, plain)
        return plain

    def mount_bindfs(self):
        source, shown = self.source_and_shown()
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
        if self.process:
            try:
                self.process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                # A mount namespace that was made meanwhile has a copy of the mount, which keeps it alive.
                self.process.kill()
                self.process.communicate()
