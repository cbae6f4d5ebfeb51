"""Splits a large body into parts that can be read independently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from service.ingest.decoding.arrow.batches import parquet_row_groups
from service.ingest.decoding.streams.decompressed import decompressed
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.distributed.csv_marks import csv_marks
from service.ingest.distributed.line_marks import line_marks
from service.ingest.distributed.task_count import in_groups
from service.model.ingest.body_splits import BodySplit, RowGroups
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat

_BLOCK_BYTES = 4 * 1024**2
BodyPart = BodySplit | RowGroups


def is_splittable(body: StreamedRecords) -> bool:
    """Returns whether the body can be split."""
    match body.record_format:
        case RecordFormat.NDJSON | RecordFormat.CSV:
            return True
        case RecordFormat.PARQUET:
            # The end of a Parquet file is read first, which compression makes impossible.
            return body.compression is Compression.NONE
        case RecordFormat.ARROW_STREAM:
            return False


def body_splits(
    body: StreamedRecords, count: Callable[[int], int], split_bytes: int, bounds: ReadBounds
) -> tuple[Sequence[BodyPart], int]:
    """Returns all records in at most `count(bytes)` parts, and the number of bytes.

    Text is read once from start to end, to number its lines.

    Raises:
        IngestInvalid: the body is not in its format, or exceeds the bounds, or one of its lines does.
    """
    with body.open() as raw:
        if body.record_format is RecordFormat.PARQUET:
            return _row_groups(raw, count)
        stream = decompressed(raw, body.compression, bounds.body_bytes)
        block_bytes = max(min(split_bytes // 4, _BLOCK_BYTES), 1)
        match body.record_format:
            case RecordFormat.CSV:
                marks = csv_marks(stream, block_bytes, bounds.line_bytes)
            case RecordFormat.NDJSON:
                marks = line_marks(stream, block_bytes)
            case RecordFormat.ARROW_STREAM:
                raise ValueError(body.record_format)
    return marks.splits(count(marks.byte_count)), marks.byte_count


def _row_groups(raw: BinaryIO, count: Callable[[int], int]) -> tuple[Sequence[BodyPart], int]:
    found = parquet_row_groups(raw)
    weights = [row_group.byte_count for row_group in found]
    byte_count = sum(weights)
    splits: list[BodyPart] = []
    first_row = 1
    for group in in_groups(range(len(found)), weights, count(byte_count)):
        splits.append(RowGroups(group[0], group[-1] + 1, first_row))
        first_row += sum(found[index].row_count for index in group)
    return splits, byte_count
