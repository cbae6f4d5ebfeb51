"""A layout and a workload in one form that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.advice.chunks import Chunks, CodedRanges, CodedScan, ColumnBounds, ScanReads
from service.advice.value_codes import Codes, ValueCodes, bounds_of_text, comparable_value
from service.model.query.layout_advice import ReadAmount
from service.model.query.scan_metrics import ScanRecord
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.table_layout import FileBounds, LayoutValue, TableLayout
from service.ports.tables.rewritten_rows import RewrittenRows

_Range = tuple[LayoutValue | None, LayoutValue | None]
_Conditions = tuple[tuple[str, tuple[_Range, ...]], ...]


@dataclass(frozen=True, slots=True)
class CodedSample:
    """Rows in the order of their files. Each row stands for `byte_counts` bytes and `row_counts` rows.

    `lower` and `upper` are what the bounds of a file with the row say at least: they cut long texts.
    """

    file_numbers: npt.NDArray[np.int64]
    byte_counts: npt.NDArray[np.float64]
    row_counts: npt.NDArray[np.float64]
    partitions: npt.NDArray[np.int64]
    columns: dict[str, Codes]
    lower: dict[str, Codes]
    upper: dict[str, Codes]


@dataclass(frozen=True, slots=True)
class CodedLayout:
    """The files of now as chunks, the sample, and the scans. `partitions` has a number for each file.

    `scans` are those that differ, and `scan_numbers` has for each recorded scan its place among them. `now`
    is what each scan reads of the files of now. `sampled` is what it would read if all files were like those
    with rows in the sample; None if all of them have some. `rewritten` knows the size of files after a
    change; None: it is not to be found out.
    """

    layout: TableLayout
    chunks: Chunks
    partitions: npt.NDArray[np.int64]
    sample: CodedSample
    scans: Sequence[CodedScan]
    scan_numbers: Sequence[int]
    now: ScanReads
    sampled: ScanReads | None
    is_late: Callable[[], bool]
    rewritten: RewrittenRows | None = None

    @property
    def before(self) -> ReadAmount:
        """The files and bytes that the workload reads of the files of now."""
        return self.sum(self.now)

    def read(self, chunks: Chunks) -> ReadAmount:
        """Returns what the workload reads of a layout of all the files of now.

        Raises:
            OutOfTime: it is late.
        """
        return self.sum(chunks.read_by(self.scans, self.is_late))

    def read_of_rows(self, chunks: Chunks) -> ReadAmount:
        """Returns what the workload reads of a layout of the sampled rows, see `reads_of_rows`.

        Raises:
            OutOfTime: it is late.
        """
        return self.sum(self.reads_of_rows(chunks))

    def reads_of_rows(self, chunks: Chunks) -> ScanReads:
        """Returns what each scan reads of a layout of the sampled rows.

        If some files have no sampled row, each scan is taken to save as large a part as of those that
        have, and nothing if it needs none of them: the sample does not say where its rows would lie.

        Raises:
            OutOfTime: it is late.
        """
        found = chunks.read_by(self.scans, self.is_late)
        if self.sampled is None:
            return found
        return ScanReads(
            _in_proportion(found.files, self.sampled.files, self.now.files),
            _in_proportion(found.byte_counts, self.sampled.byte_counts, self.now.byte_counts),
        )

    def sum(self, reads: ScanReads) -> ReadAmount:
        """Returns what the workload reads, by what each scan reads once."""
        counts = np.array([scan.count for scan in self.scans], np.float64)
        return ReadAmount(round(float(reads.files @ counts)), round(float(reads.byte_counts @ counts)))


def coded_layout(
    layout: TableLayout,
    scans: Iterable[ScanRecord],
    is_late: Callable[[], bool],
    rewritten: RewrittenRows | None = None,
) -> CodedLayout:
    """Returns the layout, and the conditions of these scans on its columns; all others are left out.

    Raises:
        OutOfTime: it is late.
    """
    found_conditions = [_conditions(scan, layout) for scan in scans]
    conditions = Counter(found_conditions)
    numbers = {found: number for number, found in enumerate(conditions)}
    codes = {column: _codes(column, layout, conditions) for column in layout.column_types}
    names: dict[str, int] = {}
    partitions = np.array([names.setdefault(file.partition, len(names)) for file in layout.files], np.int64)
    byte_counts = np.array([file.byte_count for file in layout.files], np.float64)
    row_counts = np.array([file.record_count for file in layout.files], np.float64)
    bounds = {column: _bounds(column, layout, codes[column]) for column in codes}
    chunks, sample = Chunks(byte_counts, row_counts, bounds), _sample(layout, codes, partitions)
    coded_scans = [_scan(found, codes, count) for found, count in conditions.items()]
    sampled = _sampled_chunks(layout, chunks, sample)
    return CodedLayout(
        layout,
        chunks,
        partitions,
        sample,
        coded_scans,
        [numbers[found] for found in found_conditions],
        chunks.read_by(coded_scans, is_late),
        None if sampled is None else _scaled(sampled, chunks, sampled.read_by(coded_scans, is_late)),
        is_late,
        rewritten,
    )


def _sampled_chunks(layout: TableLayout, chunks: Chunks, sample: CodedSample) -> Chunks | None:
    """The files that have sampled rows; None if all files with rows have some."""
    is_sampled = np.zeros(len(layout.files), np.bool_)
    is_sampled[sample.file_numbers] = True
    has_rows = np.array([file.record_count > 0 for file in layout.files], np.bool_)
    if not is_sampled.any() or bool(np.all(is_sampled | ~has_rows)):
        return None
    return chunks.taken(np.flatnonzero(is_sampled))


def _scaled(sampled: Chunks, chunks: Chunks, reads: ScanReads) -> ScanReads:
    """The amount that would be read of as many files and bytes as the table has."""
    files, byte_count = len(sampled.byte_counts), float(sampled.byte_counts.sum())
    return ScanReads(
        reads.files * (len(chunks.byte_counts) / files),
        reads.byte_counts * (float(chunks.byte_counts.sum()) / byte_count if byte_count else 0.0),
    )


def _in_proportion(
    after: npt.NDArray[np.float64], before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    is_known = before > 0
    ratios = np.ones(len(now))
    ratios[is_known] = after[is_known] / before[is_known]
    return now * ratios


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
    sampled = layout.sample.columns.get(column, ())
    values: list[LayoutValue | None] = list(sampled)
    if column in layout.text_bounds:
        values += bounds_of_text(sampled, layout.text_bounds[column], is_upper=False)
        values += bounds_of_text(sampled, layout.text_bounds[column], is_upper=True)
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
    lengths = np.array([file.record_count for file in layout.files], np.float64)
    columns = {column: codes[column].of(values) for column, values in layout.sample.columns.items()}
    lower, upper = dict(columns), dict(columns)
    for column, length in layout.text_bounds.items():
        texts = layout.sample.columns.get(column, ())
        if column in columns:
            lower[column] = codes[column].of(bounds_of_text(texts, length, is_upper=False))
            upper[column] = codes[column].of(bounds_of_text(texts, length, is_upper=True))
    return CodedSample(
        numbers,
        _by_row(sizes, numbers),
        _by_row(lengths, numbers),
        partitions[numbers] if len(numbers) else np.empty(0, np.int64),
        columns,
        lower,
        upper,
    )


def _by_row(amounts: npt.NDArray[np.float64], file_numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The part of these amounts of files that each sampled row stands for."""
    if not len(file_numbers):
        return np.empty(0)
    found: npt.NDArray[np.float64] = (
        amounts[file_numbers] / np.bincount(file_numbers, minlength=len(amounts))[file_numbers]
    )
    sampled = float(found.sum())
    # Files that were not sampled are taken to be like those that were.
    return found * (float(amounts.sum()) / sampled) if sampled else found


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
