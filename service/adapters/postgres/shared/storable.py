"""Text that PostgreSQL can hold."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text without what PostgreSQL cannot hold: NUL, and halves of surrogate pairs.

    A text that the store refuses would otherwise stand in the way of all records behind it.

    >>> storable("a" + chr(0) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
