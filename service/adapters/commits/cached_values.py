"""The values that a file may hold in one column, according to its metadata."""

from __future__ import annotations

from dataclasses import dataclass

from pyiceberg.manifest import DataFile
from pyiceberg.types import NestedField

from service.adapters.probe_values.file_interval import Interval, NoInterval, file_interval


@dataclass(frozen=True, slots=True)
class CachedValues:
    """The values lie within `interval`, and NULL is not among them unless `has_nulls`."""

    interval: Interval | NoInterval
    has_nulls: bool

    @staticmethod
    def of(file: DataFile, field: NestedField) -> CachedValues:
        """The values of a top-level column that the file's metadata allows; any, if a fact is missing."""
        null_count = (file.null_value_counts or {}).get(field.field_id)
        interval = file_interval(file, field, None)
        if interval is NoInterval.NO_VALUE and (
            null_count != file.record_count or field.initial_default is not None
        ):
            # Files written before the column was added have its default in every row.
            interval = NoInterval.UNKNOWN
        return CachedValues(interval, null_count != 0)

    @staticmethod
    def anything() -> CachedValues:
        """Any value, for a column about which nothing is known."""
        return CachedValues(NoInterval.UNKNOWN, has_nulls=True)

    def may_share(self, other: CachedValues) -> bool:
        """Whether both may hold the same value. NULL counts as a value, as in equality deletes."""
        return (self.has_nulls and other.has_nulls) or _overlap(self.interval, other.interval)


def _overlap(one: Interval | NoInterval, other: Interval | NoInterval) -> bool:
    if one is NoInterval.NO_VALUE or other is NoInterval.NO_VALUE:
        return False
    if isinstance(one, NoInterval) or isinstance(other, NoInterval):
        return True
    (least, greatest), (other_least, other_greatest) = one, other
    # Both have the column's current type, so they can be compared.
    return bool(least <= other_greatest and other_least <= greatest)  # type: ignore[operator]
