"""Descriptors that a forked child must not keep: a lease, a device or an answer lasts as long as one is open.

A child closes the registered ones. Code that opens such a descriptor registers it before another thread can fork.
"""

from __future__ import annotations

import os
import threading
from typing import Callable

__all__ = ["in_child", "lock"]

#: Held while something is open and not known. A fork waits for it.
lock = threading.RLock()

_disowning: list[Callable[[], None]] = []


def in_child(disown: Callable[[], None]) -> None:
    """Has every child that is forked from now on call this first, while it has ``lock``."""
    _disowning.append(disown)


def _disown() -> None:
    try:
        for disown in _disowning:
            disown()
    finally:
        lock.release()


os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=_disown)
