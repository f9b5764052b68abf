"""Names of files in lines for people."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """The text with unprintable characters, such as a line break, written as Python writes them."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
