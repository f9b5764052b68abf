"""The records of a device and of its apps. Times are text as they are sent, and sizes are bytes."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Optional

from .decoding import named, printable

__all__ = [
    "App",
    "AppExtension",
    "BackgroundTask",
    "BackupSchedule",
    "Capacity",
    "ClockReport",
    "Conditions",
    "DaemonProcess",
    "DeviceStatus",
    "Event",
    "EventRange",
    "ExtendedAttribute",
    "FileHolder",
    "HeldLock",
    "Inspection",
    "ListedDevice",
    "Mount",
    "ProtectionClass",
    "RunnableApp",
    "SuspensionRehearsal",
    "SuspensionReport",
    "WorkProgress",
]


class ProtectionClass(str, enum.Enum):
    """The protection class of a file, which decides when its content can be read; by Foundation's own raw values."""

    COMPLETE = "NSFileProtectionComplete"
    COMPLETE_UNLESS_OPEN = "NSFileProtectionCompleteUnlessOpen"
    COMPLETE_UNTIL_FIRST_USER_AUTHENTICATION = "NSFileProtectionCompleteUntilFirstUserAuthentication"
    NONE = "NSFileProtectionNone"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class EventRange:
    """A part of a file."""

    offset: int
    length: int


@dataclass(frozen=True)
class Event:
    """An event of a device. Fields that do not apply are None; appcontainer(7) describes each."""

    time: str
    #: The kind of event, such as ``refused``, ``locked`` or ``purged``.
    event: str
    app: Optional[str] = None
    #: Relative to the app's home; of ``mounted`` and ``unmounted`` the mount point.
    path: Optional[str] = None
    #: Bytes that ``path`` leaves out at its head, of a path of more than 1,024 bytes.
    path_cut: Optional[int] = None
    #: The system call, such as ``open``.
    operation: Optional[str] = None
    pid: Optional[int] = None
    process: Optional[str] = None
    #: The rule that refused, such as ``inbox``.
    rule: Optional[str] = None
    #: By its name, such as ``EPERM``.
    errno: Optional[str] = None
    range: Optional[EventRange] = None
    size: Optional[int] = None
    #: Of a purge, or of the end of a process.
    reason: Optional[str] = None
    #: The state that the app has entered: ``background`` or ``foreground``.
    state: Optional[str] = None
    #: Seconds until the app is suspended at the latest.
    remaining: Optional[float] = None
    #: The kind of the lock with which a process was suspended.
    lock: Optional[str] = None
    #: How many refusals before this one are not in the record.
    omitted: Optional[int] = None
    missed: Optional[int] = None
    #: The device's time, where its clock is ahead of the host's.
    device_time: Optional[str] = None
    dropped: Optional[int] = None

    def __str__(self) -> str:
        words = [self.time, self.event]
        if self.operation:
            words.append(self.operation)
        if self.path is not None:
            words.append(printable(self.path) or "the home itself")
        if self.app:
            words.append(f"of {self.app}")
        if self.process:
            words.append(f"by {printable(self.process)} ({self.pid})")
        if self.errno:
            words.append(self.errno)
        if self.rule:
            words.append(f"rule {self.rule}")
        if self.state:
            words.append(self.state)
        if self.lock:
            words.append(f"lock {self.lock}")
        if self.reason:
            words.append(self.reason)
        for what, count in (("omitted", self.omitted), ("missed", self.missed), ("dropped", self.dropped)):
            if count:
                words.append(f"{what} {count}")
        return " ".join(words)


@dataclass(frozen=True)
class Mount:
    """An app's home at a mount point."""

    app: str
    mount_point: str
    read_only: bool
    allow_other: bool
    #: Whether only ``Documents`` is shown.
    documents: bool
    #: Whether ``Library/Caches`` and ``tmp`` show a ``CACHEDIR.TAG``.
    cachedir_tag: bool
    #: The way by which the kernel's requests reach the device's process: ``dev-fuse`` or ``io-uring``.
    transport: str


@dataclass(frozen=True)
class ListedDevice:
    """A device that a process of this user serves."""

    #: Its directory; None where the process does not answer, and was not told on its command line.
    device: Optional[str]
    #: None where the process does not answer.
    identifier: Optional[str]
    #: As in :class:`DeviceStatus`, or ``notAnswering``.
    state: str
    #: Whether the directory is there.
    there: bool
    #: None for a process that cannot be seen from here.
    pid: Optional[int]
    #: The path of the control socket.
    socket: str
    #: The number of apps installed.
    apps: int
    mounts: tuple[Mount, ...]
    #: The identifiers of the apps that are running.
    running: tuple[str, ...]


@dataclass(frozen=True)
class AppExtension:
    """An extension of an app that is installed. Requests take its identifier as they take an app's."""

    identifier: str
    #: The name by which ``run`` knows it: that of its bundle, without ``.appex``.
    name: str
    #: The name of its data container's directory.
    container: str
    groups: tuple[str, ...]
    running: bool
    #: ``foreground``, ``background`` or ``suspended``.
    state: str
    icloud: tuple[str, ...] = named("iCloud")
    #: The entitlements that its signature covers, by key.
    entitlements: dict[str, Any] = named("entitlements", hash=False)
    mount_point: Optional[str] = None


@dataclass(frozen=True)
class App:
    """An app that is installed."""

    identifier: str
    name: str
    #: The bundle directory's own name, such as ``Notes.app``.
    bundle: str
    #: The name of the data container's directory.
    container: str
    groups: tuple[str, ...]
    #: The number of the container's user.
    owner: int
    running: bool
    extensions: tuple[AppExtension, ...]
    #: ``foreground``, ``background`` or ``suspended``.
    state: str
    icloud: tuple[str, ...] = named("iCloud")
    #: The entitlements that its signature covers, by key.
    entitlements: dict[str, Any] = named("entitlements", hash=False)
    version: Optional[str] = None
    #: The team that its signature names.
    team: Optional[str] = None
    #: The name in its signer's certificate; None where the device has signed it, or nobody.
    signer: Optional[str] = None
    mount_point: Optional[str] = None
    #: Notices of its installation, in the answer to that.
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class DaemonProcess:
    """The process that serves a device."""

    pid: int
    socket: str


@dataclass(frozen=True)
class DeviceStatus:
    """The state of a device, of its process and of its mounts."""

    #: ``beforeFirstUnlock``, ``unlocked``, ``locking`` or ``locked``.
    state: str
    #: The device's directory.
    device: str
    identifier: str
    has_passcode: bool
    #: Wrong passcodes since the last right one.
    passcode_attempts: int
    #: Whether ten wrong passcodes erase the device.
    erase_after_ten: bool
    #: Whether backups have the class keys under a backup password.
    has_backup_password: bool
    #: The protection classes that can be opened now.
    readable: tuple[str, ...]
    #: How many are installed.
    apps: int
    waiting: tuple[str, ...]
    daemon: DaemonProcess
    mounts: tuple[Mount, ...]
    #: The identifiers of the apps that are running.
    running: tuple[str, ...]
    #: Those among them that are suspended.
    suspended: tuple[str, ...]
    #: The seed of a device that disobeys.
    capricious: Optional[str] = None
    #: Seconds until the next passcode is let in; None while one is.
    passcode_wait: Optional[int] = None
    #: Seconds until the device is locked, while it is locking.
    grace_remaining: Optional[float] = None
    capacity: Optional[int] = None
    used: Optional[int] = None
    available: Optional[int] = None
    purgeable: Optional[int] = None
    available_for_important_usage: Optional[int] = None
    available_for_opportunistic_usage: Optional[int] = None


@dataclass(frozen=True)
class Capacity:
    """The capacity of a device, in bytes; the water marks are in percent."""

    total: int
    used: int
    free: int
    available: int
    reserve: int
    low_water: float
    high_water: float
    #: None where it is the host's.
    capacity: Optional[int] = None


@dataclass(frozen=True)
class ExtendedAttribute:
    """An extended attribute of a file."""

    name: str
    #: In Base64.
    bytes: str
    #: None where it is no text.
    value: Optional[str] = None


@dataclass(frozen=True)
class FileHolder:
    """A process that has a file open or mapped."""

    pid: int
    #: Whether it can write to the file.
    writes: bool
    process: Optional[str] = None


@dataclass(frozen=True)
class Inspection:
    """The rules that hold for a path in an app's home."""

    path: str
    app: str
    kind: str
    zone: str
    #: The rule of the sandbox there, in words.
    rule: str
    readable: bool
    size: int
    stored_size: int
    owner: int
    group: int
    mode: str
    #: ``included``, ``excluded``, or ``excluded-by:`` and the directory that keeps it out.
    backup: str
    #: The reason for that, in words.
    backup_rule: str
    excluded: bool
    #: The number of its names.
    links: int
    #: When its content changed last.
    modified: str
    attributes: tuple[ExtendedAttribute, ...]
    #: The processes that have it open or mapped, as far as the device may look at them.
    open_by: tuple[FileHolder, ...]
    #: The entitlements of its app, as in ``App``.
    entitlements: dict[str, Any] = named("entitlements", hash=False)
    #: The class of a file, or the one that a directory gives; None where nothing is encrypted.
    protection: Optional[str] = None
    backing: Optional[str] = None
    #: As in ``App``.
    team: Optional[str] = None
    signer: Optional[str] = None
    #: The reason for ``protection``, in words.
    protection_reason: Optional[str] = None
    #: The class key that wraps the file's own, in words.
    wrapped_by: Optional[str] = None
    class_key_available: Optional[bool] = None


@dataclass(frozen=True)
class RunnableApp:
    """An app that is mounted, with its seal looked at."""

    #: Of the app, or of the extension that was asked for.
    identifier: str
    mount_point: str
    is_mounted_to_run: bool
    lease: int
    #: The bundle's main executable.
    executable: Optional[str] = None


@dataclass(frozen=True)
class HeldLock:
    """A lock on a file in a group container that a process held when its app was suspended."""

    #: Relative to the app's home; of a SQLite database the database, also where the lock is on its ``-shm``.
    path: str
    #: ``flock``, ``posix``, ``ofd``, or ``sqlite`` for a transaction.
    lock: str
    pid: int
    process: Optional[str] = None

    def __str__(self) -> str:
        holder = f"{printable(self.process or 'a process')} ({self.pid})"
        if self.lock == "sqlite":
            return f"a transaction of {printable(self.path)} is open in {holder}"
        return f"{printable(self.path)} is locked ({self.lock}) by {holder}"


@dataclass(frozen=True)
class SuspensionReport:
    """The result of a suspension."""

    #: How many were frozen.
    processes: int
    #: Whether a control group froze them, and no signal stopped them.
    freezer: bool
    #: The locks for which processes were killed.
    terminated: tuple[HeldLock, ...]
    #: The names of background tasks that had not ended.
    unended_tasks: tuple[str, ...]


@dataclass(frozen=True)
class SuspensionRehearsal:
    """The result of a suspension that froze and killed nothing."""

    #: The locks for which the process would have been killed.
    locks: tuple[HeldLock, ...]
    unended_tasks: tuple[str, ...]


@dataclass(frozen=True)
class BackgroundTask:
    """A background task that was begun."""

    task: int
    #: Seconds until the app is suspended at the latest; None while it is not in the background.
    remaining: Optional[float] = None


@dataclass(frozen=True)
class WorkProgress:
    """The progress of long work."""

    activity: str
    #: ``bytes`` or ``files``.
    unit: str
    done: int
    total: Optional[int] = None


@dataclass(frozen=True)
class ClockReport:
    """The clock of a device."""

    #: The device's time.
    time: str
    #: Seconds by which it is ahead of the host's time.
    ahead: float
    #: The events of the work that came due during an advance, in their order.
    happened: tuple[Event, ...]


@dataclass(frozen=True)
class Conditions:
    """The surroundings of a device."""

    #: Whether it is connected to power.
    power: bool
    #: Whether it has Wi-Fi.
    wifi: bool


@dataclass(frozen=True)
class BackupSchedule:
    """The backups that a device makes by itself."""

    #: The conditions that a backup waits for now: ``locked``, ``power``, ``wifi``.
    missing: tuple[str, ...]
    #: The directory that gets them; None where there are none.
    backup: Optional[str] = None
    #: When the next one is due.
    next: Optional[str] = None
