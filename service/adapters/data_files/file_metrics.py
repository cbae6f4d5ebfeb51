"""What a data file's metadata says of its columns, taken from the footer of its Parquet file.

Source: the Iceberg table specification, "Manifests".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyiceberg.io.pyarrow import MetricModeTypes, StatisticsCollector, compute_statistics_plan
from pyiceberg.schema import Schema

from service.adapters.data_files.bound_values import comparable, lower_bound, upper_bound
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

    columns: tuple[StatisticsCollector, ...]
    null_ids: frozenset[int]

    @staticmethod
    def of(schema: Schema, properties: Mapping[str, str], skipped: Iterable[tuple[int, str]]) -> MetricsPlan:
        """As `write.metadata.metrics.*` say it; skipped fields are ids and full names."""
        columns = tuple(_collectors(schema, dict(properties)).values())
        prefix = "write.metadata.metrics.column."
        none = {field_id for field_id, name in skipped if _is_none(properties.get(prefix + name))}
        return MetricsPlan(columns, frozenset(field_id for field_id, _ in skipped) - none)

    def metrics(self, footer: Any, own: OwnStatistics) -> FileMetrics:
        """The metrics of a file with this footer, a `pyarrow.parquet.FileMetaData`."""
        rows: int = footer.num_rows
        groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
        columns = [
            _Column(kept, tuple(_Chunk.of(group.column(index)) for group in groups), own)
            for index, kept in enumerate(self.columns)
        ]
        counted = [each for each in columns if each.kept.mode.type != MetricModeTypes.NONE]
        absent = dict.fromkeys(self.null_ids, rows)
        return FileMetrics(
            rows,
            {each.field_id: each.byte_count for each in columns},
            {each.field_id: each.value_count for each in counted} | absent,
            {each.field_id: count for each in counted if (count := each.null_count) is not None} | absent,
            {
                each.field_id: own.numbers[each.field_id].nan_count
                for each in counted
                if each.field_id in own.numbers
            },
            {each.field_id: bound for each in counted if (bound := each.lower_bound) is not None},
            {each.field_id: bound for each in counted if (bound := each.upper_bound) is not None},
            tuple(sorted(_start(group.column(0)) for group in groups)),
        )


@dataclass(frozen=True, slots=True)
class _Chunk:
    """One column in one row group, read from the footer once: each look at it makes new objects.

    `ends` are the least and the greatest value; None where it does not say, as with long texts.
    """

    byte_count: int
    value_count: int
    null_count: int | None
    ends: tuple[Any, Any] | None

    @staticmethod
    def of(chunk: Any) -> _Chunk:
        said = chunk.statistics if chunk.is_stats_set else None
        return _Chunk(
            chunk.total_compressed_size,
            chunk.num_values,
            said.null_count if said is not None and said.has_null_count else None,
            (said.min_raw, said.max_raw) if said is not None and said.has_min_max else None,
        )


@dataclass(frozen=True, slots=True)
class _Column:
    """One column in all row groups."""

    kept: StatisticsCollector
    chunks: tuple[_Chunk, ...]
    own: OwnStatistics

    @property
    def field_id(self) -> int:
        return self.kept.field_id

    @property
    def byte_count(self) -> int:
        return sum(each.byte_count for each in self.chunks)

    @property
    def value_count(self) -> int:
        return sum(each.value_count for each in self.chunks)

    @property
    def null_count(self) -> int | None:
        if self.field_id in self.own.null_counts:
            return self.own.null_counts[self.field_id]
        counts = [each.null_count for each in self.chunks]
        return None if None in counts else sum(each for each in counts if each is not None)

    @property
    def lower_bound(self) -> bytes | None:
        least = self._end(0, min)
        return None if least is None else lower_bound(self.kept.iceberg_type, least, self.kept.mode.length)

    @property
    def upper_bound(self) -> bytes | None:
        greatest = self._end(1, max)
        if greatest is None:
            return None
        return upper_bound(self.kept.iceberg_type, greatest, self.kept.mode.length)

    def _end(self, which: int, choose: Callable[[list[Any]], Any]) -> Any:
        """Of all row groups that have values; None when one of them does not say, as with long texts."""
        if self.kept.mode.type not in (MetricModeTypes.FULL, MetricModeTypes.TRUNCATE):
            return None
        if numbers := self.own.numbers.get(self.field_id):
            return numbers.least if choose is min else numbers.greatest
        ends = [each.ends for each in self.chunks if each.null_count != each.value_count]
        known = [comparable(self.kept.iceberg_type, each[which]) for each in ends if each is not None]
        return choose(known) if known and len(known) == len(ends) else None


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
