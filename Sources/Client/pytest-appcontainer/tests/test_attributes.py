"""Tests of attributes: of files that have them, of files that have none, and off a mount."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

import pytest_appcontainer
from pytest_appcontainer import AppContainer, DeviceError


@pytest.mark.parametrize(
    "call",
    [
        pytest_appcontainer.protection,
        pytest_appcontainer.backup_state,
        pytest_appcontainer.is_excluded,
        pytest_appcontainer.exclude,
        pytest_appcontainer.include,
        lambda path: pytest_appcontainer.set_protection(path, "NSFileProtectionNone"),
    ],
    ids=["protection", "backup_state", "is_excluded", "exclude", "include", "set_protection"],
)
def test_a_path_on_no_mount_is_refused_and_not_marked(tmp_path: Path, call: Callable[[Path], object]) -> None:
    (tmp_path / "note").write_text("note")
    os.mkfifo(tmp_path / "fifo")
    # An attribute that a filesystem of the host takes like any other, and that a copy from a mount has.
    os.setxattr(tmp_path / "note", "user.com.apple.metadata:com_apple_backup_excludeItem", b"mine")
    os.setxattr(tmp_path / "note", "user.appcontainer.protection", b"NSFileProtectionComplete")
    before = os.listxattr(tmp_path / "note")
    for path in (tmp_path / "note", tmp_path / "fifo", tmp_path, Path("/proc/version")):
        with pytest.raises(DeviceError, match=f"^{path} is not in a mounted app's home; ") as raised:
            call(path)
        assert raised.value.kind == "notMounted" and "\n" not in str(raised.value)
    assert os.listxattr(tmp_path / "note") == before and os.listxattr(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        call(tmp_path / "none")


@pytest.mark.parametrize("path", ["Notes.app/Welcome.txt", "Notes.app", "", "Documents/fifo"])
def test_a_path_without_a_protection_class_is_an_error(app_container: AppContainer, path: str) -> None:
    os.mkfifo(app_container.documents / "fifo")
    with pytest.raises(DeviceError, match="has no protection class: the bundle, .* and fifos have none$") as raised:
        app_container.protection(path)
    assert raised.value.kind == "unsuitableFile"
    with pytest.raises(PermissionError):
        app_container.set_protection(path, "NSFileProtectionNone")


def test_a_path_that_can_have_no_mark_is_an_error(app_container: AppContainer) -> None:
    os.mkfifo(app_container.documents / "fifo")
    with pytest.raises(DeviceError, match="fifo has no mark of exclusion: it is neither a file nor ") as raised:
        app_container.is_excluded("Documents/fifo")
    assert raised.value.kind == "unsuitableFile"
    assert app_container.is_excluded("Notes.app/Welcome.txt")
    with pytest.raises(PermissionError):
        app_container.include("Notes.app")


def test_a_write_only_path_takes_a_class_and_a_mark(app_container: AppContainer, tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from pytest_appcontainer import DeviceError, exclude, include, set_protection

letter_box, directory, elsewhere = map(Path, sys.argv[1:])
for path in (letter_box, directory):
    try:
        (path if path.is_file() else path / "none").open()
    except PermissionError:
        pass
    else:
        raise SystemExit(f"{path} may be read")
    set_protection(path, "NSFileProtectionComplete")
    exclude(path)
    include(path)
    exclude(path)
try:
    set_protection(elsewhere, "NSFileProtectionComplete")
except DeviceError as error:
    print(error.kind)
"""
    letter_box, directory, elsewhere = app_container.documents / "box", app_container.documents / "d", tmp_path / "box"
    for path in (letter_box, elsewhere):
        path.write_text("letter")
        path.chmod(0o200)
    directory.mkdir()
    directory.chmod(0o200)
    # As somebody whom modes bind, which root is not.
    capabilities = "-dac_override,-dac_read_search"
    bound = ["setpriv", f"--inh-caps={capabilities}", f"--bounding-set={capabilities}"] if os.geteuid() == 0 else []
    command = [*bound, sys.executable, "-c", script, *map(str, (letter_box, directory, elsewhere))]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert told == "notMounted\n"
    for path in (letter_box, directory):
        path.chmod(0o700)
        assert app_container.protection(path).value == "NSFileProtectionComplete" and app_container.is_excluded(path)


def test_a_file_of_the_bundle_is_readable_whatever_the_state(app_container: AppContainer) -> None:
    with app_container.locked(), pytest.raises(
        AssertionError, match="Welcome.txt could be read: it has no protection class, and the device is locked$"
    ):
        app_container.expect_unreadable("Notes.app/Welcome.txt")
