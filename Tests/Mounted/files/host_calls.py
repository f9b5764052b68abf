#!/usr/bin/python3
"""Files, and what strace saw of the calls that they cost.

    host_calls.py create DIRECTORY COUNT        makes files of 4 KiB
    host_calls.py remove DIRECTORY COUNT        removes them
    host_calls.py at_most TRACE COUNT LIMIT BEHIND   so many calls for each of the files, and no more: those that its
                                                caller waits for, and those of other threads"""

import collections
import os
import re
import sys

from kit import check

NAME = "new-"
# The requests themselves, and memory.
NOT_OF_A_FILE = {
    *("read", "readv", "write", "writev", "poll", "ppoll", "io_uring_enter", "mmap"),
    *("epoll_ctl", "epoll_wait", "epoll_pwait"),
}


def path(directory, number):
    return f"{directory}/{NAME}{number:04}"


def create(directory, count):
    for number in range(int(count)):
        file = os.open(path(directory, number), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        os.write(file, b"x" * 4096)
        os.close(file)


def remove(directory, count):
    for number in range(int(count)):
        os.unlink(path(directory, number))


def at_most(trace, count, limit, behind):
    count, limit, behind = int(count), int(limit), int(behind)
    with open(trace) as file:
        # A call that another thread interrupts is on two lines, the second without its name and bracket.
        lines = [match.groups() for match in map(re.compile(r"(\d+) +(\w+)\((.*)").match, file) if match]
    # The threads that serve requests. Others do their own work meanwhile.
    workers = {
        thread
        for thread, call, arguments in lines
        if call == "io_uring_enter" or (call == "read" and "</dev/fuse>" in arguments)
    }
    calls, others, later = collections.Counter(), collections.Counter(), collections.Counter()
    for thread, call, arguments in lines:
        if call in NOT_OF_A_FILE:
            continue
        if thread not in workers:
            later[call] += NAME in arguments
            continue
        # LOOKUP of a name and GETATTR of the directory, the kernel's own questions, look at a name. All other looks are at
        # an open file.
        if call == "newfstatat" and not re.match(r'\d+<[^>]*>, "",', arguments):
            continue
        (calls if NAME in arguments else others)[call] += 1
    print(trace, dict(calls), dict(others), dict(later))
    check(count <= sum(calls.values()), "the trace is not whole:", calls)
    check(sum(calls.values()) <= limit * count, sum(calls.values()), "calls for", count, "files:", dict(calls))
    check(sum(later.values()) <= behind * count, "calls of other threads:", dict(later))
    # One draw of random bytes serves dozens of files. Where the kernel has dropped its caches meanwhile, the directory is
    # opened anew, and asked for its class.
    check(sum(others.values()) <= count // 4, "calls beside those on the files:", dict(others))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
