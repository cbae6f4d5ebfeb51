"""Locks between processes that end with the process, however it ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_S = 0.05


class FileLock:
    """A lock on a file. The operating system releases it when its holder dies, even by `kill -9`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")

    def try_exclusive(self) -> bool:
        """Takes the lock exclusively; False if another process holds it."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Takes the lock as one of its holders; False if another process holds it exclusively."""
        return self._try(fcntl.LOCK_SH)

    def close(self) -> None:
        """Releases the lock. May be called again."""
        self._file.close()

    def _try(self, mode: int) -> bool:
        try:
            fcntl.flock(self._file, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def exclusive(path: Path, wait_s: float) -> Iterator[None]:
    """Holds the file's lock exclusively during the block.

    Raises:
        TimeoutError: another process held it all the time.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + wait_s
    try:
        while not lock.try_exclusive():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} is locked")
            time.sleep(POLL_S)
        yield
    finally:
        lock.close()
