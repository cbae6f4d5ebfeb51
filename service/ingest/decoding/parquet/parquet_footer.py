"""Finds the columns of a Parquet file by its footer.

PyArrow reports them too, but it aborts the process when a footer contradicts itself in any part. When it
reads a column, it raises an error as it should.

Source: the Parquet format, `parquet.thrift`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from service.ingest.decoding.parquet.compact_structs import Lists, Numbers, listed_structs

_END_BYTES = 8
_MAGIC = b"PAR1"
# Field ids: row groups of the file, columns of a row group, metadata of a column's chunk.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_OF_ROW_GROUP: Lists = {_COLUMNS: {}}
_VALUES, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET = 5, 7, 9, 11


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column of a row group: the number of its values, its start, and its size in bytes."""

    value_count: int
    start: int
    byte_count: int


def column_chunks(file: BinaryIO, row_groups: range, column_count: int) -> Iterator[list[ColumnChunk]]:
    """Yields the columns of each of these row groups, in a file whose footer PyArrow could read.

    Raises:
        OSError: the footer cannot be read, or is contradictory.
    """
    left = len(row_groups)
    try:
        for index, group in enumerate(listed_structs(_footer(file), _ROW_GROUPS, _OF_ROW_GROUP)):
            if index in row_groups:
                yield _chunks(group, column_count)
                left -= 1
            if not left:
                return
    except IndexError:
        raise OSError("the footer ends too early") from None
    except ValueError as error:
        raise OSError(f"the footer cannot be read: {error}") from None
    if left:
        raise OSError("the footer lacks a row group")


def _footer(file: BinaryIO) -> bytes:
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - _END_BYTES, 0))
    tail = file.read(_END_BYTES)
    size = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or size > end - _END_BYTES:
        raise OSError("there is no footer")
    file.seek(end - _END_BYTES - size)
    return file.read(size)


def _chunks(group: Numbers, column_count: int) -> list[ColumnChunk]:
    columns = group.get(_COLUMNS)
    if not isinstance(columns, list) or len(columns) != column_count:
        raise OSError("a row group has other columns than the file")
    return [_chunk(column) for column in columns]


def _chunk(column: Numbers) -> ColumnChunk:
    found = column.get(_METADATA)
    if not isinstance(found, dict):
        raise OSError("a column's chunk is not described")
    start = _number(found, _DATA_OFFSET)
    dictionary = _number(found, _DICTIONARY_OFFSET) if _DICTIONARY_OFFSET in found else start
    first = dictionary if 0 < dictionary < start else start
    return ColumnChunk(_number(found, _VALUES), first, _number(found, _COMPRESSED))


def _number(fields: Numbers, field: int) -> int:
    found = fields.get(field)
    if not isinstance(found, int):
        raise OSError("a column's chunk lacks a number")
    return found
