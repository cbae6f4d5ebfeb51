"""Plans how to read a Parquet file so that the part in memory stays within the bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

from service.ingest.decoding.parquet.parquet_footer import column_chunks
from service.ingest.decoding.parquet.parquet_pages import Page, pages
from service.ingest.decoding.streams.read_bounds import Room
from service.ingest.decoding.values.unfolded_rows import LEAST_ROW_BYTES

_ROWS = 10_000
_PART_BYTES = 4 * 1024**2
_LEVEL_BYTES = 4
# Examining a page has a cost too.
_LEAST_PAGE_BYTES = 1024
_TEXT = "BYTE_ARRAY"
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, _TEXT: 4}


@dataclass(frozen=True, slots=True)
class ParquetPlan:
    """The rows to read at once, and the columns, by path, that stay dictionaries until they are measured."""

    rows_at_once: int
    dictionaries: tuple[str, ...] = ()


@dataclass(slots=True)
class _Chunk:
    """The totals of a column's pages in one row group."""

    byte_count: int = 0
    value_count: int = 0
    largest_page: int = 0
    dictionary_bytes: int = 0
    densest: float = 0.0
    """The most bytes per value of any page; a prefix may be as long as its page."""
    longest_prefix: int = 0


def parquet_plan(metadata: Any, row_groups: range, file: BinaryIO, room: Room) -> ParquetPlan:
    """Returns the plan for these row groups of the file with this PyArrow metadata.

    Raises:
        IngestInvalid: it exceeds the bounds.
        OSError: it cannot be read.
    """
    groups = [metadata.row_group(index) for index in row_groups]
    room.check(sum(max(group.num_rows, 0) for group in groups) * LEAST_ROW_BYTES)
    room.check(sum(max(group.total_byte_size, 0) for group in groups))
    claimed = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    widths = [_width(metadata.schema.column(index)) for index in range(metadata.num_columns)]
    room.check_batch(sum(widths), "A row")
    rows = _PART_BYTES // max(claimed, sum(widths), 1)
    plan = ParquetPlan(int(min(max(rows, 1), _ROWS)))
    if not room.bounds.has_pages_checked:
        return plan
    total = 0
    for columns in column_chunks(file, row_groups, metadata.num_columns):
        chunks = [_chunk(pages(file, column)) for column in columns]
        total += sum(chunk.byte_count for chunk in chunks)
        room.check(total)
        _check_group(metadata, chunks, widths, room)
        plan = _fitted(plan, metadata, chunks, room)
    return plan


def _width(column: Any) -> int:
    return int(_WIDTHS.get(column.physical_type, 0) or max(column.length, 0))


def _chunk(found: Iterable[Page]) -> _Chunk:
    chunk = _Chunk()
    for page in found:
        chunk.byte_count += max(page.byte_count, _LEAST_PAGE_BYTES)
        chunk.largest_page = max(chunk.largest_page, page.byte_count)
        if page.is_dictionary:
            chunk.dictionary_bytes = max(chunk.dictionary_bytes, page.byte_count)
            continue
        chunk.value_count += page.value_count
        chunk.densest = max(chunk.densest, page.byte_count / max(page.value_count, 1))
        if page.has_prefixes:
            chunk.longest_prefix = max(chunk.longest_prefix, page.byte_count)
    return chunk


def _check_group(metadata: Any, chunks: list[_Chunk], widths: list[int], room: Room) -> None:
    # One page of each column is decompressed at a time.
    room.check_batch(sum(chunk.largest_page for chunk in chunks), "A page of each column")
    for index, (chunk, width) in enumerate(zip(chunks, widths, strict=True)):
        if metadata.schema.column(index).max_repetition_level:
            # The end of a row of lists is known only in memory: one row may have all values.
            values = chunk.value_count * (width + _LEVEL_BYTES + chunk.longest_prefix)
            room.check_batch(values + chunk.byte_count, "A row group's column of lists or maps")


def _fitted(plan: ParquetPlan, metadata: Any, chunks: list[_Chunk], room: Room) -> ParquetPlan:
    row_bytes = sum(chunk.densest + chunk.longest_prefix for chunk in chunks)
    rows = int(min(plan.rows_at_once, max(room.bounds.batch_bytes // max(row_bytes, 1), 1)))
    share = room.bounds.batch_bytes // max(len(chunks), 1)
    paths = dict.fromkeys(plan.dictionaries)
    for index, chunk in enumerate(chunks):
        column = metadata.schema.column(index)
        if column.physical_type == _TEXT and chunk.dictionary_bytes * rows > share:
            paths[column.path] = None
    return ParquetPlan(rows, tuple(paths))
