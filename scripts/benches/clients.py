#!/usr/bin/python3
"""The throughput of several processes at once, in directories of their own and all in one."""

import multiprocessing
import os
import shutil
import statistics
import time

from benches.common import FLOOR, NATIVE, OURS, Filesystem, drawn, progress

# A total that is less by this much has fallen; a shorter time than a run's would not tell it from noise.
FALLEN = 0.9
# The least that the slowest client gets of the fastest one's share.
FAIR = 0.5
# The kernel has one call at a time change the names in a directory.
AS_THE_FLOOR = "falls as the floor"
OWN, SHARED = "directories of their own", "one directory"
CONTENT = b"x" * 4096


def cycle(folder, name):
    """Keeps a document as an application does: by calls on names and on content."""
    path, new = os.path.join(folder, name), os.path.join(folder, name + ".new")
    file = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    os.write(file, CONTENT)
    os.close(file)
    os.rename(new, path)
    os.stat(path)
    file = os.open(path, os.O_RDONLY)
    os.read(file, len(CONTENT))
    os.close(file)
    os.unlink(path)


def client(number, folder, seconds, start, counts):
    """Runs in a process of its own."""
    count, name = 0, f"document-{number}"
    cycle(folder, name)
    start.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        cycle(folder, name)
        count += 1
    counts[number] = count


def run_clients(place, number, shared, seconds):
    """Returns the cycles that each client has done in a second."""
    folders = [place / ("shared" if shared else f"client-{index}") for index in range(number)]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    start, counts = multiprocessing.Barrier(number), multiprocessing.Array("q", number)
    processes = [
        multiprocessing.Process(target=client, args=(index, str(folder), seconds, start, counts), daemon=True)
        for index, folder in enumerate(folders)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    for folder in set(folders):
        shutil.rmtree(folder)
    if any(process.exitcode != 0 for process in processes):
        raise RuntimeError(f"a client in {place} has failed")
    return [count / seconds for count in counts]


def numbers(most):
    """1, 2, 4 and so on, and the most."""
    found = [1]
    while found[-1] * 2 <= most:
        found.append(found[-1] * 2)
    return found if found[-1] == most else found + [most]


def kept(totals):
    """The share of the greatest total that is left with the most clients."""
    return totals[-1] / max(totals)


def verdict(totals, floor, shares):
    """- totals: of this number of clients, behind those of fewer; floor: the passthrough's."""
    words = []
    if kept(totals) < FALLEN:
        words.append("falls" if kept(totals) < FALLEN * kept(floor) else AS_THE_FLOOR)
    if min(shares) < FAIR * max(shares):
        words.append("unfair")
    return ", ".join(words) or "ok"


def tell(table, systems, counts):
    """Prints the rows of one place, and returns them with the words for ours."""
    print(f"\n{table}\n{'clients':<9}" + "".join(f"{name + ', cycles/s':>26}{'slowest':>9}" for name in systems)
          + "  verdict")
    rows, totals = [], {name: [] for name in systems}
    for number, runs in counts.items():
        line, shares = f"{number:<9}", {}
        for name in systems:
            totals[name].append(statistics.median(sum(run) for run in runs[name]))
            # The run whose slowest client had the median share.
            shares[name] = sorted(runs[name], key=lambda run: min(run) / max(run))[len(runs[name]) // 2]
            line += f"{totals[name][-1]:>26.0f}{min(shares[name]) / max(shares[name]):>9.2f}"
        word = verdict(totals[OURS], totals[FLOOR], shares[OURS])
        print(f"{line}  {word}", flush=True)
        rows.append({"place": table, "clients": number, "verdict": word, "cycles_per_second": runs})
    return rows


def measure(options, work, binary):
    seconds = 1 if options.quick else 4
    systems, rows = [], []
    try:
        for name, program in ((NATIVE, None), (FLOOR, options.passthrough), (OURS, binary)):
            systems.append(Filesystem(name, work, program, options.transport))
        names = [system.name for system in systems]
        print(f"each cycle makes, writes, renames, looks at, reads and removes a file of 4 KiB; slowest is the share of the "
              f"slowest client in the fastest one's; {os.cpu_count()} processors, medians of {options.rounds} rounds")
        for place in (OWN, SHARED):
            if options.rows and options.rows not in place:
                continue
            counts = {number: {name: [] for name in names} for number in numbers(options.clients)}
            for turn in range(options.rounds):
                for number, runs in counts.items():
                    for system in drawn(systems, turn, number):
                        progress(f"round {turn + 1} of {options.rounds}: {number} clients in {place}, {system.name}")
                        runs[system.name].append(run_clients(system.directory, number, place == SHARED, seconds))
            progress(None)
            rows += tell(place, names, counts)
    finally:
        for system in systems:
            system.unmount()
    report = {"rounds": options.rounds, "seconds": seconds, "transport": options.transport, "rows": rows}
    return report, any(row["verdict"] not in ("ok", AS_THE_FLOOR) for row in rows)
