"""Tests of expectations: one holds, or says what holds instead."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
from pathlib import Path

import pytest

from pytest_appcontainer import AppContainer, ProtectionClass


def test_a_refusal_is_expected_by_its_rule(app_container: AppContainer) -> None:
    with app_container.expect_refused("sealedBundle", "Notes.app/more") as refusals:
        (app_container.bundle / "more").write_text("more")
    assert [(event.operation, event.errno) for event in refusals] == [("create", "EPERM")]


def test_a_refusal_counts_whoever_met_it_and_whatever_he_made_of_it(app_container: AppContainer) -> None:
    with app_container.expect_refused("topLevel"):
        assert subprocess.run(["mkdir", app_container / "mine"], stderr=subprocess.DEVNULL).returncode == 1
    with app_container.expect_refused("topLevel", raises=sqlite3.OperationalError):
        sqlite3.connect(app_container / "notes.sqlite").execute("create table notes (text)")


def test_a_missing_refusal_fails_and_names_the_others(app_container: AppContainer) -> None:
    with pytest.raises(AssertionError, match="^nothing was refused by the rule inbox$"):
        with app_container.expect_refused("inbox"):
            (app_container.documents / "note").write_text("note")
    with pytest.raises(
        AssertionError, match="by the rule inbox; refused were: .* mkdir mine .* rule topLevel; the body"
    ):
        with app_container.expect_refused("inbox"):
            (app_container / "mine").mkdir()
    with pytest.raises(AssertionError, match="by the rule topLevel on yours; refused were: .* mkdir mine "):
        with app_container.expect_refused("topLevel", "yours"):
            (app_container / "mine").mkdir()
    # An earlier one does not count, and neither is another error taken for a refusal.
    with pytest.raises(ZeroDivisionError):
        with app_container.expect_refused("topLevel"):
            raise ZeroDivisionError


def test_a_locked_file_is_unreadable(app_container: AppContainer) -> None:
    diary = app_container.documents / "diary"
    diary.write_text("for my eyes only")
    app_container.set_protection(diary, ProtectionClass.COMPLETE)
    assert app_container.protection("Documents/diary") == "NSFileProtectionComplete"
    with pytest.raises(AssertionError, match="could be read: its class is NSFileProtectionComplete, .* is unlocked$"):
        app_container.expect_unreadable(diary)
    with app_container.locked():
        app_container.expect_unreadable(diary)
        app_container.expect_unreadable("Documents/diary")
    assert diary.read_text() == "for my eyes only"
    app_container.restart()
    app_container.expect_unreadable(diary)
    app_container.unlock()
    with pytest.raises(FileNotFoundError):
        app_container.expect_unreadable("Documents/none")


def test_an_excluded_file_is_in_no_backup(app_container: AppContainer, tmp_path: Path) -> None:
    downloads = app_container.documents / "downloads"
    downloads.mkdir()
    (downloads / "film").write_text("film")
    with pytest.raises(AssertionError, match="downloads/film would be in a backup"):
        app_container.expect_excluded(downloads / "film")
    app_container.exclude(downloads)
    app_container.expect_excluded(downloads)
    app_container.expect_excluded(downloads / "film")
    app_container.expect_excluded("Library/Caches")
    assert {item.path: item.left_out for item in app_container.device.list_backup()}[
        "Documents/downloads"
    ] == "excluded"
    app_container.include(downloads)
    app_container.include(downloads)
    assert not app_container.is_excluded(downloads / "film")
    with pytest.raises(ValueError, match="is not in the home"):
        app_container.expect_excluded(tmp_path)


@pytest.mark.appcontainer(running=False)
def test_a_purged_path_was_taken_by_a_purge(app_container: AppContainer) -> None:
    thumbnails = app_container.caches / "thumbnails"
    thumbnails.mkdir()
    (thumbnails / "one.png").write_bytes(b"png" * 1000)
    (app_container.caches / "kept").write_text("kept")
    with pytest.raises(AssertionError, match="is still there, and would go with level critical$"):
        app_container.expect_purged(thumbnails)
    with (
        app_container.running(),
        pytest.raises(AssertionError, match="Library/Caches/thumbnails would stay, appRunning"),
    ):
        app_container.expect_purged(thumbnails / "one.png")
    with open(app_container.caches / "kept"):
        assert "Library/Caches/thumbnails" in [entry.path for entry in app_container.purge(level="critical").purged]
    app_container.expect_purged(thumbnails)
    app_container.expect_purged("Library/Caches/thumbnails/one.png")
    (app_container.caches / "kept").unlink()
    with pytest.raises(AssertionError, match="is not there, but no purge has taken it"):
        app_container.expect_purged(app_container.caches / "kept")
    with pytest.raises(AssertionError, match="only what is in Library/Caches and tmp is ever purged"):
        app_container.expect_purged(app_container.documents)


def test_a_protection_class_is_one_of_four(app_container: AppContainer, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'complete' is no protection class; take one of NSFileProtectionComplete, "):
        app_container.set_protection("Documents", "complete")
    app_container.set_protection("Documents", "NSFileProtectionNone")
    (app_container.documents / "open").write_text("open")
    assert app_container.protection("Documents/open") is ProtectionClass.NONE
    app_container.lock()
    with pytest.raises(PermissionError) as raised:
        app_container.set_protection("Documents/open", ProtectionClass.COMPLETE)
    assert raised.value.errno == errno.EPERM


def test_an_update_moves_the_home_and_keeps_the_documents(app_container: AppContainer, notes: Path) -> None:
    note, before = app_container.documents / "note", app_container.home
    note.write_text("note")
    (app_container.tmp / "passing").write_text("passing")
    app_container.device.mark_running(app_container.identifier)
    app_container.update(notes)
    assert app_container.home != before and not note.exists()
    assert (app_container.documents / "note").read_text() == "note"
    assert list(app_container.tmp.iterdir()) == []


def test_a_reset_empties_the_container(app_container: AppContainer) -> None:
    (app_container.documents / "note").write_text("note")
    app_container.reset()
    assert list(app_container.documents.iterdir()) == []
