"""Infers a write schema from the columns that records have."""

from __future__ import annotations

from collections.abc import Set

from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import path_of
from service.model.tables.tables import SortField


def inferred_columns(
    present: Set[str],
    table: WritableTable,
    equality_field_ids: tuple[int, ...] = (),
    sort_fields: tuple[SortField, ...] = (),
) -> tuple[int, ...]:
    """Returns the ids of the table's columns that are present, in the table's order.

    This order lets records with the same columns share files, in whatever order they name them. A column that
    the partition, the equality fields or the sort order come from is written with NULLs where no record has
    it.
    """
    asked = [field.source for field in table.partition_fields if field.transform != VOID]
    asked += [field.source for field in sort_fields]
    paths = (path_of(table.schema.columns, name) for name in asked)
    sources = {path[0] for path in paths if path}
    return tuple(
        column.field_id
        for column in table.schema.columns
        if column.name in present or column.name in sources or column.field_id in equality_field_ids
    )
