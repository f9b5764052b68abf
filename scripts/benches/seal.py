#!/usr/bin/python3
"""The time of sealed bundles: verify, install and reads, against the speed of SHA-256 on this machine."""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from benches.common import APP, MIB, ROOT, elapsed, progress, run

FILES = 8


def sha256_rate():
    """Bytes a second on one processor, by OpenSSL's own measure."""
    said = run("openssl", "speed", "-seconds", "1", "-bytes", "8192", "sha256")
    return float(re.search(r"^sha256\s+([0-9.]+)k", said, re.M)[1]) * 1000


def make_app(place, size):
    shutil.copytree(ROOT / "Tests/Fixtures/Notes.app", place, symlinks=True)
    piece = os.urandom(MIB)
    for number in range(FILES):
        with open(place / f"large-{number}", "wb") as file:
            for turn in range(size // FILES // MIB):
                file.write(turn.to_bytes(8, "little") + piece[8:])


def make_many(place, count):
    shutil.copytree(ROOT / "Tests/Fixtures/Notes.app", place, symlinks=True)
    for number in range(count):
        directory = place / f"directory-{number // 100}"
        directory.mkdir(exist_ok=True)
        (directory / f"file-{number}").write_bytes(os.urandom(1000 + number % 7000))


def read(directory):
    """All large files in one go."""
    return elapsed("cat", *sorted(directory.glob("large-*")))


def read_cold(directory):
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")
    return read(directory)


def install(binary, device, app):
    taken = elapsed(binary, "install", device, app)
    run(binary, "uninstall", device, APP)
    return taken


def measure(options, work, binary):
    size = (256 if options.quick else 1024) * MIB
    many = 2_000 if options.quick else 20_000
    # In memory: what the host's disk takes is not what is asked.
    memory = pathlib.Path(tempfile.mkdtemp(prefix="appcontainer-bench.", dir="/dev/shm"))
    rows = {name: [] for name in ("verify", "install", "cold", "warm", "many")}
    device, home = memory / "device", memory / "home"
    try:
        progress("making apps")
        app, half, whole = (memory / name / "Notes.app" for name in ("app", "half", "whole"))
        make_app(app, size)
        make_many(half, many // 2)
        make_many(whole, many)
        run(binary, "identity", work / "Developer")
        for bundle in (app, half, whole):
            run(binary, "seal", bundle, "--identity", work / "Developer")
        home.mkdir()
        run(binary, "create", device)
        run(binary, "status", device)
        processors = os.cpu_count()
        for turn in range(options.rounds):
            progress(f"round {turn + 1} of {options.rounds}")
            rate = sha256_rate()
            rows["verify"].append(size / elapsed(binary, "verify", app) / (rate * processors))
            copy = elapsed("cp", "-r", app, memory / "copy")
            shutil.rmtree(memory / "copy")
            # Copied once, hashed twice: as what was sealed, and as a tree.
            rows["install"].append((copy + 2 * size / (rate * processors)) / install(binary, device, app))
            rows["many"].append(install(binary, device, whole) / install(binary, device, half))
            run(binary, "install", device, app)
            run(binary, "mount", device, APP, home)
            bundle = home / "Notes.app"
            # The first time counts what a virtual machine takes to give memory that it never gave before.
            read(bundle)
            if os.geteuid() == 0:
                rows["cold"].append(size / statistics.median(read_cold(bundle) for _ in range(3)) / rate)
            backing = pathlib.Path(run(binary, "path", device, APP, "app", "--backing").strip())
            warm = statistics.median(read(bundle) for _ in range(3))
            rows["warm"].append(statistics.median(read(backing) for _ in range(3)) / warm)
            run(binary, "unmount", home)
            run(binary, "uninstall", device, APP)
        progress(None)
    finally:
        subprocess.run([binary, "unmount", home, "--lazy"], capture_output=True)
        subprocess.run([binary, "shutdown", device], capture_output=True)
        shutil.rmtree(memory, ignore_errors=True)
    return tell(rows, size, many)


def tell(rows, size, many):
    told = [
        ("verify", 0.8, "speed, to SHA-256 on all processors"),
        ("install", 0.8, "speed, to cp -r and then SHA-256 twice on all processors"),
        ("cold", 0.6, "speed of reads that verify, to SHA-256 on one processor"),
        ("warm", 0.9, "speed of further reads, to those of the backing copy"),
        ("many", 2.2, f"time of {many} files, to that of half as many; at most"),
    ]
    bad = False
    print(f"a bundle of {size // MIB} MiB in {FILES} files")
    print(f"{'work':<10}{'median':>8}{'goal':>7}  verdict  what")
    for name, goal, what in told:
        if not rows[name]:
            print(f"{name:<10}  left out: root is needed to drop the kernel's caches")
            continue
        median = statistics.median(rows[name])
        reached = median <= goal if name == "many" else median >= goal
        bad = bad or not reached
        print(f"{name:<10}{median:>8.2f}{goal:>7.2f}  {'ok' if reached else 'missed':<7}  {what}")
    return {"rows": [{"row": name, "goal": goal, "ratios": rows[name]} for name, goal, _ in told]}, bad
