"""Moments that Parquet holds as INT96: writers mean UTC, and the type does not say so.

Source: Spark's `ParquetRowConverter`, which reads INT96 into its TIMESTAMP, and Hive, which writes it so.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types

from service.model.schemas import Field, Primitive

_MARK = {b"sluice.int96": b"true"}


def marked_int96(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The batch, in which these columns are known to be of INT96, where they are moments themselves."""
    fields = [_marked(each) if each.name in names else each for each in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def in_utc_where_wanted(batch: pa.RecordBatch, wanted: Sequence[Field]) -> pa.RecordBatch:
    """The batch with those columns in UTC that are of INT96, and whose field wants moments with a zone."""
    zoned = {each.name for each in wanted if each.type == Primitive("timestamptz")}
    if not any(_is_marked(each) and each.name in zoned for each in batch.schema):
        return batch
    pairs = zip(batch.schema, batch.columns, strict=True)
    columns = [
        _in_utc(column) if _is_marked(each) and each.name in zoned else column for each, column in pairs
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _marked(field: pa.Field) -> pa.Field:
    return field.with_metadata(_MARK) if types.is_timestamp(field.type) else field


def _is_marked(field: pa.Field) -> bool:
    return field.metadata is not None and _MARK.items() <= field.metadata.items()


def _in_utc(column: pa.Array) -> pa.Array:
    return column.view(pa.timestamp(column.type.unit, "UTC"))
