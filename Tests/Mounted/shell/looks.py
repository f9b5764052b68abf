#!/usr/bin/python3
"""Runs commands on a terminal, and on pipes.

    looks.py DEVICE       which is unlocked, has an app, and has refused a call"""

import os
import pty
import re
import subprocess
import sys

from kit import check

device = sys.argv[1]
SEQUENCE = re.compile(rb"\x1b\[[0-9;]*m")


def shown(*command, **variables):
    """All that a terminal gets of standard output and standard error."""
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("appcontainer", ["appcontainer", *command], {**environment, "TERM": "xterm", **variables})
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError:
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    return text.replace(b"\r\n", b"\n")


def piped(*command):
    done = subprocess.run(["appcontainer", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def main():
    styled = {
        ("status", device): b"State:      \x1b[32munlocked\x1b[0m\n",
        ("list",): b"\x1b[1mDEVICE\x1b[0m",
        ("apps", device): b"\x1b[1mIDENTIFIER\x1b[0m",
        ("explain", device): b"\x1b[32mInstead:\x1b[0m",
        ("events", device): b'"event":\x1b[31m"refused"\x1b[0m',
        ("status", "/nowhere"): b"\x1b[1;31mappcontainer:\x1b[0m /nowhere does not exist",
        ("statsu",): b"\x1b[1;31mappcontainer:\x1b[0m There is no command statsu; did you mean status?",
    }
    for command, look in styled.items():
        text = shown(*command)
        check(look in text, command, text)
        plain = piped(*command)
        check(b"\x1b" not in plain, command, plain)
        # Colour changes no other byte. The list may have other cases' devices by now, and its columns their widths.
        if command != ("list",):
            check(SEQUENCE.sub(b"", text) == plain, command, text, plain)
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            check(b"\x1b" not in shown(*command, **variables), command, variables)
        check(look in shown(*command, NO_COLOR=""), command, "an empty NO_COLOR says nothing")
        if command[0] != "statsu" and command[-1] != "/nowhere":
            check(b"\x1b" not in shown(*command, "--json"), command, "--json")
    check(b"\x1b" not in shown("--help"), "help")


main()
