"""Files that are asked to be sorted must have the columns that they are sorted by."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.model.ingest import Violation, WriteRule


def sort_columns(projection: Projection) -> Iterator[Violation]:
    """Where order is not asked for, files without these columns are written as the rows come."""
    if not projection.is_sorted:
        return
    for name in dict.fromkeys(each.source for each in projection.table.sort_fields):
        if not projection.is_written(name):
            yield Violation(
                name,
                WriteRule.SORT_COLUMN_SKIPPED,
                f"The table is sorted by {name}: add it to the write schema, or do not ask for order.",
            )
