"""Converts a request's schema and layout, which a table is matched against or created from."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.schemas.ingests.matched_table import MatchedTable
from api.http.schemas.ingests.table_creation import CreateBody, Direction, NullOrder, SortBody
from service.ingest.ingest_service import ReadSchema
from service.ingest.schema_changes.provisional_ids import with_provisional_ids
from service.model.tables.table_creation import RequestedSchema, TableLayout
from service.model.tables.tables import PartitionField, SortField


def requested_schema(body: MatchedTable, read_schema: ReadSchema) -> RequestedSchema | None:
    """Returns what the table is matched against; None if the body has neither schema nor layout.

    Raises:
        IngestInvalid: the schema is not valid.
    """
    if body.schema_ is None and body.create is None:
        return None
    schema = None if body.schema_ is None else read_schema(with_provisional_ids(body.schema_))
    layout = None if body.create is None else _layout(body.create)
    return RequestedSchema(schema, body.evolve, layout, body.drop_required)


def _layout(body: CreateBody) -> TableLayout:
    return TableLayout(
        tuple(
            PartitionField(field.name or "", field.source, field.transform) for field in body.partition_spec
        ),
        sort_fields(body.sort_order),
        dict(body.properties),
    )


def sort_fields(body: Sequence[SortBody]) -> tuple[SortField, ...]:
    """Returns a sort order, with Iceberg's default order of NULLs where the body has none."""
    return tuple(_sort_field(field) for field in body)


def _sort_field(body: SortBody) -> SortField:
    usual = NullOrder.FIRST if body.direction is Direction.ASC else NullOrder.LAST
    null_order = body.null_order or usual
    return SortField(body.source, body.transform, body.direction.value, null_order.value)
