"""Finds the files of a round that cannot be described in a manifest."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence

from pyiceberg.io import InputFile, OutputFile, OutputStream
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import SnapshotSummaryCollector

from service.adapters.commits.begin_append import manifest_writer

BAD_DESCRIPTION = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error)
"""Errors that a bad description raises. Tables, catalogs and storages raise some of them too."""

_SNAPSHOT_ID = 1


def undescribable_files(
    metadata: TableMetadata, data_files: Sequence[str], read: Callable[[str], DataFile]
) -> list[str]:
    """Returns the files whose own description cannot be read or encoded in memory.

    Nothing else can fail there. This separates a fault of one file from a fault of its table or of the
    storage, and from the other files.
    """
    return [file for file in data_files if not _is_readable(metadata, file, read)]


def _is_readable(metadata: TableMetadata, text: str, read: Callable[[str], DataFile]) -> bool:
    try:
        _describe(metadata, read(text))
    except BAD_DESCRIPTION:
        return False
    return True


def _describe(metadata: TableMetadata, data_file: DataFile) -> None:
    """Makes all that a snapshot needs of a file. The codec is not the table's, which may be at fault."""
    schema, spec = metadata.schema(), metadata.spec()
    entry = ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED, snapshot_id=_SNAPSHOT_ID, data_file=data_file
    )
    writer = manifest_writer(metadata, spec, _InMemory(), _SNAPSHOT_ID, "null")
    with writer:
        writer.add(entry)
    writer.to_manifest_file()
    SnapshotSummaryCollector().add_file(data_file, schema, spec)


class _InMemory(OutputFile):
    """A file that is never read."""

    def __init__(self) -> None:
        super().__init__("memory:")

    def __len__(self) -> int:
        return 0

    def exists(self) -> bool:
        return False

    def to_input_file(self) -> InputFile:
        raise NotImplementedError

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: ARG002 # as PyIceberg's
        return io.BytesIO()
