"""Column metrics of a data file, computed from the footer of its Parquet file.

Source: the Iceberg table specification, "Manifests".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

from pyiceberg.io.pyarrow import MetricModeTypes, StatisticsCollector, compute_statistics_plan
from pyiceberg.schema import Schema

from service.adapters.catalogs.variant_type import VariantType
from service.adapters.data_files.metrics.bound_values import BoundForm
from service.adapters.data_files.metrics.own_statistics import OwnStatistics


@dataclass(frozen=True, slots=True)
class FileMetrics:
    """Counts and bounds by field id, as the specification names them."""

    record_count: int
    column_sizes: Mapping[int, int] = field(default_factory=dict)
    value_counts: Mapping[int, int] = field(default_factory=dict)
    null_value_counts: Mapping[int, int] = field(default_factory=dict)
    nan_value_counts: Mapping[int, int] = field(default_factory=dict)
    lower_bounds: Mapping[int, bytes] = field(default_factory=dict)
    upper_bounds: Mapping[int, bytes] = field(default_factory=dict)
    split_offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricsPlan:
    """The metrics of a file's columns, in Parquet's order, and those known without its footer.

    `null_ids` are fields that the file does not have and that are NULL in every row.
    """

    columns: tuple[_CollectedColumn, ...]
    null_ids: frozenset[int]

    @staticmethod
    def of(schema: Schema, properties: Mapping[str, str], skipped: Iterable[tuple[int, str]]) -> MetricsPlan:
        """Follows `write.metadata.metrics.*`. `skipped` are ids and full names of fields the file lacks."""
        columns = tuple(
            column
            for collector in _collectors(schema, dict(properties)).values()
            for column in _CollectedColumn.all_of(collector)
        )
        prefix = "write.metadata.metrics.column."
        none = {field_id for field_id, name in skipped if _is_none(properties.get(prefix + name))}
        return MetricsPlan(columns, frozenset(field_id for field_id, _ in skipped) - none)

    def metrics(self, footer: Any, own: OwnStatistics) -> FileMetrics:
        """Returns the metrics of a file with this footer, a `pyarrow.parquet.FileMetaData`."""
        rows: int = footer.num_rows
        groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
        found = [
            (
                column,
                reduce(_Chunk.joined, [_Chunk.of(group.column(index), column.bounds) for group in groups]),
            )
            for index, column in enumerate(self.columns)
        ]
        counted = {column.field_id: chunk for column, chunk in found if column.has_counts}
        null_counts = {
            field_id: own.null_counts.get(field_id, chunk.null_count) for field_id, chunk in counted.items()
        }
        lower_bounds, upper_bounds = _bounds(found, own)
        absent = dict.fromkeys(self.null_ids, rows)
        return FileMetrics(
            rows,
            _sizes(found),
            {field_id: chunk.value_count for field_id, chunk in counted.items()} | absent,
            {field_id: count for field_id, count in null_counts.items() if count is not None} | absent,
            _nan_counts(counted, own),
            lower_bounds,
            upper_bounds,
            tuple(sorted(_start(group.column(0)) for group in groups)),
        )


@dataclass(frozen=True, slots=True)
class _CollectedColumn:
    """The metrics of one column beside its size. A file has hundreds, so all lookups are done once."""

    field_id: int
    has_counts: bool
    bounds: BoundForm | None

    @staticmethod
    def all_of(collector: StatisticsCollector) -> tuple[_CollectedColumn, ...]:
        """Returns one column for each of Parquet's: two for a variant, which has no bounds."""
        mode = collector.mode
        has_counts = mode.type != MetricModeTypes.NONE
        if isinstance(collector.iceberg_type, VariantType):
            counted = _CollectedColumn(collector.field_id, has_counts, None)
            return counted, replace(counted, has_counts=False)
        has_bounds = mode.type in (MetricModeTypes.FULL, MetricModeTypes.TRUNCATE)
        bounds = BoundForm.of(collector.iceberg_type, mode.length) if has_bounds else None
        return (_CollectedColumn(collector.field_id, has_counts, bounds),)


class _Chunk(NamedTuple):
    """One column in one or more row groups. The footer is read once: each access creates objects.

    `ends` are the least and the greatest value, in the form that sorts as the column does. They are None if
    there is no value, and if the footer has none, as with long strings.
    """

    byte_count: int
    value_count: int
    null_count: int | None
    ends: tuple[Any, Any] | None

    @staticmethod
    def of(chunk: Any, form: BoundForm | None) -> _Chunk:
        size, count, said = chunk.total_compressed_size, chunk.num_values, chunk.statistics
        if said is None:
            return _Chunk(size, count, None, None)
        null_count = said.null_count if said.has_null_count else None
        if form is None or not said.has_min_max:
            return _Chunk(size, count, null_count, None)
        return _Chunk(size, count, null_count, (form.comparable(said.min_raw), form.comparable(said.max_raw)))

    def joined(self, other: _Chunk) -> _Chunk:
        counts = [count for count in (self.null_count, other.null_count) if count is not None]
        return _Chunk(
            self.byte_count + other.byte_count,
            self.value_count + other.value_count,
            sum(counts) if len(counts) == 2 else None,
            self._ends_with(other),
        )

    def _ends_with(self, other: _Chunk) -> tuple[Any, Any] | None:
        with_values = [metrics for metrics in (self, other) if metrics.null_count != metrics.value_count]
        ends = [value.ends for value in with_values if value.ends is not None]
        if not ends or len(ends) != len(with_values):
            return None
        return min(least for least, _ in ends), max(greatest for _, greatest in ends)


def _sizes(found: Sequence[tuple[_CollectedColumn, _Chunk]]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for column, chunk in found:
        sizes[column.field_id] = sizes.get(column.field_id, 0) + chunk.byte_count
    return sizes


def _nan_counts(counted: Mapping[int, _Chunk], own: OwnStatistics) -> dict[int, int]:
    counts = {field_id: own.numbers[field_id].nan_count for field_id in counted if field_id in own.numbers}
    # For a file of only NaN, Iceberg assumes that no value is above a number. For Spark, NaN is.
    return {field_id: count for field_id, count in counts.items() if count != counted[field_id].value_count}


def _bounds(
    found: Sequence[tuple[_CollectedColumn, _Chunk]], own: OwnStatistics
) -> tuple[dict[int, bytes], dict[int, bytes]]:
    lower_bounds: dict[int, bytes] = {}
    upper_bounds: dict[int, bytes] = {}
    for column, chunk in found:
        if column.bounds is None:
            continue
        least, greatest = own.ends(column.field_id, chunk.ends)
        if least is not None:
            lower_bounds[column.field_id] = column.bounds.lower(least)
        if greatest is not None and (upper := column.bounds.upper(greatest)) is not None:
            upper_bounds[column.field_id] = upper
    return lower_bounds, upper_bounds


def _start(chunk: Any) -> int:
    offset: int = chunk.data_page_offset
    return min(chunk.dictionary_page_offset, offset) if chunk.has_dictionary_page else offset


def _collectors(schema: Schema, properties: dict[str, str]) -> dict[int, StatisticsCollector]:
    try:
        return compute_statistics_plan(schema, properties)
    except ValueError:
        # The mode is unknown; the file is worth more than its metrics.
        return compute_statistics_plan(schema, {})


def _is_none(mode: str | None) -> bool:
    return mode is not None and mode.strip().lower() == "none"
