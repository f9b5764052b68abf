#!/usr/bin/python3
"""Types passcodes at a terminal: none of them is shown, and a new one is asked for twice.

    prompts.py DEVICE        which has no passcode, neither before nor after"""

import fcntl
import os
import pty
import select
import signal
import sys
import termios
import time

device = sys.argv[1]


def echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def run(*answers, command):
    """Gives each answer to its prompt. Returns the exit status and everything that the terminal showed."""
    # A child that stops with an interrupt leaves the terminal to us: held open by both ends.
    master, slave = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(slave, number)
        os.execvp("appcontainer", ["appcontainer", *command])
    shown = b""

    def read_until(end):
        nonlocal shown
        deadline = time.monotonic() + 20
        while not shown.endswith(end):
            assert time.monotonic() < deadline, shown
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 4096)

    for prompt, answer in answers:
        read_until(prompt.encode() + b": ")
        # The prompt comes before the terminal is told to be silent.
        for _ in range(200):
            if not echoes(slave):
                break
            time.sleep(0.01)
        assert not echoes(slave), "the terminal shows what is typed"
        os.write(master, answer.encode())
    status = os.waitpid(pid, 0)[1]
    while select.select([master], [], [], 0.1)[0]:
        shown += os.read(master, 4096)
    assert echoes(slave), "the terminal was left silent"
    os.close(master)
    os.close(slave)
    shown = shown.decode()
    for word in ("geheim", "anders"):
        assert word not in shown, shown
    return status, shown


change = ["passcode", device, "change"]
new, again, old = "New passcode", "New passcode, once more", "Old passcode"
status, shown = run((new, "geheim\n"), (again, "anders\n"), command=["passcode", device, "set"])
assert os.waitstatus_to_exitcode(status) == 35 and "differ" in shown, (status, shown)
status, shown = run((new, "\n"), command=["passcode", device, "set"])
assert os.waitstatus_to_exitcode(status) == 18, (status, shown)
status, shown = run((new, "geheim\n"), (again, "geheim\n"), command=["passcode", device, "set"])
assert status == 0, (status, shown)
status, shown = run((old, "geheim\n"), (new, "anders\n"), (again, "anders\n"), command=change)
assert status == 0, (status, shown)
status, shown = run(("Passcode", "geheim\n"), command=["unlock", device])
assert os.waitstatus_to_exitcode(status) == 17, (status, shown)
status, shown = run(("Passcode", "\x03"), command=["unlock", device])
assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, (status, shown)
status, shown = run((old, "anders\n"), command=["passcode", device, "remove"])
assert status == 0, (status, shown)
