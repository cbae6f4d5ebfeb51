"""Spools of a Spark task's unpacked data, in the folder where Spark itself spills."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import BinaryIO

from service.errors.unavailable import StorageDown

# Spark passes this to its Python workers; these folders are its own, and are removed with it.
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"


@dataclass(frozen=True, slots=True)
class TaskSpools:
    """Implements `service.ports.tables.data_files.Spools` for executors; it is picklable.

    The files have no name, so a killed task leaves none.
    """

    def new(self) -> TaskSpool:
        """Returns an empty spool.

        Raises:
            StorageDown: the disk does not accept it.
        """
        return TaskSpool(os.environ.get(_LOCAL_DIRS, "").split(",")[0] or None)


class TaskSpool:
    """Implements `Spool`; without a directory it uses Python's temporary folder."""

    def __init__(self, directory: str | None) -> None:
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=directory)  # noqa: SIM115
        except OSError as error:
            raise _full() from error

    def write(self, data: bytes | bytearray) -> None:
        """Appends the data.

        Raises:
            StorageDown: the disk does not accept more.
        """
        rest = memoryview(data)
        try:
            self._file.seek(0, os.SEEK_END)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _full() from error

    def open(self) -> BinaryIO:
        """Opens the whole spool, from its beginning; only the latest opened stream may be read."""
        opened = os.fdopen(os.dup(self._file.fileno()), "rb")
        opened.seek(0)
        return opened

    def close(self) -> None:
        """Releases the spool, and leaves nothing on the disk. May be called again."""
        self._file.close()


def _full() -> StorageDown:
    return StorageDown("The disk of an executor has no room to unpack more.")
