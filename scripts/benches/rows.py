#!/usr/bin/python3
"""Work that every filesystem does in turn: data by fio, trees by tar, find, cat and rm."""

import json
import os
import pathlib
import platform
import shutil
import statistics
import time

from benches.common import (
    BEFORE, EXAMPLE, FLOOR, MIB, NATIVE, OURS, PEER, Filesystem, drawn, drop_caches, elapsed, milliseconds, progress, run)

# Of a row's time to that of the passthrough, over the same transport: the rules and records of names, and encryption.
NAMES, CONTENT = 1.15, 1.3
# Of the passthrough's time to that of libfuse's example.
BRIDGE = 1.05
# Where the peer is as fast as the host, being as fast as the host is enough; this much is noise.
PARITY = 1.2
NOISE = 1.08


class Fio:
    """One fio job on one file, timed by fio itself so that its own start does not count."""

    def __init__(self, *options, by="latency"):
        self.options, self.by = options, by

    def __call__(self, path):
        output = run("fio", "--name=row", f"--filename={path}", "--ioengine=psync", "--thread", "--fallocate=none",
                     "--output-format=json", "--randrepeat=0", "--norandommap", "--allow_file_create=1",
                     *self.options)
        job = json.loads(output[output.index("{"):])["jobs"][0]
        if job["error"]:
            raise RuntimeError(f"fio on {path}: error {job['error']}")
        if self.by == "runtime":
            # From the first call to the end of the last one, final fsync included.
            return (job["read"]["runtime"] + job["write"]["runtime"]) / 1e3
        # The calls alone: fio's own work between two of them would flatter whoever is slow.
        return sum(job[kind]["lat_ns"]["mean"] * job[kind]["total_ios"] / 1e9 for kind in ("read", "write"))


def make_tree(work, wanted):
    """A tar of real files: /usr/include, and /usr/share until there are enough of them."""
    source, count, size = work / "source-tree", 0, 0
    for top in ("/usr/include", "/usr/lib", "/usr/share"):
        for folder, folders, files in os.walk(top):
            folders.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                if count >= wanted or os.path.islink(path) or not os.path.isfile(path):
                    continue
                if os.path.getsize(path) > MIB:
                    continue
                target = source / folder.lstrip("/")
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target / name)
                count, size = count + 1, size + os.path.getsize(path)
    tar = work / "tree.tar"
    run("tar", "-cf", tar, "-C", source, ".")
    shutil.rmtree(source)
    return tar, count, size


def build_example(folder, work):
    """Compiles libfuse's passthrough_hp from the folder of its examples, against the libfuse that is installed."""
    source = pathlib.Path(folder) / f"{EXAMPLE}.cc"
    if not source.exists():
        raise RuntimeError(f"{source} does not exist: --examples names the folder `example` of libfuse's source")
    program = work / f"{EXAMPLE}.program"
    flags = run("pkg-config", "--cflags", "--libs", "fuse3").split()
    # libfuse's own build finds out that glibc has these.
    found = ["-DHAVE_UTIMENSAT", "-DHAVE_SETXATTR", "-DHAVE_POSIX_FALLOCATE", "-include", "sys/xattr.h"]
    run("g++", "-std=c++17", "-O2", "-D_FILE_OFFSET_BITS=64", *found, source, *flags, "-lpthread", "-o", program)
    return program


class Bench:
    def __init__(self, options, work, binary):
        self.quick, self.root = options.quick, os.geteuid() == 0
        self.tar, self.tree_files, self.tree_bytes = make_tree(work, 2000 if self.quick else 8151)
        binaries = {OURS: binary, FLOOR: options.passthrough, BEFORE: options.before}
        if EXAMPLE in options.others:
            binaries[EXAMPLE] = build_example(options.examples, work)
        # The example beside what is compared with it.
        names = sorted([NATIVE, FLOOR, OURS, PEER] + options.others + ([BEFORE] if options.before else []),
                       key=[NATIVE, FLOOR, EXAMPLE, OURS, PEER, "bindfs", "tmpfs", BEFORE].index)
        self.filesystems = []
        try:
            for name in names:
                self.filesystems.append(Filesystem(name, work, binaries.get(name), options.transport))
        except Exception:
            self.close()
            raise
        empty = work / "empty"
        empty.mkdir()
        self.start_of = {
            tool: statistics.median(elapsed(*self.tool(tool, empty)) for _ in range(9)) for tool in ("find", "cat")
        }
        size = 128 * MIB
        share = 4 if self.quick else 1
        file = ["--size=%d" % size]
        # name, goal × native, bound ÷ floor, cold?, what is measured
        self.rows = [
            ("sequential write, fsync", 1.4, CONTENT, False,
             self.fresh(Fio("--rw=write", "--bs=128k", "--end_fsync=1", *file, by="runtime"))),
            ("sequential read, cold", 1.15, CONTENT, True, self.file(Fio("--rw=read", "--bs=128k", *file))),
            ("sequential read, warm", 1.4, CONTENT, False,
             self.warm(Fio("--rw=read", "--bs=128k", "--invalidate=0", "--io_size=%d" % (8 * size // share), *file))),
            ("random 4 KiB read, cold", 1.3, CONTENT, True,
             self.file(Fio("--rw=randread", "--bs=4k", "--io_size=%d" % (4096 * 4096 // share), *file))),
            ("random 4 KiB read, warm", 1.2, CONTENT, False,
             self.warm(Fio("--rw=randread", "--bs=4k", "--invalidate=0", "--io_size=%d" % (2 * size // share), *file))),
            ("random 4 KiB write, fsync", 1.6, CONTENT, False,
             self.file(Fio("--rw=randwrite", "--bs=4k", "--end_fsync=1", "--overwrite=1",
                           "--io_size=%d" % (8192 * 4096 // share), *file, by="runtime"))),
            ("64-byte appends", 1.3, CONTENT, False,
             self.fresh(Fio("--rw=write", "--bs=64", "--size=%d" % (8 * MIB // share), by="runtime"))),
            ("4 KiB write and fdatasync, each", 1.3, CONTENT, False,
             self.file(Fio("--rw=randwrite", "--bs=4k", "--fdatasync=1", "--overwrite=1",
                           "--io_size=%d" % (1024 * 4096 // share), *file, by="runtime"))),
            ("untar", 3.0, NAMES, False, self.untar),
            ("stat the tree, cold", 1.6, NAMES, True, self.stat_tree),
            ("stat the tree, warm", 1.5, NAMES, False, self.stat_tree_warm),
            ("read the tree, cold", 1.5, CONTENT, True, self.read_tree),
            ("read the tree, warm", 2.5, CONTENT, False, self.read_tree_warm),
            ("remove the tree", 1.2, NAMES, False, self.remove_tree),
        ]
        # Each tree row works on what the untar before it left.
        if options.rows:
            chosen = [row for row in self.rows if options.rows in row[0]]
            if any("tree" in row[0] for row in chosen) and not any(row[0] == "untar" for row in chosen):
                chosen.insert(0, next(row for row in self.rows if row[0] == "untar"))
            self.rows = chosen
        if not self.root:
            self.rows = [row for row in self.rows if not row[3]]

    # The measured one

    def fresh(self, job):
        def measure(place):
            path = place / "fresh"
            path.unlink(missing_ok=True)
            os.sync()
            seconds = job(path)
            path.unlink()
            return seconds
        return measure

    def file(self, job):
        def measure(place):
            return job(self.standing_file(place))
        return measure

    def warm(self, job):
        def measure(place):
            path = self.standing_file(place)
            with open(path, "rb", buffering=0) as file:
                while file.read(MIB):
                    pass
            return job(path)
        return measure

    def standing_file(self, place):
        path = place / "standing"
        if not path.exists():
            Fio("--rw=write", "--bs=1m", "--size=128m", "--end_fsync=1")(path)
        return path

    def tool(self, name, place):
        return {
            "find": ("find", place, "-printf", "%s %m %T@\\n"),
            "cat": ("find", place, "-type", "f", "-exec", "cat", "{}", "+"),
            "rm": ("rm", "-rf", place),
        }[name]

    def untar(self, place):
        tree = place / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        os.sync()
        return elapsed("tar", "-xf", self.tar, "-C", tree)

    def stat_tree(self, place):
        return max(elapsed(*self.tool("find", place / "tree")) - self.start_of["find"], 1e-4)

    def stat_tree_warm(self, place):
        self.stat_tree(place)
        return statistics.median(self.stat_tree(place) for _ in range(3))

    def read_tree(self, place):
        return max(elapsed(*self.tool("cat", place / "tree")) - self.start_of["cat"], 1e-4)

    def read_tree_warm(self, place):
        self.read_tree(place)
        return statistics.median(self.read_tree(place) for _ in range(3))

    def remove_tree(self, place):
        os.sync()
        return elapsed(*self.tool("rm", place / "tree"))

    # The run

    def measure(self, rounds, progress):
        times = {row[0]: {system.name: [] for system in self.filesystems} for row in self.rows}
        for system in self.filesystems:
            if any("read" in row[0] or "fdatasync" in row[0] or "random" in row[0] for row in self.rows):
                self.standing_file(system.directory)
        for turn in range(rounds):
            for name, _, _, cold, job in self.rows:
                if self.root and "warm" in name:
                    # The place of a file's pages in memory changes a warm read by a fifth, so each round places them anew.
                    drop_caches()
                for system in drawn(self.filesystems, turn, name):
                    progress(f"round {turn + 1} of {rounds}: {name}, {system.name}")
                    if cold:
                        drop_caches()
                    times[name][system.name].append(job(system.directory))
        progress(None)
        return times

    def close(self):
        for system in self.filesystems:
            system.unmount()


def machine(directory):
    model = ""
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "kernel": platform.release(),
        "processor": model,
        "cores": os.cpu_count(),
        "filesystem": run("stat", "-f", "-c", "%T", directory).strip(),
        "gocryptfs": run("gocryptfs", "--version").split(";")[0].strip(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def verdict(medians, goal, bound):
    """Whether a row is where it has to be, in a word."""
    ratio = medians[OURS] / medians[NATIVE]
    peer = medians[PEER] / medians[NATIVE] if PEER in medians else None
    if peer is not None and ratio > peer and not (peer <= PARITY and ratio <= max(peer, 1) * NOISE):
        return "behind gocryptfs"
    if FLOOR in medians and medians[OURS] > bound * medians[FLOOR]:
        return "above its floor"
    if EXAMPLE in medians and medians[FLOOR] > BRIDGE * medians[EXAMPLE]:
        return f"bridge behind {EXAMPLE}"
    return "ok" if ratio <= goal else ("near" if ratio <= 1.5 * goal else "missed")


class Table:
    """The columns: times, each with its ratio to the host's, and further ratios behind those that they explain."""

    # A system → the heading of the column behind it, and the two systems that it compares.
    COMPARISONS = {OURS: ("÷ floor", OURS, FLOOR), EXAMPLE: ("floor ÷", FLOOR, EXAMPLE)}

    def __init__(self, systems):
        self.others = systems[1:]

    def heading(self):
        columns = [f"{'work':<33}{NATIVE:>11}"]
        for name in self.others:
            columns.append(f"{name:>15}{'×':>7}")
            if name in self.COMPARISONS:
                columns.append(f"{self.COMPARISONS[name][0]:>9}")
        return "".join(columns) + f"{'goal':>7}  verdict"

    def line(self, name, medians, goal, word):
        columns = [f"{name:<33}{milliseconds(medians[NATIVE]):>11}"]
        for other in self.others:
            columns.append(f"{milliseconds(medians[other]):>15}{medians[other] / medians[NATIVE]:>7.2f}")
            if other in self.COMPARISONS:
                _, subject, base = self.COMPARISONS[other]
                columns.append(f"{medians[subject] / medians[base]:>9.2f}")
        return "".join(columns) + f"{goal:>7}  {word}"


def measure(options, work, binary):
    subject = Bench(options, work, binary)
    try:
        times = subject.measure(options.rounds, progress)
    finally:
        subject.close()
    systems = [system.name for system in subject.filesystems]
    report = {
        "machine": machine(work), "rounds": options.rounds, "quick": options.quick, "awake": options.awake,
        "transport": options.transport,
        "tree": {"files": subject.tree_files, "bytes": subject.tree_bytes}, "rows": [],
    }
    table = Table(systems)
    print(f"{subject.tree_files} files of {subject.tree_bytes / MIB:.0f} MiB; medians of {options.rounds} rounds; "
          f"× is the ratio to {NATIVE}, ÷ floor that of {OURS} to {FLOOR}")
    print(table.heading())
    bad = False
    for name, goal, bound, _, _ in subject.rows:
        medians = {system: statistics.median(times[name][system]) for system in systems}
        ratios = {system: medians[system] / medians[NATIVE] for system in table.others}
        word = verdict(medians, goal, bound)
        bad = bad or word != "ok"
        print(table.line(name, medians, goal, word))
        report["rows"].append({
            "row": name, "goal": goal, "bound": bound, "verdict": word,
            "seconds": {system: {"median": medians[system], "all": times[name][system]} for system in systems},
            "ratio": ratios, "to_floor": {system: medians[system] / medians[FLOOR] for system in systems},
        })
    return report, bad
