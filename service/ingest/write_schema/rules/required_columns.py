"""A required column without an initial default must be written."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.model.ingest.ingest_request import Violation, WriteRule


def required_columns(projection: Projection) -> Iterator[Violation]:
    """Yields skipped required columns without an initial default: readers have no value for them.

    Source: Iceberg issue 15925, "No required columns may be skipped".
    """
    for name, field in projection.skipped():
        if field.is_required and field.initial_default is None:
            yield Violation(
                name,
                WriteRule.REQUIRED_SKIPPED,
                f"{name} is required: add it to the write schema. It becomes optional only where a `schema` "
                'without it is sent with "evolve": true and "dropRequired": true.',
            )
