"""The facts that the gateway knows about a table before it reads a row of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.tables.restrictions import UNRESTRICTED, Restriction


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name; the levels of a nested schema are joined by dots.

    >>> str(TableName("lake", "tpcds", "store_returns"))
    'lake.tpcds.store_returns'
    """

    catalog: str
    schema: str
    table: str

    @classmethod
    def of(cls, full_name: str) -> TableName:
        """Returns the name that `str` spelled; the inverse of `str`.

        >>> TableName.of("lake.shop.north.sales").schema
        'shop.north'
        """
        catalog, _, rest = full_name.partition(".")
        schema, _, table = rest.rpartition(".")
        return cls(catalog, schema, table)

    @property
    def parts(self) -> tuple[str, ...]:
        """Each level of the name.

        >>> TableName("lake", "shop.north", "sales").parts
        ('lake', 'shop', 'north', 'sales')
        """
        return (self.catalog, *self.schema.split("."), self.table)

    def in_lower_case(self) -> TableName:
        """Returns the name in lower case, for comparison with queries, which ignore case."""
        return TableName(self.catalog.lower(), self.schema.lower(), self.table.lower())

    def __str__(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"


class VersionKind(StrEnum):
    """The way in which a query selects a version of a table, which decides the columns that it reads.

    `SNAPSHOT` and `TIMESTAMP` are read with the columns of their snapshot, a `BRANCH` with those that the
    table has now. `REF` is the name of a branch or of a tag. A tag is read as its snapshot is.
    """

    NOW = "NOW"
    SNAPSHOT = "SNAPSHOT"
    REF = "REF"
    BRANCH = "BRANCH"
    TIMESTAMP = "TIMESTAMP"


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of a table, as a query asks for it.

    `value` is a snapshot's id, the name of a branch or tag, or milliseconds since 1970 in UTC.
    """

    kind: VersionKind
    value: int | str = ""


NOW = TableVersion(VersionKind.NOW)


@dataclass(frozen=True, slots=True)
class TableAt:
    """A table at one of its versions.

    If a table named `unless` exists, the same words mean that table instead.
    """

    name: TableName
    version: TableVersion = NOW
    unless: TableName | None = None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column; `type_name` is Iceberg's spelling, such as `decimal(7, 2)`."""

    field_id: int
    name: str
    type_name: str
    is_required: bool
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of a partition spec, its transform as Iceberg spells it: `identity`, `bucket[8]`, `day`."""

    name: str
    source: str
    transform: str


@dataclass(frozen=True, slots=True)
class SortField:
    """One field of a sort order."""

    source: str
    transform: str
    direction: str
    null_order: str


@dataclass(frozen=True, slots=True)
class SortOrder:
    """One of a table's sort orders; files refer to theirs by its id."""

    order_id: int
    fields: tuple[SortField, ...]


UNSORTED_ID = 0
"""The id of the order without fields, which every table has.

Source: the Iceberg table specification, "Sort Orders".
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed state of a table."""

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime
    operation: str | None


class ReferenceKind(StrEnum):
    """A branch moves with its commits. A tag stays where it is."""

    BRANCH = "BRANCH"
    TAG = "TAG"


@dataclass(frozen=True, slots=True)
class TableReference:
    """A name for a snapshot."""

    name: str
    kind: ReferenceKind
    snapshot_id: int


class TableSource(StrEnum):
    """The kinds of tables, which decide whether scans can be pruned.

    `FILES`: folders of files, one for each partition, as Hive lays them out; without snapshots. `OTHER`:
    views, tables of other systems, and whatever else the engine reads in its own way.
    """

    ICEBERG = "ICEBERG"
    FILES = "FILES"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class TableListing:
    """Tables in order of name; `missing` names the catalogs that did not answer."""

    tables: tuple[TableName, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table as its catalog describes it, now or at another version; counts are those of `snapshot_id`.

    A table of files has no snapshots. Its `table_uuid` changes whenever its files do, and its `schema_id`
    whenever its columns do. Its files and bytes may be estimates, and a `record_count` of 0 means unknown.

    `snapshot_schema_id` is the schema that this snapshot is read with when it is asked for by its id; None
    when its writer did not say. `past_partition_fields` are those fields of earlier specs that the current
    spec no longer has; older files may still be laid out by them. `has_imported_files`: other systems may
    have written some of the files, whose columns are found by names instead of ids. `widened_columns` are
    decimals of more than eighteen digits that once had fewer, and still have fewer in older files.

    `record_count` counts all rows in data files. `deleted_record_count` counts those of them that deletes
    remove; None where metadata alone does not say how many.

    `restriction` is what the principal of a query does not see of the table. The counts are of all rows.

    `merge_on_read` are those of `DELETE`, `UPDATE` and `MERGE` that write deletes beside the table's files;
    the others copy files. `has_one_spec`: all of its files are laid out by `partition_fields`.

    `metadata_location` is the file that all of this was read from. Each commit writes a new one. It is empty
    where the catalog does not say.

    `identifier_fields` are the names of the fields that identify a row: columns first, in their order. A name
    inside a struct has dots. No reader or writer holds rows to them.
    """

    name: TableName
    table_uuid: UUID
    format_version: int
    location: str
    schema_id: int
    spec_id: int
    snapshot_id: int | None
    columns: tuple[TableColumn, ...]
    partition_fields: tuple[PartitionField, ...]
    sort_fields: tuple[SortField, ...]
    snapshots: tuple[Snapshot, ...]
    record_count: int
    data_file_count: int
    total_bytes: int
    snapshot_schema_id: int | None = None
    past_partition_fields: tuple[PartitionField, ...] = ()
    bloom_filter_columns: tuple[str, ...] = ()
    source: TableSource = TableSource.ICEBERG
    has_imported_files: bool = False
    widened_columns: tuple[str, ...] = ()
    deleted_record_count: int | None = 0
    restriction: Restriction = UNRESTRICTED
    metadata_location: str = ""
    comment: str | None = None
    references: tuple[TableReference, ...] = ()
    merge_on_read: tuple[str, ...] = ()
    has_one_spec: bool = False
    identifier_fields: tuple[str, ...] = ()

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns that identify a row; none if it takes a field inside a struct."""
        names = {column.name for column in self.columns}
        return self.identifier_fields if names.issuperset(self.identifier_fields) else ()

    @property
    def identity(self) -> str:
        """The same for two tables exactly if they are the same, and are seen with the same restriction."""
        return f"{self.table_uuid} {self.restriction.fingerprint}".rstrip()

    @property
    def live_record_count(self) -> int | None:
        """The number of rows that a reader finds; None where that is unknown."""
        if self.deleted_record_count is None or self.most_records is None:
            return None
        return self.record_count - self.deleted_record_count

    @property
    def most_records(self) -> int | None:
        """An upper bound of the rows that a reader finds; None where none is known."""
        is_counted = self.source is TableSource.ICEBERG and self.deleted_record_count is not None
        return self.record_count if self.record_count or is_counted else None
