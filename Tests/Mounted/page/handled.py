"""A device's page that a command serves and a browser has opened, and what may be asked about what it did."""

import os
import subprocess
import sys

from kit import check, read
from served import Served
from window import Window, action, element, run, told

PASSCODE = "271828"
DIALOG = "document.querySelector('dialog')"
SUBMIT = element("dialog [type=submit]")


def written(path, content=b"text"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def unlock(window, passcode=PASSCODE):
    window.click(action("Unlock…"))
    window.write(element("dialog input[type=password]"), passcode)
    window.key("Enter")


class Handled(Window):
    """The page of a device, opened by the command's link."""

    def __init__(self, device, *options):
        self.served = Served(device, *options, admitted=False)
        self.device = device

    def __enter__(self):
        self.served.__enter__()
        super().__enter__()
        return self.visit(self.served)

    def __exit__(self, kind, *rest):
        super().__exit__(kind, *rest)
        self.served.__exit__()
        if kind is None:
            self.is_content()

    def confirm(self, line):
        """Confirms the dialog that is open, which shows this command line. Returns that."""
        check(self.command() == line, "the line of the dialog is", self.command(), "and not", line)
        self.click(SUBMIT)
        self.is_closed()
        return line

    def state(self):
        return told("status", self.device)["state"]


def marked(path, is_marked=True):
    """Whether a path bears the mark in all its forms, or in none."""
    words = [sys.executable, f"{os.environ['KIT']}/exclusion.py", "yes" if is_marked else "no", path]
    return subprocess.run(words, capture_output=True).returncode == 0


def class_of(path):
    return told("inspect", path)[0]["protection"]


def ahead(device):
    """The seconds that the device's clock is ahead of the host's."""
    return round(told("clock", device)["ahead"])


def try_named(functions):
    """Tries what the command line names: NAME[,NAME…] DEVICE APP HOME."""
    names, arguments = sys.argv[1].split(","), sys.argv[2:]
    for name in names:
        functions[name](*arguments)
