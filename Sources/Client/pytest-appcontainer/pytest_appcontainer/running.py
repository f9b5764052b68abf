"""Commands in an app's home: the lease that marks the app running, and the processes that are started under it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from .connection import ask, ask_in_lines, result_line
from .decoding import decoded
from .errors import SHOWN_WHERE_ASKED, DeviceError
from .records import RunnableApp, WorkProgress

if TYPE_CHECKING:
    from .client import Device

__all__ = ["Command", "Lease"]
__tracebackhide__ = SHOWN_WHERE_ASKED

Command = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

# Seconds that the device has to end running processes.
_LONGEST_END = 10

# The events that say that a lease is no more: its app was removed, or its device has ended, or is about to.
_ENDED_ALREADY = {"unknownApp", "daemonUnreachable", "daemonEnded", "shuttingDown"}

# A process waits here, known by its number, until the device knows it; then it becomes the command. It says by the same
# socket why it cannot, and nothing when it could. Python ignores two signals that the command is not to ignore.
_WAITING_ROOM = """
import os, signal, sys
door, language, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
if not os.read(door, 1):
    os._exit(125)
os.set_inheritable(door, False)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
if language == "none":
    os.environ.pop("LC_CTYPE", None)
try:
    os.execvp(command[0], command)
except OSError as error:
    os.write(door, str(error.errno).encode())
    os._exit(127)
"""


class Lease:
    """A mark of an app as running, until ``end`` or the end of the context; also when this process is killed.

    An app that is not mounted is mounted for that time, and a process that was started under a lease ends with it.
    """

    def __init__(
        self, device: Device, app: str, verify_all: bool = False, extension: Optional[str] = None
    ) -> None:
        self._device = device
        self._app = app
        self._started: list[subprocess.Popen[Any]] = []
        # The mark lasts as long as this is open.
        self._answer = ask_in_lines(device.socket, "run", {"app": app, "verifyAll": verify_all, "extension": extension})
        try:
            for line in self._answer.lines():
                found = result_line(line)
                if not isinstance(found, WorkProgress):
                    #: Where and how the app runs.
                    self.app = decoded(RunnableApp, found)
                    self._app = self.app.identifier
                    return
            raise DeviceError.ended()
        except BaseException:
            self._answer.close()
            raise

    @property
    def mount_point(self) -> str:
        """Where the app's home is."""
        return self.app.mount_point

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which shells and Foundation take the app's home for theirs."""
        home = self.app.mount_point
        return {
            "HOME": home,
            "CFFIXED_USER_HOME": home,
            "TMPDIR": f"{home}/tmp",
            "PWD": home,
            "XDG_DATA_HOME": f"{home}/Library/Application Support",
            "XDG_STATE_HOME": f"{home}/Library/Application Support",
            "XDG_CACHE_HOME": f"{home}/Library/Caches",
            "XDG_CONFIG_HOME": f"{home}/Library/Preferences",
            "XDG_CONFIG_DIRS": f"{home}/Library/Preferences",
        }

    def start(
        self,
        command: Command = (),
        *,
        env: Optional[Mapping[str, str]] = None,
        pass_fds: Sequence[int] = (),
        **options: Any,
    ) -> subprocess.Popen[Any]:
        """Starts a command, or the bundle's main executable, in the app's home.

        ``options`` are those of :class:`subprocess.Popen`; to ``env``, or this process's environment, the app's own
        variables are added. The device ends the process when the app is terminated or the device restarts. Raises
        DeviceError of kind ``notRunning`` where the app was terminated meanwhile, and OSError where the command cannot
        be run.
        """
        for option in ("shell", "executable"):
            if option in options:
                raise TypeError(f"{option} is not taken; name the shell or the program as the command's first word")
        arguments = self._arguments(command)
        environment = {**(os.environ if env is None else env), **self.environment}
        options.setdefault("cwd", self.mount_point)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                language = "kept" if "LC_CTYPE" in environment else "none"
                process: subprocess.Popen[Any] = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _WAITING_ROOM, str(theirs.fileno()), language, *arguments],
                    env=environment,
                    pass_fds=(*pass_fds, theirs.fileno()),
                    **options,
                )
            try:
                ask(self._device.socket, "run-process", {"lease": self.app.lease, "pid": process.pid})
                ours.sendall(b"1")
                refusal = ours.recv(16)
            except BaseException:
                ours.close()
                _end(process)
                raise
        if refusal:
            _end(process)
            raise OSError(int(refusal), os.strerror(int(refusal)), arguments[0])
        self._started.append(process)
        return process

    def run(
        self,
        command: Command = (),
        *,
        input: Any = None,
        capture_output: bool = False,
        timeout: Optional[float] = None,
        check: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Starts a command and waits for its end, as :func:`subprocess.run` does, with the same options."""
        if input is not None:
            options["stdin"] = subprocess.PIPE
        if capture_output:
            options["stdout"] = options["stderr"] = subprocess.PIPE
        process = self.start(command, **options)
        arguments = self._arguments(command)
        with process:
            try:
                output, errors = process.communicate(input, timeout=timeout)
            except BaseException as error:
                process.kill()
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise subprocess.TimeoutExpired(arguments, error.timeout, error.output, error.stderr) from None
                raise
        if check and process.returncode:
            raise subprocess.CalledProcessError(process.returncode, arguments, output, errors)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def end(self) -> None:
        """Ends the processes under it, and the mark, and waits until a mount that was made for it is gone, unless another
        process uses it. A lease that has ended already raises nothing."""
        self._end_processes()
        try:
            ask(self._device.socket, "run-end", {"app": self._app, "lease": self.app.lease})
        except DeviceError as error:
            if error.kind not in _ENDED_ALREADY:
                raise
        finally:
            self._answer.close()

    def _end_processes(self) -> None:
        """The device ends them with their descendants, as soon as it sees that their starter has gone."""
        running = [process for process in self._started if process.poll() is None]
        if running:
            self._answer.close()
        for process in running:
            try:
                process.wait(_LONGEST_END)
            except subprocess.TimeoutExpired:
                # There is no device any more that would.
                process.kill()
                process.wait()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.end()

    def _arguments(self, command: Command) -> list[str]:
        words = [command] if isinstance(command, (str, os.PathLike)) else list(command)
        arguments = [os.fspath(word) for word in words]
        if not arguments:
            if self.app.executable is None:
                raise DeviceError("invalidApp", f"the Info.plist of {self._app} names no executable; name a command")
            arguments = [self.app.executable]
        return arguments


def _end(process: subprocess.Popen[Any]) -> None:
    """Releases a process that did not become the app's."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()
