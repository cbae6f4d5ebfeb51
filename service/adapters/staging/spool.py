"""Spools bodies: in memory while they are small, then in a file of their own."""

from __future__ import annotations

import io
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from service.adapters.disk.scratch_directory import ScratchDirectory
from service.errors.gateway_error import CannotStart
from service.errors.ingest_errors import IngestInvalid, TooManyIngests
from service.errors.unavailable import StorageDown
from service.model.operations.usage import CacheUse

IN_MEMORY_BYTES = 1024**2


class SpoolDirectory:
    """Implements `Spools`. The next start removes what a killed process left here.

    All spools together take at most `max_bytes` of the disk.

    Raises:
        CannotStart: the folder cannot be created.
    """

    def __init__(self, parent: Path, max_bytes: int) -> None:
        try:
            self._directory = ScratchDirectory.claim(parent)
        except OSError as error:
            raise CannotStart(
                f"The folder {parent} cannot be used ({error}): set SLUICE_DATA_DIR."
            ) from error
        self._room = _Room(max_bytes)

    @property
    def use(self) -> CacheUse:
        """The disk space that all spools take."""
        return self._room.use

    def new(self) -> FileSpool:
        """Returns an empty spool."""
        return FileSpool(self._directory.path, self._room)

    def close(self) -> None:
        """Removes everything that is left."""
        self._directory.remove()


class FileSpool:
    """Implements `service.ports.tables.data_files.Spool`; for one thread at a time."""

    def __init__(self, directory: Path, room: _Room) -> None:
        self._directory = directory
        self._room = room
        self._taken_bytes = 0
        self._memory: io.BytesIO | None = io.BytesIO()
        self._file: BinaryIO | None = None
        self.path: Path | None = None

    def write(self, data: bytes | bytearray) -> None:
        """Appends the data.

        Raises:
            TooManyIngests, IngestInvalid: all spools together would exceed their bound.
            StorageDown: the disk does not accept more.
        """
        try:
            self._write(data)
        except OSError as error:
            raise StorageDown("The gateway's own disk has no room for more of the body.") from error

    def open(self) -> BinaryIO:
        """Opens the whole spool, from its beginning."""
        if self._memory is not None:
            return io.BytesIO(self._memory.getvalue())
        assert self._file is not None
        assert self.path is not None
        self._file.flush()
        return self.path.open("rb")

    def close(self) -> None:
        """Releases the spool, and leaves nothing on the disk. May be called again."""
        self._memory = io.BytesIO()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self._room.give_back(self._taken_bytes)
        self._taken_bytes = 0

    def _write(self, data: bytes | bytearray) -> None:
        if self._memory is not None:
            if self._memory.tell() + len(data) <= IN_MEMORY_BYTES:
                self._memory.write(data)
                return
            self._take(self._memory.tell() + len(data))
            handle, name = tempfile.mkstemp(dir=self._directory)
            self.path = Path(name)
            self._file = open(handle, "wb", buffering=0)  # noqa: SIM115, PTH123
            begun, self._memory = self._memory, None
            self._all(begun.getbuffer())
        else:
            self._take(len(data))
        self._all(data)

    def _take(self, byte_count: int) -> None:
        self._room.take(byte_count, self._taken_bytes)
        self._taken_bytes += byte_count

    def _all(self, data: bytes | bytearray | memoryview) -> None:
        assert self._file is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]


class _Room:
    """The disk space that all spools take. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._taken_bytes = 0
        self._taken_by = 0
        self._lock = threading.Lock()

    @property
    def use(self) -> CacheUse:
        return CacheUse(self._taken_by, self._taken_bytes, self._max_bytes)

    def take(self, byte_count: int, own_bytes: int) -> None:
        if own_bytes + byte_count > self._max_bytes:
            raise IngestInvalid(
                f"The body takes more than {self._max_bytes} bytes of the disk, the most that "
                "SLUICE_INGEST_MAX_SPOOLED_BYTES allows."
            )
        with self._lock:
            if self._taken_bytes + byte_count > self._max_bytes:
                raise TooManyIngests
            self._taken_bytes += byte_count
            self._taken_by += own_bytes == 0

    def give_back(self, byte_count: int) -> None:
        with self._lock:
            self._taken_bytes -= byte_count
            self._taken_by -= byte_count > 0
