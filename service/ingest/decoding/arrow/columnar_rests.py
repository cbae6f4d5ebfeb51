"""Makes the columns that no field takes into the values of one column, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import pyarrow as pa

from service.ingest.decoding.streams.bounded_rests import AT_ONCE_BYTES
from service.ingest.decoding.values.record_rests import check_has_no_rest, rest_value
from service.ingest.decoding.values.row_payload import row_record
from service.model.ingest.record_rest import RecordRest
from service.model.tables.schemas import Field


@dataclass(frozen=True, slots=True)
class Rests:
    """The rest of each row, None for rows without one, and the rows whose rest does not fit."""

    values: list[object]
    invalid: Mapping[int, str]


def fitted_at_once(rows: pa.RecordBatch, *, has_rest: bool) -> Sequence[range]:
    """Returns the places of rows whose values are in memory at once: all of them, unless they have rests.

    Each rest repeats the names of its columns.
    """
    if not has_rest or rows.num_rows == 0:
        return [range(rows.num_rows)]
    row_bytes = rows.nbytes // rows.num_rows + sum(len(name.encode()) for name in rows.schema.names)
    step = max(AT_ONCE_BYTES // (row_bytes + 1), 1)
    return [range(at, min(at + step, rows.num_rows)) for at in range(0, rows.num_rows, step)]


def columnar_rests(rows: pa.RecordBatch, names: Set[str], rest: RecordRest, column: Field) -> Rests:
    """Returns what all columns but those with these names have, without nulls, as values of `column`.

    >>> from service.model.tables.schemas import Primitive
    >>> rows = pa.RecordBatch.from_pylist([{"id": 1, "x": "a"}, {"id": 2, "x": None}])
    >>> columnar_rests(rows, {"id"}, RecordRest("more"), Field(2, "more", Primitive("string"))).values
    ['{"x":"a"}', None]
    """
    others = [name for name in rows.schema.names if name not in names]
    if not others:
        return Rests([None] * rows.num_rows, {})
    apart = rows.select(others)
    values: list[object] = []
    invalid: dict[int, str] = {}
    for row in range(rows.num_rows):
        record, value = row_record(apart, row), None
        try:
            check_has_no_rest(record, rest)
            value = rest_value(record, rest, column)
        except ValueError as reason:
            invalid[row] = str(reason)
        values.append(value)
    return Rests(values, invalid)
