"""Iceberg's transforms on Arrow's arrays, every one of format version 2.

PyIceberg has most of them; truncated binary and the days of moments are made here.
`service.model.tables.transforms` says which there are.
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
    """The transform of every value; NULL stays NULL. A UUID is its sixteen bytes."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(transform, IdentityTransform):
        return values
    if isinstance(transform, VoidTransform):
        return pa.nulls(len(values), values.type)
    if isinstance(transform, TruncateTransform) and isinstance(kind, BinaryType):
        return pc.binary_slice(values, 0, transform.width)
    if isinstance(transform, DayTransform) and isinstance(kind, TimestampType | TimestamptzType):
        # Of the last millisecond before midnight, iceberg-rust gives the next day when it is before 1970.
        return _days(values)
    return transform.pyarrow_transform(kind)(values)


def _days(moments: pa.Array) -> pa.Array:
    """Days since 1970, those before it negative, by the microseconds; a day begins at midnight."""
    micros = moments.cast(pa.int64())
    # Arrow divides towards zero: what is left over before 1970 belongs to the day before.
    days = pc.divide(micros, _DAY_US)
    is_before = pc.less(micros, pc.multiply(days, _DAY_US))
    return pc.subtract(days, is_before.cast(pa.int64())).cast(pa.int32())
