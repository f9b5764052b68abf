"""The verbs of a device do what those of the command do."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import IDENTIFIER, make_app

from pytest_appcontainer import (
    AppContainer,
    Device,
    DeviceError,
    Event,
    OwnedDevice,
    ProtectionClass,
    WorkProgress,
    served,
)


def test_state_passcode_and_capacity(app_container: AppContainer) -> None:
    device = app_container.device
    status = device.status()
    assert (status.state, status.has_passcode, status.apps, status.daemon.socket) == (
        "unlocked",
        True,
        1,
        device.socket,
    )
    device.lock()
    assert device.status().state == "locked"
    with pytest.raises(DeviceError) as raised:
        device.unlock("4321")
    assert raised.value.kind == "wrongPasscode"
    device.unlock("1234")
    device.change_passcode("1234", "5678")
    device.restart()
    assert device.status().state == "beforeFirstUnlock"
    device.unlock("5678")
    device.remove_passcode("5678")
    device.set_passcode("1234")
    assert device.capacity(1 << 26, low_water=1, high_water=2).capacity == 1 << 26
    assert device.capacity(host=True).capacity is None


def test_a_further_control_socket_is_for_the_device_and_nothing_of_the_host(app_container: AppContainer) -> None:
    # A socket's path has at most 107 bytes.
    with TemporaryDirectory(dir="/tmp") as directory:
        socket = Path(directory, "further")
        app_container.device.open_control_socket(socket, os.getuid())
        further = Device(socket)
        further.lock(now=True)
        assert app_container.device.status().state == "locked"
        further.unlock("1234")
        with pytest.raises(DeviceError) as raised:
            further.install("/usr")
        assert raised.value.kind == "notAllowed"
        app_container.device.close_control_socket(socket)
        assert not socket.exists()


def test_devices_that_are_on_are_found(app_container: AppContainer, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = app_container.device.socket
    (found,) = [found for found in served() if found.socket == socket]
    assert (found.state, found.there, found.apps, found.running) == ("unlocked", True, 1, (IDENTIFIER,))
    assert [mount.app for mount in found.mounts] == [IDENTIFIER]
    status = Device(found.socket, found.identifier).status()
    assert (status.device, status.identifier, status.daemon.pid) == (found.device, found.identifier, found.pid)
    with OwnedDevice({"create": {}}) as other:
        assert other.directory in [found.device for found in served()]
    assert other.directory not in [found.device for found in served()]
    monkeypatch.setenv("APPCONTAINER", "/bin/false")
    with pytest.raises(DeviceError):
        served()
    monkeypatch.setenv("APPCONTAINER", "/bin/echo")
    with pytest.raises(DeviceError) as raised:
        served()
    assert raised.value.kind == "otherVersion"


def test_a_backup_of_a_locked_device_comes_back_elsewhere(app_container: AppContainer, tmp_path: Path) -> None:
    device = app_container.device
    assert not device.status().has_backup_password
    device.set_backup_password("swordfish")
    with pytest.raises(DeviceError) as raised:
        device.set_backup_password("swordfish")
    assert raised.value.kind == "backupPasswordState"
    device.change_backup_password("swordfish", "marlin")
    assert device.status().has_backup_password
    (app_container.documents / "note").write_text("secret")
    app_container.set_protection("Documents/note", ProtectionClass.COMPLETE)
    device.lock(now=True)
    assert device.back_up(tmp_path / "backup.tar").sealed == 1
    with OwnedDevice({"create": {}}) as other:
        with pytest.raises(DeviceError) as raised:
            other.device.restore(tmp_path / "backup.tar")
        assert raised.value.kind == "passwordNeeded"
        assert other.device.restore(tmp_path / "backup.tar", password="marlin").files == 1
    device.remove_backup_password("marlin")


def test_apps_come_change_and_go(app_container: AppContainer, tmp_path: Path) -> None:
    device = app_container.device
    (app,) = device.apps()
    assert (app.identifier, app.bundle, app.version, app.groups) == (IDENTIFIER, "Notes.app", "1.0", ())
    assert device.entitle(IDENTIFIER, groups=["group.a"], icloud=["iCloud.a"]).icloud == ("iCloud.a",)
    (app_container.group("group.a") / "shared").write_text("shared")
    assert app_container.icloud("iCloud.a").is_dir()
    other = device.install(make_app(tmp_path, "com.example.Other"))
    assert [each.identifier for each in device.apps()] == [IDENTIFIER, other.identifier]
    device.uninstall(other.identifier)
    with pytest.raises(DeviceError) as raised:
        device.reset(other.identifier)
    assert raised.value.kind == "unknownApp"
    (tmp_path / "letter").write_text("letter")
    (letter,) = app_container.deliver(tmp_path / "letter")
    assert letter == app_container.inbox / "letter"
    with app_container.expect_refused("inbox", letter):
        letter.write_text("changed")


def test_mounts_are_contexts(app_container: AppContainer, tmp_path: Path) -> None:
    device = app_container.device
    device.unmount(app_container.home)
    device.wait_for_end_of_mount(app_container.home)
    (tmp_path / "home").mkdir()
    with device.mounted(IDENTIFIER, tmp_path / "home", read_only=True) as home:
        mount = device.status().mounts[0]
        assert os.path.ismount(home) and mount.read_only
        with pytest.raises(OSError, match="Read-only"):
            (home / "Documents" / "note").write_text("note")
    assert not os.path.ismount(tmp_path / "home")
    # Root's mounts of a device have the transport of the first.
    with device.mounted(IDENTIFIER, tmp_path / "home", transport=mount.transport):
        assert device.status().mounts[0].transport == mount.transport
    with pytest.raises(DeviceError) as raised:
        device.mount(IDENTIFIER, tmp_path / "home", transport="pigeon")
    assert raised.value.kind == "badRequest"
    # Where the device has chosen the place, it takes it away.
    with device.mounted(IDENTIFIER) as home:
        assert (home / "Documents").is_dir()
    assert not home.exists()
    device.reset(IDENTIFIER)


def test_a_backup_comes_back(app_container: AppContainer, tmp_path: Path) -> None:
    device = app_container.device
    (app_container.documents / "note").write_text("note")
    report = app_container.back_up(tmp_path / "backup.tar")
    assert report.files >= 1 and (tmp_path / "backup.tar").stat().st_size > report.bytes
    app_container.back_up(tmp_path / "finder", format="finder")
    assert (tmp_path / "finder" / "Manifest.db").exists()
    (app_container.documents / "note").unlink()
    device.unmount(app_container.home)
    assert device.restore(tmp_path / "backup.tar").apps == (IDENTIFIER,)
    with device.mounted(IDENTIFIER) as home:
        assert (home / "Documents" / "note").read_text() == "note"
    with pytest.raises(DeviceError) as raised:
        device.back_up(tmp_path / "backup.tar")
    assert raised.value.kind == "fileExists"


def test_inspect_audit_survey_and_check_have_replies(app_container: AppContainer) -> None:
    device = app_container.device
    (app_container.documents / "download.bin").write_bytes(os.urandom(5000))
    inspection = app_container.inspect("Documents/download.bin")
    assert (inspection.kind, inspection.size, inspection.backup) == ("file", 5000, "included")
    audit = app_container.audit(patterns="recreatable *.bin")
    assert [(finding.rule, finding.path) for finding in audit.findings if finding.severity == "breach"] == [
        ("recreatableBackedUp", "Documents/download.bin")
    ]
    assert device.survey(IDENTIFIER).containers[0].files >= 1
    steps: list[WorkProgress] = []
    assert device.check(progress=steps.append).is_whole


def test_events_are_a_list_and_are_followed_to_an_end(app_container: AppContainer) -> None:
    device = app_container.device
    assert app_container.events() == []
    app_container.lock()
    app_container.unlock()
    names = ["willBecomeUnavailable", "locked", "unlocked", "didBecomeAvailable"]
    assert [event.event for event in app_container.events()] == names
    # It ends when nothing comes any more, when it is closed, and with the device.
    with device.follow_events(timeout=1) as events:
        assert [event.event for event in events][-4:] == names
    with device.follow_events() as events:
        threading.Timer(0.1, events.close).start()
        assert [event.event for event in events][-4:] == names
    followed: list[Event] = []
    stream = device.follow_events()
    follower = threading.Thread(target=followed.extend, args=(stream,))
    follower.start()
    Device(device.socket).shutdown()
    follower.join(60)
    assert not follower.is_alive() and followed[-1].event == "unmounted"
