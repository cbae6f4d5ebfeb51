"""Iceberg's transforms on Arrow arrays: all transforms of format version 2.

PyIceberg has most of them; truncated binary and the days of timestamps are computed here.
`service.model.tables.transforms` lists them.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.transforms import (
    DayTransform,
    IdentityTransform,
    Transform,
    TruncateTransform,
    VoidTransform,
)
from pyiceberg.types import BinaryType, PrimitiveType, TimestampType, TimestamptzType

_DAY_US = 86_400_000_000


def transformed(transform: Transform[Any, Any], kind: PrimitiveType, values: pa.Array) -> pa.Array:
    """Applies the transform to every value; NULL stays NULL. A UUID is its sixteen bytes."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(transform, IdentityTransform):
        return values
    if isinstance(transform, VoidTransform):
        return pa.nulls(len(values), values.type)
    if isinstance(transform, TruncateTransform) and isinstance(kind, BinaryType):
        return pc.binary_slice(values, 0, transform.width)
    if isinstance(transform, DayTransform) and isinstance(kind, TimestampType | TimestamptzType):
        # Before 1970, iceberg-rust gives the next day for the last millisecond before midnight.
        return _days(values)
    return transform.pyarrow_transform(kind)(values)


def _days(moments: pa.Array) -> pa.Array:
    """Days since 1970 from microseconds, negative before; a day begins at midnight."""
    micros = moments.cast(pa.int64())
    # Arrow divides towards zero: before 1970, a remainder belongs to the day before.
    days = pc.divide(micros, _DAY_US)
    is_before = pc.less(micros, pc.multiply(days, _DAY_US))
    return pc.subtract(days, is_before.cast(pa.int64())).cast(pa.int32())
