"""The answers of GET /tables and GET /tables/{name}."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.query_request import Identifier
from api.http.schemas.wire import StrictModel, WireModel
from service.model.tables.tables import TableFacts, TableName, TableSource


class TablesQuery(StrictModel):
    """The query string of GET /tables."""

    catalog: Annotated[Identifier | None, Field(description="only tables of this catalog")] = None
    schema_: Annotated[Identifier | None, Field(alias="schema", description="only tables of this schema")] = (
        None
    )


class NoQuery(StrictModel):
    """No query string: any parameter is rejected."""


class TableEntry(WireModel):
    """One table's name. A schema of several levels is joined by dots."""

    name: Annotated[str, Field(description="the full name, as GET /tables/{name} takes it")]
    catalog: str
    schema_: Annotated[str, Field(alias="schema")]
    table: str


class TablesAnswer(WireModel):
    """Every table, in order of name."""

    tables: list[TableEntry]
    missing_catalogs: Annotated[
        list[str], Field(description="catalogs that do not answer now; their tables are left out")
    ]


class TableColumnAnswer(WireModel):
    """One column; `type` is Iceberg's spelling."""

    field_id: int
    name: str
    type: str
    required: bool
    doc: str | None


class PartitionFieldAnswer(WireModel):
    """One field of the partition spec, as Iceberg spells it."""

    name: str
    source: str
    transform: str


class SortFieldAnswer(WireModel):
    """One field of the sort order, as Iceberg spells it."""

    source: str
    transform: str
    direction: str
    null_order: str


class SnapshotAnswer(WireModel):
    """One committed state of the table."""

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime
    operation: str | None


class TableAnswer(TableEntry):
    """A table as its catalog describes it now. Counts are those of the current snapshot.

    `recordCount` is the number of rows that a reader finds. It is null if only reading can tell, as with
    equality deletes. `recordCountAtMost` then counts all rows in data files, including deleted ones.
    """

    table_uuid: UUID
    source: TableSource
    format_version: int
    location: str
    schema_id: int
    spec_id: int
    snapshot_id: int | None
    columns: list[TableColumnAnswer]
    partition_spec: list[PartitionFieldAnswer]
    sort_order: list[SortFieldAnswer]
    snapshots: list[SnapshotAnswer]
    record_count: int | None
    record_count_at_most: int | None
    data_file_count: int
    total_bytes: int


def table_entry(name: TableName) -> TableEntry:
    """Returns the name as it is on the wire."""
    return TableEntry(name=str(name), catalog=name.catalog, schema_=name.schema, table=name.table)


def table_answer(facts: TableFacts) -> TableAnswer:
    """Returns the table as it is on the wire."""
    return TableAnswer(
        **table_entry(facts.name).model_dump(),
        table_uuid=facts.table_uuid,
        source=facts.source,
        format_version=facts.format_version,
        location=facts.location,
        schema_id=facts.schema_id,
        spec_id=facts.spec_id,
        snapshot_id=facts.snapshot_id,
        columns=[
            TableColumnAnswer(
                field_id=column.field_id,
                name=column.name,
                type=column.type_name,
                required=column.is_required,
                doc=column.doc,
            )
            for column in facts.columns
        ],
        partition_spec=[
            PartitionFieldAnswer(name=field.name, source=field.source, transform=field.transform)
            for field in facts.partition_fields
        ],
        sort_order=[
            SortFieldAnswer(
                source=field.source,
                transform=field.transform,
                direction=field.direction,
                null_order=field.null_order,
            )
            for field in facts.sort_fields
        ],
        snapshots=[
            SnapshotAnswer(
                snapshot_id=snapshot.snapshot_id,
                parent_id=snapshot.parent_id,
                committed_at=snapshot.committed_at,
                operation=snapshot.operation,
            )
            for snapshot in facts.snapshots
        ],
        record_count=facts.live_record_count,
        record_count_at_most=facts.most_records,
        data_file_count=facts.data_file_count,
        total_bytes=facts.total_bytes,
    )
