"""Reads lines of JSON for one target with Arrow at once, if this gives exactly the same rows."""

from __future__ import annotations

import re

import pyarrow as pa
from pyarrow import json as arrow_json

from service.ingest.decoding.json.far_digits import has_far_digits
from service.ingest.decoding.json.fast_columns import Doubt, Zeros, check_floating, fast_column
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.model.tables.schemas import Field

# Zero with a sign: as a whole number in JSON it has none, but Arrow keeps the sign in doubles.
_SIGNED_ZERO = re.compile(rb"-0[\s,}\]]")
# A number other than zero may become zero in a double if its exponent has three digits, or it is very long.
_NEARLY_ZERO = tuple(re.compile(letter + rb"-0*[1-9][0-9][0-9]+\s*[,}]") for letter in (b"e", b"E"))
_VERY_LONG = b"0" * 200
_FLOATING = (pa.float32(), pa.float64())


class FastRows:
    """A reader of lines with these fields; they may also have the field `ignored`, as text."""

    def __init__(self, fields: tuple[Field, ...], ignored: str | None = None) -> None:
        found = [fast_column(field) for field in fields]
        self._columns = [column for column in found if column is not None]
        self._schema = arrow_schema(fields)
        names = [field.name for field in fields]
        reads = [pa.field(name, column.read_as) for name, column in zip(names, self._columns, strict=False)]
        if ignored is not None and ignored not in names:
            reads.append(pa.field(ignored, pa.string()))
        self._options = arrow_json.ParseOptions(
            explicit_schema=pa.schema(reads), newlines_in_values=False, unexpected_field_behavior="error"
        )
        self._is_possible = bool(fields) and len(self._columns) == len(fields) == len(set(names))
        self._has_decimals = any(pa.types.is_decimal(column.read_as) for column in self._columns)
        self._floating = [index for index, field in enumerate(self._schema) if field.type in _FLOATING]

    def read(self, lines: bytes, count: int) -> pa.RecordBatch | None:
        """Returns the rows of `count` lines, each of which is in braces; None where they are uncertain."""
        if not self._is_possible or (self._has_decimals and has_far_digits(lines)):
            return None
        options = arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        try:
            table = arrow_json.read_json(pa.py_buffer(lines), options, self._options)
            return self._finished(table, lines) if table.num_rows == count else None
        except (Doubt, pa.ArrowException, OverflowError):
            return None

    def _finished(self, table: pa.Table, lines: bytes) -> pa.RecordBatch:
        found = [_array(table.column(index)) for index in range(len(self._columns))]
        floating = [(self._schema.field(index).type, found[index]) for index in self._floating]
        if floating:
            _check_zeros(check_floating(floating), lines)
        arrays = [column.finish(array) for column, array in zip(self._columns, found, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _check_zeros(zeros: Zeros, lines: bytes) -> None:
    if zeros.has_negative and _SIGNED_ZERO.search(lines):
        raise Doubt
    may_be_none = zeros.has_negative or zeros.has_positive
    # A search for two characters is many times as fast as one for the pattern that begins with them.
    patterns = (pattern for pattern in _NEARLY_ZERO if pattern.pattern[:2] in lines)
    if may_be_none and (_VERY_LONG in lines or any(pattern.search(lines) for pattern in patterns)):
        raise Doubt


def _array(column: pa.ChunkedArray) -> pa.Array:
    found = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found
