"""Stages bodies where executors find them, for as long as they are read."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4

from pyiceberg.io import load_file_io

from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.staging.body_in_storage import opened_body
from service.errors.unavailable import StorageDown
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.writing import WritableTable
from service.ports.engine.executors import StagedBody

_COPIED_BYTES = 4 * 1024**2
# A body of this size travels with the tasks.
_IN_MESSAGE_BYTES = 1024**2


@dataclass(frozen=True, slots=True)
class StagedBodies:
    """Implements `StagedBodies`. `sees_disk`: executors see the gateway's own disk.

    If they do not, a body is written below the table's location, as it was sent. If a crash leaves it there,
    it is an orphan, as a data file would be.
    """

    sees_disk: bool

    @contextmanager
    def staged(self, body: StreamedRecords, table: WritableTable) -> Iterator[StagedBody]:
        """See `service.ports.engine.executors.StagedBodies`."""
        with body.open() as raw:
            path = _path(raw)
            if self.sees_disk and path is not None:
                yield BodyOnDisk(path)
                return
            begun = raw.read(_IN_MESSAGE_BYTES + 1)
            if len(begun) <= _IN_MESSAGE_BYTES:
                yield BodyInMessage(begun)
                return
            raw.seek(0)
            copy = _place(table)
            try:
                _copied(raw, copy, table)
                yield copy
            finally:
                with suppress(OSError):
                    load_file_io(dict(copy.io_properties), copy.location).delete(copy.location)


@dataclass(frozen=True, slots=True)
class BodyOnDisk:
    """Implements `service.ports.engine.executors.StagedBody` for executors that see the gateway's disk."""

    path: str

    def open(self) -> BinaryIO:
        """See `service.ports.engine.executors.StagedBody`."""
        return Path(self.path).open("rb")


@dataclass(frozen=True, slots=True)
class BodyInMessage:
    """Implements `StagedBody` for a body small enough to travel in the message."""

    data: bytes

    def open(self) -> BinaryIO:
        """See `service.ports.engine.executors.StagedBody`."""
        return io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class BodyInStorage:
    """Implements `service.ports.engine.executors.StagedBody` for executors on other machines."""

    location: str
    io_properties: Mapping[str, str] = field(repr=False)

    def open(self) -> BinaryIO:
        """See `service.ports.engine.executors.StagedBody`."""
        return opened_body(self.location, self.io_properties)


def _path(raw: BinaryIO) -> str | None:
    name = getattr(raw, "name", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else None


def _place(table: WritableTable) -> BodyInStorage:
    state = WriterState.decoded(table.state)
    return BodyInStorage(f"{state.location.rstrip('/')}/bodies/{uuid4()}", state.io_properties)


def _copied(raw: BinaryIO, copy: BodyInStorage, table: WritableTable) -> None:
    file_io = load_file_io(dict(copy.io_properties), copy.location)
    try:
        with file_io.new_output(copy.location).create(overwrite=True) as out:
            shutil.copyfileobj(raw, cast(BinaryIO, out), _COPIED_BYTES)
    except OSError as error:
        raise StorageDown(f"The storage of {table.key.table} does not accept a body.") from error
