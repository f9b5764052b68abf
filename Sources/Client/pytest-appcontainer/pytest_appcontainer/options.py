"""The options of a test's container: from the ini file, the fixture `app_container_options` and the marker."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, get_type_hints

__all__ = ["AppContainerOptions", "OptionError"]


class OptionError(Exception):
    """One line: an option that is unknown or has an invalid value, and the valid ones."""


@dataclasses.dataclass(frozen=True)
class AppContainerOptions:
    """A container for a test. Options with the same template share it, and differ in how the clone is mounted."""

    #: The ``.app`` directory or ``.ipa``; relative to pytest's root directory.
    app: Optional[str] = None
    #: The device's passcode; a device without one is always unlocked. Its guesses are cheap.
    passcode: Optional[str] = None
    #: The groups and iCloud containers that the app is entitled to.
    groups: tuple[str, ...] = ()
    icloud: tuple[str, ...] = ()
    #: The capacity of the device in bytes; that of the host if it is None.
    capacity: Optional[int] = None
    #: The seed of a device that disobeys at times, with an event ``disobeyed``; one that obeys if it is None.
    capricious: Optional[str] = None
    #: How many seconds the device stays unlocked after it was told to lock.
    lock_grace: int = 0
    #: The number of the user whose the app's containers are; only root can give them away.
    owner: Optional[int] = None
    #: How the home is mounted, as by ``Device.mount``.
    allow_other: bool = False
    read_only: bool = False
    #: The test is the app, so the app runs unless a test says otherwise. (Not with ``documents``, which shows no app.)
    running: bool = True
    documents: bool = False
    cachedir_tag: bool = False
    transport: Optional[str] = None
    #: Where the devices are made, relative to pytest's root directory; the one for temporary files if it is None.
    directory: Optional[str] = None

    def with_changes(self, changes: Mapping[str, object], source: str) -> AppContainerOptions:
        """The same with what ``source`` says besides. It is named where it says something wrong."""
        known = get_type_hints(AppContainerOptions)
        taken: dict[str, Any] = {}
        for name, value in changes.items():
            if name not in known:
                raise OptionError(f"{source} has an option {name!r} that is not known; it takes {', '.join(known)}")
            taken[name] = _checked(name, value, known[name], source)
        return dataclasses.replace(self, **taken)

    def order(self, root: Path) -> dict[str, object]:
        """The options that make the template."""
        if self.app is None:
            raise OptionError(
                'no app is named for app_container: add @pytest.mark.appcontainer(app="path/My.app") to the test, or '
                "appcontainer_app to the ini file"
            )
        app = os.path.join(root, self.app)
        if not os.path.exists(app):
            raise OptionError(f"there is no app at {app}; name a .app directory or an .ipa, relative to {root}")
        create = {
            "passcode": self.passcode,
            "capacity": self.capacity,
            "lockGrace": self.lock_grace,
            "kdfCost": 1,
            "capricious": self.capricious,
        }
        install = {"app": app, "groups": list(self.groups), "iCloud": list(self.icloud), "owner": self.owner}
        return {"create": _given(create), "install": [_given(install)], "template": True}

    def place(self, root: Path) -> Optional[str]:
        """The absolute path at which the devices are made; None if no option names one."""
        return None if self.directory is None else os.path.join(root, self.directory)

    def key(self, root: Path) -> str:
        """The same for all options whose templates are the same."""
        return json.dumps([self.order(root), self.place(root)])


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


# By the type of an option: the type of its values, and the words for that.
_FORMS = {
    bool: (bool, "True or False"),
    int: (int, "a number"),
    Optional[int]: (int, "a number or None"),
    Optional[str]: (str, "text or None"),
    tuple[str, ...]: (tuple, "a list of texts"),
}


def _checked(name: str, value: object, hint: Any, source: str) -> object:
    kind, words = _FORMS[hint]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if kind is tuple and isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return tuple(value)
    # In Python True is an int.
    if kind is not tuple and (type(value) is kind or (value is None and words.endswith("None"))):
        return value
    raise OptionError(f"{source} has {value!r} for {name}, which takes {words}")
