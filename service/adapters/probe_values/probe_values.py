"""Reads the values of a table's columns from its manifests, in the background.

Queries wait only a little for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, wait
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import structlog
from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table
from pyiceberg.types import NestedField

from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.probe_values.combine_intervals import column_values
from service.adapters.probe_values.file_interval import has_intervals
from service.adapters.probe_values.manifest_intervals import (
    file_count,
    interval_of_partitions,
    together,
)
from service.adapters.probe_values.manifest_reader import INTERVAL_BYTES, TUPLE_BYTES, ManifestReader
from service.adapters.probe_values.manifest_sample import manifest_sample
from service.adapters.probe_values.partition_values import partition_tuples
from service.bounded_lru import BoundedLru
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.partition_tuples import PartitionTuples
from service.model.operations.usage import CacheUse
from service.model.tables.tables import TableName
from service.single_flight import Flight, SingleFlight

log = structlog.get_logger(__name__)

_MIB = 1024**2
_PENDING_AT_MOST = 1_000
_MAX_CACHED = 100_000
# Enough to decide whether the files of a column overlap.
_SAMPLED_SHARE = 8

_Column: TypeAlias = tuple[TableName, int, str]
_Found: TypeAlias = ColumnValues | NotKnown


class ManifestProbeValues:
    """Implements `service.ports.filters.filter_keys.ProbeValues`. Thread-safe.

    Manifests never change: for a new snapshot, only new manifests are read. For tables with more than
    `max_files` data files a sample of the manifests is read, or only their list if the column is a partition
    field. Each catalog has its own threads, so one that hangs blocks no other.
    """

    def __init__(
        self,
        open_table: Callable[[TableName], OpenedTable],
        executor_of: Callable[[str], Executor],
        max_files: int = 20_000,
        max_cached_bytes: int = 64 * _MIB,
    ) -> None:
        self._open_table = open_table
        self._executor_of = executor_of
        self._max_files = max_files
        self._answers: BoundedLru[_Column, _Found] = BoundedLru(_MAX_CACHED, max_cached_bytes * 3 // 8)
        self._partitions: BoundedLru[tuple[TableName, int], PartitionTuples] = BoundedLru(
            _MAX_CACHED, max_cached_bytes // 8
        )
        self._earlier: BoundedLru[tuple[TableName, str], ColumnValues] = BoundedLru(_MAX_CACHED, _MAX_CACHED)
        self._took_s: BoundedLru[TableName, float] = BoundedLru(_MAX_CACHED, _MAX_CACHED)
        self._reader = ManifestReader(max_cached_bytes // 2)
        self._searches: SingleFlight[_Column, _Found] = SingleFlight()

    @property
    def cache_use(self) -> CacheUse:
        """The memory used by cached column values."""
        return self._answers.use

    def clear(self) -> int:
        """Forgets all values, and what was read of manifests; returns how many values there were."""
        self._earlier.clear()
        self._partitions.clear()
        self._reader.clear()
        return self._answers.clear()

    def prepare(self, table: TableName, snapshot_id: int | None, columns: Sequence[str]) -> None:
        """See the port."""
        if snapshot_id is None:
            return
        asked = [(table, snapshot_id, column) for column in columns]
        for column in columns:
            self._reader.want(table, column)
        for unknown in (key for key in asked if self._answers.get(key) is None):
            self._search(unknown)

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        """See the port."""
        if snapshot_id is None:
            return NotKnown.UNAVAILABLE
        asked = (table, snapshot_id, column)
        answer = self._answers.get(asked)
        if answer is None:
            self._reader.want(table, column)
            answer = self._awaited(self._search(asked), table, within_s)
        if answer is NotKnown.PENDING:
            return self._earlier.get((table, column)) or answer
        return answer

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        """See the port."""
        known = None if snapshot_id is None else self._partitions.get((table, snapshot_id))
        return None if known is None else known.of(columns)

    def _awaited(self, search: Flight[_Found], table: TableName, within_s: float) -> _Found:
        """Waits until `within_s` after the search began; not at all if the table's last one took longer."""
        left_s = within_s - (time.monotonic() - search.began_s)
        if left_s > 0 and (self._took_s.get(table) or 0.0) <= within_s:
            wait([search], timeout=left_s)
        is_there = search.done() and search.exception() is None
        return search.result() if is_there else NotKnown.PENDING

    def _search(self, asked: _Column) -> Flight[_Found]:
        """Returns the running search, or a new one; it fails at once if there is no room for it."""
        return self._searches.start(
            asked, partial(self._find, asked), partial(self._submit, asked[0].catalog)
        )

    def _submit(self, catalog: str, search: Callable[[], None]) -> None:
        if len(self._searches) > _PENDING_AT_MOST:
            raise RuntimeError("too many searches wait")
        self._executor_of(catalog).submit(search)

    def _find(self, asked: _Column) -> _Found:
        table, _, column = asked
        began_s = time.monotonic()
        try:
            found = self._values(asked)
        except (CatalogDown, TableNotFound):
            # A later request may succeed.
            found = NotKnown.PENDING
        except Exception as error:  # noqa: BLE001 — the outermost edge of a worker; an unknown value is not a failure.
            log.info("column_values_unknown", table=str(table), column=column, error=type(error).__name__)
            found = NotKnown.UNAVAILABLE
        self._took_s.put(table, time.monotonic() - began_s, 1)
        if found is not NotKnown.PENDING:
            self._answers.put(asked, found, INTERVAL_BYTES * (_value_count(found) + 1))
        if isinstance(found, ColumnValues):
            self._earlier.put((table, column), _as_of_earlier(found), 1)
        return found

    def _values(self, asked: _Column) -> _Found:
        name, snapshot_id, column = asked
        table = self._open_table(name).table
        snapshot = table.snapshot_by_id(snapshot_id)
        if snapshot is None or snapshot.schema_id is None:
            return NotKnown.UNAVAILABLE
        fields = {field.name: field for field in table.schemas()[snapshot.schema_id].fields}
        field = fields.get(column)
        if field is None or not has_intervals(field):
            return NotKnown.UNAVAILABLE
        others = [other for wanted in self._reader.wanted(name) if (other := fields.get(wanted))]
        manifests = self._reader.manifests(table, snapshot)
        found = self._of_files(table, manifests, field, others)
        if self._partitions.get((name, snapshot_id)) is None:
            self._cache_partitions(asked, manifests, fields.values())
        return found

    def _cache_partitions(
        self, asked: _Column, manifests: Sequence[ManifestFile], fields: Iterable[NestedField]
    ) -> None:
        """Caches the partition values that were read together with the manifests."""
        of_manifests = [self._reader.partitions(manifest) for manifest in manifests]
        found = partition_tuples(of_manifests, {field.field_id: field for field in fields})
        if found is not None:
            byte_count = TUPLE_BYTES * (len(found.tuples) + 1) * (len(found.columns) + 1)
            self._partitions.put(asked[:2], found, byte_count)

    def _of_files(
        self, table: Table, manifests: Sequence[ManifestFile], field: NestedField, others: list[NestedField]
    ) -> _Found:
        count = file_count(manifests)
        is_large = count is None or count > self._max_files
        if is_large:
            listed = [interval_of_partitions(manifest, field, table) for manifest in manifests]
            known = [intervals for intervals in listed if intervals is not None]
            if len(known) == len(listed):
                return column_values(together(known))
            manifests = manifest_sample(manifests, -(-self._max_files // _SAMPLED_SHARE))
        of_manifests = [self._reader.intervals(table, manifest, field, others) for manifest in manifests]
        return column_values(together(of_manifests), is_sample=is_large)


def _as_of_earlier(found: ColumnValues) -> ColumnValues:
    """The part that is kept for later snapshots, with a fixed size for each column."""
    return replace(found, values=None, sizes=None, is_pinned=False, is_current=False)


def _value_count(found: _Found) -> int:
    if isinstance(found, NotKnown):
        return 0
    return len(found.values or ()) + (found.sizes.length if found.sizes is not None else 0)
