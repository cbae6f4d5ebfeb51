"""The partition fields that a column may get, and the partition of each sampled row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.advice.coded_layout import CodedLayout
from service.advice.distinct_count import distinct_count
from service.advice.value_codes import NO_CODE
from service.model.tables.table_layout import LayoutValue

_MICROSECONDS_OF_A_DAY = 86_400_000_000
# Makes numbers of days before 1970 positive, too: only NULL has a negative one.
_ABOVE_ALL_DAYS = 2**40
_UNITS = {"day": "D", "month": "M", "year": "Y"}


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """A transform of a column, as Iceberg names it, and a number for the partition of each sampled row.

    `count` estimates how many partitions the whole table would have.
    """

    column: str
    transform: str
    keys: npt.NDArray[np.int64]
    count: int


def partition_keys(coded: CodedLayout, column: str) -> Iterator[PartitionKeys]:
    """Yields the partition fields that the column may get, the one with the smallest partitions first."""
    type_name = coded.layout.column_types[column]
    if type_name in ("timestamp", "timestamptz", "date"):
        days = _days(coded.layout.sample.columns[column], type_name)
        ends = _days(_ends(coded, column), type_name)
        for transform, unit in _UNITS.items():
            keys = _numbers(days, unit)
            yield PartitionKeys(column, transform, keys, _count(coded, keys, _numbers(ends, unit)))
    else:
        keys, bounds = coded.sample.columns[column], coded.chunks.bounds[column]
        is_known = np.array([column in file.bounds for file in coded.layout.files], np.bool_)
        # Bounds of texts may be cut: then no row has such a value.
        is_known &= type_name != "string"
        ends_of_files = np.concatenate([bounds.lower[is_known], bounds.upper[is_known]])
        yield PartitionKeys(column, "identity", keys, _count(coded, keys, ends_of_files))


def _count(coded: CodedLayout, keys: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> int:
    """Estimates it by the sample, and by the ends of files: sampled files may have few of all partitions."""
    rows = sum(file.record_count for file in coded.layout.files)
    return max(round(distinct_count(keys, rows)), len(np.unique(np.concatenate([keys, ends]))))


def _ends(coded: CodedLayout, column: str) -> list[LayoutValue]:
    bounds = [file.bounds[column] for file in coded.layout.files if column in file.bounds]
    return [value for found in bounds for value in (found.lower, found.upper)]


def _numbers(days: npt.NDArray[np.datetime64], unit: str) -> npt.NDArray[np.int64]:
    moments = days.astype(f"datetime64[{unit}]")
    return np.where(np.isnat(moments), NO_CODE, moments.astype(np.int64) + _ABOVE_ALL_DAYS)


def _days(values: Sequence[LayoutValue | None], type_name: str) -> npt.NDArray[np.datetime64]:
    unit = 1 if type_name == "date" else _MICROSECONDS_OF_A_DAY
    days = [np.datetime64(value // unit if isinstance(value, int) else "NaT", "D") for value in values]
    return np.array(days, "datetime64[D]")
