"""Dataclasses from JSON, as the control API has it: keys that a class does not name are passed over, so that a later
version may add some; keys that it names have to be there and of their type, unless they have a default."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import SHOWN_WHERE_ASKED, DeviceError

__all__ = ["decoded", "decoded_list", "named", "printable"]
__tracebackhide__ = SHOWN_WHERE_ASKED

Record = TypeVar("Record")


class _Mismatch(Exception):
    """Says where a value has not the form that was expected."""


def named(key: str, **options: Any) -> Any:
    """A field whose key in JSON does not follow from its name."""
    return dataclasses.field(metadata={"key": key}, **options)


def decoded(kind: type[Record], value: object) -> Record:
    """Makes a record of what was read as JSON.

    Raises DeviceError of kind ``otherVersion`` where the value has another form.
    """
    try:
        made: Record = _converted(kind, value, kind.__name__)
        return made
    except _Mismatch as mismatch:
        raise DeviceError.other_version(f"the device answered something else than expected ({mismatch})") from None


def decoded_list(kind: type[Record], value: object) -> tuple[Record, ...]:
    """The same of a list of records."""
    if not isinstance(value, list):
        raise DeviceError.other_version("the device answered something else than expected (not a list)")
    return tuple(decoded(kind, item) for item in value)


@functools.lru_cache(maxsize=None)
def _plan(kind: Any) -> tuple[tuple[str, str, Any, bool], ...]:
    """Of each field its name, its key, its type, and whether it has to be there."""
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            field.metadata.get("key") or _camel_case(field.name),
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(kind)
    )


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _record(kind: Any, value: Mapping[str, object], where: str) -> Any:
    values: dict[str, Any] = {}
    for name, key, hint, is_required in _plan(kind):
        if key in value:
            values[name] = _converted(hint, value[key], f"{where}.{key}")
        elif is_required:
            raise _Mismatch(f"{where}.{key} is missing")
    return kind(**values)


def _converted(hint: Any, value: object, where: str) -> Any:
    if get_origin(hint) is Union:
        return None if value is None else _converted(get_args(hint)[0], value, where)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_converted(get_args(hint)[0], item, where) for item in value)
    if get_origin(hint) is dict and isinstance(value, dict):
        return dict(value)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return _record(hint, value, where)
    # In Python True is an int, and in JSON 5.0 may be written 5.
    if hint is float and type(value) is int:
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise _Mismatch(f"{where} is {'null' if value is None else type(value).__name__}")


def printable(text: str) -> str:
    """The text with unprintable characters, such as a line break, written as Python writes them."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
