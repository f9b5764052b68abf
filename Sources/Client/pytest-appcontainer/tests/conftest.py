"""Fixtures of all tests: an app, and a device of it for each test."""

from __future__ import annotations

import json
import plistlib
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_appcontainer.owner import program

pytest_plugins = ["pytester"]

IDENTIFIER = "com.example.Notes"


def make_app(place: Path, identifier: str = IDENTIFIER) -> Path:
    """An app whose executable tells where it runs."""
    app = place / "Notes.app"
    app.mkdir()
    information = {
        "CFBundleIdentifier": identifier,
        "CFBundleName": "Notes",
        "CFBundleExecutable": "Notes",
        "CFBundleShortVersionString": "1.0",
        "UIFileSharingEnabled": True,
    }
    (app / "Info.plist").write_bytes(plistlib.dumps(information))
    (app / "Welcome.txt").write_text("welcome\n")
    (app / "Notes").write_text('#!/bin/sh\necho "runs in $HOME"\n')
    (app / "Notes").chmod(0o755)
    return app


def eventually(condition: Callable[[], bool]) -> None:
    """Waits for what another process does; half a minute is for a machine with much else to do."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "did not come true"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_app(tmp_path_factory.mktemp("app"))


@pytest.fixture
def app_container_options(notes: Path) -> dict[str, object]:
    return {"app": notes, "passcode": "1234"}


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """Tests of somebody, beside the app."""
    make_app(pytester.path)
    return pytester


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where each order that is given to `appcontainer own` is written down."""
    orders, spy = tmp_path / "orders", tmp_path / "appcontainer"
    spy.write_text(
        "#!/bin/bash\nread -r order\n"
        f'echo "$order" >>{shlex.quote(str(orders))}\n'
        # A line after the order, which is nothing until the owner lets go, comes from the owner still.
        f'exec {shlex.quote(program())} "$@" < <(echo "$order"; exec cat)\n'
    )
    spy.chmod(0o755)
    monkeypatch.setenv("APPCONTAINER", str(spy))
    return orders


def given(orders: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in orders.read_text().splitlines()]
