"""Reads a stream of records as rows by target; the gateway and executors both use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.ingest.decoding.arrow.batches import arrow_batches, parquet_batches
from service.ingest.decoding.arrow.columnar_rows import columnar_rows
from service.ingest.decoding.csv.csv_rows import csv_rows
from service.ingest.decoding.json.ndjson import ndjson_rows
from service.ingest.decoding.streams.bounded_rests import bounded_rests
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
    """Yields every record, in the rows of one target or as a bad row; one block at a time is in memory.

    `start` is the position of the stream's first record in the whole input. Parquet streams must be seekable.
    `bounds` limit the expanded size of Arrow and Parquet, and the length of lines of text. The size of a text
    stream is bounded before.

    Raises:
        IngestInvalid: the stream is not in this format, ends too early, or expands beyond the bounds.
    """
    return bounded_rests(_rows(stream, record_format, plan, start, bounds), plan, bounds)


def _rows(
    stream: BinaryIO, record_format: RecordFormat, plan: ReadPlan, start: Position, bounds: ReadBounds
) -> Iterator[Rows]:
    match record_format:
        case RecordFormat.NDJSON:
            return ndjson_rows(stream, plan, start, bounds)
        case RecordFormat.CSV:
            return csv_rows(stream, plan, start, bounds)
        case RecordFormat.ARROW_STREAM:
            return columnar_rows(arrow_batches(stream, bounds), plan, start)
        case RecordFormat.PARQUET:
            return columnar_rows(parquet_batches(stream, bounds), plan, start)
