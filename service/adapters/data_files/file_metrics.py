"""What a data file's metadata says of its columns, taken from the footer of its Parquet file.

Source: the Iceberg table specification, "Manifests".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyiceberg.io.pyarrow import MetricModeTypes, StatisticsCollector, compute_statistics_plan
from pyiceberg.schema import Schema

from service.adapters.data_files.bound_values import BoundForm
from service.adapters.data_files.own_statistics import OwnStatistics


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
    """What is kept for the columns of a file, in Parquet's order, and what is known without looking into it.

    `null_ids` are fields that the file does not have and that are NULL in every row.
    """

    columns: tuple[_KeptColumn, ...]
    null_ids: frozenset[int]

    @staticmethod
    def of(schema: Schema, properties: Mapping[str, str], skipped: Iterable[tuple[int, str]]) -> MetricsPlan:
        """As `write.metadata.metrics.*` say it; skipped fields are ids and full names."""
        columns = tuple(_KeptColumn.of(each) for each in _collectors(schema, dict(properties)).values())
        prefix = "write.metadata.metrics.column."
        none = {field_id for field_id, name in skipped if _is_none(properties.get(prefix + name))}
        return MetricsPlan(columns, frozenset(field_id for field_id, _ in skipped) - none)

    def metrics(self, footer: Any, own: OwnStatistics) -> FileMetrics:
        """The metrics of a file with this footer, a `pyarrow.parquet.FileMetaData`."""
        rows: int = footer.num_rows
        groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
        found = _Found()
        for index, column in enumerate(self.columns):
            found.add(column, [_Chunk.of(group.column(index)) for group in groups], own)
        absent = dict.fromkeys(self.null_ids, rows)
        return FileMetrics(
            rows,
            found.column_sizes,
            found.value_counts | absent,
            found.null_value_counts | absent,
            found.nan_value_counts,
            found.lower_bounds,
            found.upper_bounds,
            tuple(sorted(_start(group.column(0)) for group in groups)),
        )


@dataclass(frozen=True, slots=True)
class _KeptColumn:
    """What is kept of one column beside its size. A file has hundreds: all that can be asked once is."""

    field_id: int
    has_counts: bool
    bounds: BoundForm | None

    @staticmethod
    def of(collector: StatisticsCollector) -> _KeptColumn:
        mode = collector.mode
        has_bounds = mode.type in (MetricModeTypes.FULL, MetricModeTypes.TRUNCATE)
        return _KeptColumn(
            collector.field_id,
            mode.type != MetricModeTypes.NONE,
            BoundForm.of(collector.iceberg_type, mode.length) if has_bounds else None,
        )


class _Chunk(NamedTuple):
    """One column in one row group, read from the footer once: each look at it makes new objects.

    `ends` are the least and the greatest value; None where it does not say, as with long texts.
    """

    byte_count: int
    value_count: int
    null_count: int | None
    ends: tuple[Any, Any] | None

    @staticmethod
    def of(chunk: Any) -> _Chunk:
        said = chunk.statistics
        return _Chunk(
            chunk.total_compressed_size,
            chunk.num_values,
            said.null_count if said is not None and said.has_null_count else None,
            (said.min_raw, said.max_raw) if said is not None and said.has_min_max else None,
        )


@dataclass(slots=True)
class _Found:
    """Grows with each column."""

    column_sizes: dict[int, int] = field(default_factory=dict)
    value_counts: dict[int, int] = field(default_factory=dict)
    null_value_counts: dict[int, int] = field(default_factory=dict)
    nan_value_counts: dict[int, int] = field(default_factory=dict)
    lower_bounds: dict[int, bytes] = field(default_factory=dict)
    upper_bounds: dict[int, bytes] = field(default_factory=dict)

    def add(self, column: _KeptColumn, chunks: Sequence[_Chunk], own: OwnStatistics) -> None:
        field_id = column.field_id
        self.column_sizes[field_id] = sum([each.byte_count for each in chunks])
        if not column.has_counts:
            return
        self.value_counts[field_id] = sum([each.value_count for each in chunks])
        null_count = own.null_counts.get(field_id, _null_count(chunks))
        if null_count is not None:
            self.null_value_counts[field_id] = null_count
        numbers = own.numbers.get(field_id)
        if numbers is not None:
            self.nan_value_counts[field_id] = numbers.nan_count
        if column.bounds is not None:
            ends = _ends(column.bounds, chunks) if numbers is None else (numbers.least, numbers.greatest)
            self._add_bounds(field_id, column.bounds, *ends)

    def _add_bounds(self, field_id: int, form: BoundForm, least: Any, greatest: Any) -> None:
        if least is not None:
            self.lower_bounds[field_id] = form.lower(least)
        if greatest is not None and (upper := form.upper(greatest)) is not None:
            self.upper_bounds[field_id] = upper


def _null_count(chunks: Sequence[_Chunk]) -> int | None:
    counts = [each.null_count for each in chunks if each.null_count is not None]
    return sum(counts) if len(counts) == len(chunks) else None


def _ends(form: BoundForm, chunks: Sequence[_Chunk]) -> tuple[Any, Any]:
    """Of all row groups that have values; no ends when one of them does not say, as with long texts."""
    ends = [each.ends for each in chunks if each.null_count != each.value_count]
    known = [each for each in ends if each is not None]
    if not known or len(known) != len(ends):
        return None, None
    return (
        min([form.comparable(least) for least, _ in known]),
        max([form.comparable(greatest) for _, greatest in known]),
    )


def _start(chunk: Any) -> int:
    offset: int = chunk.data_page_offset
    return min(chunk.dictionary_page_offset, offset) if chunk.has_dictionary_page else offset


def _collectors(schema: Schema, properties: dict[str, str]) -> dict[int, StatisticsCollector]:
    try:
        return compute_statistics_plan(schema, properties)
    except ValueError:
        # A mode that nobody knows; the file is worth more than its metrics.
        return compute_statistics_plan(schema, {})


def _is_none(mode: str | None) -> bool:
    return mode is not None and mode.strip().lower() == "none"
