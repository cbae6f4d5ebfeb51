"""What the columns of a table hold, read from its manifests in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table
from pyiceberg.types import NestedField

from service.adapters.bounded_lru import BoundedLru
from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.probe_values.column_values import column_values
from service.adapters.probe_values.manifest_intervals import (
    HeldIntervals,
    data_manifests,
    file_count,
    interval_of_partitions,
    intervals_of_files,
    together,
)
from service.errors import CatalogDown, TableNotFound
from service.model.column_values import ColumnValues
from service.model.tables import TableName

log = structlog.get_logger(__name__)

_MIB = 1024**2
_PENDING_AT_MOST = 1_000
_KEPT_AT_MOST = 100_000
# Measured: two values, and a place in two dictionaries, or in two orders with their sums.
_INTERVAL_BYTES = 320

_Column: TypeAlias = tuple[TableName, int, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    """None: the metadata does not tell, and never will for this snapshot."""

    values: ColumnValues | None


@dataclass(frozen=True, slots=True)
class _Intervals:
    held: HeldIntervals | None


class ManifestProbeValues:
    """Implements `service.ports.ProbeValues`. May be used from several threads at once.

    Manifests never change: of a new snapshot only those are read that no earlier one had. Tables with more
    than `max_files` data files are answered from their list of manifests alone.
    """

    def __init__(
        self,
        open_table: Callable[[TableName], OpenedTable],
        executor: Executor,
        max_files: int = 20_000,
        kept_bytes: int = 64 * _MIB,
    ) -> None:
        self._open_table = open_table
        self._executor = executor
        self._max_files = max_files
        self._answers: BoundedLru[_Column, _Answer] = BoundedLru(_KEPT_AT_MOST, kept_bytes // 2)
        self._read: BoundedLru[tuple[str, int, str], _Intervals] = BoundedLru(_KEPT_AT_MOST, kept_bytes // 2)
        self._lock = threading.Lock()
        self._pending: set[_Column] = set()

    def of(self, table: TableName, snapshot_id: int | None, column: str) -> ColumnValues | None:
        """What reads of this snapshot can find in the column; None while that is not known. At once."""
        if snapshot_id is None:
            return None
        asked = (table, snapshot_id, column)
        answer = self._answers.get(asked)
        if answer is None:
            self._start(asked)
            return None
        return answer.values

    def _start(self, asked: _Column) -> None:
        with self._lock:
            if asked in self._pending or len(self._pending) >= _PENDING_AT_MOST:
                return
            self._pending.add(asked)
        try:
            self._executor.submit(self._find, asked)
        except RuntimeError:
            # The gateway is being stopped.
            self._pending.discard(asked)

    def _find(self, asked: _Column) -> None:
        table, snapshot_id, column = asked
        try:
            values = self._values(self._open_table(table).table, snapshot_id, column)
        except (CatalogDown, TableNotFound):
            # Asked again, it may be there again.
            return
        except Exception as error:  # noqa: BLE001 — the outermost edge of a worker; not to know is no failure.
            log.info("column_values_unknown", table=str(table), column=column, error=type(error).__name__)
            values = None
        finally:
            self._pending.discard(asked)
        self._answers.put(asked, _Answer(values), _INTERVAL_BYTES * (_kept_count(values) + 1))

    def _values(self, table: Table, snapshot_id: int, column: str) -> ColumnValues | None:
        snapshot = table.snapshot_by_id(snapshot_id)
        if snapshot is None or snapshot.schema_id is None:
            return None
        schema = table.schemas()[snapshot.schema_id]
        field = next((each for each in schema.fields if each.name == column), None)
        if field is None:
            return None
        manifests = data_manifests(table, snapshot)
        count = file_count(manifests)
        is_small = count is not None and count <= self._max_files
        found: list[HeldIntervals] = []
        for manifest in manifests:
            held = (
                self._of_files(table, manifest, field)
                if is_small
                else interval_of_partitions(manifest, field, table)
            )
            if held is None:
                return None
            found.append(held)
        return column_values(together(found))

    def _of_files(self, table: Table, manifest: ManifestFile, field: NestedField) -> HeldIntervals | None:
        key = (manifest.manifest_path, field.field_id, str(field.field_type))
        kept = self._read.get(key)
        if kept is None:
            kept = _Intervals(intervals_of_files(table, manifest, field))
            self._read.put(key, kept, _INTERVAL_BYTES * (len(kept.held.counts if kept.held else ()) + 1))
        return kept.held


def _kept_count(values: ColumnValues | None) -> int:
    if values is None:
        return 0
    return len(values.values or ()) + (values.sizes.length if values.sizes is not None else 0)
