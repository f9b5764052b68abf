"""A device's reports of long work: purges, backups and restores, audits, surveys and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

__all__ = [
    "AuditDirectory",
    "AuditFinding",
    "AuditGroup",
    "AuditReport",
    "BackupItem",
    "BackupReport",
    "CheckProblem",
    "CheckReport",
    "ExcludedHome",
    "ExcludedPath",
    "PurgeEntry",
    "PurgeReport",
    "RestoreReport",
    "Survey",
    "SurveyNode",
]


@dataclass(frozen=True)
class PurgeEntry:
    """An entry of ``Library/Caches`` or ``tmp`` that went, or stayed, and why."""

    app: str
    path: str
    size: int
    reason: str
    last_use: Optional[str] = None


@dataclass(frozen=True)
class PurgeReport:
    purged: tuple[PurgeEntry, ...]
    skipped: tuple[PurgeEntry, ...]
    freed: int
    available: int
    #: Bytes that were to be available.
    target: Optional[int] = None


@dataclass(frozen=True)
class BackupReport:
    files: int
    bytes: int
    #: Files that are taken from the earlier backup.
    unchanged: int
    #: Files that went in as ciphertext, which only this device can read.
    sealed: int


@dataclass(frozen=True)
class BackupItem:
    """An item that a backup would take in, or leave out."""

    #: The container, such as ``AppDomain-com.example.Notes``.
    domain: str
    #: Relative to the container; empty for the container itself.
    path: str
    size: int
    sealed: bool
    #: None for an entry that goes in; else ``excluded``, ``place`` or ``kind``.
    left_out: Optional[str] = None


@dataclass(frozen=True)
class ExcludedPath:
    """A path that a backup leaves out: of a directory with everything in it."""

    #: Relative to the home. Bytes that are not UTF-8 show as replacement characters.
    path: str
    #: The path's bytes as base64, where they are not UTF-8.
    bytes: Optional[str] = None


@dataclass(frozen=True)
class ExcludedHome:
    """The home of an app or app extension, and what a backup leaves out of it."""

    app: str
    paths: tuple[ExcludedPath, ...]
    #: None while the app is not mounted.
    mount_point: Optional[str] = None


@dataclass(frozen=True)
class RestoreReport:
    apps: tuple[str, ...]
    #: Apps that are not installed; each has its data when it is.
    waiting: tuple[str, ...]
    groups: tuple[str, ...]
    files: int
    bytes: int
    left_out: int


@dataclass(frozen=True)
class AuditDirectory:
    domain: str
    path: str
    files: int
    size: int
    left_out: int


@dataclass(frozen=True)
class AuditFinding:
    rule: str
    #: ``breach`` or ``advice``.
    severity: str
    domain: str
    path: str
    size: int


@dataclass(frozen=True)
class AuditGroup:
    """The findings of one rule among the entries of one directory."""

    rule: str
    #: ``breach`` or ``advice``.
    severity: str
    #: The rule in words, and what to do.
    words: str
    domain: str
    #: That of the finding if it is the only one, else of the directory.
    path: str
    findings: int
    size: int
    #: The names of the first three findings; empty for a single one.
    names: tuple[str, ...]


@dataclass(frozen=True)
class AuditReport:
    app: str
    #: Whether there is no breach.
    passed: bool
    directories: tuple[AuditDirectory, ...]
    findings: tuple[AuditFinding, ...]
    #: The findings in groups, breaches first.
    groups: tuple[AuditGroup, ...]


@dataclass(frozen=True)
class SurveyNode:
    #: Empty for small files together, and for the data container.
    name: str
    size: int
    files: int
    backup: str
    purgeable: bool
    #: None for a directory.
    protection: Optional[str] = None
    children: tuple[SurveyNode, ...] = ()


@dataclass(frozen=True)
class Survey:
    """The files in an app's containers, by size."""

    app: str
    name: str
    version: str
    state: str
    readable: tuple[str, ...]
    running: bool
    available: int
    containers: tuple[SurveyNode, ...]


@dataclass(frozen=True)
class CheckProblem:
    container: str
    path: str
    message: str


@dataclass(frozen=True)
class CheckReport:
    files: int
    #: Files that the present state of the device keeps closed.
    unreadable: int
    problems: tuple[CheckProblem, ...]
    repaired: tuple[CheckProblem, ...]

    @property
    def is_whole(self) -> bool:
        return not self.problems
