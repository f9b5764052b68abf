#!/usr/bin/python3
"""`appcontainer ui` as a job of a shell: Enter prints links, and the background stops no page.

    links.py DEVICE"""

import os
import pty
import re
import signal
import sys
import urllib.request

from kit import check, eventually
from terminal import read_until


def shell(device):
    """Begins the job in the background, and brings it to the foreground after a line."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp("appcontainer", ["appcontainer", "ui", device, "--no-browser"])
    os.read(0, 1)
    os.write(1, b"<brought>")
    os.tcsetpgrp(0, job)
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"<stopped>" if os.WIFSTOPPED(status) else f"<ended {os.waitstatus_to_exitcode(status)}>".encode())
    os._exit(0)


def link_of(terminal):
    text = b""
    while not (found := re.search(rb"http://\S*token=\w+(?=\s)", text)):
        text += os.read(terminal, 65536)
    return found[0].decode()


def opens(link):
    with urllib.request.urlopen(link, timeout=20) as answer:
        return answer.status == 200


def main(device):
    process, terminal = pty.fork()
    if process == 0:
        shell(device)
    first = link_of(terminal)
    # A stopped one would not answer; it has come to its first read when it has answered once, or comes to it later.
    check(opens(first), "the page in the background")
    os.write(terminal, b"\n")
    read_until(terminal, b"<brought>")

    def another():
        os.write(terminal, b"\n")
        return opens(link_of(terminal))
    eventually(another, "Enter prints a link that opens the page")
    os.write(terminal, b"\x03")
    read_until(terminal, b"<ended 0>")
    os.waitpid(process, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
