"""An app's container on a device of a test's own: the device's verbs, said of the one app."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Callable, Optional, Union, cast

from . import attributes
from .client import Device, HostPath
from .errors import SHOWN_WHERE_ASKED, DeviceError
from .expectations import Expectations, later
from .records import App, AppExtension, Event, Inspection, ProtectionClass, SuspensionReport
from .reports import AuditReport, BackupReport, PurgeReport
from .running import Command, Lease

__all__ = ["AppContainer"]
__tracebackhide__ = SHOWN_WHERE_ASKED


class AppContainer(Expectations):
    """A mounted home of an app. Every other call is in ``device``.

    Paths may be relative to the home, or paths of the host in it.
    """

    def __init__(
        self,
        device: Device,
        app: Union[App, AppExtension],
        mount: Callable[[str], Path],
        passcode: Optional[str],
        *,
        running: bool = False,
    ) -> None:
        """``mount`` shows the app's home, and tells where; ``running`` says whether it marks the app running."""
        super().__init__(device, app.identifier, mount(app.identifier))
        self.passcode = passcode
        self._mount = mount
        self._running = running
        # Whether it is marked running by more than its mount.
        self._marked = False
        self._bundle = app.bundle if isinstance(app, App) else None
        self._extensions: dict[str, AppContainer] = {}
        self._earlier = device.events()

    @property
    def bundle(self) -> Path:
        """The app's signed, read-only bundle; of an extension that of its own, in its app's."""
        if self._bundle is not None:
            return self.home / self._bundle
        (app,) = (app for app in self.device.apps() if self._extension(app) is not None)
        return self.home / app.bundle / "PlugIns" / f"{cast(AppExtension, self._extension(app)).name}.appex"

    def _extension(self, app: App) -> Optional[AppExtension]:
        return next((part for part in app.extensions if part.identifier == self.identifier), None)

    @property
    def documents(self) -> Path:
        return self.home / "Documents"

    @property
    def inbox(self) -> Path:
        return self.home / "Documents" / "Inbox"

    @property
    def library(self) -> Path:
        return self.home / "Library"

    @property
    def application_support(self) -> Path:
        return self.home / "Library" / "Application Support"

    @property
    def caches(self) -> Path:
        return self.home / "Library" / "Caches"

    @property
    def preferences(self) -> Path:
        return self.home / "Library" / "Preferences"

    @property
    def tmp(self) -> Path:
        return self.home / "tmp"

    def __repr__(self) -> str:
        return f"AppContainer({self.identifier!r}, {str(self.home)!r})"

    def __fspath__(self) -> str:
        return str(self.home)

    def __truediv__(self, path: HostPath) -> Path:
        return self.home / path

    def group(self, identifier: str) -> Path:
        """The root of a group container."""
        return self.home / "Groups" / identifier

    def icloud(self, identifier: str) -> Path:
        """The root of an iCloud container."""
        return self.home / "iCloud" / identifier

    def extension(self, name: str) -> AppContainer:
        """The home of one of the app's extensions, mounted beside the app's from the first call on.

        ``name`` is that of its bundle, without ``.appex``. An ordinary user can mount both only if they share no group.
        """
        if name not in self._extensions:
            (app,) = (app for app in self.device.apps() if app.identifier == self.identifier)
            found = [part for part in app.extensions if part.name == name]
            if not found:
                names = ", ".join(part.name for part in app.extensions) or "none"
                raise ValueError(f"{self.identifier} has no extension {name!r}; it has {names}")
            self._extensions[name] = AppContainer(
                self.device, found[0], self._mount, self.passcode, running=self._running
            )
        return self._extensions[name]

    def events(self, *, timeout: Optional[float] = None) -> list[Event]:
        """The events since the test began. ``timeout``: as ``Device.events`` has it."""
        return later(self.device.events(timeout=timeout), self._earlier)

    # The device's state

    def lock(self) -> None:
        """Locks the device now."""
        self.device.lock(now=True)

    def unlock(self, passcode: Optional[str] = None) -> None:
        """Unlocks it, with the passcode that it was made with if none is given."""
        self.device.unlock(passcode or self._known_passcode())

    def locked(self) -> AbstractContextManager[None]:
        """A context in which the device is locked; it is unlocked when the body has ended."""
        return self.device.locked(self._known_passcode())

    def restart(self) -> None:
        """Restarts it; with a passcode it is then before its first unlock."""
        self.device.restart()
        # A restart ends marks, but not those of mounts.
        for container in (self, *self._extensions.values()):
            if container._marked:
                self.device.mark_running(container.identifier)

    # The app

    def deliver(self, *files: HostPath, any_type: bool = False) -> tuple[Path, ...]:
        """Puts files into its Inbox, and returns where they are."""
        return tuple(self.home / path for path in self.device.deliver(self.identifier, *files, any_type=any_type))

    def run(self, command: Command = (), **options: Any) -> subprocess.CompletedProcess[Any]:
        """Runs a command, or the bundle's main executable, in the home, with the options of :func:`subprocess.run`."""
        return self.device.run(self.identifier, command, **options)

    def lease(self) -> Lease:
        """Marks the app running, for commands that go on: ``with app_container.lease() as lease: lease.start(…)``."""
        return self.device.lease(self.identifier)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """A context in which the app is running, so that nothing of it is purged. It is terminated at the end, unless the
        fixture has it run."""
        try:
            with self.device.running(self.identifier):
                yield
        finally:
            self._run_again()

    @contextlib.contextmanager
    def not_running(self) -> Iterator[None]:
        """A context in which the app does not run, so that its caches may be purged: it is terminated first."""
        self._terminate()
        try:
            yield
        finally:
            self._run_again()

    def terminate(self) -> None:
        """Ends all that runs of it."""
        self.device.terminate(self.identifier)

    def _terminate(self) -> None:
        try:
            self.device.terminate(self.identifier)
        except DeviceError as error:
            if error.kind != "notRunning":
                raise

    def _run_again(self) -> None:
        # The app's end was that of its extensions too.
        for container in (self, *self._extensions.values()):
            if container._running:
                self.device.mark_running(container.identifier)
                container._marked = True

    def suspend(self, *, after: float = 0) -> SuspensionReport:
        """Suspends what runs of it, as ``Device.suspend`` does. This process goes on: see ``expect_suspension``."""
        return self.device.suspend(self.identifier, after=after)

    def resume(self) -> None:
        """Has it go on."""
        self.device.resume(self.identifier)

    def update(self, app: HostPath) -> App:
        """Installs another version of it, as the App Store does: it is ended first, and its ``home`` is elsewhere then.

        No file in it may be open. Where the update is refused, all is as it was, but for the home's path.
        """
        with self._unmounted():
            updated = self.device.install(app, terminate=True)
        self._bundle = updated.bundle
        return updated

    def reset(self) -> None:
        """Empties its data container. No file in it may be open."""
        with self._unmounted():
            self.device.reset(self.identifier)

    @contextlib.contextmanager
    def _unmounted(self) -> Iterator[None]:
        self.device.unmount(self.home)
        if self._marked:
            self._terminate()
            self._marked = False
        try:
            yield
        finally:
            self.home = self._mount(self.identifier)

    def purge(
        self, *, free: Optional[int] = None, level: Optional[str] = None, older_than: Optional[int] = None
    ) -> PurgeReport:
        """Purges its caches, as ``Device.purge`` does those of all."""
        return self.device.purge(self.identifier, free=free, level=level, older_than=older_than)

    def back_up(self, output: HostPath, **options: Any) -> BackupReport:
        """Backs its containers up."""
        return self.device.back_up(output, app=self.identifier, **options)

    def audit(self, *, patterns: Optional[str] = None) -> AuditReport:
        """Holds its containers against Apple's data storage guidelines."""
        return self.device.audit(self.identifier, patterns=patterns)

    # Its files

    def inspect(self, path: HostPath) -> Inspection:
        """The rules that hold for a path."""
        return self.device.inspect(self.identifier, self._relative(path))

    def protection(self, path: HostPath) -> ProtectionClass:
        """The class of a file, or the one that a directory gives."""
        return attributes.protection(self._place(path))

    def set_protection(self, path: HostPath, protection: Union[ProtectionClass, str]) -> None:
        """Changes the class of a file, or the one that a directory gives from now on."""
        attributes.set_protection(self._place(path), protection)

    def exclude(self, path: HostPath) -> None:
        """Keeps it out of backups."""
        attributes.exclude(self._place(path))

    def include(self, path: HostPath) -> None:
        """Takes the mark of ``exclude`` away."""
        attributes.include(self._place(path))

    def is_excluded(self, path: HostPath) -> bool:
        """Whether it is in no backup, for any reason."""
        return attributes.is_excluded(self._place(path))

    def _known_passcode(self) -> str:
        if self.passcode is None:
            raise ValueError('the device has no passcode; give it one: @pytest.mark.appcontainer(passcode="1234")')
        return self.passcode
