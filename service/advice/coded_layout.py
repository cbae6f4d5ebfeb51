"""A layout and a workload in one form that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.advice.chunks import Chunks, CodedRanges, CodedScan, ColumnBounds
from service.advice.value_codes import Codes, ValueCodes, comparable_value
from service.model.query.scan_metrics import ScanRecord
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.table_layout import FileBounds, LayoutValue, TableLayout

_Range = tuple[LayoutValue | None, LayoutValue | None]
_Conditions = tuple[tuple[str, tuple[_Range, ...]], ...]


@dataclass(frozen=True, slots=True)
class CodedSample:
    """Rows in the order of their files; `byte_counts` is how many bytes of the table each row stands for."""

    file_numbers: npt.NDArray[np.int64]
    byte_counts: npt.NDArray[np.float64]
    partitions: npt.NDArray[np.int64]
    columns: dict[str, Codes]


@dataclass(frozen=True, slots=True)
class CodedLayout:
    """The files of now as chunks, the sample, and the scans. `partitions` has a number for each file."""

    layout: TableLayout
    chunks: Chunks
    partitions: npt.NDArray[np.int64]
    sample: CodedSample
    scans: Sequence[CodedScan]


def coded_layout(layout: TableLayout, scans: Iterable[ScanRecord]) -> CodedLayout:
    """Returns the layout, and the conditions of these scans on its columns; all others are left out."""
    conditions = Counter(_conditions(scan, layout) for scan in scans)
    codes = {column: _codes(column, layout, conditions) for column in layout.column_types}
    names: dict[str, int] = {}
    partitions = np.array([names.setdefault(file.partition, len(names)) for file in layout.files], np.int64)
    byte_counts = np.array([file.byte_count for file in layout.files], np.float64)
    bounds = {column: _bounds(column, layout, codes[column]) for column in codes}
    return CodedLayout(
        layout,
        Chunks(byte_counts, bounds),
        partitions,
        _sample(layout, codes, partitions),
        [_scan(found, codes, count) for found, count in conditions.items()],
    )


def _conditions(scan: ScanRecord, layout: TableLayout) -> _Conditions:
    found = ((predicate.column, _values(predicate, layout)) for predicate in scan.predicates)
    return tuple((column, ranges) for column, ranges in found if ranges is not None)


def _values(predicate: ScanPredicate, layout: TableLayout) -> tuple[_Range, ...] | None:
    """The ranges in values of the column; None if they are not known, or are not of its type."""
    type_name = layout.column_types.get(predicate.column)
    if type_name is None or predicate.ranges is None:
        return None
    found: list[_Range] = []
    for bounds in predicate.ranges:
        values = [None if value is None else comparable_value(value, type_name) for value in bounds]
        if any(value is None and bound is not None for value, bound in zip(values, bounds, strict=True)):
            return None
        found.append((values[0], values[1]))
    return tuple(found)


def _codes(column: str, layout: TableLayout, conditions: Iterable[_Conditions]) -> ValueCodes:
    values: list[LayoutValue | None] = list(layout.sample.columns.get(column, ()))
    for file in layout.files:
        bounds = file.bounds.get(column)
        if bounds is not None:
            values += (bounds.lower, bounds.upper)
    for found in conditions:
        for name, ranges in found:
            if name == column:
                values += (value for bounds in ranges for value in bounds)
    return ValueCodes(values)


def _bounds(column: str, layout: TableLayout, codes: ValueCodes) -> ColumnBounds:
    found: list[FileBounds | None] = [file.bounds.get(column) for file in layout.files]
    lower = codes.of([None if bounds is None else bounds.lower for bounds in found])
    upper = codes.of([None if bounds is None else bounds.upper for bounds in found])
    is_unknown = np.array([bounds is None for bounds in found], np.bool_)
    has_none = np.array([column in file.without_values for file in layout.files], np.bool_)
    # Any value may be in a file without bounds.
    lower[is_unknown], upper[is_unknown] = 0, codes.count
    lower[has_none], upper[has_none] = 1, 0
    return ColumnBounds(lower, upper)


def _sample(
    layout: TableLayout, codes: dict[str, ValueCodes], partitions: npt.NDArray[np.int64]
) -> CodedSample:
    numbers = np.array(layout.sample.file_numbers, np.int64)
    sizes = np.array([file.byte_count for file in layout.files], np.float64)
    rows = np.bincount(numbers, minlength=len(sizes)) if len(sizes) else np.empty(0)
    byte_counts = sizes[numbers] / rows[numbers] if len(numbers) else np.empty(0)
    sampled = float(byte_counts.sum())
    # Files that were not sampled are taken to be like those that were.
    byte_counts = byte_counts * (float(sizes.sum()) / sampled) if sampled else byte_counts
    return CodedSample(
        numbers,
        byte_counts,
        partitions[numbers] if len(numbers) else np.empty(0, np.int64),
        {column: codes[column].of(values) for column, values in layout.sample.columns.items()},
    )


def _scan(conditions: _Conditions, codes: dict[str, ValueCodes], count: int) -> CodedScan:
    ranges: dict[str, CodedRanges] = {}
    for column, found in conditions:
        lower = codes[column].of([bounds[0] for bounds in found])
        upper = codes[column].of([bounds[1] for bounds in found])
        is_open = np.array([bounds[1] is None for bounds in found], np.bool_)
        lower[lower < 0] = 0
        upper[is_open] = codes[column].count
        ranges[column] = CodedRanges(lower, upper)
    return CodedScan(ranges, count)
