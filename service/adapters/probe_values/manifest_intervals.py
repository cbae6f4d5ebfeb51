"""The intervals of columns in a manifest's data files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.manifest import DataFile, DataFileContent, ManifestContent, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField

from service.adapters.probe_values.file_interval import (
    Interval,
    NoInterval,
    file_interval,
    interval_of_bounds,
)


@dataclass(frozen=True, slots=True)
class CachedIntervals:
    """How many files have each interval, and their bytes; None if the bytes were not read.

    `unbounded` files may hold anything: their metadata has no bounds.
    """

    counts: Counter[Interval]
    byte_counts: Counter[Interval] | None
    unbounded: int = 0


def data_manifests(table: Table, snapshot: Snapshot) -> list[ManifestFile]:
    """Returns the manifests with data files. Delete files only remove rows, so they add no values."""
    return [manifest for manifest in snapshot.manifests(table.io) if manifest.content == ManifestContent.DATA]


def file_count(manifests: Iterable[ManifestFile]) -> int | None:
    """How many data files the manifests have; None if a manifest does not say."""
    counts = [
        count
        for manifest in manifests
        for count in (manifest.added_files_count, manifest.existing_files_count)
    ]
    return None if None in counts else sum(count or 0 for count in counts)


def data_files(table: Table, manifest: ManifestFile) -> list[DataFile]:
    """Reads the manifest, and returns its data files."""
    entries = manifest.fetch_manifest_entry(table.io)
    return [entry.data_file for entry in entries if entry.data_file.content == DataFileContent.DATA]


def intervals_of_files(
    table: Table, manifest: ManifestFile, files: Sequence[DataFile], fields: Sequence[NestedField]
) -> list[CachedIntervals]:
    """Returns, for each column, the intervals of the manifest's data files."""
    return [_intervals(files, field, _identity_position(table, manifest, field)) for field in fields]


def _intervals(files: Iterable[DataFile], field: NestedField, position: int | None) -> CachedIntervals:
    counts: Counter[Interval] = Counter()
    byte_counts: Counter[Interval] = Counter()
    unbounded = 0
    for file in files:
        interval = file_interval(file, field, position)
        if interval is NoInterval.UNKNOWN:
            unbounded += 1
        elif interval is not NoInterval.NO_VALUE:
            counts[interval] += 1
            byte_counts[interval] += file.file_size_in_bytes
    return CachedIntervals(counts, byte_counts, unbounded)


def interval_of_partitions(
    manifest: ManifestFile, field: NestedField, table: Table
) -> CachedIntervals | None:
    """The interval of all the manifest's files, without reading it; None if it is unknown.

    The list of manifests summarizes only columns that are identity partition fields.
    """
    position = _identity_position(table, manifest, field)
    if position is None or manifest.partitions is None:
        return None
    summary = manifest.partitions[position]
    if summary.lower_bound is None and summary.upper_bound is None and summary.contains_null:
        return CachedIntervals(Counter(), None)
    interval = interval_of_bounds(summary.lower_bound, summary.upper_bound, field.field_type)
    return None if isinstance(interval, NoInterval) else CachedIntervals(Counter([interval]), None)


def together(intervals: Sequence[CachedIntervals]) -> CachedIntervals:
    """Combines them all; the bytes are None unless all have them."""
    counts: Counter[Interval] = Counter()
    byte_counts: Counter[Interval] = Counter()
    for interval in intervals:
        counts.update(interval.counts)
        byte_counts.update(interval.byte_counts or ())
    is_reported = all(interval.byte_counts is not None for interval in intervals)
    unbounded = sum(interval.unbounded for interval in intervals)
    return CachedIntervals(counts, byte_counts if is_reported else None, unbounded)


def _identity_position(table: Table, manifest: ManifestFile, field: NestedField) -> int | None:
    spec = table.specs()[manifest.partition_spec_id]
    for position, partition_field in enumerate(spec.fields):
        if partition_field.source_id == field.field_id and isinstance(
            partition_field.transform, IdentityTransform
        ):
            return position
    return None
