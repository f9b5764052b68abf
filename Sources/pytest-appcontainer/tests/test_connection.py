"""What is said of a device that does not answer, or answers something else: here a few bytes stand for it."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest

from pytest_appcontainer import Device, DeviceError, WorkProgress

Answering = Callable[[bytes], Device]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """Makes a device of what answers the first request with these bytes."""
    # The path of a socket has 108 bytes at most, which those of pytest may exceed.
    with tempfile.TemporaryDirectory(dir="/tmp") as place, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{place}/socket")
        listener.listen()

        def answer(text: bytes) -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                # To the end: what is not read would take the answer back.
                while connection.recv(65536):
                    pass

        def device(text: bytes) -> Device:
            threading.Thread(target=answer, args=(text,), daemon=True).start()
            return Device(f"{place}/socket")

        yield device


def answer(status: str, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


def test_a_complaint_has_the_devices_own_kind_and_words(answering: Answering) -> None:
    body = b'{"complaint": {"kind": "wrongPasscode", "message": "the passcode is wrong"}}'
    with pytest.raises(DeviceError) as raised:
        answering(answer("403 Forbidden", body)).unlock("1")
    assert (raised.value.kind, str(raised.value)) == ("wrongPasscode", "the passcode is wrong")


@pytest.mark.parametrize(
    "text, said",
    [
        (answer("404 Not Found", b"nothing here"), "no complaint beside the status 404"),
        (
            answer(
                "404 Not Found",
                b'{"complaint": {"kind": "notFound", "message": "/v1/status is not a path of the control API"}}',
            ),
            "it does not know /v1/status: the device is served by another version",
        ),
        (answer("200 OK", b"<html>"), "does not answer in JSON: the device is served by another version"),
        (
            answer("200 OK", b'{"mood": "good"}'),
            "(DeviceStatus.state is missing): the device is served by another version",
        ),
    ],
)
def test_another_version_is_told_from_what_it_answers(answering: Answering, text: bytes, said: str) -> None:
    with pytest.raises(DeviceError) as raised:
        answering(text).status()
    assert raised.value.kind == "otherVersion"
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("text", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"])
def test_a_device_that_ends_before_it_answered_says_so(answering: Answering, text: bytes) -> None:
    with pytest.raises(DeviceError) as raised:
        answering(text).status()
    assert raised.value.kind == "daemonEnded"


def test_nobody_at_the_socket_says_so(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="nobody answers at .*/none .*appcontainer boot") as raised:
        Device(tmp_path / "none").status()
    assert raised.value.kind == "daemonUnreachable"
    with pytest.raises(DeviceError, match="nobody answers"):
        Device("/" + "long" * 100).status()


def test_progress_is_told_line_by_line(answering: Answering) -> None:
    lines = (
        b'{"progress": {"activity": "checking", "unit": "files", "done": 1, "total": 2}}\n'
        b'{"result": {"files": 2, "unreadable": 0, "problems": [], "repaired": []}}\n'
    )
    told: list[WorkProgress] = []
    assert answering(answer("200 OK", lines)).check(progress=told.append).is_whole
    assert [(step.activity, step.done, step.total) for step in told] == [("checking", 1, 2)]
    with pytest.raises(DeviceError, match="it broke"):
        answering(answer("200 OK", b'{"complaint": {"kind": "damaged", "message": "it broke"}}\n')).check(
            progress=told.append
        )
    with pytest.raises(DeviceError, match="ended before it answered"):
        answering(answer("200 OK", b"")).check(progress=told.append)
