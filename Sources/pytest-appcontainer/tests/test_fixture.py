"""The fixture: where its options come from, how fresh it is, and what is told of a test that fails or forgets."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from conftest import eventually, make_app

from pytest_appcontainer import plugin
from pytest_appcontainer.owner import program


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
        # What comes after the order, which is nothing until the owner lets go, comes from the owner still.
        f'exec {shlex.quote(program())} "$@" < <(echo "$order"; exec cat)\n'
    )
    spy.chmod(0o755)
    monkeypatch.setenv("APPCONTAINER", str(spy))
    return orders


def given(orders: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in orders.read_text().splitlines()]


def test_each_test_has_a_device_of_its_own_from_one_template(project: pytest.Pytester, orders: Path) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(3))
        @pytest.mark.appcontainer(app="Notes.app", passcode="1234", groups=["group.a"])
        def test_fresh(app_container, number):
            assert list(app_container.documents.iterdir()) == []
            (app_container.documents / "note").write_text("note")
            assert app_container.group("group.a").is_dir()
            assert app_container.device.status().state == "unlocked"
        """
    )
    project.runpytest().assert_outcomes(passed=3)
    first, *others = given(orders)
    assert first["template"] and first["create"] == {"passcode": "1234", "lockGrace": 0, "kdfCost": 1}
    assert [order["clone"] for order in others] == [first["device"]] * 3
    assert not any(os.path.exists(str(order["device"])) for order in given(orders))


def test_options_come_from_the_ini_file_the_fixture_and_the_marker(project: pytest.Pytester, orders: Path) -> None:
    project.makeini(
        """
        [pytest]
        appcontainer_app = Notes.app
        appcontainer_passcode = 1
        appcontainer_groups = group.a group.b
        appcontainer_capacity = 100000000
        """
    )
    project.makepyfile(
        """
        import pytest

        def test_ini(app_container):
            assert app_container.passcode == "1"
            assert sorted(each.name for each in (app_container / "Groups").iterdir()) == ["group.a", "group.b"]
            assert app_container.device.capacity().capacity == 100_000_000

        @pytest.mark.appcontainer(passcode="1")
        class TestOverridden:
            @pytest.fixture
            def app_container_options(self):
                return {"passcode": "2", "groups": [], "cachedir_tag": True}

            def test_marker(self, app_container):
                assert app_container.passcode == "1"
                assert (app_container.caches / "CACHEDIR.TAG").exists()

            @pytest.mark.appcontainer(passcode=None, running=True)
            def test_nearest_marker(self, app_container):
                assert app_container.passcode is None
                assert app_container.device.status().running == (app_container.identifier,)
        """
    )
    project.runpytest("--strict-markers").assert_outcomes(passed=3)
    assert len([order for order in given(orders) if order.get("template")]) == 3


def test_a_failed_tests_report_has_its_events(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.appcontainer(app="Notes.app")
        def test_it(app_container):
            (app_container / "mine").mkdir()
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"-* events of com.example.Notes's device -*",
            r".* refused mkdir mine of com.example.Notes by .* rule topLevel",
        ]
    )
    result.stdout.no_fnmatch_line("* installed *")


def test_the_report_of_a_test_does_not_wait_for_a_device_that_was_stopped(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "_LONGEST_ANSWER", 0.1)
    project.makepyfile(
        """
        import os, pathlib, signal
        import pytest

        @pytest.fixture
        def stopped(app_container):
            pid = app_container.device.status().daemon.pid
            os.kill(pid, signal.SIGSTOP)
            # Each thread by itself: one could still answer when the first has stopped.
            while not all(" T " in task.read_text() for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")):
                pass
            yield
            os.kill(pid, signal.SIGCONT)

        @pytest.mark.appcontainer(app="Notes.app")
        def test_it(stopped):
            assert False
        """
    )
    result = project.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*events of com.example.Notes's device*", "cannot be told: * not answered for 0.1 *"])


def test_a_fixture_that_is_refused_something_has_the_events_in_its_report(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def mine(app_container):
            (app_container / "mine").mkdir()

        @pytest.mark.appcontainer(app="Notes.app")
        def test_it(mine):
            pass
        """
    )
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.re_match_lines([r"-* events of com.example.Notes's device -*", r".* refused mkdir mine .* topLevel"])


def test_what_a_device_refuses_is_shown_at_the_tests_own_line(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.appcontainer(app="Notes.app", passcode="1234")
        def test_it(app_container):
            app_container.lock()
            app_container.unlock("4321")
        """
    )
    result = project.runpytest("--tb=short")
    result.stdout.fnmatch_lines(["test_*.py:6: in test_it", "E   pytest_appcontainer.errors.DeviceError: *"])
    assert not [line for line in result.stdout.lines if "pytest_appcontainer/" in line]


def test_an_event_is_a_line_whatever_the_name(project: pytest.Pytester) -> None:
    project.makepyfile(
        r"""
        import pytest

        @pytest.mark.appcontainer(app="Notes.app")
        def test_it(app_container):
            with app_container.expect_refused("topLevel"):
                (app_container / "a\nb\x1b[31m").mkdir()
            file = open(app_container.documents / "ü\nv", "w")
            assert False
        """
    )
    result = project.runpytest_subprocess("--tb=short")
    assert [line for line in result.stdout.lines if r" refused mkdir a\nb\x1b[31m of com.example.Notes by " in line]
    assert [line for line in result.stdout.lines if r" should close: Documents/ü\nv (descriptor " in line]


def test_who_stays_in_a_container_that_goes_is_brought_back(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\n")
    project.makepyfile(
        """
        import os

        def test_stays(app_container):
            os.chdir(app_container.documents)

        def test_is_back(request):
            assert os.getcwd() == str(request.config.invocation_params.dir)

        def test_is_brought_back_later(monkeypatch, app_container):
            monkeypatch.chdir(app_container)

        def test_goes_elsewhere(app_container, tmp_path):
            os.chdir(tmp_path)

        def test_is_elsewhere():
            assert os.path.basename(os.getcwd()).startswith("test_goes_elsewhere")

        def test_was_in_what_is_gone(tmp_path_factory, app_container):
            os.chdir(app_container)
            app_container.device.unmount(app_container.home, lazy=True)

        def test_is_elsewhere_still():
            assert os.path.basename(os.getcwd()).startswith("test_goes_elsewhere")

        def test_takes_its_place_away(app_container):
            os.rmdir(os.getcwd())
            os.chdir(app_container)

        def test_is_somewhere():
            assert os.getcwd() == "/"
        """
    )
    warning = "error::pytest_appcontainer.plugin.UnclosedFileWarning"
    project.runpytest("-W", warning).assert_outcomes(passed=9)


def test_what_a_child_has_open_in_the_container_holds_nobody_up(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\n")
    project.makepyfile(
        """
        import os, subprocess

        children = []

        def test_leaves_a_child(app_container):
            children.append(subprocess.Popen(["sleep", "600"], cwd=app_container.home))
            children.append(app_container.device.socket)

        def test_the_device_is_gone():
            child, socket = children
            assert not os.path.exists(socket) and child.poll() is None
            child.kill()
            child.wait()
        """
    )
    project.runpytest().assert_outcomes(passed=2)


def test_classes_parameters_and_other_fixtures_have_it_as_well(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\n")
    project.makepyfile(
        """
        import asyncio, unittest
        import pytest

        @pytest.mark.appcontainer(passcode="1", groups=["group.a"])
        class TestCase(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def container(self, app_container):
                self.app_container = app_container

            def test_has_the_options_of_its_class(self):
                assert self.app_container.group("group.a").is_dir()
                self.app_container.unlock("1")

            @pytest.mark.appcontainer(passcode="2")
            def test_has_its_own_besides(self):
                assert self.app_container.group("group.a").is_dir()
                self.app_container.unlock("2")

        @pytest.fixture
        def note(app_container):
            note = app_container.documents / "note"
            note.write_text("note")
            yield note
            assert note.read_text() == "changed"

        def test_a_fixture_is_put_away_before_the_device_goes(note):
            note.write_text("changed")

        @pytest.mark.parametrize("code", [pytest.param("3", marks=pytest.mark.appcontainer(passcode="3"))])
        def test_a_parameter_has_a_marker(app_container, code):
            app_container.unlock(code)

        @pytest.mark.parametrize("app_container_options", [{"passcode": "4"}, {"passcode": "5"}])
        def test_the_options_are_a_parameter(app_container, app_container_options):
            app_container.unlock(app_container_options["passcode"])

        def test_a_loop_of_events(app_container):
            async def write():
                await asyncio.get_running_loop().run_in_executor(
                    None, (app_container.documents / "note").write_text, "note"
                )
            asyncio.run(write())
            assert (app_container.documents / "note").exists()
        """
    )
    project.runpytest().assert_outcomes(passed=7)


def test_what_a_test_leaves_open_is_a_warning_that_names_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        kept = []

        @pytest.mark.appcontainer(app="Notes.app")
        def test_it(app_container):
            kept.append(open(app_container.documents / "note", "w"))
        """
    )
    # In a process of its own, which ends with what is left open.
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r".*UnclosedFileWarning: .*should close: Documents/note \(descriptor \d+\)"])
    # As an error, it does not keep the device from going.
    warning = "error::pytest_appcontainer.plugin.UnclosedFileWarning"
    project.runpytest_subprocess("-W", warning).assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize(
    "marker, said",
    [
        (
            "app='None.app'",
            "app_container: there is no app at */None.app; name a .app directory or an .ipa, relative to *",
        ),
        ("app='Other.app'", "app_container: *Other.app* Info.plist*"),
        ("", "app_container: no app is named for app_container: add @pytest.mark.appcontainer(app=*"),
        ("'Notes.app'", "app_container: the marker appcontainer takes its options by name, such as app='Notes.app'"),
        (
            "ap='Notes.app'",
            "app_container: the marker appcontainer has an option 'ap' that is not known; it takes app, *",
        ),
        ("app='Notes.app', directory='/proc'", "app_container: *"),
    ],
)
def test_a_mistake_is_one_line(project: pytest.Pytester, marker: str, said: str) -> None:
    (project.path / "Other.app").mkdir()
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.appcontainer({marker})
        def test_it(app_container):
            pass
        """
    )
    result = project.runpytest("--tb=short")
    result.assert_outcomes(errors=1)
    lines = result.stdout.lines
    start = next(index for index, line in enumerate(lines) if "ERROR at setup of test_it" in line)
    end = next(index for index, line in enumerate(lines) if "short test summary" in line)
    # Nothing but the one line: no traceback of what is not the test's.
    assert end - start == 2
    result.stdout.fnmatch_lines([said])


@pytest.mark.parametrize(
    "returned, said",
    [
        ("None", "app_container: the fixture app_container_options returns None; have it return a mapping or *"),
        ("{'passcode': 1}", "app_container: the fixture app_container_options has 1 for passcode, which takes text *"),
        ("AppContainerOptions(passcode=1)", "app_container: the fixture app_container_options has 1 for passcode, *"),
    ],
)
def test_an_overridden_fixture_is_told_its_mistakes(project: pytest.Pytester, returned: str, said: str) -> None:
    project.makepyfile(
        f"""
        import pytest
        from pytest_appcontainer import AppContainerOptions

        @pytest.fixture
        def app_container_options():
            return {returned}

        def test_it(app_container):
            pass
        """
    )
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])


def test_a_directory_for_devices_is_relative_to_the_root_directory(
    project: pytest.Pytester, orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.path / "devices").mkdir()
    project.makeini("[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = devices\n")
    beneath = project.mkdir("beneath")
    (beneath / "test_it.py").write_text("def test_it(app_container): pass")
    # Wherever pytest was started.
    monkeypatch.chdir(beneath)
    project.runpytest().assert_outcomes(passed=1)
    assert {os.path.dirname(str(order["device"])) for order in given(orders)} == {str(project.path / "devices")}


def test_a_directory_for_devices_that_is_not_there_is_one_line(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = none\n")
    project.makepyfile("def test_it(app_container): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"app_container: {project.path}/none is not a directory; make it first"])


def test_options_that_are_whole_stand_in_place_of_the_ini_file(project: pytest.Pytester, orders: Path) -> None:
    project.makeini("[pytest]\nappcontainer_app = None.app\nappcontainer_groups = group.a\n")
    project.makepyfile(
        """
        import pytest
        from pytest_appcontainer import AppContainerOptions

        @pytest.fixture
        def app_container_options():
            return AppContainerOptions(app="Notes.app")

        @pytest.mark.appcontainer(icloud=["iCloud.a"])
        def test_it(app_container):
            pass
        """
    )
    project.runpytest().assert_outcomes(passed=1)
    app = str(project.path / "Notes.app")
    assert given(orders)[0]["install"] == [{"app": app, "groups": [], "iCloud": ["iCloud.a"]}]


def test_an_ini_file_is_told_its_mistakes(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\nappcontainer_capacity = much\n")
    project.makepyfile("def test_it(app_container): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["app_container: appcontainer_capacity is 'much', and takes a number of bytes"])


@pytest.mark.parametrize(
    "command, said",
    [
        (
            None,
            "app_container: there is no command appcontainer in PATH; install it, or name its file *",
        ),
        ("/no/such/file", "app_container: $APPCONTAINER names /no/such/file, which is no command; name the file *"),
        (
            "/bin/true",
            "app_container: `*/true own` did not report what it made: the device is served by another version*",
        ),
    ],
)
def test_a_command_that_is_not_there_or_another_is_one_line(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, command: "str | None", said: str
) -> None:
    monkeypatch.setenv("PATH", "")
    if command is None:
        monkeypatch.delenv("APPCONTAINER", raising=False)
    else:
        monkeypatch.setenv("APPCONTAINER", command)
    project.makeini("[pytest]\nappcontainer_app = Notes.app\n")
    project.makepyfile("def test_it(app_container): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])


def test_workers_of_xdist_each_have_a_template(project: pytest.Pytester, orders: Path) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\n")
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(app_container, number):
            (app_container.documents / "note").write_text(str(number))
            with app_container.expect_refused("topLevel"):
                (app_container / "mine").mkdir()
        """
    )
    project.runpytest_subprocess("-n", "2", "-p", "xdist").assert_outcomes(passed=6)
    templates = [order["device"] for order in given(orders) if order.get("template")]
    assert len(templates) == 2 and len(given(orders)) == 8
    assert not any(os.path.exists(str(order["device"])) for order in given(orders))


def test_a_worker_that_is_killed_leaves_nothing(project: pytest.Pytester, tmp_path: Path) -> None:
    devices = tmp_path / "devices"
    devices.mkdir()
    project.makeini(f"[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = {devices}\n")
    project.makepyfile(
        """
        import os, signal
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(app_container, number):
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            (app_container.documents / "note").write_text(str(number))
        """
    )
    project.runpytest_subprocess("-n", "2", "-p", "xdist").assert_outcomes(passed=5, failed=1)
    eventually(lambda: os.listdir(devices) == [])
