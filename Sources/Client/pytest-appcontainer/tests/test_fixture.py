"""The fixture: where its options come from, how fresh it is, and who has it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import eventually, given


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


def test_a_child_in_the_container_does_not_delay_the_end(project: pytest.Pytester) -> None:
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
