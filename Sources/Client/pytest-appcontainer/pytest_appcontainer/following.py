"""Events of a device and changes of its files as they come."""

from __future__ import annotations

import socket as sockets
from collections.abc import Iterator
from types import TracebackType
from dataclasses import dataclass
from typing import Generic, Optional, TypeVar

from .connection import ask_in_lines
from .decoding import decoded
from .errors import SHOWN_WHERE_ASKED
from .records import Event

__all__ = ["ChangeStream", "EventStream", "FileChange"]
__tracebackhide__ = SHOWN_WHERE_ASKED

Record = TypeVar("Record")
Self = TypeVar("Self", bound="_Stream")  # type: ignore[type-arg]


@dataclass(frozen=True)
class FileChange:
    """A place at which files may have changed: list it again."""

    #: For a container that several apps share, the one through which it was reached; None for anything on the device.
    app: Optional[str] = None
    #: A file that has changed, or a directory whose entries have; None for anything of the app.
    path: Optional[str] = None
    #: The path's bytes in base64, where they are not UTF-8.
    path_bytes: Optional[str] = None


class _Stream(Iterator[Record], Generic[Record]):
    """Records that come one a line. Closed by ``close``, from any thread, or as a context."""

    def __init__(self, kind: type[Record], socket: str, query: str, timeout: Optional[float]) -> None:
        self._kind = kind
        self._answer = ask_in_lines(socket, query, None, timeout)
        self._lines = self._answer.lines()
        self._is_closed = False

    def _accepts(self, record: Record) -> bool:
        return True

    def __next__(self) -> Record:
        try:
            while True:
                record = decoded(self._kind, next(self._lines))
                if self._accepts(record):
                    return record
        except (StopIteration, sockets.timeout):
            self._answer.close()
            raise StopIteration from None
        except Exception:
            self._answer.close()
            if self._is_closed:
                raise StopIteration from None
            raise

    def close(self) -> None:
        """Ends it, also for a thread that waits for the next event."""
        self._is_closed = True
        self._answer.shut()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
        self._answer.close()


class EventStream(_Stream[Event]):
    """The events so far, and then those to come. Closed by ``close``, from any thread, or as a context."""

    def __init__(self, socket: str, since: Optional[str], timeout: Optional[float]) -> None:
        self._since = since or ""
        super().__init__(Event, socket, "events/follow", timeout)

    def _accepts(self, record: Event) -> bool:
        # Times are all of one form, in which the order of the text is that of time.
        return record.time >= self._since


class ChangeStream(_Stream[FileChange]):
    """The places at which files change. Closed by ``close``, from any thread, or as a context."""

    def __init__(self, socket: str, timeout: Optional[float]) -> None:
        super().__init__(FileChange, socket, "changes/follow", timeout)
