"""A device goes with its test, whatever becomes of it: nothing is left, no mount, no process, no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from conftest import IDENTIFIER, make_app

from pytest_appcontainer import DeviceError, OwnedDevice


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


def is_mounted(home: str) -> bool:
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split()[4] == home for line in mounts)


def is_gone(home: str, pids: list[int], devices: Path) -> bool:
    return not (is_mounted(home) or any(map(is_running, pids)) or os.listdir(devices) or os.path.exists(home))


@pytest.mark.parametrize("forks", [False, True], ids=["alone", "with a forked child"])
def test_nothing_is_left_when_pytest_is_killed(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: bool
) -> None:
    """Also while the app runs a command, and while a child that pytest has forked lives on."""
    make_app(pytester.path)
    devices = tmp_path / "devices"
    devices.mkdir()
    pytester.makeini(f"[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = {devices}\n")
    pytester.makepyfile(
        f"""
        import os, pathlib, time

        def test_it(app_container):
            child = os.fork() if {forks} else 0
            if {forks} and child == 0:
                time.sleep(600)
            with app_container.lease() as lease:
                command = lease.start(["sleep", "600"])
                pids = f"{{command.pid}} {{app_container.device.status().daemon.pid}}"
                pathlib.Path("told.part").write_text(f"{{app_container.home}}\\n{{pids}}\\n{{child}}\\n")
                os.rename("told.part", "told")
                time.sleep(600)
        """
    )
    killed = subprocess.Popen(
        [sys.executable, "-m", "pytest"], cwd=pytester.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    eventually((pytester.path / "told").exists)
    home, pids, child = (pytester.path / "told").read_text().splitlines()
    assert is_mounted(home) and len(os.listdir(devices)) == 2
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    try:
        eventually(lambda: is_gone(home, [int(pid) for pid in pids.split()], devices))
    finally:
        if forks:
            os.kill(int(child), signal.SIGKILL)


def test_a_test_that_leaves_files_open_leaves_nothing_else(tmp_path: Path, notes: Path) -> None:
    with OwnedDevice({"create": {}, "install": [{"app": str(notes)}]}, place=str(tmp_path)) as owned:
        home = owned.device.mount(IDENTIFIER).mount_point
        pid = owned.device.status().daemon.pid
        file = open(f"{home}/Documents/note", "w")
    # Out of sight at once, as soon as the context has ended.
    assert is_gone(home, [pid], tmp_path)
    with pytest.raises(OSError):
        file.write("note")
        file.flush()
    try:
        file.close()
    except OSError:
        pass


def test_a_device_that_cannot_be_made_leaves_nothing(tmp_path: Path, notes: Path) -> None:
    with pytest.raises(DeviceError) as raised:
        OwnedDevice({"create": {}, "install": [{"app": str(tmp_path / "None.app")}]}, place=str(tmp_path))
    assert raised.value.kind in ("notFound", "invalidApp") and "None.app" in str(raised.value)
    assert os.listdir(tmp_path) == []


def test_a_template_is_cloned_and_not_driven(tmp_path: Path, notes: Path) -> None:
    order = {"create": {"kdfCost": 1, "passcode": "1"}, "install": [{"app": str(notes)}], "template": True}
    with OwnedDevice(order, place=str(tmp_path)) as template:
        with pytest.raises(DeviceError, match="is a template, which is not on; clone it"):
            _ = template.device
        with OwnedDevice({"clone": template.directory}, place=str(tmp_path)) as first:
            with OwnedDevice({"clone": template.directory}, place=str(tmp_path)) as second:
                for device in (first.device, second.device):
                    device.unlock("1")
                homes = [device.mount(IDENTIFIER).mount_point for device in (first.device, second.device)]
                assert homes[0] != homes[1] and all(map(is_mounted, homes))
    assert os.listdir(tmp_path) == []
