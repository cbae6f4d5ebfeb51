"""Notes about a result, in files beside its rows, for all replicas."""

from __future__ import annotations

from pathlib import Path

KEY = "reuse.key"
"""The key that the rows were kept for. An index elsewhere is only a hint."""
RIGHTS = "rights.json"
"""The rights that the query has used."""
_MAX_CHARACTERS = 1 << 21


def write_note(folder: Path, name: str, text: str) -> bool:
    """Writes a note at once or not at all; returns whether it is written."""
    staged = folder / f"{name}.tmp"
    try:
        staged.write_text(text)
        staged.rename(folder / name)
    except OSError:
        return False
    return True


def read_note(folder: Path, name: str) -> str | None:
    """Returns a note; None if there is none, or it cannot be read."""
    try:
        with (folder / name).open(errors="replace") as file:
            return file.read(_MAX_CHARACTERS)
    except OSError:
        return None
