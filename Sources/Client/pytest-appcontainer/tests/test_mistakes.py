"""Tests of mistakes in the fixture's options: each is one line."""

from __future__ import annotations

import pytest


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


def test_a_directory_for_devices_that_is_not_there_is_one_line(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = none\n")
    project.makepyfile("def test_it(app_container): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"app_container: {project.path}/none is not a directory; make it first"])


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
