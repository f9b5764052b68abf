"""Devices that last as long as their owners, and the search for devices that are on.

Each is a process `appcontainer own`, which ends running apps, unmounts and deletes when the other end of its standard
input is closed. The kernel closes it even for an owner that is killed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import Optional

from . import forking
from .client import Device, HostPath
from .decoding import decoded_list
from .errors import DeviceError
from .records import ListedDevice

__all__ = ["OwnedDevice", "boot", "program", "served"]

# Ending takes as long as unmounting does. A longer end counts as stuck, and is an error.
_LONGEST_END = 120


def program() -> str:
    """The command: the file that ``$APPCONTAINER`` names, or else the ``appcontainer`` in ``PATH``."""
    named = os.environ.get("APPCONTAINER")
    found = shutil.which(os.path.abspath(named) if named else "appcontainer")
    if found is None:
        raise DeviceError(
            "programMissing",
            f"$APPCONTAINER names {named}, which is no command; name the file of the command appcontainer"
            if named
            else "there is no command appcontainer in PATH; install it, or name its file in $APPCONTAINER",
        )
    return os.path.abspath(found)


def boot(directory: HostPath) -> Device:
    """The device in a directory, which lasts; it is turned on where it is off."""
    command = program()
    order = json.dumps({"device": os.path.abspath(directory)})
    try:
        started = subprocess.run([command, "own"], input=order.encode() + b"\n", stdout=subprocess.PIPE)
    except OSError as error:
        raise _cannot_run(command, error) from None
    served = _served(_report(command, started.stdout))
    if served is None:
        raise DeviceError.other_version(f"`{command} own` did not name a control socket")
    return served


def served() -> tuple[ListedDevice, ...]:
    """The devices that processes of this user serve now, by their paths. Starts none.

    One whose process does not answer within two seconds is among them. Raises DeviceError.
    """
    command = program()
    try:
        listed = subprocess.run([command, "list", "--json"], stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise DeviceError("programMissing", f"cannot run {command}: {error.strerror or error}") from None
    if listed.returncode != 0:
        said = listed.stderr.decode(errors="replace").strip()
        raise DeviceError("unexpected", said or f"`{command} list` ended with {listed.returncode}")
    try:
        return decoded_list(ListedDevice, json.loads(listed.stdout))
    except ValueError:
        raise DeviceError.other_version(f"`{command} list` did not answer in JSON") from None


class OwnedDevice:
    """A device of this process, made as ordered, served or, as a template, only kept, and gone with ``close``.

    A child that this process forks does not own it.
    """

    def __init__(self, order: Mapping[str, object], *, place: Optional[str] = None) -> None:
        """``order``: that of `appcontainer own`, without the place: ``create`` or ``clone``, ``install``, ``template``,
        as appcontainer(1) has them, with absolute paths.

        ``place``: the directory that the device's directory is made in, the one for temporary files if it is None.
        """
        self.directory = os.path.join(_directory(place), f"appcontainer-{secrets.token_hex(4)}")
        # For the end as well: a test may change both.
        self._command = program()
        self._environment = os.environ.copy()
        # A device that could not be made is not kept.
        self._is_kept = False
        self._process = self._start()
        try:
            report = _report(self._command, self._told({**order, "device": self.directory}))
        except DeviceError as error:
            try:
                self.close()
            except DeviceError as left:
                raise DeviceError(error.kind, f"{error}; and {left}") from None
            raise
        except BaseException:
            self.close()
            raise
        self._is_kept = order.get("keep") is True
        self._device = _served(report)
        warnings = report.get("warnings")
        #: Warnings of the start, a line each.
        self.warnings: tuple[str, ...] = tuple(map(str, warnings)) if isinstance(warnings, list) else ()

    @property
    def device(self) -> Device:
        """The client that drives it. A template is not served."""
        if self._device is None:
            raise DeviceError("shuttingDown", f"{self.directory} is a template, which is not on; clone it")
        return self._device

    def close(self) -> None:
        """Ends and deletes it, and returns when nothing is left, also where its process was killed.

        One that was ordered with ``keep`` is ended only, and its directory stays. Raises DeviceError where something is
        left, and where the process has crashed.
        """
        if self._life < 0:
            return
        self._let_go()
        assert self._process.stdout is not None
        self._process.stdout.close()
        # One that was stopped would end nothing.
        self._process.send_signal(signal.SIGCONT)
        try:
            status = self._process.wait(_LONGEST_END)
        except subprocess.TimeoutExpired:
            raise DeviceError(
                "inUse",
                f"the process {self._process.pid} of {self.directory} has not ended for {_LONGEST_END} seconds; "
                "see daemon.log there, and end what uses its mounts",
            ) from None
        if not self._is_kept:
            self._delete()
        if status < 0 and -status not in (signal.SIGKILL, signal.SIGTERM):
            raise DeviceError(
                "daemonEnded",
                f"the process of {self.directory} was ended by signal {-status}; its standard error may say why",
            )

    def _delete(self) -> None:
        """Deletes the device if its own process could not."""
        if not os.path.lexists(self.directory):
            return
        try:
            deleted = subprocess.run(
                [self._command, "delete", self.directory],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd="/",
                env=self._environment,
                timeout=_LONGEST_END,
            )
            said = " ".join(os.fsdecode(deleted.stderr).split())
            said = said or f"`appcontainer delete` ended with {deleted.returncode} and said nothing; remove it"
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if os.path.lexists(self.directory):
            raise DeviceError("daemonEnded", f"{self.directory} is left: {said}")

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            with forking.lock:
                reading, self._life = os.pipe()
                _owned.add(self)
            try:
                # In a session of its own, so that ^C ends the device after the test, and not before.
                return subprocess.Popen(
                    [self._command, "own"],
                    stdin=reading,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                    cwd="/",
                    env=self._environment,
                )
            except BaseException:
                self._let_go()
                raise
            finally:
                os.close(reading)
        except OSError as error:
            raise _cannot_run(self._command, error) from None

    def _let_go(self) -> None:
        with forking.lock:
            os.close(self._life)
            self._life = -1
            _owned.discard(self)

    def _told(self, order: Mapping[str, object]) -> bytes:
        assert self._process.stdout is not None
        try:
            os.write(self._life, json.dumps(order).encode() + b"\n")
        except BrokenPipeError:
            # The program reads no order; its answer is looked at below.
            pass
        return self._process.stdout.readline()

    def __enter__(self) -> OwnedDevice:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


_owned: set[OwnedDevice] = set()


def _disown() -> None:
    """A forked child has the pipes as well, and would keep devices alive when their owner has been killed."""
    for owned in list(_owned):
        owned._let_go()


forking.in_child(_disown)


def _directory(place: Optional[str]) -> str:
    try:
        return os.path.abspath(place or tempfile.gettempdir())
    except OSError as error:
        raise DeviceError("hostFilesystem", f"{error.strerror or error}; name a directory to make devices in") from None


def _cannot_run(command: str, error: OSError) -> DeviceError:
    return DeviceError("programMissing", f"cannot run {command}: {error.strerror or error}")


def _served(report: Mapping[str, object]) -> Optional[Device]:
    socket, identifier = report.get("socket"), report.get("identifier")
    if not isinstance(socket, str):
        return None
    return Device(socket, identifier if isinstance(identifier, str) else None)


def _report(command: str, line: bytes) -> dict[str, object]:
    try:
        report = json.loads(line)
    except ValueError:
        report = None
    told = DeviceError.told(report)
    if told is not None:
        raise told
    if not isinstance(report, dict):
        raise DeviceError.other_version(f"`{command} own` did not report what it made")
    return report
