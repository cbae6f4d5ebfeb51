"""What the gateway knows of a table before it reads a row of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name. A schema of several levels is joined by dots.

    >>> str(TableName("lake", "tpcds", "store_returns"))
    'lake.tpcds.store_returns'
    """

    catalog: str
    schema: str
    table: str

    @classmethod
    def of(cls, full_name: str) -> TableName:
        """What `str` made of a name, as a name.

        >>> TableName.of("lake.shop.north.sales").schema
        'shop.north'
        """
        catalog, _, rest = full_name.partition(".")
        schema, _, table = rest.rpartition(".")
        return cls(catalog, schema, table)

    @property
    def parts(self) -> tuple[str, ...]:
        """Each level by itself.

        >>> TableName("lake", "shop.north", "sales").parts
        ('lake', 'shop', 'north', 'sales')
        """
        return (self.catalog, *self.schema.split("."), self.table)

    def in_lower_case(self) -> TableName:
        """As queries, which do not tell cases apart, are looked through for it."""
        return TableName(self.catalog.lower(), self.schema.lower(), self.table.lower())

    def __str__(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"


class VersionKind(StrEnum):
    """How a version of a table is told from others, and which columns it is read with.

    `SNAPSHOT` and `TIMESTAMP` are read with the columns of their snapshot, a `BRANCH` with those that the
    table has now. `REF` is the name of a branch or of a tag, and a tag is read as its snapshot is.
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

    `unless` there is a table of that name, which the same words would mean then.
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
    """One of the sort orders that a table knows; files name theirs by its id."""

    order_id: int
    fields: tuple[SortField, ...]


UNSORTED_ID = 0
"""The id of the order without fields, which every table knows.

Source: the Iceberg table specification, "Sort Orders".
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed state of a table."""

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime
    operation: str | None


class TableSource(StrEnum):
    """What a table is made of, which decides whether its scans can be narrowed.

    `FILES`: folders of files, one for each partition, as Hive lays them out; without snapshots. `OTHER`:
    views, tables of other systems, and whatever else the engine reads by means of its own.
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
    """A table as its catalog describes it, now or at another version. Counts are those of `snapshot_id`.

    A table of files has none. Its `table_uuid` is another one whenever its files are others, its `schema_id`
    whenever its columns are; its files and bytes may be estimates, and a `record_count` of 0 is not known.

    `snapshot_schema_id` is the schema that this snapshot is read with when it is asked for by its id;
    None when its writer did not say. `past_partition_fields` are those of earlier specs, which older files
    may still be laid out by, without what the current spec has too. `has_imported_files`: other systems may
    have written some, in which names stand for the ids of columns. `widened_columns`: decimals of
    more than eighteen digits that had fewer once, as older files still have them.

    `record_count` are all rows in data files, `deleted_record_count` those of them that deletes take away;
    None where metadata alone does not say how many.
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

    @property
    def live_record_count(self) -> int | None:
        """The rows that a reader finds; None where that is not known."""
        if self.deleted_record_count is None or self.most_records is None:
            return None
        return self.record_count - self.deleted_record_count

    @property
    def most_records(self) -> int | None:
        """What the rows that a reader finds are no more than; None where that is not known."""
        is_counted = self.source is TableSource.ICEBERG and self.deleted_record_count is not None
        return self.record_count if self.record_count or is_counted else None
