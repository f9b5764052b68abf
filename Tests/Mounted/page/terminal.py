#!/usr/bin/python3
"""`appcontainer top` on a terminal: its size, its keys and its signals.

    terminal.py NAME DEVICE"""

import contextlib
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

from kit import check, eventually

ROWS, COLUMNS = 24, 80
ENTERED, LEFT, DRAWN = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[J"


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


def resize(terminal, rows=ROWS, columns=COLUMNS):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def begin(device, body=None):
    process, terminal = pty.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if body:
            body(device)
        os.execvp("appcontainer", ["appcontainer", "top", device])
    resize(terminal)
    return process, terminal


def shell(device):
    """A shell with job control: it tells when its job stops or ends, and brings it back after a line."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp("appcontainer", ["appcontainer", "top", device])
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os.write(1, f"<ended {os.waitstatus_to_exitcode(status)}>".encode())
            os._exit(0)
        os.write(1, b"<stopped>")
        os.read(0, 1)
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


def is_as_it_was(terminal):
    settings, fresh = (termios.tcgetattr(one) for one in (terminal, pty.openpty()[0]))
    check(settings == fresh, "the terminal's settings", settings, fresh)


def ends_well(process, terminal):
    """It leaves its screen, and the terminal as it was."""
    read_until(terminal, LEFT)
    _, status = os.waitpid(process, 0)
    check(os.waitstatus_to_exitcode(status) == 0, "it ends with", status)
    is_as_it_was(terminal)


def width(text):
    wide = {"W": 2, "F": 2}
    return sum(0 if unicodedata.combining(one) else wide.get(unicodedata.east_asian_width(one), 1) for one in text)


def screen(text):
    """The lines of the last screen that was drawn as a whole."""
    drawn = text[:text.rindex(DRAWN)]
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn[drawn.rindex(b"\x1b[H"):].decode())
    # The terminal puts a carriage return of its own before each line feed.
    return plain.replace("\r", "").split("\n")


def check_fits(lines, rows=ROWS, columns=COLUMNS):
    check(len(lines) <= rows, "rows", len(lines))
    check(max(map(width, lines)) <= columns, "columns", max(lines, key=width))


def draws_and_ends(device):
    process, terminal = begin(device)
    # Two screens: the first may have come before the size.
    read_until(terminal, DRAWN)
    lines = screen(read_until(terminal, DRAWN))
    check_fits(lines)
    check("unlocked" in lines[0], lines[0])
    os.kill(process, signal.SIGINT)
    ends_well(process, terminal)

    process, terminal = begin(device)
    read_until(terminal, DRAWN)
    # Another key is nothing, and is not shown; the end of the input is a key too.
    os.write(terminal, b"~\x04")
    read_until(terminal, DRAWN)
    check(b"~" not in read_until(terminal, DRAWN), "a key is shown")
    os.write(terminal, b"q")
    ends_well(process, terminal)


def stops_and_goes_on(device):
    process, terminal = begin(device, shell)
    read_until(terminal, DRAWN)
    for _ in range(2):
        os.write(terminal, b"\x1a")
        text = read_until(terminal, b"<stopped>")
        check(text.rindex(LEFT) > text.rfind(ENTERED), "it leaves its screen", text)
        check(b"\x1b[?25h" in text, "the cursor is back", text)
        is_as_it_was(terminal)
        os.write(terminal, b"\n")
        read_until(terminal, ENTERED)
        check("unlocked" in screen(read_until(terminal, DRAWN))[0], "it draws again")
        check(not termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO), "keys are taken again")
    os.write(terminal, b"q")
    read_until(terminal, b"<ended 0>")
    is_as_it_was(terminal)
    os.waitpid(process, 0)


def nobody_can_continue_it(device):
    """Without a shell in its session ^Z stops nothing (setpgid(2): an orphaned process group)."""
    process, terminal = begin(device)
    read_until(terminal, DRAWN)
    os.write(terminal, b"\x1a")
    read_until(terminal, ENTERED)
    read_until(terminal, DRAWN)
    os.write(terminal, b"q")
    ends_well(process, terminal)


def quits(device):
    process, terminal = begin(device, shell)
    read_until(terminal, DRAWN)
    os.write(terminal, b"\x1c")
    text = read_until(terminal, b"<ended -3>")
    check(LEFT in text, "it leaves its screen", text)
    is_as_it_was(terminal)
    os.waitpid(process, 0)


def follows_the_size(device):
    process, terminal = begin(device)
    read_until(terminal, DRAWN)
    read_until(terminal, DRAWN)
    daemon = int(subprocess.run(
        ["bash", "-c", 'appcontainer status "$0" --json | python3 -c "import json, sys; print(json.load(sys.stdin)[\'daemon\'][\'pid\'])"',
         device], check=True, capture_output=True, text=True).stdout)
    # Nothing new comes from the device: the size alone has it drawn.
    os.kill(daemon, signal.SIGSTOP)
    try:
        for rows, columns in ((6, 30), (2, 9), (1, 1), (24, 80)):
            # A screen that was under way when the device stopped.
            with contextlib.suppress(BlockingIOError):
                os.set_blocking(terminal, False)
                while os.read(terminal, 65536):
                    pass
            os.set_blocking(terminal, True)
            resize(terminal, rows, columns)
            check_fits(screen(read_until(terminal, DRAWN)), rows, columns)
    finally:
        os.kill(daemon, signal.SIGCONT)
    os.write(terminal, b"q")
    ends_well(process, terminal)


def needs_no_input(device):
    """At the end of its input it goes on, and takes no time for that."""
    process, terminal = begin(device, lambda device: os.dup2(os.open("/dev/null", os.O_RDONLY), 0))
    for _ in range(3):
        read_until(terminal, DRAWN)
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    check(used < 1.5, "processor time", used)
    os.kill(process, signal.SIGTERM)
    ends_well(process, terminal)


def its_terminal_goes(device):
    process, terminal = begin(device)
    read_until(terminal, DRAWN)
    os.close(terminal)
    eventually(lambda: os.waitpid(process, os.WNOHANG)[0] == process, "it ends with its terminal")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
