"""The columns that a write asks its rows to be sorted by must be written."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.model.ingest.ingest_request import Violation, WriteRule
from service.model.tables.schemas import path_of


def sort_sources(projection: Projection) -> Iterator[Violation]:
    """Yields columns of the sort order that are not written: a file cannot be sorted by missing values."""
    columns = projection.table.schema.columns
    for name in dict.fromkeys(field.source for field in projection.sort_fields):
        if path_of(columns, name) and not projection.is_written(name):
            yield Violation(
                name,
                WriteRule.SORT_SOURCE_SKIPPED,
                f"The rows are to be sorted by {name}: add it to the write schema.",
            )
