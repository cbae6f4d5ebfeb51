"""Decides which snapshot, and which columns, the engine reads for a version of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Snapshot

from service.model.tables.tables import TableVersion, VersionKind


@dataclass(frozen=True, slots=True)
class ReadAt:
    """A table's snapshot, if it has one, and the schema that it is read with."""

    snapshot: Snapshot | None
    schema: Schema


def read_at(table: Table, version: TableVersion) -> ReadAt | None:
    """Returns what a read of this version uses; None if the read fails, or if that is uncertain.

    Source: Iceberg's `SparkTable.create` and `SnapshotUtil`.
    """
    match version.kind:
        case VersionKind.NOW:
            return ReadAt(table.current_snapshot(), table.schema())
        case VersionKind.SNAPSHOT:
            return _with_its_schema(table, table.snapshot_by_id(int(version.value)))
        case VersionKind.TIMESTAMP:
            return _with_its_schema(table, _snapshot_at(table, int(version.value)))
        case VersionKind.REF:
            return _of_ref(table, str(version.value))
        case VersionKind.BRANCH:
            return _of_branch(table, str(version.value))
        case _:
            assert_never(version.kind)


def _of_ref(table: Table, name: str) -> ReadAt | None:
    ref = table.metadata.refs.get(name)
    if ref is None:
        return None
    if ref.snapshot_ref_type is SnapshotRefType.BRANCH:
        return _of_branch(table, name)
    return _with_its_schema(table, table.snapshot_by_id(ref.snapshot_id))


def _of_branch(table: Table, name: str) -> ReadAt | None:
    ref = table.metadata.refs.get(name)
    if ref is None or ref.snapshot_ref_type is not SnapshotRefType.BRANCH:
        return None
    snapshot = table.current_snapshot() if name == MAIN_BRANCH else table.snapshot_by_id(ref.snapshot_id)
    return None if snapshot is None else ReadAt(snapshot, table.schema())


def _with_its_schema(table: Table, snapshot: Snapshot | None) -> ReadAt | None:
    if snapshot is None or snapshot.schema_id is None:
        return None
    now = table.schema()
    is_current = snapshot.snapshot_id == table.metadata.current_snapshot_id
    if is_current and snapshot.schema_id != now.schema_id:
        # Iceberg finds its partitions by the columns' current names, but a filter has the older names.
        return None
    schema = table.schemas().get(snapshot.schema_id)
    return None if schema is None else ReadAt(snapshot, schema)


def _snapshot_at(table: Table, moment_ms: int) -> Snapshot | None:
    """The snapshot that was current then; None unless the log's order and its timestamps agree."""
    log = [entry for entry in table.history() if entry.timestamp_ms <= moment_ms]
    if not log:
        return None
    newest = max(entry.timestamp_ms for entry in log)
    ids = {entry.snapshot_id for entry in log if entry.timestamp_ms == newest}
    return table.snapshot_by_id(log[-1].snapshot_id) if ids == {log[-1].snapshot_id} else None
