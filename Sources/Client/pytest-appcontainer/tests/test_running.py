"""Commands in an app's home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import IDENTIFIER, eventually, is_running

from pytest_appcontainer import AppContainer, DeviceError


def test_a_command_runs_in_the_home_with_its_environment(app_container: AppContainer) -> None:
    ended = app_container.run(
        ["sh", "-c", 'pwd; echo "$HOME $TMPDIR"; cat'], input="in", capture_output=True, text=True
    )
    home = app_container.home
    assert (ended.returncode, ended.stdout) == (0, f"{home}\n{home} {home}/tmp\nin")
    assert app_container.run(capture_output=True, text=True).stdout == f"runs in {home}\n"


def test_the_environment_is_the_given_one_and_nothing_else(app_container: AppContainer) -> None:
    ended = app_container.run(["/usr/bin/env"], env={"MOOD": "good"}, capture_output=True, text=True)
    names = {line.split("=")[0] for line in ended.stdout.splitlines()}
    assert "MOOD" in names and "HOME" in names
    assert names - {"MOOD", "HOME", "CFFIXED_USER_HOME", "TMPDIR", "PWD"} == {
        f"XDG_{name}" for name in ("DATA_HOME", "STATE_HOME", "CACHE_HOME", "CONFIG_HOME", "CONFIG_DIRS")
    }


@pytest.mark.appcontainer(running=False)
def test_a_command_ends_as_it_ends(app_container: AppContainer) -> None:
    assert app_container.run(["sh", "-c", "exit 3"]).returncode == 3
    with pytest.raises(subprocess.CalledProcessError):
        app_container.run(["sh", "-c", "exit 3"], check=True)
    with pytest.raises(subprocess.TimeoutExpired):
        app_container.run(["sleep", "60"], timeout=0.1)
    # A pipe that nobody reads ends it, as it does any command.
    script = "import os, signal; print(signal.getsignal(signal.SIGPIPE) == signal.SIG_DFL)"
    ended = app_container.run([sys.executable, "-c", f"exec({script!r})"], capture_output=True, text=True)
    assert ended.returncode == 0 and app_container.device.status().running == ()
    assert app_container.run(["sh", "-c", "kill -PIPE $$"]).returncode == -signal.SIGPIPE


@pytest.mark.appcontainer(running=False)
def test_a_command_that_cannot_be_run_is_the_systems_own_error(
    app_container: AppContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A directory that this user may not look into would be another reason.
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        app_container.run("no-such-command")
    with pytest.raises(PermissionError):
        app_container.run([app_container.bundle / "Info.plist"])
    with pytest.raises(TypeError, match="shell is not taken"):
        app_container.run("pwd", shell=True)
    assert app_container.device.status().running == ()


def test_the_app_of_a_test_runs_but_for_a_part_that_says_otherwise(
    app_container: AppContainer, notes: Path
) -> None:
    device, cached = app_container.device, app_container.caches / "cached"
    cached.write_bytes(b"x" * 5000)
    assert device.status().running == (IDENTIFIER,)
    assert [entry.reason for entry in app_container.purge(level="critical").skipped] == ["appRunning"]
    with app_container.not_running():
        assert device.status().running == ()
        app_container.purge(level="critical")
    app_container.expect_purged(cached)
    app_container.restart()
    assert device.status().running == (IDENTIFIER,)
    with app_container.running():
        pass
    app_container.update(notes)
    assert device.status().running == (IDENTIFIER,)
    with app_container.not_running():
        pass
    app_container.reset()
    assert device.status().running == (IDENTIFIER,)


@pytest.mark.appcontainer(running=False)
def test_an_app_that_is_said_not_to_run_does_not(app_container: AppContainer) -> None:
    assert app_container.device.status().running == ()
    with app_container.not_running():
        (app_container.tmp / "gone").write_text("gone")
        app_container.purge(level="critical")
    app_container.expect_purged("tmp/gone")
    assert app_container.device.status().running == ()


@pytest.mark.appcontainer(running=False)
def test_a_lease_marks_the_app_running_and_terminate_ends_its_processes(app_container: AppContainer) -> None:
    device = app_container.device
    with app_container.lease() as lease:
        assert device.status().running == (IDENTIFIER,)
        with lease.start(["sleep", "60"]) as process:
            with pytest.raises(DeviceError) as raised:
                device.uninstall(IDENTIFIER)
            assert raised.value.kind == "appRunning"
            app_container.terminate()
            assert process.wait(60) == -signal.SIGTERM
        # A process that is started now would not be known to the device.
        with pytest.raises(DeviceError) as raised:
            lease.start(["touch", "Documents/late"])
        assert raised.value.kind == "notRunning" and not (app_container.documents / "late").exists()
    assert device.status().running == ()


def test_a_process_started_under_a_lease_ends_with_it(app_container: AppContainer) -> None:
    with app_container.lease() as lease:
        script = "sleep 600 & echo $! >Documents/child; wait"
        process = lease.start(["sh", "-c", script])
        child = app_container.documents / "child"
        eventually(lambda: child.exists() and child.read_text().endswith("\n"))
    assert process.returncode == -signal.SIGKILL and not is_running(int(child.read_text()))


def test_an_app_that_is_not_mounted_is_mounted_for_the_time(app_container: AppContainer) -> None:
    device = app_container.device
    device.unmount(app_container.home)
    with device.lease(IDENTIFIER) as lease:
        assert lease.app.is_mounted_to_run and [mount.app for mount in device.status().mounts] == [IDENTIFIER]
    assert device.status().mounts == ()


@pytest.mark.appcontainer(running=False)
def test_a_child_that_is_forked_does_not_keep_the_mark(app_container: AppContainer) -> None:
    device = app_container.device
    script = """
import os, sys, threading, time
from pytest_appcontainer import Device
device = Device(sys.argv[1])
lease = device.lease(sys.argv[2])
# At the fork this thread waits for a line.
events = device.follow_events()
threading.Thread(target=list, args=(events,), daemon=True).start()
child = os.fork()
if not child:
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, device.socket, IDENTIFIER], stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        child = int(running.stdout.readline())
        assert device.status().running == (IDENTIFIER,)
        running.kill()
        try:
            eventually(lambda: device.status().running == ())
            assert is_running(child)
        finally:
            os.kill(child, signal.SIGKILL)
