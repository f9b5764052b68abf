#!/usr/bin/python3
"""Space for names, and a directory that a purge takes away.

    full_host.py fill_names DIRECTORY           makes files with long names and short ones until there is space for none
    full_host.py watch DIRECTORY COMMAND…       prints the numbers of entries that were seen in the directory while the
                                                command ran, but for none; ends as the command"""

import errno
import os
import subprocess
import sys

from kit import check


def fill_names(directory):
    for length in (250, 120, 60, 36):
        number = 0
        while True:
            name = f"{length}-{number}-".ljust(length, "x")
            number += 1
            try:
                os.close(os.open(os.path.join(directory, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except OSError as problem:
                check(problem.errno == errno.ENOSPC, problem)
                break


def watch(directory, *command):
    seen = set()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while running.poll() is None:
        try:
            seen.add(len(os.listdir(directory)))
        except FileNotFoundError:
            seen.add(0)
    print(*sorted(seen - {0}))
    sys.exit(running.returncode)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
