#!/usr/bin/python3
"""Kills the process that serves a device, again and again, while several writers are at work on its mount.

    kill.py DEVICE APP MOUNT KILLS SEED

After each kill the device is mounted again, and every file must be as writers.py says: fsync and close make a content
safe, and a call that changes names has happened when it was answered."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import writers


class Writer(writers.Writer):
    endings = frozenset(
        (errno.ENOTCONN, errno.ECONNABORTED, errno.ECANCELED, errno.EIO, errno.EINTR, errno.ESHUTDOWN))

    def closed(self, kept):
        """A close counts when the daemon was still there after it: on a connection that has ended already the kernel
        drops what it has not written, and close answers 0 where FLUSH is not asked for."""
        os.statvfs(self.directory)
        self.acknowledge("close", kept)

    def moved(self, *kept):
        self.acknowledge("moved", *kept)


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
    working = [Writer(directory, number, source.random()) for number in range(4)]
    acknowledged = calls = 0
    for kill in range(int(kills)):
        working = [Writer(directory, index, source.random(), writer.files) for index, writer in enumerate(working)]
        for writer in working:
            writer.start()
        time.sleep(source.uniform(0.02, 0.25))
        pid = served_by(device)
        os.kill(pid, signal.SIGKILL)
        for writer in working:
            writer.join(30)
            assert not writer.is_alive(), f"kill {kill}: a writer hangs"
            assert writer.problem is None, f"kill {kill}: {writer.problem}"
            acknowledged += writer.acknowledged
            calls += writer.calls
        wait_for_end(pid)
        mounted = subprocess.run(["appcontainer", "mount", device, app, mount], capture_output=True, text=True)
        assert mounted.returncode == 0, f"kill {kill}: mount: {mounted.stderr}"
        assert mounts_of(mount) == 1, f"kill {kill}: {mounts_of(mount)} mounts"
        for writer in working:
            try:
                writers.compare(writer.directory, writer.files)
            except (AssertionError, OSError) as problem:
                raise AssertionError(f"seed {seed}, kill {kill}: {problem!r}") from None
        if kill % 10 == 9:
            checked = subprocess.run(["appcontainer", "check", device], capture_output=True, text=True)
            assert checked.stdout.strip() == "whole", f"kill {kill}: check: {checked.stdout} {checked.stderr}"
    print(f"seed {seed}: {kills} kills in {calls} calls, {acknowledged} of which were acknowledged as safe")


if __name__ == "__main__":
    main(*sys.argv[1:])
