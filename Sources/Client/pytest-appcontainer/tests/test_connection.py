"""Tests of a device that does not answer, or answers something else: here a few bytes stand for it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Callable

import pytest

from pytest_appcontainer import Device, DeviceError, WorkProgress, connection, forking
from pytest_appcontainer.owner import program
from pytest_appcontainer.version import VERSION

Answering = Callable[..., Device]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """Makes a device of a server that answers the first requests with these bytes."""
    # The path of a socket has 108 bytes at most, which those of pytest may exceed.
    with tempfile.TemporaryDirectory(dir="/tmp") as place, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{place}/socket")
        listener.listen()

        def answer(connection: socket.socket, text: bytes) -> None:
            with connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                # To the end: what is not read would take the answer back.
                while connection.recv(65536):
                    pass

        def listen(texts: tuple[bytes, ...]) -> None:
            for text in texts:
                connection, _ = listener.accept()
                # One at a time would not do: the answer that a lease is stays open.
                threading.Thread(target=answer, args=(connection, text), daemon=True).start()

        def device(*texts: bytes) -> Device:
            threading.Thread(target=listen, args=(texts,), daemon=True).start()
            return Device(f"{place}/socket")

        yield device


def answer(status: str, body: bytes, server: str = f"appcontainer/{VERSION}") -> bytes:
    return f"HTTP/1.1 {status}\r\nServer: {server}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def complaint(kind: str, message: str) -> bytes:
    return json.dumps({"complaint": {"kind": kind, "message": message}}).encode()


def test_a_complaint_has_the_devices_own_kind_and_words(answering: Answering) -> None:
    body = b'{"complaint": {"kind": "wrongPasscode", "message": "the passcode is wrong"}}'
    with pytest.raises(DeviceError) as raised:
        answering(answer("403 Forbidden", body)).unlock("1")
    assert (raised.value.kind, str(raised.value)) == ("wrongPasscode", "the passcode is wrong")


@pytest.mark.parametrize(
    "text, said",
    [
        (answer("404 Not Found", b"nothing here"), "no complaint beside the status 404"),
        (answer("200 OK", b"<html>"), "the answer is not JSON: the device is served by another version"),
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


@pytest.mark.parametrize("server", ["appcontainer/9.9", "nginx"])
def test_a_call_that_another_version_does_not_know_says_which_it_is(answering: Answering, server: str) -> None:
    # The words may be any: they are for people.
    text = answer("404 Not Found", complaint("notFound", "no call of that name"), server)
    with pytest.raises(DeviceError) as raised:
        answering(text).survey("com.example.Notes")
    assert raised.value.kind == "otherVersion"
    assert str(raised.value) == (
        f"no call of that name: the device is served by {server}, and this is pytest-appcontainer {VERSION}; shut it "
        "down, and see that the command appcontainer and pytest-appcontainer are of one version"
    )


def test_a_path_unknown_to_this_version_is_only_not_found(answering: Answering) -> None:
    body = complaint("notFound", "/v1/status is not a path of the control API")
    with pytest.raises(DeviceError) as raised:
        answering(answer("404 Not Found", body)).status()
    assert (raised.value.kind, str(raised.value)) == ("notFound", "/v1/status is not a path of the control API")
    # Another kind of the same status is no matter of versions.
    with pytest.raises(DeviceError) as raised:
        answering(answer("404 Not Found", complaint("unknownApp", "no such app"), "appcontainer/9.9")).reset("a")
    assert raised.value.kind == "unknownApp"


def test_the_command_is_of_the_packages_version() -> None:
    told = subprocess.run([program(), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert told.strip() == VERSION


LEASE = answer("200 OK", b'{"result": {"identifier": "a.b", "mountPoint": "/home", "isMountedToRun": false, "lease": 1}}\n')


@pytest.mark.parametrize("kind", ["unknownApp", "shuttingDown"])
def test_a_lease_that_has_ended_already_ends_without_a_word(answering: Answering, kind: str) -> None:
    with answering(LEASE, answer("404 Not Found", complaint(kind, "it has gone"))).lease("a"):
        pass
    with answering(LEASE, b"").lease("a"):
        pass


def test_a_lease_that_cannot_be_ended_says_so(answering: Answering) -> None:
    refusal = answer("500 Internal Server Error", complaint("unexpected", "the mount is stuck"))
    with pytest.raises(DeviceError, match="^the mount is stuck$"):
        with answering(LEASE, refusal).lease("a"):
            pass


def test_a_device_that_does_not_answer_in_time_is_an_error(answering: Answering) -> None:
    # Nobody takes the connection from the queue.
    with pytest.raises(DeviceError, match="has not answered for 0.1 seconds; ") as raised:
        answering().events(timeout=0.1)
    assert raised.value.kind == "daemonUnreachable"


def test_a_follower_of_a_device_that_does_not_answer_waits_no_longer_than_its_timeout(answering: Answering) -> None:
    with pytest.raises(DeviceError, match="has not answered for 0.1 seconds; ") as raised:
        answering().follow_events(timeout=0.1)
    assert raised.value.kind == "daemonUnreachable"


@pytest.mark.parametrize("call", [Device.events, Device.follow_events])
@pytest.mark.parametrize("timeout", [0, -1])
def test_no_time_to_answer_is_a_mistake(call: Callable[..., object], timeout: float) -> None:
    with pytest.raises(ValueError, match=f"^a timeout of {timeout} seconds leaves no time to answer; take more, "):
        call(Device("/none"), timeout=timeout)


def test_a_fork_waits_while_a_connection_is_not_yet_known(
    answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    def look() -> None:
        taken.append(forking.lock.acquire(blocking=False))
        if taken[-1]:
            forking.lock.release()

    def made(*arguments: int) -> socket.socket:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        return plain(*arguments)

    device, plain = answering(LEASE, b""), socket.socket
    with monkeypatch.context() as changed:
        changed.setattr(connection, "socket", SimpleNamespace(**{**vars(socket), "socket": made}))
        lease = device.lease("a")
    assert taken == [False]
    look()
    assert taken == [False, True]
    lease.end()


def test_a_child_that_is_forked_while_a_connection_is_made_does_not_keep_it(
    answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by another thread, to which connecting leaves time."""
    kept: list[int] = []

    class Forking(socket.socket):
        def connect(self, address: str) -> None:  # type: ignore[override]
            descriptor = self.fileno()
            child = os.fork()
            if not child:
                os._exit(os.path.lexists(f"/proc/self/fd/{descriptor}"))
            kept.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            super().connect(address)

    device = answering(LEASE, b"")
    with monkeypatch.context() as changed:
        changed.setattr(connection, "socket", SimpleNamespace(**{**vars(socket), "socket": Forking}))
        lease = device.lease("a")
    assert kept == [0]
    lease.end()


def test_events_are_followed_from_a_time_on(answering: Answering) -> None:
    times = ["2026-11-23T17:00:00.000Z", "2026-11-23T17:00:01.000Z", "2026-11-23T17:00:02.000Z"]
    text = answer("200 OK", b"".join(b'{"time": "%s", "event": "locked"}\n' % time.encode() for time in times))
    for since, wanted in ((None, times), (times[1], times[1:]), ("2026-11-23", times), ("2026-11-24", [])):
        with answering(text).follow_events(since=since) as events:
            assert [event.time for event in events] == wanted


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
