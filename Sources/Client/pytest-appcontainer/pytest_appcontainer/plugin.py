"""The fixture `app_container`, its marker and ini options, and the device's part of a failed test's report."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Optional, Union

import pytest

from .container import AppContainer
from .errors import DeviceError
from .openfiles import open_below
from .options import AppContainerOptions, OptionError
from .owner import OwnedDevice

__all__ = ["UnclosedFileWarning", "app_container", "app_container_options", "app_container_templates"]

Options = Union[AppContainerOptions, Mapping[str, object]]

_MARKER = "appcontainer"
_TEXTS = {
    "app": "the .app directory or .ipa of the fixture app_container, relative to pytest's root directory",
    "passcode": "the passcode of its device",
    "capacity": "how many bytes its device holds",
    "directory": "where devices are made, relative to pytest's root directory; that for temporary files if not given",
}
_LISTS = {
    "groups": "group containers that the app is entitled to",
    "icloud": "iCloud containers that the app is entitled to",
}
_container = pytest.StashKey[AppContainer]()
_MOST_EVENTS = 50
# How many seconds a report waits for them. A device that a test has stopped would never answer.
_LONGEST_ANSWER = 10.0


class UnclosedFileWarning(pytest.PytestWarning):
    """A test left files of its container open."""


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, help in _TEXTS.items():
        parser.addini(f"appcontainer_{name}", help, default="")
    for name, help in _LISTS.items():
        parser.addini(f"appcontainer_{name}", help, type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(app, passcode, groups, icloud, capacity, …): the container of the fixture app_container; "
        "the attributes of pytest_appcontainer.AppContainerOptions",
    )


@pytest.fixture
def app_container_options() -> Options:
    """To be overridden: a mapping of the options that differ from the ini file, or AppContainerOptions in its place."""
    return {}


@pytest.fixture(scope="session")
def app_container_templates() -> Iterator[dict[str, OwnedDevice]]:
    """The templates that devices are cloned from, by their options."""
    templates: dict[str, OwnedDevice] = {}
    # Each is closed, also when another cannot be.
    with contextlib.ExitStack() as stack:
        yield templates
        for template in templates.values():
            stack.callback(template.close)


@pytest.fixture
def app_container(
    request: pytest.FixtureRequest,
    app_container_options: Options,
    app_container_templates: dict[str, OwnedDevice],
) -> Iterator[AppContainer]:
    """An app's container, mounted and unlocked, on a device of the test's own that is gone when the test has ended."""
    root = request.config.rootpath
    earlier = _working_directory() or str(root)
    try:
        options = _options(request, app_container_options)
        template = _template(options, root, app_container_templates)
        owned = OwnedDevice({"clone": template.directory}, place=options.place(root))
    except (DeviceError, OptionError) as error:
        raise _failure(error) from None
    try:
        container = _mounted(owned, options)
        request.node.stash[_container] = container
        yield container
        _leave(container, earlier)
        # Told before the device goes, which takes the paths away.
        _warn_of_open_files(container)
    finally:
        # A report on anything later would ask a device that has gone.
        if _container in request.node.stash:
            del request.node.stash[_container]
        try:
            owned.close()
        except DeviceError as error:
            raise _failure(error) from None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, object, None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    container = item.stash.get(_container, None)
    if container is not None and report.failed:
        report.sections.append((f"events of {container.identifier}'s device", _told(container)))


def _told(container: AppContainer) -> str:
    try:
        events = container.events(timeout=_LONGEST_ANSWER)
    except DeviceError as error:
        return f"cannot be told: {error}"
    lines = [str(event) for event in events[-_MOST_EVENTS:]]
    if len(events) > _MOST_EVENTS:
        lines.insert(0, f"({len(events) - _MOST_EVENTS} before)")
    return "\n".join(lines) or "none"


def _ini_options(config: pytest.Config) -> AppContainerOptions:
    said: dict[str, object] = {name: config.getini(f"appcontainer_{name}") for name in (*_TEXTS, *_LISTS)}
    given: dict[str, object] = {name: value for name, value in said.items() if value}
    if "capacity" in given:
        try:
            given["capacity"] = int(str(given["capacity"]))
        except ValueError:
            raise OptionError(f"appcontainer_capacity is {given['capacity']!r}, and takes a number of bytes") from None
    return AppContainerOptions().with_changes(given, "the ini file")


def _options(request: pytest.FixtureRequest, said: Options) -> AppContainerOptions:
    source = "the fixture app_container_options"
    if isinstance(said, AppContainerOptions):
        options = AppContainerOptions().with_changes(vars(said), source)
    elif isinstance(said, Mapping):
        options = _ini_options(request.config).with_changes(said, source)
    else:
        raise OptionError(f"{source} returns {said!r}; have it return a mapping or AppContainerOptions")
    # The nearest marker is the last to say something.
    markers: list[pytest.Mark] = list(request.node.iter_markers(_MARKER))
    for marker in reversed(markers):
        if marker.args:
            raise OptionError(f"the marker {_MARKER} takes its options by name, such as app={marker.args[0]!r}")
        options = options.with_changes(marker.kwargs, f"the marker {_MARKER}")
    return options


def _template(options: AppContainerOptions, root: Path, templates: dict[str, OwnedDevice]) -> OwnedDevice:
    key = options.key(root)
    if key not in templates:
        templates[key] = OwnedDevice(options.order(root), place=options.place(root))
    return templates[key]


def _mounted(owned: OwnedDevice, options: AppContainerOptions) -> AppContainer:
    try:
        device = owned.device
        if options.passcode is not None:
            device.unlock(options.passcode)
        (app,) = device.apps()

        def mount(identifier: str) -> Path:
            mount = device.mount(
                identifier,
                allow_other=options.allow_other,
                read_only=options.read_only,
                running=options.running and not options.documents,
                documents=options.documents,
                cachedir_tag=options.cachedir_tag,
                transport=options.transport,
            )
            return Path(mount.mount_point)

        return AppContainer(device, app, mount, options.passcode, running=options.running and not options.documents)
    except DeviceError as error:
        raise _failure(error) from None


def _failure(error: Exception) -> BaseException:
    """One line, without a traceback outside the test."""
    return pytest.fail.Exception(f"app_container: {error}", pytrace=False)


def _working_directory() -> Optional[str]:
    try:
        return os.getcwd()
    except OSError:
        # It has gone.
        return None


def _leave(container: AppContainer, earlier: str) -> None:
    """Goes back to where the test began. The tests that follow could name no file in a container that has gone."""
    now, home = _working_directory(), str(container.home)
    if now is None or now == home or now.startswith(home + "/"):
        try:
            os.chdir(earlier)
        except OSError:
            # The test has taken it away, and every other place may be as wrong.
            os.chdir("/")


def _warn_of_open_files(container: AppContainer) -> None:
    left = open_below(str(container.home))
    if left:
        warnings.warn(
            f"the test left open in its container, and should close: {', '.join(left)}",
            UnclosedFileWarning,
            stacklevel=1,
        )
