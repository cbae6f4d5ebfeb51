"""A directory of one process; what a dead process left behind is removed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from service.adapters.disk.file_lock import FileLock, exclusive

LOCK_NAME = "lock"
WAIT_S = 30.0


class ScratchDirectory:
    """`path` is ours until `remove`, or until this process ends; it is readable by this user alone."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, parent: Path, before_removal: Callable[[Path], None] | None = None) -> ScratchDirectory:
        """Makes a new directory in `parent`, after removing those that no live process holds.

        `before_removal` is given each abandoned directory first.

        Raises:
            OSError: it cannot be made; TimeoutError among them, if another process stands in the way.
        """
        parent.mkdir(parents=True, exist_ok=True)
        with exclusive(parent / ".lock", WAIT_S):
            for each in parent.iterdir():
                if each.is_dir():
                    _remove_if_abandoned(each, before_removal)
            path = Path(tempfile.mkdtemp(dir=parent))
            lock = FileLock(path / LOCK_NAME)
            lock.try_exclusive()
        return cls(path, lock)

    def remove(self) -> None:
        """Removes the directory with all that is in it. May be called again."""
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
