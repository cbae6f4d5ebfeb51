"""From a stream of records to rows by target: the one place, for the gateway and for executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.ingest.decoding.arrow.batches import arrow_batches, parquet_batches
from service.ingest.decoding.arrow.columnar_rows import columnar_rows
from service.ingest.decoding.csv.csv_rows import csv_rows
from service.ingest.decoding.json.ndjson import ndjson_rows
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS, ReadBounds
from service.ingest.decoding.streams.rows import FIRST, Position, Rows
from service.model.ingest.record_formats import RecordFormat


def read_rows(
    stream: BinaryIO,
    record_format: RecordFormat,
    plan: ReadPlan,
    start: Position = FIRST,
    bounds: ReadBounds = DEFAULT_BOUNDS,
) -> Iterator[Rows]:
    """Every record is either in the rows of one target or bad; a block at a time is in memory.

    `start` is where the stream's first record stands in the whole. Parquet has to be seekable. `bounds` are
    for what Arrow and Parquet unfold to, and for lines of text, whose stream is bounded before.

    Raises:
        IngestInvalid: the stream is none of this format, ends too early, or unfolds to more than may be.
    """
    match record_format:
        case RecordFormat.NDJSON:
            return ndjson_rows(stream, plan, start, bounds)
        case RecordFormat.CSV:
            return csv_rows(stream, plan, start, bounds)
        case RecordFormat.ARROW_STREAM:
            return columnar_rows(arrow_batches(stream, bounds), plan, start)
        case RecordFormat.PARQUET:
            return columnar_rows(parquet_batches(stream, bounds), plan, start)
