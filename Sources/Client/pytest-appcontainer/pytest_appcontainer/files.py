"""The files of an app's home over the control socket: listed, marked, protected, and followed as they change."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional, Union

from .connection import Address, ask
from .decoding import decoded, decoded_list, named
from .errors import SHOWN_WHERE_ASKED, DeviceError
from .following import ChangeStream
from .records import ProtectionClass

__all__ = ["Activity", "FileListing", "FileMethods", "ListedFile", "RuleText"]
__tracebackhide__ = SHOWN_WHERE_ASKED

_LARGEST_PART = 10_000


def place(path: Union[str, "os.PathLike[str]"]) -> dict[str, Optional[str]]:
    """The path in a request, and its bytes where they are no text that JSON could have: see ``os.fsdecode``."""
    data = os.fsencode(path)
    text = data.decode(errors="replace")
    return {"path": text, "pathBytes": None if text.encode() == data else base64.b64encode(data).decode()}


@dataclass(frozen=True)
class ListedFile:
    """A file or directory of an app's home, with the rules that hold for it."""

    #: Relative to the app's home.
    path: str
    kind: str
    size: int
    stored_size: int
    #: When its content changed last.
    modified: str
    mode: str
    #: The number of its names.
    links: int
    #: ``st_ino`` on the mount: the same for all names of a file; 0 for an entry that cannot be looked at.
    file_number: int
    #: ``included``, ``excluded``, or ``excluded-by:`` and the directory that keeps it out.
    backup: str
    excluded: bool
    #: Whether the system may remove it when space is low.
    purgeable: bool
    #: The class of a file, or the one that a directory gives; None where nothing is encrypted.
    protection: Optional[str] = None
    #: The target of a symbolic link.
    target: Optional[str] = None
    #: The reason for which facts are missing, or its content is not listed; None for nearly all.
    fault: Optional[str] = None
    #: The path's bytes in base64, where they are not UTF-8.
    path_bytes: Optional[str] = None


@dataclass(frozen=True)
class FileListing:
    """A part of the content of a directory."""

    app: str
    path: str
    files: tuple[ListedFile, ...]
    #: The place behind which the next part begins; None behind the last entry.
    next: Optional[str] = None


@dataclass(frozen=True)
class RuleText:
    """A rule that events name, in words."""

    rule: str
    words: str
    #: An alternative that is allowed.
    instead: str


@dataclass(frozen=True)
class Activity:
    """The kernel's requests to the device's mounts since its process started, by kind."""

    requests: dict[str, int] = named("requests", hash=False)


class FileMethods:
    """The part of a device's methods that is about files."""

    socket: Address

    def files(
        self, app: str, path: Union[str, "os.PathLike[str]"] = "", *, recursive: bool = False
    ) -> Iterator[ListedFile]:
        """The content of a directory of its home, mounted or not; ``recursive`` goes into its directories.

        Asks part by part: what comes or goes meanwhile may be missing.
        """
        after: Optional[str] = None
        while True:
            request = {
                "app": app,
                **place(path),
                "recursive": recursive,
                "after": after,
                "limit": _LARGEST_PART,
            }
            listing = decoded(FileListing, ask(self.socket, "files", request))
            yield from listing.files
            if listing.next is None:
                return
            after = listing.next

    def follow_changes(self, *, timeout: Optional[float] = None) -> ChangeStream:
        """The places at which files change from now on, each a few times a second at most.

        Ends when the device is shut down, when it is closed, and when none has come for ``timeout`` seconds.
        """
        return ChangeStream(self.socket, timeout)

    def exclude(self, app: str, path: Union[str, "os.PathLike[str]"]) -> None:
        """Keeps a file or directory of its home out of backups."""
        self._change("exclude", app=app, **place(path))

    def include(self, app: str, path: Union[str, "os.PathLike[str]"]) -> None:
        """Takes that back."""
        self._change("include", app=app, **place(path))

    def protect(
        self,
        app: str,
        path: Union[str, "os.PathLike[str]"],
        protection: Union[ProtectionClass, str, None],
        *,
        recursive: bool = False,
    ) -> None:
        """Gives a file a class, or a directory that of its new files; None is the class that the directory above gives.

        ``recursive`` gives what lies in the directory the class too.
        """
        name = None if protection is None else str(protection)
        self._change("protect", app=app, **place(path), protection=name, recursive=recursive)

    def rules(self) -> tuple[RuleText, ...]:
        """The rules that events name, in words."""
        return decoded_list(RuleText, ask(self.socket, "rules", None))

    def activity(self) -> Activity:
        """The kernel's requests to its mounts, by kind."""
        return decoded(Activity, ask(self.socket, "activity", None))

    def _change(self, request: str, **body: object) -> None:
        if not isinstance(ask(self.socket, request, body), dict):
            raise DeviceError.other_version("the device answered something else than an object")
