"""The partition fields that a column may get, and the partition of each sampled row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.advice.coded_layout import CodedLayout
from service.advice.value_codes import NO_CODE

_MICROSECONDS_OF_A_DAY = 86_400_000_000
_UNITS = {"day": "D", "month": "M", "year": "Y"}


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """A transform of a column, as Iceberg names it, and a number for the partition of each sampled row."""

    column: str
    transform: str
    keys: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many partitions there are among the sampled rows."""
        return len(np.unique(self.keys))


def partition_keys(coded: CodedLayout, column: str) -> Iterator[PartitionKeys]:
    """Yields the partition fields that the column may get, the one with the smallest partitions first."""
    type_name = coded.layout.column_types[column]
    if type_name in ("timestamp", "timestamptz", "date"):
        values = coded.layout.sample.columns[column]
        days = _days([value if isinstance(value, int) else None for value in values], type_name)
        for transform, unit in _UNITS.items():
            moments = days.astype(f"datetime64[{unit}]")
            keys = np.where(np.isnat(moments), NO_CODE, np.unique(moments, return_inverse=True)[1])
            yield PartitionKeys(column, transform, keys.astype(np.int64))
    else:
        yield PartitionKeys(column, "identity", coded.sample.columns[column])


def _days(values: list[int | None], type_name: str) -> npt.NDArray[np.datetime64]:
    unit = 1 if type_name == "date" else _MICROSECONDS_OF_A_DAY
    days = [
        np.datetime64("NaT", "D") if value is None else np.datetime64(value // unit, "D") for value in values
    ]
    return np.array(days, "datetime64[D]")
