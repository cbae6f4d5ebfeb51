"""The columns that identify an upsert's rows must be written, and must include those of the partition."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.ingest.ingest_request import Violation, WriteRule


def equality_fields(projection: Projection) -> Iterator[Violation]:
    """Yields equality fields that are not written, and partition columns that are not equality fields.

    A deleted row is searched for by these fields, and only in the partition of the row that replaces it.

    Source: Iceberg issue 15925, "All equality-delete fields must be included"; Iceberg's Flink sink.
    """
    if not projection.equality_field_ids:
        return
    names = [projection.dotted(field_id) for field_id in projection.equality_field_ids]
    for name in names:
        if not projection.is_written(name):
            yield Violation(
                name,
                WriteRule.EQUALITY_FIELD_SKIPPED,
                f"{name} identifies the rows: add it to the write schema.",
            )
    sources = (field.source for field in projection.table.partition_fields if field.transform != VOID)
    for name in dict.fromkeys(sources):
        if name not in names:
            yield Violation(
                name,
                WriteRule.PARTITION_SOURCE_NOT_EQUALITY_FIELD,
                f"The table is partitioned by {name}: add it to the equality fields, or the row that is "
                "replaced may lie in another partition.",
                is_of_equality_fields=True,
            )
