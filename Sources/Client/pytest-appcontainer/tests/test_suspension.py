"""The background: what runs of an app is suspended, and this process only in a rehearsal."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import time

import pytest
from conftest import eventually

from pytest_appcontainer import AppContainer, DeviceError

GROUP = "group.com.example.notes"
in_group = pytest.mark.appcontainer(groups=[GROUP])


def test_a_suspended_app_stands_still(app_container: AppContainer) -> None:
    steps = app_container.documents / "steps"
    with app_container.lease() as lease:
        process = lease.start(["sh", "-c", "while :; do echo x >>Documents/steps; sleep 0.01; done"])
        eventually(steps.exists)
        with app_container.device.suspended(app_container.identifier) as report:
            assert report.processes >= 1 and report.terminated == () and report.unended_tasks == ()
            status = app_container.device.status()
            assert status.suspended == status.running == (app_container.identifier,)
            assert [app.state for app in app_container.device.apps()] == ["suspended"]
            length = steps.stat().st_size
            time.sleep(0.2)
            assert steps.stat().st_size == length and process.poll() is None
            with pytest.raises(DeviceError) as raised:
                app_container.suspend()
            assert raised.value.kind == "appSuspended"
        eventually(lambda: steps.stat().st_size > length)
        with pytest.raises(DeviceError) as raised:
            app_container.resume()
        assert raised.value.kind == "notSuspended"
        # A suspended app is ended without a word to it.
        app_container.suspend()
        app_container.terminate()
        assert process.wait() == -9
    told = [event.event for event in app_container.events() if event.app and event.event != "mounted"]
    assert told == ["entered", "suspended", "resumed", "entered", "entered", "suspended", "terminated"]


@in_group
def test_a_lock_in_a_group_ends_it(app_container: AppContainer) -> None:
    with app_container.lease() as lease:
        process = lease.start(["flock", f"Groups/{GROUP}/lock", "sleep", "300"])
        eventually(lambda: (app_container.group(GROUP) / "lock").exists())
        eventually(lambda: subprocess.run(["flock", "-n", app_container.group(GROUP) / "lock", "true"]).returncode == 1)
        report = app_container.suspend()
        assert {(lock.path, lock.lock) for lock in report.terminated} == {(f"Groups/{GROUP}/lock", "flock")}
        assert process.wait() == -9
    ends = [event for event in app_container.events() if event.event == "terminated"]
    assert {(event.reason, event.path, event.lock) for event in ends} == {
        ("0xdead10cc", f"Groups/{GROUP}/lock", "flock")
    }


@in_group
def test_a_suspension_is_expected_of_this_process(app_container: AppContainer) -> None:
    database = sqlite3.connect(app_container.group(GROUP) / "notes.db", isolation_level=None)
    with app_container.expect_suspension() as locks:
        database.execute("pragma journal_mode=wal")
        database.execute("create table note (text)")
    assert locks == []
    with (
        pytest.raises(AssertionError, match=rf"0xdead10cc\): a transaction of Groups/{GROUP}/notes.db is open in .*; end "),
        app_container.expect_suspension(),
    ):
        database.execute("begin immediate")
    database.execute("rollback")
    with open(app_container.group(GROUP) / "lock", "w") as lock, open(app_container.documents / "own", "w") as own:
        fcntl.lockf(own, fcntl.LOCK_EX)
        with (
            pytest.raises(AssertionError, match=rf"Groups/{GROUP}/lock is locked \(posix\) by .* \({os.getpid()}\)"),
            app_container.expect_suspension(),
        ):
            fcntl.lockf(lock, fcntl.LOCK_EX)
    database.close()
    # Nothing is expected where the body itself fails.
    with pytest.raises(ZeroDivisionError), app_container.expect_suspension():
        raise ZeroDivisionError


def test_a_background_task_is_waited_for(app_container: AppContainer) -> None:
    device, app = app_container.device, app_container.identifier
    task = device.begin_background_task(app, "save")
    assert task.remaining is None and task.task > 0
    assert device.rehearse_suspension(app).unended_tasks == ("save",)
    with (
        pytest.raises(AssertionError, match="the background task 'save' has not ended"),
        app_container.expect_suspension(after=0.2),
    ):
        pass
    device.end_background_task(app, task.task)
    device.end_background_task(app, task.task)
    with app_container.expect_suspension(after=0.2):
        pass
