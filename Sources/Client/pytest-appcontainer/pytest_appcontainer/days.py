"""The records of a device's days: its clock, its surroundings, and the backups that it makes by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .records import Event

__all__ = ["BackupSchedule", "ClockReport", "Conditions"]


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
