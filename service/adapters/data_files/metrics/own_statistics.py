"""Statistics of columns for which files have none, because readers would misread Parquet's.

Parquet leaves NaN out of its statistics and does not say so, but Iceberg's readers trust them. With 1.0 and
NaN in a row group, they skip it for `x > 5`, though for Spark NaN is greater. UUIDs are ordered by unsigned
bytes in Parquet, and by signed halves in Iceberg's Java library. The bytes of variants have no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyiceberg.types import DoubleType, FloatType, PrimitiveType, UUIDType

from service.adapters.catalogs.variant_type import VariantType
from service.adapters.data_files.layout.columns import ColumnPlace
from service.adapters.data_files.metrics.number_statistics import NumberStatistics

_WITHOUT_BOUNDS = UUIDType | VariantType


def has_own_statistics(kind: PrimitiveType) -> bool:
    """Whether columns of this type have no Parquet statistics."""
    return isinstance(kind, FloatType | DoubleType | _WITHOUT_BOUNDS)


class OwnStatistics:
    """Collects statistics while a file grows. UUIDs and variants have no bounds at all."""

    def __init__(self, places: Iterable[ColumnPlace]) -> None:
        self._places = tuple(place for place in places if has_own_statistics(place.kind))
        self.null_counts = Counter({place.field.field_id: 0 for place in self._places})
        floats = (place for place in self._places if not isinstance(place.kind, _WITHOUT_BOUNDS))
        self.numbers = {place.field.field_id: NumberStatistics() for place in floats}

    def add(self, rows: pa.Table) -> None:
        """Adds these rows to the statistics."""
        for place in self._places:
            field_id, values = place.field.field_id, place.values(rows)
            self.null_counts[field_id] += values.null_count
            if field_id in self.numbers:
                self.numbers[field_id] = self.numbers[field_id].with_values(values)

    def ends(self, field_id: int, found: tuple[Any, Any] | None) -> tuple[Any, Any]:
        """A field's least and greatest value, given those that Parquet found; None if unknown."""
        numbers = self.numbers.get(field_id)
        return (numbers.least, numbers.greatest) if numbers is not None else found or (None, None)
