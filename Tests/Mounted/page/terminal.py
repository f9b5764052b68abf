#!/usr/bin/python3
"""`appcontainer top` on a terminal of 80 columns and 24 rows.

    terminal.py DEVICE"""

import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import time

from kit import check

ROWS, COLUMNS = 24, 80


def read_until(terminal, mark):
    text = b""
    end = time.monotonic() + 30
    while mark not in text:
        check(time.monotonic() < end, mark, "does not come:", text[-500:])
        try:
            text += os.read(terminal, 65536)
        except OSError:
            check(mark in text, mark, "did not come:", text[-500:])
    return text


def begin(device):
    process, terminal = pty.fork()
    if process == 0:
        os.execvp("appcontainer", ["appcontainer", "top", device])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return process, terminal


def ends_well(process, terminal):
    """It leaves its screen, and the terminal as it was."""
    read_until(terminal, b"\x1b[?1049l")
    _, status = os.waitpid(process, 0)
    check(os.waitstatus_to_exitcode(status) == 0, "it ends with", status)
    settings, fresh = (termios.tcgetattr(one) for one in (terminal, pty.openpty()[0]))
    check(settings == fresh, "the terminal's settings", settings, fresh)


def main(device):
    process, terminal = begin(device)
    # Two screens: the first may have come before the size.
    text = read_until(terminal, b"\x1b[J")
    text = read_until(terminal, b"\x1b[J")
    screen = text[text.rindex(b"\x1b[H"):].decode()
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen)
    # The terminal puts a carriage return of its own before each line feed.
    lines = plain.replace("\r", "").split("\n")
    check(len(lines) <= ROWS, "rows", len(lines))
    check(max(map(len, lines)) <= COLUMNS, "columns", max(map(len, lines)))
    check("unlocked" in lines[0], lines[0])
    os.kill(process, signal.SIGINT)
    ends_well(process, terminal)

    process, terminal = begin(device)
    read_until(terminal, b"\x1b[J")
    # Another key is nothing, and is not shown.
    os.write(terminal, b"~")
    check(b"~" not in read_until(terminal, b"\x1b[J"), "a key is shown")
    os.write(terminal, b"q")
    ends_well(process, terminal)


if __name__ == "__main__":
    main(*sys.argv[1:])
