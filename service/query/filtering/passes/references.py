"""The table references of a query's text, with what detection knows of their tables."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.tables.sql import TableReference
from service.model.tables.tables import TableFacts
from service.query.filtering.detection.detected import Detected


def read_references(detected: Detected) -> Iterator[tuple[TableReference, TableFacts | None]]:
    """Yields the table references, with the known facts of each."""
    for reference in detected.parsed.references:
        table = detected.names.get(reference.end)
        if table is not None:
            yield reference, detected.facts.get(table)


def ordinal_at(end: int, detected: Detected) -> int | None:
    """Returns the number of the table reference whose name ends there, counted from 1; None if unknown."""
    label = detected.parsed.label_at(end)
    return None if label is None else label.number
