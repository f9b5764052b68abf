"""A device goes with its test, whatever becomes of it: nothing is left, no mount, no process, no file."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Callable, Optional

import pytest
from conftest import IDENTIFIER, eventually, is_running, make_app

from pytest_appcontainer import DeviceError, OwnedDevice, boot, forking, owner


def is_mounted(home: str) -> bool:
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split()[4] == home for line in mounts)


def is_gone(home: str, pids: list[int], devices: Path) -> bool:
    return not (is_mounted(home) or any(map(is_running, pids)) or os.listdir(devices) or os.path.exists(home))


@pytest.mark.parametrize(
    "end, forks",
    [(signal.SIGKILL, False), (signal.SIGKILL, True), (signal.SIGINT, False)],
    ids=["killed", "killed, with a child that lives on", "interrupted"],
)
def test_nothing_is_left_when_pytest_ends_in_the_middle(
    pytester: pytest.Pytester, tmp_path: Path, end: signal.Signals, forks: bool
) -> None:
    """While the app runs a command."""
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
    with subprocess.Popen(
        [sys.executable, "-m", "pytest"],
        cwd=pytester.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        child = "0"
        try:
            eventually((pytester.path / "told").exists)
            home, pids, child = (pytester.path / "told").read_text().splitlines()
            assert is_mounted(home) and len(os.listdir(devices)) == 2
            if end == signal.SIGINT:
                # As a terminal does: to all that pytest has started and that is still with it.
                os.killpg(running.pid, end)
            else:
                running.send_signal(end)
            running.wait()
            everything = [int(pid) for pid in pids.split()]
            # Where pytest could put things in order, that is done when it has ended.
            assert end == signal.SIGKILL or is_gone(home, everything, devices)
            eventually(lambda: is_gone(home, everything, devices))
        finally:
            running.kill()
            if int(child):
                os.kill(int(child), signal.SIGKILL)


def test_a_child_does_not_own_what_nobody_names_any_more(tmp_path: Path) -> None:
    script = """
import gc, os, sys, time
from pytest_appcontainer import OwnedDevice
OwnedDevice({"create": {}}, place=sys.argv[1])
gc.collect()
child = os.fork()
if not child:
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        child = int(running.stdout.readline())
        assert len(os.listdir(tmp_path)) == 1
        running.kill()
        try:
            eventually(lambda: os.listdir(tmp_path) == [])
        finally:
            os.kill(child, signal.SIGKILL)


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


def test_a_child_that_is_forked_while_a_device_is_made_does_not_own_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by another thread; here in place of the start of the command."""

    def pipes_to_write() -> int:
        found = 0
        for descriptor in os.listdir("/proc/self/fd"):
            try:
                with open(f"/proc/self/fdinfo/{descriptor}") as info:
                    flags = int(info.read().split("flags:")[1].split()[0], 8)
                found += os.readlink(f"/proc/self/fd/{descriptor}").startswith("pipe:") and flags & os.O_WRONLY
            except OSError:
                pass
        return found

    forked: list[int] = []

    def fork(*_: object, **__: object) -> None:
        child = os.fork()
        if not child:
            os._exit(pipes_to_write())
        forked.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        raise OSError(errno.EAGAIN, "not today")

    # Those of other devices, such as the templates of this session, are closed as well.
    before, known = pipes_to_write(), len(owner._owned)
    monkeypatch.setattr(subprocess, "Popen", fork)
    with pytest.raises(DeviceError, match="^cannot run .*: not today$"):
        OwnedDevice({"create": {}}, place=str(tmp_path))
    assert forked == [before - known] and pipes_to_write() == before


def test_a_fork_waits_while_a_pipe_is_not_yet_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bool] = []

    def look() -> None:
        taken.append(forking.lock.acquire(blocking=False))

    def pipe() -> None:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        raise OSError(errno.EMFILE, "too many")

    monkeypatch.setattr(os, "pipe", pipe)
    with pytest.raises(DeviceError, match="^cannot run .*: too many$"):
        OwnedDevice({"create": {}}, place=str(tmp_path))
    assert taken == [False]
    look()
    assert taken == [False, True]
    forking.lock.release()


@pytest.mark.parametrize("make", [boot, lambda place: OwnedDevice({"create": {}}, place=str(place))])
def test_a_command_that_cannot_be_started_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    command = tmp_path / "appcontainer"
    command.write_bytes(b"\x7fELF, but of no machine")
    command.chmod(0o755)
    monkeypatch.setenv("APPCONTAINER", str(command))
    with pytest.raises(DeviceError, match=f"^cannot run {command}: Exec format error$") as raised:
        make(tmp_path / "device")
    assert raised.value.kind == "programMissing"
    assert os.listdir(tmp_path) == ["appcontainer"]


def test_no_place_for_devices_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/none']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(DeviceError, match="No usable temporary directory found in .*; name a directory") as raised:
        OwnedDevice({"create": {}})
    assert raised.value.kind == "hostFilesystem"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR2], ids=["killed", "stopped", "crashed"])
def test_nothing_is_left_of_a_device_whose_process_a_test_has_hurt(
    tmp_path: Path, notes: Path, end: signal.Signals
) -> None:
    owned = OwnedDevice({"create": {}, "install": [{"app": str(notes)}]}, place=str(tmp_path))
    home = owned.device.mount(IDENTIFIER).mount_point
    pid = owned.device.status().daemon.pid
    note = os.open(f"{home}/Documents/note", os.O_WRONLY | os.O_CREAT)
    os.kill(pid, end)
    if end == signal.SIGUSR2:
        # Nobody meant that.
        with pytest.raises(DeviceError, match="was ended by signal 12; its standard error may say why$") as raised:
            owned.close()
        assert raised.value.kind == "daemonEnded"
    else:
        owned.close()
    with contextlib.suppress(OSError):
        os.close(note)
    assert is_gone(home, [pid], tmp_path)
    owned.close()


def test_a_device_that_cannot_be_deleted_is_named(tmp_path: Path, notes: Path) -> None:
    owned = OwnedDevice({"create": {}, "install": [{"app": str(notes)}]}, place=str(tmp_path))
    mine = Path(owned.directory) / "mine"
    mine.write_text("of somebody, who put it there")
    os.kill(owned.device.status().daemon.pid, signal.SIGKILL)
    with pytest.raises(DeviceError, match=f"^{owned.directory} is left: .*mine") as raised:
        owned.close()
    assert raised.value.kind == "daemonEnded" and "\n" not in str(raised.value)
    mine.unlink()
    subprocess.run([owner.program(), "delete", owned.directory], check=True)


def test_a_device_that_its_own_process_cannot_delete_is_named(tmp_path: Path) -> None:
    owned = OwnedDevice({"create": {}, "template": True}, place=str(tmp_path))
    mine = Path(owned.directory) / "mine"
    mine.write_text("of somebody, who put it there")
    with pytest.raises(DeviceError, match=f"^{owned.directory} is left: .*mine") as raised:
        owned.close()
    assert raised.value.kind == "daemonEnded" and "\n" not in str(raised.value)
    mine.unlink()
    subprocess.run([owner.program(), "delete", owned.directory], check=True)


@pytest.mark.parametrize("end", [None, signal.SIGKILL], ids=["let go", "killed"])
def test_a_device_that_is_to_be_kept_stays(tmp_path: Path, end: Optional[signal.Signals]) -> None:
    owned = OwnedDevice({"create": {}, "keep": True}, place=str(tmp_path))
    if end is not None:
        os.kill(owned.device.status().daemon.pid, end)
    owned.close()
    device = boot(owned.directory)
    assert device.status().device == owned.directory
    device.shutdown()
    subprocess.run([owner.program(), "delete", owned.directory], check=True)


def test_a_device_that_was_to_be_kept_and_could_not_be_made_is_not_left(tmp_path: Path) -> None:
    order = {"create": {}, "install": [{"app": str(tmp_path / "None.app")}], "keep": True}
    with pytest.raises(DeviceError, match="None.app"):
        OwnedDevice(order, place=str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_device_is_deleted_whatever_the_environment_has_become(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path
) -> None:
    owned = OwnedDevice({"create": {}, "install": [{"app": str(notes)}]}, place=str(tmp_path))
    home = owned.device.mount(IDENTIFIER).mount_point
    pid = owned.device.status().daemon.pid
    os.kill(pid, signal.SIGKILL)
    with monkeypatch.context() as changed:
        changed.setenv("APPCONTAINER", "/none")
        changed.setenv("PATH", "/none")
        changed.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        owned.close()
    assert is_gone(home, [pid], tmp_path)


@pytest.fixture
def careless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command whose devices it cannot make, and which leaves them without a word; and where they are to be."""
    command, devices = tmp_path / "appcontainer", tmp_path / "devices"
    devices.mkdir()
    command.write_text(
        "#!/bin/bash\n"
        '[ "$1" = own ] || exit 0\n'
        "read -r order\n"
        f'mkdir "$(sed -E \'s/.*"device": "([^"]*)".*/\\1/\' <<<"$order")"\n'
        """echo '{"complaint": {"kind": "noSpace", "message": "the disk is full"}}'\n"""
        "exit 1\n"
    )
    command.chmod(0o755)
    monkeypatch.setenv("APPCONTAINER", str(command))
    return devices


def test_a_device_left_without_a_message_is_named_beside_the_earlier_error(careless: Path) -> None:
    with pytest.raises(DeviceError) as raised:
        OwnedDevice({"create": {}}, place=str(careless))
    (left,) = os.listdir(careless)
    assert raised.value.kind == "noSpace"
    assert str(raised.value) == (
        f"the disk is full; and {careless}/{left} is left: "
        "`appcontainer delete` ended with 0 and said nothing; remove it"
    )
