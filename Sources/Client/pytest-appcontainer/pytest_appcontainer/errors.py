"""The error of a call that a device refused."""

from __future__ import annotations

import operator
from typing import Optional

from .version import VERSION

__all__ = ["SHOWN_WHERE_ASKED", "DeviceError"]


class DeviceError(Exception):
    """One line with the reason and the remedy, and a kind that programs can tell apart.

    The kinds are those of the control API, such as ``unknownApp`` and ``wrongPasscode``, which ``docs/openapi.yaml``
    in a checkout lists under ``x-kinds``, and two of the client: ``programMissing`` if the command ``appcontainer`` is
    not there or cannot be started, and ``otherVersion`` if an answer has another form than this version expects.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message

    @classmethod
    def told(cls, answer: object) -> Optional[DeviceError]:
        """The complaint of an answer; None where it has none."""
        complaint = answer.get("complaint") if isinstance(answer, dict) else None
        if not isinstance(complaint, dict):
            return None
        return cls(str(complaint.get("kind", "unexpected")), str(complaint.get("message", complaint)))

    @classmethod
    def unreachable(cls, message: str) -> DeviceError:
        return cls("daemonUnreachable", message)

    @classmethod
    def ended(cls) -> DeviceError:
        return cls(
            "daemonEnded", "the device's process ended before it answered; see daemon.log in the device directory"
        )

    @classmethod
    def other_version(cls, what: str, server: str = "another version") -> DeviceError:
        return cls(
            "otherVersion",
            f"{what}: the device is served by {server}, and this is pytest-appcontainer {VERSION}; shut it down, and "
            "see that the command appcontainer and pytest-appcontainer are of one version",
        )


#: The ``__tracebackhide__`` of a module: pytest shows the line of the call, and none of this package.
SHOWN_WHERE_ASKED = operator.methodcaller("errisinstance", DeviceError)
