"""Expectations of tests, in words. One that does not hold is an AssertionError with the state that was found."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional, Union

from .attributes import backup_state, protection
from .client import Device, HostPath
from .errors import DeviceError
from .records import Event, HeldLock

__all__ = ["Expectations", "later"]

Exceptions = Union[type[BaseException], tuple[type[BaseException], ...]]


class Expectations:
    """A mounted home, and expectations of it."""

    def __init__(self, device: Device, identifier: str, home: Path) -> None:
        #: The client of the device's control API.
        self.device = device
        #: The app's identifier, such as ``com.example.Notes``.
        self.identifier = identifier
        #: The mount point.
        self.home = home

    @contextlib.contextmanager
    def expect_refused(
        self, rule: str, path: Optional[HostPath] = None, *, raises: Exceptions = PermissionError
    ) -> Iterator[list[Event]]:
        """The sandbox has to refuse something in the body by the rule, such as ``inbox`` or ``sealedBundle``, and with
        ``path`` on that path.

        The body may end with ``raises``, which is taken as the refusal's effect, or go on, as where another process was
        refused. Gives a list, which has the refusals when the body has ended.
        """
        __tracebackhide__ = True
        before = self.device.events()
        refusals: list[Event] = []
        raised: Optional[BaseException] = None
        try:
            yield refusals
        except raises as error:
            raised = error
        wanted = None if path is None else self._relative(path)
        others = []
        for event in later(self.device.events(), before):
            # An event that sums up a flood is of no call, and may be of one long ago.
            if event.event != "refused" or event.operation is None or event.app != self.identifier:
                continue
            if event.rule == rule and wanted in (None, event.path):
                refusals.append(event)
            else:
                others.append(event)
        if refusals:
            return
        said = f"nothing was refused by the rule {rule}" + ("" if wanted is None else f" on {wanted}")
        if others:
            said += "; refused were: " + "; ".join(map(str, others[-5:]))
        if raised is not None:
            said += f"; the body ended with {raised!r}"
        raise AssertionError(said) from raised

    @contextlib.contextmanager
    def expect_suspension(self, *, after: float = 0) -> Iterator[list[HeldLock]]:
        """After the body a phone has to be able to suspend the app, which is this process: it may hold no lock on a file in
        a group container then, and have no transaction of a database open there.

        The app is in the background for ``after`` seconds at most, until its last background task has ended. Nothing is
        frozen or killed. Gives a list, which has the locks when the body has ended.
        """
        __tracebackhide__ = True
        locks: list[HeldLock] = []
        yield locks
        rehearsal = self.device.rehearse_suspension(self.identifier, after=after)
        locks += rehearsal.locks
        said = [str(lock) for lock in locks]
        if after > 0:
            said += [f"the background task {name!r} has not ended" for name in rehearsal.unended_tasks]
        if said:
            raise AssertionError(
                "a phone would kill this process when it suspends the app (0xdead10cc): " + "; ".join(said)
                + "; end transactions and release locks before, or keep the file out of the group"
            )

    def expect_unreadable(self, path: HostPath) -> None:
        """The state of the device has to keep the file's content closed."""
        __tracebackhide__ = True
        place = self._place(path)
        try:
            # Not waiting for a writer of a fifo.
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
            try:
                os.read(descriptor, 1)
            finally:
                os.close(descriptor)
        except PermissionError as error:
            if error.errno == errno.EPERM:
                return
            raise AssertionError(f"{path} is kept closed by its mode, and not by the state of the device") from error
        state = self.device.status().state
        raise AssertionError(f"{path} could be read: {_class_in_words(place)}, and the device is {state}")

    def expect_excluded(self, path: HostPath) -> None:
        """No backup may have it: by its own mark, by that of a directory above it, or by its place."""
        __tracebackhide__ = True
        if backup_state(self._place(path)) == "included":
            raise AssertionError(f"{path} would be in a backup: neither it nor a directory above it is excluded")

    def expect_purged(self, path: HostPath) -> None:
        """It has to have been purged, by itself or with the entry that it was in."""
        __tracebackhide__ = True
        relative = self._relative(path)
        if os.path.lexists(self.home / relative):
            raise AssertionError(f"{path} is still there{self._why_it_stayed(relative)}")
        purged = [event for event in self.device.events() if event.event == "purged" and event.app == self.identifier]
        if not any(_is_in(relative, event.path) for event in purged):
            raise AssertionError(f"{path} is not there, but no purge has taken it")

    def _why_it_stayed(self, relative: str) -> str:
        report = self.device.purge(self.identifier, level="critical", dry_run=True)
        for entry in report.skipped:
            if _is_in(relative, entry.path):
                return f": {entry.path} would stay, {entry.reason}"
        if any(_is_in(relative, entry.path) for entry in report.purged):
            return ", and would go with level critical"
        return "; only what is in Library/Caches and tmp is ever purged"

    def _place(self, path: HostPath) -> Path:
        return self.home / self._relative(path)

    def _relative(self, path: HostPath) -> str:
        """The path relative to the home, given so or as one of the host."""
        place = os.path.normpath(os.path.join(self.home, path))
        relative = os.path.relpath(place, self.home)
        if relative == ".." or relative.startswith("../"):
            raise ValueError(f"{os.fspath(path)} is not in the home {self.home}")
        return "" if relative == "." else relative


def later(events: Sequence[Event], before: Sequence[Event]) -> list[Event]:
    """Those that came after others were taken from the same record, whose oldest events may have gone since."""
    if not before:
        return list(events)
    if len(events) >= len(before) and events[len(before) - 1] == before[-1]:
        return list(events[len(before) :])
    known = [index for index, event in enumerate(events) if event == before[-1]]
    return list(events[known[0] + 1 :] if known else events)


def _class_in_words(place: Path) -> str:
    try:
        return f"its class is {protection(place)}"
    except DeviceError as error:
        if error.kind != "unsuitableFile":
            raise
        return "it has no protection class"


def _is_in(path: str, entry: Optional[str]) -> bool:
    return entry is not None and (path == entry or path.startswith(entry + "/"))
