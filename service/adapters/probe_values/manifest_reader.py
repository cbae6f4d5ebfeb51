"""Reads each manifest once, for all columns of its table that were requested."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import NestedField

from service.adapters.probe_values.manifest_intervals import (
    CachedIntervals,
    data_files,
    data_manifests,
    intervals_of_files,
)
from service.adapters.probe_values.partition_values import PartitionValues, partition_values
from service.bounded_lru import BoundedLru
from service.model.tables.tables import TableName
from service.single_flight import SingleFlight

# Measured: two values, and a slot in two dictionaries, or in two sorted lists with their sums.
INTERVAL_BYTES = 320
# A value, and its slot in a tuple.
TUPLE_BYTES = 100
_MANIFEST_BYTES = 1_000
_MAX_CACHED = 100_000
_LISTS_AT_MOST = 64
_TABLES_AT_MOST = 1_000
_COLUMNS_AT_MOST = 32

_Manifest: TypeAlias = tuple[str, int]
_Field: TypeAlias = tuple[int, str]


class ManifestReader:
    """Caches manifests by path and length: they never change.

    So a new snapshot costs its list of manifests and the new manifests in it. If several threads need the
    same manifest, they wait for the first of them. Memory is bounded; evicted entries are read again.
    """

    def __init__(self, max_cached_bytes: int) -> None:
        self._read: BoundedLru[tuple[_Manifest, _Field], CachedIntervals] = BoundedLru(
            _MAX_CACHED, max_cached_bytes - 2 * (max_cached_bytes // 8)
        )
        self._partitions: BoundedLru[_Manifest, PartitionValues] = BoundedLru(
            _MAX_CACHED, max_cached_bytes // 8
        )
        self._lists: BoundedLru[str, list[ManifestFile]] = BoundedLru(_LISTS_AT_MOST, max_cached_bytes // 8)
        self._wanted: BoundedLru[TableName, tuple[str, ...]] = BoundedLru(_TABLES_AT_MOST, _TABLES_AT_MOST)
        self._lock = threading.Lock()
        # After a failure, each thread that waited tries for itself.
        self._listing: SingleFlight[str, list[ManifestFile]] = SingleFlight(personal=(Exception,))
        self._reading: SingleFlight[str, Mapping[_Field, CachedIntervals]] = SingleFlight((Exception,))

    def clear(self) -> None:
        """Forgets what was read; columns that were asked for stay wanted."""
        for cache in (self._read, self._partitions, self._lists):
            cache.clear()

    def want(self, table: TableName, column: str) -> None:
        """From now on, each manifest of the table is also read for this column."""
        with self._lock:
            others = [other for other in self.wanted(table) if other != column]
            self._wanted.put(table, (*others, column)[-_COLUMNS_AT_MOST:], 1)

    def wanted(self, table: TableName) -> tuple[str, ...]:
        """The columns that were requested last; their number is bounded."""
        return self._wanted.get(table) or ()

    def manifests(self, table: Table, snapshot: Snapshot) -> list[ManifestFile]:
        """Returns the manifests of the snapshot's data files."""
        found, _ = self._listing.join(snapshot.manifest_list, partial(self._listed, table, snapshot))
        return found

    def intervals(
        self, table: Table, manifest: ManifestFile, field: NestedField, others: Sequence[NestedField]
    ) -> CachedIntervals:
        """The column's intervals in the manifest's files. If it must be read, it is read for `others` too."""
        key = (_manifest(manifest), _field(field))
        read = partial(self._read_now, table, manifest, (field, *others))
        while (cached := self._read.get(key)) is None:
            # Whoever reads it at this moment may read it for other columns.
            found, _ = self._reading.join(manifest.manifest_path, read)
            if key[1] in found:
                return found[key[1]]
        return cached

    def partitions(self, manifest: ManifestFile) -> PartitionValues | None:
        """The partition values of the manifest's files, if it was read and they are still cached."""
        return self._partitions.get(_manifest(manifest))

    def _listed(self, table: Table, snapshot: Snapshot) -> list[ManifestFile]:
        cached = self._lists.get(snapshot.manifest_list)
        if cached is None:
            cached = data_manifests(table, snapshot)
            self._lists.put(snapshot.manifest_list, cached, _MANIFEST_BYTES * (len(cached) + 1))
        return cached

    def _read_now(
        self, table: Table, manifest: ManifestFile, fields: Sequence[NestedField]
    ) -> Mapping[_Field, CachedIntervals]:
        wanted = list({_field(field): field for field in fields}.values())
        known = self._read.get((_manifest(manifest), _field(wanted[0])))
        if known is not None:
            # The call that ended just before this one has read it.
            return {_field(wanted[0]): known}
        files = data_files(table, manifest)
        intervals = intervals_of_files(table, manifest, files, wanted)
        found = dict(zip(map(_field, wanted), intervals, strict=True))
        for column, column_intervals in found.items():
            byte_count = INTERVAL_BYTES * (len(column_intervals.counts) + 1)
            self._read.put((_manifest(manifest), column), column_intervals, byte_count)
        partitions = partition_values(table, manifest, files)
        byte_count = TUPLE_BYTES * (len(partitions.tuples) + 1) * (len(partitions.source_ids) + 1)
        self._partitions.put(_manifest(manifest), partitions, byte_count)
        return found


def _manifest(manifest: ManifestFile) -> _Manifest:
    return manifest.manifest_path, manifest.manifest_length


def _field(field: NestedField) -> _Field:
    return field.field_id, str(field.field_type)
