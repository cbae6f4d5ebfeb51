"""Text that PostgreSQL can hold."""

from __future__ import annotations


def storable(text: str) -> str:
    """Replaces what PostgreSQL cannot hold: NUL, and halves of surrogate pairs.

    Otherwise the store would reject the text, and one such text would block all records behind it.

    >>> storable("a" + chr(0) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
