"""Which of the files that a round adds cannot be described in a manifest."""

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
"""What Python and PyIceberg raise of a description; of a table, a catalog and a storage also some of them."""

_SNAPSHOT_ID = 1


def undescribable_files(
    metadata: TableMetadata, data_files: Sequence[str], read: Callable[[str], DataFile]
) -> list[str]:
    """Those that by themselves cannot be read or written down, in memory; nothing else can fail there.

    So a fault of one file is told from a fault of its table or of the storage, and from the other files.
    """
    return [each for each in data_files if not _is_readable(metadata, each, read)]


def _is_readable(metadata: TableMetadata, text: str, read: Callable[[str], DataFile]) -> bool:
    try:
        _describe(metadata, read(text))
    except BAD_DESCRIPTION:
        return False
    return True


def _describe(metadata: TableMetadata, data_file: DataFile) -> None:
    """All that is made of a file for a snapshot. The codec is not the table's, which may be at fault."""
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
    """A file that nobody will read."""

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
