"""What a task of Spark unpacks, where Spark itself puts what is too large for memory."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import BinaryIO

from service.errors import StorageDown

# Spark tells its Pythons so; these folders are its own, and go with it.
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"


@dataclass(frozen=True, slots=True)
class TaskSpools:
    """Implements `service.ingest_ports.Spools` for executors; it is picklable.

    Files have no name: a task that is killed leaves none.
    """

    def new(self) -> TaskSpool:
        """An empty one.

        Raises:
            StorageDown: the disk takes none.
        """
        return TaskSpool(os.environ.get(_LOCAL_DIRS, "").split(",")[0] or None)


class TaskSpool:
    """Implements `service.ingest_ports.Spool`; in Python's folder for temporary files where none is named."""

    def __init__(self, directory: str | None) -> None:
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=directory)  # noqa: SIM115
        except OSError as error:
            raise _full() from error

    def write(self, data: bytes | bytearray) -> None:
        """Adds to the end.

        Raises:
            StorageDown: the disk takes no more.
        """
        rest = memoryview(data)
        try:
            self._file.seek(0, os.SEEK_END)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _full() from error

    def open(self) -> BinaryIO:
        """All of it, from its beginning; only the last one that was opened may be read."""
        opened = os.fdopen(os.dup(self._file.fileno()), "rb")
        opened.seek(0)
        return opened

    def close(self) -> None:
        """Lets go of it; nothing is left on the disk. May be called again."""
        self._file.close()


def _full() -> StorageDown:
    return StorageDown("The disk of an executor takes no more of what is unpacked there.")
