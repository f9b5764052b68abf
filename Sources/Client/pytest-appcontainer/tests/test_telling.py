"""Tests of the report on a test that fails or forgets, and of putting things right after it."""

from __future__ import annotations

import pytest

from pytest_appcontainer import plugin


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

        def is_still(thread):
            try:
                return " T " in thread.read_text()
            except (FileNotFoundError, ProcessLookupError):
                # It has ended meanwhile.
                return True

        @pytest.fixture
        def stopped(app_container):
            pid = app_container.device.status().daemon.pid
            os.kill(pid, signal.SIGSTOP)
            # Each thread by itself: one could still answer when the first has stopped.
            while not all(map(is_still, pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))):
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


def test_an_error_of_the_device_shows_the_tests_own_line(project: pytest.Pytester) -> None:
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


def test_a_working_directory_in_a_container_that_ends_is_restored(project: pytest.Pytester) -> None:
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


def test_a_file_left_open_is_a_warning_that_names_it(project: pytest.Pytester) -> None:
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
