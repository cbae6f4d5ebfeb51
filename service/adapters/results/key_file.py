"""The key that a result was kept for, in a file beside its rows. An index elsewhere is only a hint."""

from __future__ import annotations

from pathlib import Path

from service.errors.query_errors import ResultExpired

NAME = "reuse.key"
_MAX_CHARACTERS = 1_000


def write_key(folder: Path, key: str) -> bool:
    """Notes the key at once or not at all; returns whether it is noted."""
    staged = folder / f"{NAME}.tmp"
    try:
        staged.write_text(key)
        staged.rename(folder / NAME)
    except OSError:
        return False
    return True


def check_key(folder: Path, key: str) -> None:
    """Checks that the rows in this folder were kept for this key.

    Raises:
        ResultExpired: they were kept for another one, or for none.
        OSError: that cannot be read.
    """
    with (folder / NAME).open(errors="replace") as file:
        if file.read(_MAX_CHARACTERS) != key:
            raise ResultExpired
