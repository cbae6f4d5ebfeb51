"""The columns that a table is partitioned by must be written."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.model.ingest.ingest_request import Violation, WriteRule

VOID = "void"


def partition_sources(projection: Projection) -> Iterator[Violation]:
    """Yields partition columns that are not written; without them a row's partition is unknown.

    Source: Iceberg issue 15925, "All partition columns must be included".
    """
    fields = projection.table.partition_fields
    for name in dict.fromkeys(field.source for field in fields if field.transform != VOID):
        if not projection.is_written(name):
            yield Violation(
                name,
                WriteRule.PARTITION_SOURCE_SKIPPED,
                f"The table is partitioned by {name}: add it to the write schema.",
            )
