"""Finds the fields that the records of a stream have, for each target."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import BinaryIO

from service.ingest.decoding.arrow.batches import arrow_batches, parquet_batches
from service.ingest.decoding.arrow.columnar_rows import columnar_names
from service.ingest.decoding.csv.csv_rows import csv_names
from service.ingest.decoding.json.ndjson_names import ndjson_names
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_formats import RecordFormat


def present_names(
    stream: BinaryIO,
    record_format: RecordFormat,
    route: Route | None,
    known: Sequence[Set[str]],
    bounds: ReadBounds,
) -> list[set[str]]:
    """Returns each target's known names that occur in records, or a few others if none does.

    In formats without fixed columns, a name counts even if its value is null. In formats where each record
    has every column, a name counts if it has a value.

    Raises:
        IngestInvalid: the stream is not in this format, ends too early, or expands beyond the bounds.
    """
    match record_format:
        case RecordFormat.NDJSON:
            return ndjson_names(stream, route, known, bounds.line_bytes)
        case RecordFormat.CSV:
            return csv_names(stream, route, known, bounds)
        case RecordFormat.ARROW_STREAM:
            return columnar_names(arrow_batches(stream, bounds), route, known)
        case RecordFormat.PARQUET:
            return columnar_names(parquet_batches(stream, bounds), route, known)
