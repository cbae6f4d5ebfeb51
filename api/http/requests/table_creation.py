"""From the wire to the schema and the layout that a table is matched against, or made from."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.schemas.matched_table import MatchedTable
from api.http.schemas.table_creation import CreateBody, Direction, NullOrder, SortBody
from service.ingest.ingests import ReadSchema
from service.ingest.schema_changes.provisional_ids import with_provisional_ids
from service.model.tables.table_creation import RequestedSchema, TableLayout
from service.model.tables.tables import PartitionField, SortField


def requested_schema(body: MatchedTable, read_schema: ReadSchema) -> RequestedSchema | None:
    """What the table is matched against; None where nothing was asked for.

    Raises:
        IngestInvalid: the schema is none.
    """
    if body.schema_ is None and body.create is None:
        return None
    schema = None if body.schema_ is None else read_schema(with_provisional_ids(body.schema_))
    layout = None if body.create is None else _layout(body.create)
    return RequestedSchema(schema, body.evolve, layout, body.drop_required)


def _layout(body: CreateBody) -> TableLayout:
    return TableLayout(
        tuple(PartitionField(each.name or "", each.source, each.transform) for each in body.partition_spec),
        sort_fields(body.sort_order),
        dict(body.properties),
    )


def sort_fields(body: Sequence[SortBody]) -> tuple[SortField, ...]:
    """A sort order, with Iceberg's own order of NULLs where none is said."""
    return tuple(_sort_field(each) for each in body)


def _sort_field(body: SortBody) -> SortField:
    usual = NullOrder.FIRST if body.direction is Direction.ASC else NullOrder.LAST
    null_order = body.null_order or usual
    return SortField(body.source, body.transform, body.direction.value, null_order.value)
