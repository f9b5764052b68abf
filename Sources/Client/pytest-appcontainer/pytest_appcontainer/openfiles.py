"""The files that this process still has open below a directory."""

from __future__ import annotations

import os
import re
from typing import Optional

from .decoding import printable

__all__ = ["open_below"]

_DELETED = " (deleted)"


def open_below(directory: str) -> list[str]:
    """Descriptors and mappings that lead there, in words, by path."""
    found: dict[str, None] = {}
    for descriptor in sorted(os.listdir("/proc/self/fd"), key=int):
        name = _name(_target(f"/proc/self/fd/{descriptor}"), directory)
        if name is not None:
            found[f"{printable(name)} (descriptor {descriptor})"] = None
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        for line in maps:
            columns = line.rstrip("\n").split(None, 5)
            # proc(5): a line break in a path is written by its number.
            path = re.sub(r"\\012", "\n", columns[5]) if len(columns) == 6 else ""
            name = _name(path, directory)
            if name is not None:
                found[f"{printable(name)} (mapped)"] = None
    return sorted(found)


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        # Closed since it was listed.
        return ""


def _name(path: str, directory: str) -> Optional[str]:
    """Relative to the directory; None for a path outside it."""
    if path.endswith(_DELETED):
        path = path[: -len(_DELETED)]
    if path == directory:
        return "the home itself"
    return path[len(directory) + 1 :] if path.startswith(directory + "/") else None
