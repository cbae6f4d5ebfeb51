"""Begins a snapshot that adds files to a branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from pyiceberg.avro.codecs import AVRO_CODEC_KEY, AvroCompressionCodec
from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.io import FileIO, OutputFile
from pyiceberg.manifest import (
    DEFAULT_READ_VERSION,
    ManifestEntry,
    ManifestFile,
    ManifestWriter,
    ManifestWriterV1,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.table.update.snapshot import _FastAppendFiles

from service.adapters.catalogs.metadata_json import schema_json
from service.adapters.commits.avro_maps import quick
from service.adapters.commits.manifest_lists import ManifestLists


def begin_append(table: Table, branch: str, summary: Mapping[str, str], lists: ManifestLists) -> Append:
    """Begins a snapshot without files. A branch that does not exist starts from the head of `main`."""
    return Append(_Reading(table, _with_branch(table.metadata, branch)), table.io, branch, summary, lists)


class _Reading(Transaction):
    """A transaction in which nothing is ever staged.

    PyIceberg's own transaction copies the metadata, with every snapshot in it, on each access, and a snapshot
    accesses it a dozen times. These copies would take most of the time of a commit to a table with a hundred
    snapshots.
    """

    def __init__(self, table: Table, metadata: TableMetadata) -> None:
        super().__init__(table)
        self._metadata = metadata

    @property
    def table_metadata(self) -> TableMetadata:
        return self._metadata


class Append(_FastAppendFiles):
    """PyIceberg's append, faster for files of wide tables and for many snapshots.

    PyIceberg takes milliseconds for each file of a wide table, and for each hundred snapshots.
    """

    def __init__(
        self,
        transaction: Transaction,
        io: FileIO,
        branch: str,
        summary: Mapping[str, str],
        lists: ManifestLists,
    ) -> None:
        super().__init__(Operation.APPEND, transaction, io, branch=branch, snapshot_properties=dict(summary))
        self._lists = lists

    def written(self) -> Snapshot:
        """Writes the manifests and their list to the table's storage, and returns the snapshot."""
        metadata, parent_id = self._transaction.table_metadata, self._parent_snapshot_id
        added = self._manifests()
        sequence_number = metadata.next_sequence_number()
        name = f"snap-{self._snapshot_id}-0-{self.commit_uuid}.avro"
        location = self._transaction._table.location_provider().new_metadata_location(name)
        self._written_manifest_lists.append(location)
        writer = write_manifest_list(
            metadata.format_version,
            self._io.new_output(location),
            self._snapshot_id,
            parent_id,
            sequence_number,
            self._compression,
        )
        before = None if parent_id is None else metadata.snapshot_by_id(parent_id)
        self._lists.write(writer, self._io, added, before)
        return Snapshot(
            snapshot_id=self._snapshot_id,
            parent_snapshot_id=parent_id,
            manifest_list=location,
            sequence_number=sequence_number,
            summary=self._summary(self.snapshot_properties),
            schema_id=metadata.current_schema_id,
        )

    def _existing_manifests(self) -> list[ManifestFile]:
        # `ManifestLists` adds them unchanged.
        return []

    def new_manifest_writer(self, spec: PartitionSpec) -> ManifestWriter:
        """Overrides PyIceberg's, for the faster writer."""
        metadata = self._transaction.table_metadata
        return manifest_writer(
            metadata, spec, self.new_manifest_output(), self._snapshot_id, self._compression
        )


def manifest_writer(
    metadata: TableMetadata,
    spec: PartitionSpec,
    output: OutputFile,
    snapshot_id: int,
    compression: AvroCompressionCodec,
) -> ManifestWriter:
    """Returns a writer for a manifest of a table's data files."""
    kind = _ManifestWriterV1 if metadata.format_version == 1 else _ManifestWriterV2
    return kind(spec, metadata.schema(), output, snapshot_id, compression)


class _EntriesFile(AvroOutputFile[ManifestEntry]):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.writer = quick(self.writer)


class _ManifestWriterV1(ManifestWriterV1):
    @property
    def _meta(self) -> dict[str, str]:
        return _meta(self)

    def new_writer(self) -> AvroOutputFile[ManifestEntry]:
        return _new_writer(self)


class _ManifestWriterV2(ManifestWriterV2):
    @property
    def _meta(self) -> dict[str, str]:
        return _meta(self) | {"content": "data"}

    def new_writer(self) -> AvroOutputFile[ManifestEntry]:
        return _new_writer(self)


def _meta(writer: ManifestWriter) -> dict[str, str]:
    """PyIceberg's, without encoding the schema as JSON each time."""
    return {
        "schema": schema_json(writer._schema),
        "partition-spec": to_json(writer._spec.fields).decode(),
        "partition-spec-id": str(writer._spec.spec_id),
        "format-version": str(writer.version),
        AVRO_CODEC_KEY: writer._compression,
    }


def _new_writer(writer: ManifestWriter) -> AvroOutputFile[ManifestEntry]:
    return _EntriesFile(
        output_file=writer._output_file,
        file_schema=writer._with_partition(writer.version),
        record_schema=writer._with_partition(DEFAULT_READ_VERSION),
        schema_name="manifest_entry",
        metadata=writer._meta,
    )


def _with_branch(metadata: TableMetadata, branch: str) -> TableMetadata:
    main = metadata.refs.get(MAIN_BRANCH)
    if branch in metadata.refs or main is None:
        return metadata
    return metadata.model_copy(update={"refs": {**metadata.refs, branch: main}})
