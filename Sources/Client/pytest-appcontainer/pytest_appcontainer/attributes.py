"""Extended attributes of a mount: protection classes, and exclusion from backups.

All functions raise DeviceError of kind ``notMounted`` off a mount: another filesystem would take the attributes as
well, and mean nothing by them.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Optional, Union

from .errors import SHOWN_WHERE_ASKED, DeviceError
from .records import ProtectionClass

__all__ = ["backup_state", "exclude", "include", "is_excluded", "protection", "set_protection"]
__tracebackhide__ = SHOWN_WHERE_ASKED

HostPath = Union[str, "os.PathLike[str]"]

_PROTECTION = "user.appcontainer.protection"
_BACKUP = "user.appcontainer.backup"
_EXCLUDED = "user.com.apple.metadata:com_apple_backup_excludeItem"


def protection(path: HostPath) -> ProtectionClass:
    """The class of a file, or the one that a directory gives to new entries.

    Raises DeviceError of kind ``unsuitableFile`` for a path that has none, such as the bundle.
    """
    # A copy on another filesystem may have the attribute, which protects nothing there.
    _expect_mounted(path)
    value = _value(path, _PROTECTION)
    if value is None:
        raise DeviceError(
            "unsuitableFile",
            f"{os.fspath(path)} has no protection class: the bundle, the home's top level, Groups, iCloud, sockets and "
            "fifos have none",
        )
    return ProtectionClass(os.fsdecode(value))


def set_protection(path: HostPath, protection: Union[ProtectionClass, str]) -> None:
    """Changes the class: one of :class:`ProtectionClass`, or Foundation's name of it.

    Raises ValueError for any other, and PermissionError while the keys of both classes are not at hand.
    """
    try:
        known = ProtectionClass(protection)
    except ValueError:
        names = ", ".join(each.value for each in ProtectionClass)
        raise ValueError(f"{protection!r} is no protection class; take one of {names}") from None
    _expect_mounted(path)
    os.setxattr(path, _PROTECTION, os.fsencode(known.value))


def exclude(path: HostPath) -> None:
    """Keeps a file, or a directory with all that is in it, out of backups."""
    _expect_mounted(path)
    os.setxattr(path, _EXCLUDED, b"com.apple.backupd")


def include(path: HostPath) -> None:
    """Takes the mark of :func:`exclude` away, where there is one."""
    _expect_mounted(path)
    try:
        os.removexattr(path, _EXCLUDED)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise


def is_excluded(path: HostPath) -> bool:
    """Whether it is in no backup, for any reason."""
    return backup_state(path) != "included"


def backup_state(path: HostPath) -> str:
    """``included``, ``excluded``, or ``excluded-by:`` and the directory, relative to the home, that keeps it out."""
    value = _value(path, _BACKUP)
    if value is None:
        _expect_mounted(path)
        raise DeviceError(
            "unsuitableFile", f"{os.fspath(path)} has no mark of exclusion: it is neither a file nor a directory"
        )
    return os.fsdecode(value)


def _expect_mounted(path: HostPath) -> None:
    place = os.path.realpath(path)
    mode = os.stat(place).st_mode
    # Of what is neither, the kernel does not ask.
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        place = os.path.dirname(place)
    if not _is_mounted(place):
        raise DeviceError(
            "notMounted",
            f"{os.fspath(path)} is not in a mounted app's home; see where some are with: findmnt -t fuse.appcontainer",
        )


def _is_mounted(place: str) -> bool:
    """A mount tells of every file and directory whether it is in backups, and no other filesystem does.

    It is listed nowhere, so no copy elsewhere has it.
    """
    try:
        return _value(place, _BACKUP) is not None
    except PermissionError as error:
        above = os.path.dirname(place)
        if error.errno != errno.EACCES or above == place:
            raise
        # A file that may not be read may be written to all the same. It is where its directory is.
        return _is_mounted(above)


def _value(path: HostPath, name: str) -> Optional[bytes]:
    try:
        return os.getxattr(path, name)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):
            return None
        raise
