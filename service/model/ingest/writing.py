"""Writes, from a table's state to the snapshot of their commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from service.model.tables.partition_rules import FolderBounds
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import PartitionField, SortField, SortOrder, TableName

MAIN = "main"
LONGEST_WRITE = timedelta(days=1)
"""The greatest age of an ingest's files when it is accepted; no younger file counts as an orphan."""


NEWEST_FORMAT = 3
"""The newest format version of tables that records can be written into."""


@dataclass(frozen=True, slots=True, order=True)
class TableKey:
    """A table and one of its branches, the unit of a commit.

    Source: Iceberg's `TableKey`.
    """

    table: TableName
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class WritableTable:
    """A table as its writer needs it.

    `state` is opaque: it is the writer's own view, which travels to executors. It may hold credentials of
    storage, so no text shows it.
    """

    key: TableKey
    table_uuid: UUID
    format_version: int
    schema: TableSchema
    spec_id: int
    partition_fields: tuple[PartitionField, ...]
    sort_fields: tuple[SortField, ...]
    state: bytes = field(repr=False)
    folder_bounds: FolderBounds | None = None
    """The greatest length of partitions' values as names of folders; None: they do not become names."""
    sort_orders: tuple[SortOrder, ...] = ()
    """All of the table's sort orders whose columns still exist; the default order is `sort_fields`."""


@dataclass(frozen=True, slots=True)
class WriteSchema:
    """The columns that data files hold, in their order.

    `column_ids` has the id of each field that is written whole. For a struct that is written in part, it has
    the ids of the fields in it.
    """

    schema_id: int
    column_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The key of data files: rows of one target share files, and no others do; column order is part of it.

    `write_schema_column_ids` is None where the whole table schema is written. `table_uuid` distinguishes the
    table from another one that has taken its name since; None: it is not checked. `sort_order_id` is that of
    the order that the write asked for; None: the table's own order, as far as its columns are written.
    `order_field_id` is the column by which late records of an upsert lose; None: the last record wins.

    Source: Iceberg's `WriteTarget`, and `writeSchemaColumnIds` of Iceberg issue 15925.
    """

    key: TableKey
    schema_id: int
    spec_id: int
    is_upsert: bool = False
    equality_field_ids: tuple[int, ...] = ()
    write_schema_column_ids: tuple[int, ...] | None = None
    table_uuid: UUID | None = None
    sort_order_id: int | None = None
    order_field_id: int | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """The target of rows, and the table as its writer needs it."""

    table: WritableTable
    target: WriteTarget


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Files that were written for one target and belong to no snapshot yet.

    Files are in Iceberg's own JSON of content files (`ContentFileParser`), so that every Iceberg library can
    commit them. `delete_count` counts the keys that are deleted and have no row among the data files. The
    delete files of a target with an order hold the order of each key, too.
    """

    target: WriteTarget
    data_files: tuple[str, ...]
    delete_files: tuple[str, ...]
    record_count: int
    byte_count: int
    delete_count: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not self.data_files and not self.delete_files

    @staticmethod
    def merged(target: WriteTarget, results: Sequence[WriteResult]) -> WriteResult:
        """Returns all files of these results as those of one target."""
        return WriteResult(
            target,
            tuple(file for result in results for file in result.data_files),
            tuple(file for result in results for file in result.delete_files),
            sum(result.record_count for result in results),
            sum(result.byte_count for result in results),
            sum(result.delete_count for result in results),
        )


@dataclass(frozen=True, slots=True)
class Committable:
    """Everything that one commit to a table and branch takes, from any sender and with any write schema.

    `stream_batches` are the micro-batches in it, each as its checkpoint's id and its own. `late_counts` are
    the late records that were taken out of each write result; (): none were.

    Source: Iceberg's `DynamicCommittable`.
    """

    key: TableKey
    round_id: UUID
    ingest_ids: tuple[UUID, ...]
    write_results: tuple[WriteResult, ...]
    stream_batches: tuple[str, ...] = ()
    late_counts: tuple[int, ...] = ()

    @property
    def target_count(self) -> int:
        """The number of its write targets."""
        return len({result.target for result in self.write_results})


@dataclass(frozen=True, slots=True)
class RowDelta:
    """Files of an upsert that become one snapshot of a table, whose metadata is at `metadata_location`.

    Source: Iceberg's `RowDelta`.
    """

    key: TableKey
    metadata_location: str
    data_files: tuple[str, ...]
    delete_files: tuple[str, ...]
    summary: Mapping[str, str]
    replaced_files: tuple[str, ...] = ()
    """Delete files of the table that the snapshot leaves out, because its own delete the same rows."""


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The snapshot that holds a committable; `is_repeated`: it existed already, from before a crash.

    `late_counts` are the late records of each write result, which the snapshot does not hold; (): none.
    """

    key: TableKey
    snapshot_id: int
    added_data_files: int
    added_records: int
    added_bytes: int
    is_repeated: bool = False
    late_counts: tuple[int, ...] = ()
