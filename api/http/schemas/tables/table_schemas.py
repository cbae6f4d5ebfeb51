"""The answers of GET /tables and GET /tables/{name}."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.queries.pruning_summary import TablePruningAnswer, table_pruning_answer
from api.http.schemas.queries.query_request import Identifier
from api.http.schemas.wire import StrictModel, WireModel
from service.model.query.history import TablePruning
from service.model.tables.contents import AcceptedBy, AcceptedColumn, RelationEntry, RelationKind, SchemaList
from service.model.tables.tables import ReferenceKind, TableColumn, TableFacts, TableName, TableSource

MAX_LISTED = 10_000
MAX_WITH_COLUMNS = 500


class SchemasQuery(StrictModel):
    """The query string of GET /schemas."""

    catalog: Annotated[Identifier | None, Field(description="only schemas of this catalog")] = None


class TablesQuery(StrictModel):
    """The query string of GET /tables."""

    catalog: Annotated[Identifier | None, Field(description="only tables of this catalog")] = None
    schema_: Annotated[Identifier | None, Field(alias="schema", description="only tables of this schema")] = (
        None
    )
    columns: Annotated[
        bool, Field(strict=False, description=f"true: with columns and comments, {MAX_WITH_COLUMNS} at most")
    ] = False
    limit: Annotated[
        int | None,
        Field(strict=False, ge=1, le=MAX_LISTED, description="tables and views of one page at most"),
    ] = None
    page_token: Annotated[
        str | None, Field(max_length=2048, description="`nextPageToken` of the page before")
    ] = None

    @property
    def page_size(self) -> int:
        """How many entries a page has at most."""
        most = MAX_WITH_COLUMNS if self.columns else MAX_LISTED
        return min(self.limit or most, most)


class NoQuery(StrictModel):
    """No query string: any parameter is rejected."""


class TableEntry(WireModel):
    """One table's name. A schema of several levels is joined by dots."""

    name: Annotated[str, Field(description="the full name, as GET /tables/{name} takes it")]
    catalog: str
    schema_: Annotated[str, Field(alias="schema")]
    table: str


class TableColumnAnswer(WireModel):
    """One column; `type` is Iceberg's spelling, or SQL for a view. Columns of views have the id 0."""

    field_id: int
    name: str
    type: str
    required: bool
    doc: str | None


class ListedTable(TableEntry):
    """One table or view of a list. `columns` and `comment` are null if not asked, or not known now."""

    kind: RelationKind
    comment: str | None
    columns: list[TableColumnAnswer] | None


class TablesAnswer(WireModel):
    """Tables and views, in order of name."""

    tables: list[ListedTable]
    missing_catalogs: Annotated[
        list[str],
        Field(description="catalogs that do not answer now; their tables, or their views, are left out"),
    ]
    next_page_token: Annotated[str | None, Field(description="null: this is the last page")]


class CatalogEntry(WireModel):
    """One catalog."""

    name: str


class CatalogsAnswer(WireModel):
    """Every catalog that the caller may know of, by name."""

    catalogs: list[CatalogEntry]


class SchemaAnswer(WireModel):
    """One schema. The levels of a nested one are joined by dots."""

    catalog: str
    schema_: Annotated[str, Field(alias="schema")]
    comment: str | None


class SchemasAnswer(WireModel):
    """Schemas, in order of name, also those without tables."""

    schemas: list[SchemaAnswer]
    missing_catalogs: Annotated[
        list[str], Field(description="catalogs that do not answer now; their schemas are left out")
    ]


class AcceptedColumnAnswer(WireModel):
    """A column that dynamic filters are accepted on, and why a filter on it can leave out files."""

    column: str
    by: AcceptedBy


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


class ReferenceAnswer(WireModel):
    """A name for a snapshot."""

    name: str
    kind: ReferenceKind
    snapshot_id: int


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
    identifier_fields: Annotated[
        list[str],
        Field(
            description="names of the fields that identify a row, with dots inside structs. Rows are not held"
            " to them. Empty: there are none, or the caller does not see the values of one"
        ),
    ]
    partition_spec: list[PartitionFieldAnswer]
    sort_order: list[SortFieldAnswer]
    snapshots: list[SnapshotAnswer]
    references: Annotated[
        list[ReferenceAnswer], Field(description="branches and tags by name, the first 1,000")
    ]
    record_count: int | None
    record_count_at_most: int | None
    data_file_count: int
    total_bytes: int
    comment: str | None
    accepted_filter_columns: list[AcceptedColumnAnswer]
    pruning: Annotated[
        TablePruningAnswer | None,
        Field(
            description="of the last 7 days; null: no scan was recorded, or the caller does not see all rows"
        ),
    ]


def table_entry(name: TableName) -> TableEntry:
    """Returns the name as it is on the wire."""
    return TableEntry(name=str(name), catalog=name.catalog, schema_=name.schema, table=name.table)


def column_answers(columns: Sequence[TableColumn]) -> list[TableColumnAnswer]:
    """Returns the columns as they are on the wire."""
    return [
        TableColumnAnswer(
            field_id=column.field_id,
            name=column.name,
            type=column.type_name,
            required=column.is_required,
            doc=column.doc,
        )
        for column in columns
    ]


def listed_table(entry: RelationEntry) -> ListedTable:
    """Returns a table or view of a list as it is on the wire."""
    return ListedTable(
        **table_entry(entry.name).model_dump(),
        kind=entry.kind,
        comment=entry.comment,
        columns=None if entry.columns is None else column_answers(entry.columns),
    )


def schemas_answer(found: SchemaList) -> SchemasAnswer:
    """Returns the schemas as they are on the wire."""
    return SchemasAnswer(
        schemas=[
            SchemaAnswer(catalog=entry.catalog, schema_=entry.schema, comment=entry.comment)
            for entry in found.schemas
        ],
        missing_catalogs=list(found.missing),
    )


def table_answer(
    facts: TableFacts, accepted: Sequence[AcceptedColumn] = (), pruning: TablePruning | None = None
) -> TableAnswer:
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
        columns=column_answers(facts.columns),
        identifier_fields=list(facts.identifier_fields),
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
        references=[
            ReferenceAnswer(name=found.name, kind=found.kind, snapshot_id=found.snapshot_id)
            for found in facts.references
        ],
        record_count=facts.live_record_count,
        record_count_at_most=facts.most_records,
        data_file_count=facts.data_file_count,
        total_bytes=facts.total_bytes,
        comment=facts.comment,
        accepted_filter_columns=[
            AcceptedColumnAnswer(column=column.column, by=column.by) for column in accepted
        ],
        pruning=None if pruning is None else table_pruning_answer(pruning),
    )
