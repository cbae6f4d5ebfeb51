"""A directory of one process; directories of dead processes are removed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from service.adapters.disk.file_lock import FileLock, exclusive

LOCK_NAME = "lock"
WAIT_S = 30.0


class ScratchDirectory:
    """`path` belongs to this process until `remove` or its end; only this user can read it."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, parent: Path, before_removal: Callable[[Path], None] | None = None) -> ScratchDirectory:
        """Creates a new directory in `parent`, after removing those that no live process holds.

        `before_removal` is called with each abandoned directory first.

        Raises:
            OSError: it cannot be created; a TimeoutError if another process holds the lock for too long.
        """
        parent.mkdir(parents=True, exist_ok=True)
        with exclusive(parent / ".lock", WAIT_S):
            for directory in parent.iterdir():
                if directory.is_dir():
                    _remove_if_abandoned(directory, before_removal)
            path = Path(tempfile.mkdtemp(dir=parent))
            lock = FileLock(path / LOCK_NAME)
            lock.try_exclusive()
        return cls(path, lock)

    def remove(self) -> None:
        """Removes the directory with everything in it. May be called again."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _remove_if_abandoned(path: Path, before_removal: Callable[[Path], None] | None) -> None:
    lock = FileLock(path / LOCK_NAME)
    try:
        if lock.try_exclusive():
            if before_removal:
                before_removal(path)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        lock.close()
