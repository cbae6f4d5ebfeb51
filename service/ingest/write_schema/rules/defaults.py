"""A skipped column must read back as an ordinary insert would have written it."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.write_schema.projection import Projection
from service.model.ingest.ingest_request import Violation, WriteRule


def defaults(projection: Projection) -> Iterator[Violation]:
    """Yields skipped columns whose initial default, which readers use, differs from the write default.

    Source: the Iceberg table specification, "Default values".
    """
    for name, field in projection.skipped():
        if field.write_default != field.initial_default:
            yield Violation(
                name,
                WriteRule.DEFAULT_DIFFERS,
                f"{name} would read back as its initial default, which differs from its current write"
                " default: add it to the write schema.",
            )
