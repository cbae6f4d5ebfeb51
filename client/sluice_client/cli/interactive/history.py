"""The file of earlier statements, which only its user may read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_MAX_BYTES = 1024 * 1024
"""A longer file loses its older half."""
_ENTRY = b"\n# "


def history_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the path, in the user's folder for states."""
    folder = environment.get("XDG_STATE_HOME", "")
    base = Path(folder) if Path(folder).is_absolute() else Path.home() / ".local" / "state"
    return base / "sluice" / "history"


def prepared_history(path: Path) -> Path | None:
    """Makes the file, with mode 0600 and within its bound; None: there can be no file.

    A file that is not this user's is not used.
    """
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            if os.name == "posix":
                if os.fstat(file.fileno()).st_uid != os.getuid():
                    return None
                os.fchmod(file.fileno(), 0o600)
            _shorten(file)
        return path
    return None


def _shorten(file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    if size <= _MAX_BYTES:
        return
    file.seek(size - _MAX_BYTES // 2)
    newest = file.read()
    newest = newest[max(newest.find(_ENTRY), 0) :]
    file.seek(0)
    file.write(newest)
    file.truncate()
