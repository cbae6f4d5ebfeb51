"""Rows of a result as a stream of Arrow, in exactly the schema that the client knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from api.flight.wire.flight_errors import ResultChanged
from api.flight.wire.jdbc_schemas import columns_for_jdbc
from api.flight.wire.without_zones import without_zones

MAX_BATCH_BYTES = 8 * 1024 * 1024
"""Clients refuse larger messages: some take 16 MiB."""
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


def arrow_zone(name: str) -> str:
    """Returns a time zone as Arrow spells it.

    >>> [arrow_zone(name) for name in ("Europe/Berlin", "GMT+2", "-0530", "Z")]
    ['Europe/Berlin', '+02:00', '-05:30', 'UTC']
    """
    if name.upper() in ("Z", "GMT", "UT"):
        return "UTC"
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return name
    return f"{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}"


def told_schema(schema: pa.Schema, zone: str | None) -> pa.Schema:
    """Returns the schema as the client gets it: with a zone, as the JDBC driver reads it."""
    return schema if zone is None else columns_for_jdbc(schema)


def batches_of(rows: pa.Table, schema: pa.Schema, zone: str | None) -> Iterator[pa.RecordBatch]:
    """Yields the rows in batches of this schema, none larger than clients take, as far as rows can be cut.

    Raises:
        ResultChanged: they have other columns.
    """
    for batch in rows.to_batches():
        if batch.num_columns != len(schema):
            raise ResultChanged
        columns = (
            _column(column, field.type, zone) for column, field in zip(batch.columns, schema, strict=True)
        )
        yield from _pieces(pa.RecordBatch.from_arrays(list(columns), schema=schema))


def _column(column: pa.Array, wanted: pa.DataType, zone: str | None) -> pa.Array:
    if zone is not None:
        column = without_zones(column, zone)
    if column.type.id != wanted.id:
        raise ResultChanged
    # Names and nullability inside of nested types are all that may differ.
    return column if column.type.equals(wanted, check_metadata=True) else _cast(column, wanted)


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    try:
        return column.cast(wanted)
    except pa.ArrowException:
        raise ResultChanged from None


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_columns == 0:
        return
    count = max(1, -(-batch.nbytes // MAX_BATCH_BYTES))
    rows = max(1, -(-batch.num_rows // count))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
