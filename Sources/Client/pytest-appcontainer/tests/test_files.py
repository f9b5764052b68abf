"""An app's files over the control socket: listed part by part, and followed as they change."""

from __future__ import annotations

import base64
import os
import threading

import pytest
from conftest import IDENTIFIER

from pytest_appcontainer import AppContainer, DeviceError, FileChange, ProtectionClass, files


def some_files(container: AppContainer) -> None:
    (container.documents / "inside").mkdir()
    for name in ("b", "a", "inside/c"):
        (container.documents / name).write_text("text")


def test_a_directory_is_listed_with_its_rules(app_container: AppContainer) -> None:
    some_files(app_container)
    device = app_container.device
    device.exclude(IDENTIFIER, "Documents/inside")
    device.protect(IDENTIFIER, "Documents/a", ProtectionClass.COMPLETE)
    listed = {file.path: file for file in device.files(IDENTIFIER, "Documents", recursive=True)}
    assert sorted(listed) == ["Documents/a", "Documents/b", "Documents/inside", "Documents/inside/c"]
    assert (listed["Documents/a"].size, listed["Documents/a"].protection) == (4, ProtectionClass.COMPLETE)
    assert listed["Documents/b"].file_number == os.stat(app_container.documents / "b").st_ino
    assert listed["Documents/inside"].excluded and not listed["Documents/inside/c"].excluded
    assert listed["Documents/inside/c"].backup == "excluded-by:Documents/inside"
    device.include(IDENTIFIER, "Documents/inside")
    assert {file.backup for file in device.files(IDENTIFIER, "Documents")} == {"included"}


def test_a_listing_goes_on_from_part_to_part(app_container: AppContainer, monkeypatch: pytest.MonkeyPatch) -> None:
    some_files(app_container)
    monkeypatch.setattr(files, "_LARGEST_PART", 1)
    paths = [file.path for file in app_container.device.files(IDENTIFIER, "Documents", recursive=True)]
    assert sorted(paths) == ["Documents/a", "Documents/b", "Documents/inside", "Documents/inside/c"]


def test_a_directory_that_is_not_there_is_not_listed(app_container: AppContainer) -> None:
    with pytest.raises(DeviceError) as raised:
        list(app_container.device.files(IDENTIFIER, "Documents/none"))
    assert raised.value.kind == "notFound"


def test_a_class_is_given_to_all_in_a_directory(app_container: AppContainer) -> None:
    some_files(app_container)
    device = app_container.device
    device.protect(IDENTIFIER, "Documents", ProtectionClass.NONE, recursive=True)
    assert {file.protection for file in device.files(IDENTIFIER, "Documents", recursive=True)} == {ProtectionClass.NONE}


def test_a_name_that_is_no_text_is_listed_marked_and_told(app_container: AppContainer) -> None:
    device = app_container.device
    path = os.fsdecode(b"Documents/\xff\n")
    (app_container.home / path).write_text("text")
    encoded = base64.b64encode(os.fsencode(path)).decode()
    (file,) = device.files(IDENTIFIER, "Documents")
    assert file.path_bytes == encoded and file.fault is None
    with device.follow_changes(timeout=30) as changes:
        device.exclude(IDENTIFIER, path)
        assert FileChange(IDENTIFIER, file.path, encoded) in changes
    device.protect(IDENTIFIER, path, ProtectionClass.COMPLETE)
    assert device.inspect(IDENTIFIER, path).excluded
    (file,) = device.files(IDENTIFIER, "Documents")
    assert file.excluded and file.protection == ProtectionClass.COMPLETE


def test_changes_are_told_whoever_makes_them(app_container: AppContainer) -> None:
    some_files(app_container)
    device = app_container.device
    with device.follow_changes(timeout=30) as changes:
        for change in (
            lambda: (app_container.documents / "a").write_text("more"),
            lambda: device.exclude(IDENTIFIER, "Documents/a"),
            lambda: device.include(IDENTIFIER, "Documents/a"),
            lambda: device.protect(IDENTIFIER, "Documents/a", ProtectionClass.COMPLETE),
        ):
            change()
            assert FileChange(IDENTIFIER, "Documents/a") in changes
        # Closed from another thread it ends, and is no error.
        threading.Timer(0.05, changes.close).start()
        assert list(changes) == []


def test_refusals_have_words_and_requests_are_counted(app_container: AppContainer) -> None:
    device = app_container.device
    before = device.activity().requests.get("mkdir", 0)
    with pytest.raises(PermissionError):
        (app_container.home / "top").mkdir()
    assert device.activity().requests["mkdir"] == before + 1
    refused = [event.rule for event in device.events() if event.event == "refused"]
    (rule,) = (rule for rule in device.rules() if rule.rule == refused[-1])
    assert rule.words and rule.instead
