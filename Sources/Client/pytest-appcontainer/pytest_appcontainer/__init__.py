"""An iOS app's container, with the rules that an iPhone enforces, for Python.

:class:`Device` drives a device, :class:`OwnedDevice` makes one that goes with this process, and the pytest fixture
``app_container`` gives each test one of its own. Nothing here needs pytest but that, in ``pytest_appcontainer.plugin``.
"""

from __future__ import annotations

from .attributes import backup_state, exclude, include, is_excluded, protection, set_protection
from .client import Device
from .container import AppContainer
from .errors import DeviceError
from .files import Activity, FileListing, ListedFile, RuleText
from .following import ChangeStream, EventStream, FileChange
from .options import AppContainerOptions, OptionError
from .owner import OwnedDevice, boot, served
from .records import (
    App,
    AppExtension,
    BackgroundTask,
    BackupSchedule,
    Capacity,
    ClockReport,
    Conditions,
    DaemonProcess,
    DeviceStatus,
    Event,
    EventRange,
    ExtendedAttribute,
    FileHolder,
    HeldLock,
    Inspection,
    ListedDevice,
    Mount,
    ProtectionClass,
    RunnableApp,
    SuspensionRehearsal,
    SuspensionReport,
    WorkProgress,
)
from .reports import (
    AuditDirectory,
    AuditFinding,
    AuditGroup,
    AuditReport,
    BackupItem,
    BackupReport,
    CheckProblem,
    CheckReport,
    ExcludedHome,
    ExcludedPath,
    PurgeEntry,
    PurgeReport,
    RestoreReport,
    Survey,
    SurveyNode,
)
from .running import Lease

__all__ = [
    "Activity",
    "App",
    "AppContainer",
    "AppContainerOptions",
    "AppExtension",
    "AuditDirectory",
    "AuditFinding",
    "AuditGroup",
    "AuditReport",
    "BackgroundTask",
    "BackupItem",
    "BackupReport",
    "BackupSchedule",
    "Capacity",
    "ChangeStream",
    "CheckProblem",
    "CheckReport",
    "ClockReport",
    "Conditions",
    "DaemonProcess",
    "Device",
    "DeviceError",
    "DeviceStatus",
    "Event",
    "EventRange",
    "EventStream",
    "ExcludedHome",
    "ExcludedPath",
    "ExtendedAttribute",
    "FileChange",
    "FileHolder",
    "FileListing",
    "HeldLock",
    "Inspection",
    "Lease",
    "ListedDevice",
    "ListedFile",
    "Mount",
    "OptionError",
    "OwnedDevice",
    "ProtectionClass",
    "PurgeEntry",
    "PurgeReport",
    "RestoreReport",
    "RuleText",
    "RunnableApp",
    "Survey",
    "SurveyNode",
    "SuspensionRehearsal",
    "SuspensionReport",
    "WorkProgress",
    "backup_state",
    "boot",
    "exclude",
    "include",
    "is_excluded",
    "protection",
    "served",
    "set_protection",
]
