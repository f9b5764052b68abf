"""One request and its answer over a device's control socket: HTTP and JSON over a Unix socket."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct
import weakref
from collections.abc import Iterator, Mapping
from typing import Callable, Optional

from . import forking
from .decoding import decoded
from .errors import SHOWN_WHERE_ASKED, DeviceError
from .records import WorkProgress
from .version import VERSION

__all__ = ["Address", "Answer", "Progress", "ask", "ask_in_lines"]
__tracebackhide__ = SHOWN_WHERE_ASKED

Progress = Callable[[WorkProgress], None]

_JSON, _LINES = "application/json", "application/x-ndjson"
# The errors of a connection that ends in the middle of something.
_BROKEN = (http.client.HTTPException, ConnectionError)


class Address(str):
    """The path of a control socket, and the identifier of the device that each request is meant for, if it is known."""

    identifier: Optional[str]

    def __new__(cls, path: str, identifier: Optional[str] = None) -> Address:
        address = super().__new__(cls, path)
        address.identifier = identifier
        return address


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("device", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        with forking.lock:
            connected = socket.socket(socket.AF_UNIX)
            _open.add(connected)
        try:
            connected.settimeout(self.timeout)
            connected.connect(self._path)
        except (OSError, ValueError) as error:
            connected.close()
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise DeviceError.unreachable(
                f"nobody answers at {self._path} ({reason}); start the device, for instance with `appcontainer boot`"
            ) from None
        # A passcode may be in the request. The user is the one that the other process had at listen(2).
        user = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if user not in (os.geteuid(), 0):
            connected.close()
            raise DeviceError("notAllowed", f"the process that listens at {self._path} is another user's")
        self.sock = connected


class Answer:
    """An answer in lines, which may stay open. To the device, closing it is the end of the client."""

    def __init__(
        self,
        path: str,
        request: str,
        body: Optional[Mapping[str, object]],
        accept: str,
        timeout: Optional[float] = None,
    ) -> None:
        if timeout is not None and timeout <= 0:
            raise ValueError(f"a timeout of {timeout} seconds leaves no time to answer; take more, or None for no end")
        self._timeout = timeout
        self._connection = _UnixConnection(path, timeout)
        self._socket: Optional[socket.socket] = None
        headers = {"Accept": accept, "Content-Type": _JSON}
        if isinstance(path, Address) and path.identifier is not None:
            headers["Device"] = path.identifier
        try:
            self._connection.request(
                "GET" if body is None else "POST",
                f"/v1/{request}",
                None if body is None else json.dumps({key: value for key, value in body.items() if value is not None}),
                headers,
            )
            # Taken now: the connection lets go of its socket when the answer says that it is the last.
            self._socket = self._connection.sock
            self._response = self._connection.getresponse()
            if self._response.status != 200:
                raise self._complaint(self._response.read())
        except _BROKEN:
            self.close()
            raise DeviceError.ended() from None
        except socket.timeout:
            self.close()
            raise self._is_late() from None
        except BaseException:
            self.close()
            raise

    def read(self) -> object:
        """All of it, as one JSON value."""
        try:
            return _parsed(self._response.read())
        except _BROKEN:
            raise DeviceError.ended() from None
        except socket.timeout:
            raise self._is_late() from None

    def lines(self) -> Iterator[object]:
        """The JSON value of each line, as it comes. Raises TimeoutError where none has come for the timeout."""
        while True:
            try:
                line = self._response.readline()
            except _BROKEN:
                raise DeviceError.ended() from None
            if not line:
                return
            if line.strip():
                yield _parsed(line)

    def shut(self) -> None:
        """Ends the answer from another thread: a thread that waits for a line gets none any more."""
        try:
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        # For a child as well that is forked at this moment, and to which this is not known any more.
        self.shut()
        response = getattr(self, "_response", None)
        if response is not None:
            response.close()
        self._connection.close()

    def _complaint(self, body: bytes) -> DeviceError:
        try:
            told = DeviceError.told(json.loads(body))
        except ValueError:
            told = None
        if told is None:
            return DeviceError.other_version(f"the answer has no complaint beside the status {self._response.status}")
        # A device of this version has every path that is asked for, so something else was not found.
        server = self._response.getheader("Server") or "something that does not tell its version"
        if self._response.status == 404 and told.kind == "notFound" and server != f"appcontainer/{VERSION}":
            return DeviceError.other_version(told.message, server)
        return told

    def _is_late(self) -> DeviceError:
        return DeviceError.unreachable(
            f"the device has not answered for {self._timeout} seconds; see whether its process is stopped, and "
            "daemon.log in the device directory"
        )


_open: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _disown() -> None:
    """Closes a forked child's copies: to the device, the client would not have gone while one is open."""
    for connected in list(_open):
        descriptor = connected.detach()
        if descriptor >= 0:
            os.close(descriptor)


forking.in_child(_disown)


def ask(
    path: str,
    request: str,
    body: Optional[Mapping[str, object]],
    progress: Optional[Progress] = None,
    timeout: Optional[float] = None,
) -> object:
    """Sends a request, a query where ``body`` is None, and returns the JSON value that it is answered with.

    Keys of the body that are None are not sent. With ``progress`` the answer comes in lines, and it is told how far the
    work has come. Raises DeviceError; of kind ``daemonUnreachable`` where nothing has come for ``timeout`` seconds.
    """
    answer = Answer(path, request, body, _JSON if progress is None else _LINES, timeout)
    try:
        return answer.read() if progress is None else _result(answer, progress)
    finally:
        answer.close()


def ask_in_lines(
    path: str, request: str, body: Optional[Mapping[str, object]], timeout: Optional[float] = None
) -> Answer:
    """Sends a request whose answer comes in lines only, and stays open.

    Raises DeviceError of kind ``daemonUnreachable`` where no answer has begun for ``timeout`` seconds.
    """
    return Answer(path, request, body, _LINES, timeout)


def result_line(line: object) -> object:
    """The result in one line of work; WorkProgress where it tells how far it is. Raises its complaint."""
    told = DeviceError.told(line)
    if told is not None:
        raise told
    if isinstance(line, dict):
        if "progress" in line:
            return decoded(WorkProgress, line["progress"])
        if "result" in line:
            return line["result"]
    raise DeviceError.other_version("the device answered something else than a line of work")


def _result(answer: Answer, progress: Progress) -> object:
    for line in answer.lines():
        found = result_line(line)
        if not isinstance(found, WorkProgress):
            return found
        progress(found)
    raise DeviceError.ended()


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        raise DeviceError.other_version("the answer is not JSON") from None
