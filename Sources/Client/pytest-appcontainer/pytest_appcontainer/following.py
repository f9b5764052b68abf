"""Events of a device as they come."""

from __future__ import annotations

import socket as sockets
from collections.abc import Iterator
from types import TracebackType
from typing import Optional

from .connection import ask_in_lines
from .decoding import decoded
from .errors import SHOWN_WHERE_ASKED
from .records import Event

__all__ = ["EventStream"]
__tracebackhide__ = SHOWN_WHERE_ASKED


class EventStream(Iterator[Event]):
    """The events so far, and then those to come. Closed by ``close``, from any thread, or as a context."""

    def __init__(self, socket: str, since: Optional[str], timeout: Optional[float]) -> None:
        self._since = since or ""
        self._answer = ask_in_lines(socket, "events/follow", None, timeout)
        self._lines = self._answer.lines()
        self._is_closed = False

    def __next__(self) -> Event:
        try:
            while True:
                event = decoded(Event, next(self._lines))
                # Times are all of one form, in which the order of the text is that of time.
                if event.time >= self._since:
                    return event
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

    def __enter__(self) -> EventStream:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
        self._answer.close()
