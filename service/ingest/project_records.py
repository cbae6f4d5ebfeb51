"""From JSON records to Arrow rows with the columns of a write schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from service.ingest.arrow_types import arrow_schema
from service.ingest.nested_values import struct_values
from service.model.schemas import Field

BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class ProjectedRecords:
    """The records that fit, and the first of those that do not, by index and reason; how many those are."""

    batches: tuple[pa.RecordBatch, ...]
    bad: tuple[tuple[int, str], ...]
    bad_count: int


def project_records(
    records: Sequence[Mapping[str, object]], fields: Sequence[Field], told_at_most: int
) -> ProjectedRecords:
    """Every record is either wholly in a batch or among the bad ones; a field outside of `fields` is bad.

    Raises:
        IngestInvalid: a field has a type that no JSON stands for.
    """
    convert = struct_values(fields)
    rows: list[object] = []
    bad: list[tuple[int, str]] = []
    for index, record in enumerate(records):
        try:
            rows.append(convert(record))
        except ValueError as reason:
            bad.append((index, str(reason)))
    batches = tuple(_batches(rows, arrow_schema(tuple(fields))))
    return ProjectedRecords(batches, tuple(bad[:told_at_most]), len(bad))


def _batches(rows: list[object], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), BATCH_ROWS):
        yield pa.RecordBatch.from_pylist(rows[start : start + BATCH_ROWS], schema=schema)
