"""What a mount tells and takes by extended attributes: protection classes, and exclusion from backups."""

from __future__ import annotations

import errno
import os
from typing import Union

from .records import ProtectionClass

__all__ = ["backup_state", "exclude", "include", "is_excluded", "protection", "set_protection"]

HostPath = Union[str, "os.PathLike[str]"]

_PROTECTION = "user.appcontainer.protection"
_BACKUP = "user.appcontainer.backup"
_EXCLUDED = "user.com.apple.metadata:com_apple_backup_excludeItem"


def protection(path: HostPath) -> ProtectionClass:
    """The class of a file, or the one that a directory gives to what is made in it."""
    return ProtectionClass(os.fsdecode(_get(path, _PROTECTION)))


def set_protection(path: HostPath, protection: Union[ProtectionClass, str]) -> None:
    """Changes the class: one of :class:`ProtectionClass`, or Foundation's name of it.

    Raises ValueError for any other, and PermissionError while the keys of both classes are not at hand.
    """
    try:
        known = ProtectionClass(protection)
    except ValueError:
        names = ", ".join(each.value for each in ProtectionClass)
        raise ValueError(f"{protection!r} is no protection class; take one of {names}") from None
    os.setxattr(path, _PROTECTION, os.fsencode(known.value))


def exclude(path: HostPath) -> None:
    """Keeps a file, or a directory with all that is in it, out of backups."""
    os.setxattr(path, _EXCLUDED, b"com.apple.backupd")


def include(path: HostPath) -> None:
    """Takes the mark of :func:`exclude` away, where there is one."""
    try:
        os.removexattr(path, _EXCLUDED)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise


def is_excluded(path: HostPath) -> bool:
    """Whether no backup has it, for whatever reason."""
    return backup_state(path) != "included"


def backup_state(path: HostPath) -> str:
    """``included``, ``excluded``, or ``excluded-by:`` and the directory, relative to the home, that keeps it out."""
    return os.fsdecode(_get(path, _BACKUP))


def _get(path: HostPath, name: str) -> bytes:
    try:
        return os.getxattr(path, name)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):
            raise ValueError(f"{os.fspath(path)} is not in the mount of an app's home") from None
        raise
