#!/usr/bin/python3
"""The daemon's memory for files that the kernel remembers."""

import json
import os
import subprocess
import time

from benches.common import MIB, OURS, Filesystem, drop_caches, elapsed, progress, run


def resident(pid):
    """Bytes of memory that are the process's own or shared, now."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no VmRSS for process {pid}")


def measure(options, work, binary):
    """The daemon's memory for files that the kernel remembers."""
    files = options.files or 1_000_000
    system = Filesystem(OURS, work, binary)
    try:
        pid = json.loads(run(binary, "status", "--json", system.work / "device"))["daemon"]["pid"]
        before = resident(pid)
        per_directory = 1000
        for number in range((files + per_directory - 1) // per_directory):
            folder = system.directory / f"directory-{number:06}"
            folder.mkdir()
            count = min(per_directory, files - number * per_directory)
            names = "\n".join(f"a-file-with-a-name-of-forty-bytes-{index:06}" for index in range(count))
            subprocess.run(["xargs", "touch"], input=names, text=True, check=True, cwd=folder)
            if number % 20 == 0:
                progress(f"{number * per_directory} files made")
        progress("listing them")
        seconds = elapsed("find", system.directory, "-printf", "%s\\n")
        progress(None)
        after = resident(pid)
        released = None
        if os.geteuid() == 0:
            drop_caches()
            time.sleep(5)
            released = resident(pid)
    finally:
        system.unmount()
    each = (after - before) / files
    print(f"{files} files known: {before / MIB:.1f} MiB before, {after / MIB:.1f} MiB after, "
          f"{each:.0f} bytes a file (goal: 300); listed in {seconds:.1f} s")
    if released is not None:
        print(f"{released / MIB:.1f} MiB after the kernel forgot them")
    report = {"files": files, "before": before, "after": after, "bytes_per_file": each, "goal": 300,
              "after_forget": released, "list_seconds": seconds}
    return report, each > 300
