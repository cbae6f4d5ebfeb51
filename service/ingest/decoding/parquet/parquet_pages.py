"""Reads the headers of Parquet pages: the memory that each page takes, before it is decompressed.

A file may state anything about its pages elsewhere; decoders allocate memory by these headers alone.

Source: the Parquet format, `parquet.thrift`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from service.ingest.decoding.parquet.compact_structs import Numbers, compact_struct
from service.ingest.decoding.parquet.parquet_footer import ColumnChunk

_HEADER_BYTES = 8 * 1024
_LONGEST_HEADER = 16 * 1024**2
_KIND, _UNCOMPRESSED, _COMPRESSED, _DATA, _DICTIONARY, _DATA_V2 = 1, 2, 3, 5, 7, 8
_OF_KIND = {0: _DATA, 2: _DICTIONARY, 3: _DATA_V2}
_VALUES = 1
_ENCODING = {_DATA: 2, _DATA_V2: 4}
_DELTA_BYTE_ARRAY = 7


@dataclass(frozen=True, slots=True)
class Page:
    """One page; with `has_prefixes`, each value may be as long as the page."""

    byte_count: int
    value_count: int
    is_dictionary: bool
    has_prefixes: bool


def pages(file: BinaryIO, column: ColumnChunk) -> Iterator[Page]:
    """Yields the pages of a column's chunk that are read.

    Raises:
        OSError: they cannot be read.
    """
    position, left = column.start, column.value_count
    end = position + column.byte_count
    while left > 0 and position < end:
        header, header_bytes = _header(file, position)
        page = _page(header)
        position += header_bytes + _number(header, _COMPRESSED)
        left -= 0 if page.is_dictionary else page.value_count
        yield page


def _header(file: BinaryIO, position: int) -> tuple[Numbers, int]:
    size = _HEADER_BYTES
    if position < 0:
        raise OSError("a page lies before the beginning")
    while True:
        file.seek(position)
        data = file.read(size)
        try:
            return compact_struct(data)
        except IndexError:
            if len(data) < size or size >= _LONGEST_HEADER:
                raise OSError("a page's header ends too early") from None
            size *= 8
        except ValueError as error:
            raise OSError(f"a page's header cannot be read: {error}") from None


def _page(header: Numbers) -> Page:
    own = _OF_KIND.get(_number(header, _KIND), 0)
    inner = header.get(own, {})
    if not isinstance(inner, dict):
        raise OSError("a page's header is none")
    has_prefixes = inner.get(_ENCODING.get(own, 0)) == _DELTA_BYTE_ARRAY
    return Page(_number(header, _UNCOMPRESSED), _number(inner, _VALUES), own == _DICTIONARY, has_prefixes)


def _number(fields: Numbers, number: int) -> int:
    found = fields.get(number, 0)
    if not isinstance(found, int) or found < 0:
        raise OSError("a page's header has a number that cannot be")
    return found
