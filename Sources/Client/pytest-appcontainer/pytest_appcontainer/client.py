"""A device that is on, over its control socket: one method for each thing that it does."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

from .connection import Address, Progress, ask
from .decoding import decoded, decoded_list
from .errors import SHOWN_WHERE_ASKED, DeviceError
from .files import FileMethods, place
from .following import EventStream
from .records import (
    App,
    BackgroundTask,
    BackupSchedule,
    Capacity,
    ClockReport,
    Conditions,
    DeviceStatus,
    Event,
    Inspection,
    Mount,
    SuspensionRehearsal,
    SuspensionReport,
)
from .reports import (
    AuditReport,
    BackupItem,
    BackupReport,
    CheckReport,
    ExcludedHome,
    PurgeReport,
    RestoreReport,
    Survey,
)
from .running import Command, Lease

__all__ = ["Device", "DeviceError"]
__tracebackhide__ = SHOWN_WHERE_ASKED

HostPath = Union[str, "os.PathLike[str]"]
Record = TypeVar("Record")


class Device(FileMethods):
    """A device that is on. It holds no connection between two calls, and can be used from several threads.

    Every method raises :class:`DeviceError` with the device's own kind and words. Paths of the host may be relative;
    paths in an app's home are relative to the home. ``progress`` is told how far long work has come.
    """

    def __init__(self, socket: HostPath, identifier: Optional[str] = None) -> None:
        """``socket``: the path that ``appcontainer boot`` prints, and ``appcontainer status --json`` tells.

        ``identifier``: that of the device, which each request names, so that no other device carries it out.
        """
        self.socket = Address(os.fspath(socket), identifier)

    def __repr__(self) -> str:
        return f"Device({self.socket!r})"

    # The device

    def status(self) -> DeviceStatus:
        """Its state, its process and its mounts."""
        return self._ask(DeviceStatus, "status")

    def unlock(self, passcode: str) -> None:
        """Gives the passcode; a lock that was announced is cancelled by it."""
        self._do("unlock", passcode=passcode)

    def lock(self, *, now: bool = False, wait: bool = True) -> None:
        """Locks it: after the grace period, or now. Returns when it is locked, or when that is announced."""
        self._do("lock", now=now, wait=wait)

    @contextlib.contextmanager
    def locked(self, passcode: str) -> Iterator[None]:
        """Locked now, and unlocked when the body has ended."""
        self.lock(now=True)
        try:
            yield
        finally:
            self.unlock(passcode)

    def restart(self) -> None:
        """Does what a reboot does: keys go, running apps are killed, and open files reach no content any more."""
        self._do("restart")

    def set_passcode(self, new: str, *, erase_after_ten: Optional[bool] = None) -> None:
        """``erase_after_ten`` says whether ten wrong passcodes erase it, which ends its process; None leaves that as it is."""
        self._do("passcode", action="set", new=new, eraseAfterTen=erase_after_ten)

    def change_passcode(self, old: str, new: str, *, erase_after_ten: Optional[bool] = None) -> None:
        self._do("passcode", action="change", old=old, new=new, eraseAfterTen=erase_after_ten)

    def remove_passcode(self, old: str, *, erase_after_ten: Optional[bool] = None) -> None:
        self._do("passcode", action="remove", old=old, eraseAfterTen=erase_after_ten)

    def set_backup_password(self, new: str) -> None:
        """Lets other devices restore what this one backs up while it is locked. It has to be unlocked now."""
        self._do("backup-password", action="set", new=new)

    def change_backup_password(self, old: str, new: str) -> None:
        """Backups that were made before keep the old password."""
        self._do("backup-password", action="change", old=old, new=new)

    def remove_backup_password(self, old: str) -> None:
        self._do("backup-password", action="remove", old=old)

    def capacity(
        self,
        capacity: Optional[int] = None,
        *,
        host: bool = False,
        low_water: Optional[float] = None,
        high_water: Optional[float] = None,
    ) -> Capacity:
        """Gives its capacity, and changes it: to bytes, or to that of the host. The water marks are in percent."""
        return self._ask(
            Capacity,
            "capacity",
            {"capacity": capacity, "hostCapacity": host or None, "lowWater": low_water, "highWater": high_water},
        )

    def check(self, *, repair: bool = False, progress: Optional[Progress] = None) -> CheckReport:
        """Looks at every header, block and length. Damage is in the report, and raises nothing."""
        return self._ask(CheckReport, "check", {"repair": repair}, progress)

    def events(self, *, timeout: Optional[float] = None) -> list[Event]:
        """The events so far, the oldest first, as far as the record goes back.

        Raises DeviceError of kind ``daemonUnreachable`` where no answer has come for ``timeout`` seconds.
        """
        return list(decoded_list(Event, ask(self.socket, "events", None, timeout=timeout)))

    def follow_events(self, *, since: Optional[str] = None, timeout: Optional[float] = None) -> EventStream:
        """The events so far, and then each event as it comes; without those before ``since``.

        ``since`` is a time as ``Event.time`` has it, or a beginning of one, such as a day. Ends when the device is shut
        down, when it is closed, and when none has come for ``timeout`` seconds. Raises DeviceError of kind
        ``daemonUnreachable`` where the device has not begun to answer for that time.
        """
        return EventStream(self.socket, since, timeout)

    def shutdown(self) -> None:
        """Unmounts everything and ends its process."""
        self._do("shutdown")

    # Apps

    def apps(self) -> list[App]:
        """Those that are installed."""
        return list(decoded_list(App, ask(self.socket, "apps", None)))

    def install(
        self,
        app: HostPath,
        *,
        groups: Sequence[str] = (),
        icloud: Sequence[str] = (),
        owner: Optional[int] = None,
        owner_group: Optional[int] = None,
        require_signed: bool = False,
        trust: Optional[str] = None,
        terminate: bool = False,
        replace_signer: bool = False,
        progress: Optional[Progress] = None,
    ) -> App:
        """Installs a ``.app`` directory or an ``.ipa``, or updates it. ``trust``: certificates as PEM.

        ``replace_signer``: an app of another signer may take the place of the installed one.
        """
        body = {
            "app": _absolute(app),
            "groups": list(groups),
            "iCloud": list(icloud),
            "owner": owner,
            "ownerGroup": owner_group,
            "requireSigned": require_signed,
            "trust": trust,
            "terminate": terminate,
            "replaceSigner": replace_signer,
        }
        return self._ask(App, "install", body, progress)

    def uninstall(self, app: str) -> None:
        """Removes an app and its containers."""
        self._do("uninstall", app=app)

    def entitle(self, app: str, *, groups: Sequence[str] = (), icloud: Sequence[str] = ()) -> App:
        """Entitles it to further containers, which appear in its mount at once."""
        return self._ask(App, "entitle", {"app": app, "groups": list(groups), "iCloud": list(icloud)})

    def reset(self, app: str) -> None:
        """Brings its data container back to the state after the installation."""
        self._do("reset", app=app)

    def deliver(
        self, app: str, *files: HostPath, any_type: bool = False, progress: Optional[Progress] = None
    ) -> tuple[str, ...]:
        """Puts files or directories into its Inbox. Returns where they are, relative to its home.

        An app that declares ``CFBundleDocumentTypes`` gets what it declares, and with ``any_type`` anything."""
        body = {"app": app, "files": [_absolute(file) for file in files], "anyType": any_type}
        delivered = ask(self.socket, "deliver", body, progress)
        if not isinstance(delivered, list):
            raise DeviceError.other_version("the device answered something else than paths")
        return tuple(map(str, delivered))

    def inspect(self, app: str, path: HostPath) -> Inspection:
        """The rules that hold for a path in its home, mounted or not."""
        return self._ask(Inspection, "inspect", {"app": app, **place(path)})

    def audit(self, app: str, *, patterns: Optional[str] = None, progress: Optional[Progress] = None) -> AuditReport:
        """Holds its containers against Apple's data storage guidelines. A breach is in the report, no error."""
        return self._ask(AuditReport, "audit", {"app": app, "patterns": patterns}, progress)

    def survey(self, app: str, *, progress: Optional[Progress] = None) -> Survey:
        """The files in its containers, by size."""
        return self._ask(Survey, "survey", {"app": app}, progress)

    # Days

    def clock(self) -> ClockReport:
        """The device's clock."""
        return self._ask(ClockReport, "clock", {})

    def advance_clock(self, seconds: int) -> ClockReport:
        """Advances the device's clock. The work that comes due meanwhile is done when it returns.

        Raises the error of a scheduled backup that failed; the clock is advanced all the same.
        """
        return self._ask(ClockReport, "clock", {"advance": seconds})

    def use_real_clock(self) -> ClockReport:
        """Sets the device's clock to the host's time again."""
        return self._ask(ClockReport, "clock", {"real": True})

    def conditions(self, *, power: Optional[bool] = None, wifi: Optional[bool] = None) -> Conditions:
        """Changes the device's surroundings; None leaves one as it is."""
        return self._ask(Conditions, "conditions", {"power": power, "wifi": wifi})

    def schedule_backups(self, directory: Optional[HostPath]) -> BackupSchedule:
        """Has the device back itself up each day, while it is locked, on power and on Wi-Fi; None ends that."""
        if directory is None:
            return self._ask(BackupSchedule, "schedule", {"ends": True})
        return self._ask(BackupSchedule, "schedule", {"backup": _absolute(directory)})

    def backup_schedule(self) -> BackupSchedule:
        """The backups that the device makes by itself."""
        return self._ask(BackupSchedule, "schedule", {})

    # Space and backups

    def purge(
        self,
        app: Optional[str] = None,
        *,
        free: Optional[int] = None,
        level: Optional[str] = None,
        older_than: Optional[int] = None,
        dry_run: bool = False,
        progress: Optional[Progress] = None,
    ) -> PurgeReport:
        """Purges caches of apps that are not running. That it was not enough raises nothing.

        At most one is given of ``free``, bytes that are to be available, ``level``, ``warning`` or ``critical``, and
        ``older_than``, seconds.
        """
        body = {"app": app, "free": free, "level": level, "olderThan": older_than, "dryRun": dry_run}
        return self._ask(PurgeReport, "purge", body, progress)

    def back_up(
        self,
        output: HostPath,
        *,
        app: Optional[str] = None,
        format: Optional[str] = None,
        password: Optional[str] = None,
        ignore_exclusions: bool = False,
        since: Optional[HostPath] = None,
        progress: Optional[Progress] = None,
    ) -> BackupReport:
        """Writes a backup: a tar, or with ``format="finder"`` as Finder does. Nothing is at ``output`` yet."""
        body = {
            "output": _absolute(output),
            "app": app,
            "format": format,
            "password": password,
            "ignoreExclusions": ignore_exclusions,
            "since": None if since is None else _absolute(since),
        }
        return self._ask(BackupReport, "backup", body, progress)

    def list_backup(self, app: Optional[str] = None, *, ignore_exclusions: bool = False) -> list[BackupItem]:
        """The items that a backup would take in, and those that it would leave out and why."""
        body = {"app": app, "ignoreExclusions": ignore_exclusions}
        return list(decoded_list(BackupItem, ask(self.socket, "backup-list", body)))

    def list_excluded(self, app: Optional[str] = None) -> list[ExcludedHome]:
        """The paths of each app's home that a phone's backup leaves out; of one app or extension, or of all."""
        return list(decoded_list(ExcludedHome, ask(self.socket, "backup-excluded", {"app": app})))

    def restore(
        self,
        backup: HostPath,
        *,
        password: Optional[str] = None,
        domain: Optional[str] = None,
        progress: Optional[Progress] = None,
    ) -> RestoreReport:
        """Brings the containers of a backup onto the device, in place of those that it has."""
        return self._ask(
            RestoreReport, "restore", {"input": _absolute(backup), "password": password, "domain": domain}, progress
        )

    # Mounts

    def mount(
        self,
        app: str,
        mount_point: Optional[HostPath] = None,
        *,
        allow_other: bool = False,
        read_only: bool = False,
        running: bool = False,
        documents: bool = False,
        cachedir_tag: bool = False,
        transport: Optional[str] = None,
    ) -> Mount:
        """Shows its home at a mount point, or where the device chooses one, which the answer tells.

        ``transport``: ``auto``, ``dev-fuse`` or ``io-uring``; without one, what ``APPCONTAINER_TRANSPORT`` named when the
        device's process started.
        """
        body = {
            "app": app,
            "mountPoint": None if mount_point is None else _absolute(mount_point),
            "allowOther": allow_other,
            "readOnly": read_only,
            "running": running,
            "documents": documents,
            "cachedirTag": cachedir_tag,
            "transport": transport,
        }
        return self._ask(Mount, "mount", body)

    def unmount(self, mount_point: HostPath, *, lazy: bool = False) -> None:
        """Ends a mount: now, or with ``lazy`` when its last file is closed; it is out of sight at once."""
        self._do("unmount", mountPoint=_absolute(mount_point), lazy=lazy)

    def wait_for_end_of_mount(self, mount_point: HostPath) -> None:
        """Returns when it has ended, however that came about; at once where nothing is mounted."""
        self._do("mount-end", mountPoint=_absolute(mount_point))

    def open_control_socket(self, socket: HostPath, user: int) -> None:
        """Listens at a further control socket for the user of this number, who may handle the device, and nothing of the
        host."""
        self._do("open-control-socket", socket=_absolute(socket), user=user)

    def close_control_socket(self, socket: HostPath) -> None:
        """Ends a further control socket."""
        self._do("close-control-socket", socket=_absolute(socket))

    @contextlib.contextmanager
    def mounted(self, app: str, mount_point: Optional[HostPath] = None, **options: Any) -> Iterator[Path]:
        """Mounted as by :meth:`mount`, and unmounted when the body has ended. Gives the mount point."""
        mount = self.mount(app, mount_point, **options)
        try:
            yield Path(mount.mount_point)
        finally:
            self.unmount(mount.mount_point)

    # Running apps

    def lease(self, app: str, *, extension: Optional[str] = None, verify_all: bool = False) -> Lease:
        """Marks an app, or one of its extensions, running until the lease ends.

        ``verify_all``: read the whole bundle before.
        """
        return Lease(self, app, verify_all, extension)

    def run(
        self,
        app: str,
        command: Command = (),
        *,
        extension: Optional[str] = None,
        verify_all: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Runs a command, or the bundle's main executable, in the app's home and environment, to its end.

        ``options`` are those of :func:`subprocess.run`. The app is running meanwhile. ``extension``: the name of one of its
        extensions, which runs in its place, in its own home.
        """
        with self.lease(app, extension=extension, verify_all=verify_all) as lease:
            return lease.run(command, **options)

    def mark_running(self, app: str, *, extension: Optional[str] = None) -> None:
        """Marks an app, or one of its extensions, running until it is terminated. Starts nothing."""
        self._do("mark-running", app=app, extension=extension)

    def terminate(self, app: str, *, memory: bool = False) -> None:
        """Ends all that runs of an app and its extensions, and every mark. ``memory``: kills at once, as where memory is
        short."""
        self._do("terminate", app=app, memory=memory)

    def suspend(self, app: str, *, after: float = 0) -> SuspensionReport:
        """Brings an app into the background, and after so many seconds at the latest freezes its processes.

        One that then holds a lock on a file in a group container is killed.
        """
        return self._ask(SuspensionReport, "suspend", {"app": app, "after": after})

    def resume(self, app: str) -> None:
        """Brings an app to the foreground, and has its processes go on."""
        self._do("resume", app=app)

    @contextlib.contextmanager
    def suspended(self, app: str, *, after: float = 0) -> Iterator[SuspensionReport]:
        """Suspended as by :meth:`suspend`, and resumed when the body has ended, unless it has ended the app."""
        report = self.suspend(app, after=after)
        try:
            yield report
        finally:
            try:
                self.resume(app)
            except DeviceError as error:
                if error.kind != "notSuspended":
                    raise

    def rehearse_suspension(
        self, app: str, process: Optional[int] = None, *, after: float = 0
    ) -> SuspensionRehearsal:
        """The locks for which a process, such as this one, would be killed. Nothing is frozen or killed."""
        body = {"app": app, "pid": os.getpid() if process is None else process, "after": after}
        return self._ask(SuspensionRehearsal, "rehearse-suspension", body)

    def begin_background_task(
        self, app: str, name: Optional[str] = None, *, process: Optional[int] = None
    ) -> BackgroundTask:
        """Begins a task of a process, such as this one, for whose end a suspension waits."""
        body = {"app": app, "pid": os.getpid() if process is None else process, "name": name}
        return self._ask(BackgroundTask, "begin-background-task", body)

    def end_background_task(self, app: str, task: int) -> None:
        """Ends it, if it has not ended."""
        self._do("end-background-task", app=app, task=task)

    @contextlib.contextmanager
    def running(self, app: str) -> Iterator[None]:
        """Marked running, so that nothing of it is purged, and terminated when the body has ended."""
        self.mark_running(app)
        try:
            yield
        finally:
            self.terminate(app)

    def _ask(
        self,
        kind: type[Record],
        request: str,
        body: Optional[Mapping[str, object]] = None,
        progress: Optional[Progress] = None,
    ) -> Record:
        return decoded(kind, ask(self.socket, request, body, progress))

    def _do(self, request: str, **body: object) -> None:
        if not isinstance(ask(self.socket, request, body), dict):
            raise DeviceError.other_version("the device answered something else than an object")


def _absolute(path: HostPath) -> str:
    return os.path.abspath(path)
