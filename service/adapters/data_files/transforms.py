"""Iceberg's transforms on Arrow's arrays, every one of format version 2.

PyIceberg has most of them; truncated binary is made here. `service.model.transforms` says which there are.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.transforms import IdentityTransform, Transform, TruncateTransform, VoidTransform
from pyiceberg.types import BinaryType, PrimitiveType


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
    return transform.pyarrow_transform(kind)(values)
