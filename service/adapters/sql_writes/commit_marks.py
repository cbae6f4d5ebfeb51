"""Implements the `CommitMarks` port over PyIceberg's catalogs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot

from service.adapters.catalogs.opened_tables import OpenedTable
from service.model.tables.tables import TableName
from service.model.writes.writes import MARK
from service.ports.stores.write_log import FoundMark, MarkedCommit

CLOCKS_APART = timedelta(minutes=1)
"""By how much the clocks of the gateway and of its engine may differ."""


class IcebergCommitMarks:
    """Looks through the snapshots of a table's current metadata; `opened` returns the table as it is now."""

    def __init__(self, opened: Callable[[TableName], OpenedTable]) -> None:
        self._opened = opened

    def find(self, table: TableName, query_id: UUID, since: datetime) -> FoundMark:
        """See the port's `find`."""
        metadata = self._opened(table).table.metadata
        since_ms = int((since - CLOCKS_APART).timestamp() * 1000)
        # The newest are the last ones.
        marked = (each for each in reversed(metadata.snapshots) if _summary(each).get(MARK) == str(query_id))
        found = next(marked, None)
        if found is None:
            return FoundMark(None, _is_complete(metadata, since_ms))
        return FoundMark(
            MarkedCommit(found.snapshot_id, _summary(found), _had_deletes(metadata, found)), is_complete=True
        )


def _summary(snapshot: Snapshot) -> Mapping[str, str]:
    return {} if snapshot.summary is None else snapshot.summary.additional_properties


def _had_deletes(metadata: TableMetadata, snapshot: Snapshot) -> bool | None:
    if snapshot.parent_snapshot_id is None:
        return False
    parent = metadata.snapshot_by_id(snapshot.parent_snapshot_id)
    count = None if parent is None else _summary(parent).get("total-delete-files")
    return None if count is None else count != "0"


def _is_complete(metadata: TableMetadata, since_ms: int) -> bool:
    """Whether the main branch has all its snapshots since then: back to an older one, or to its first."""
    current = metadata.current_snapshot()
    if current is None:
        return not metadata.snapshot_log
    while current.timestamp_ms >= since_ms and current.parent_snapshot_id is not None:
        parent = metadata.snapshot_by_id(current.parent_snapshot_id)
        if parent is None:
            return False
        current = parent
    return True
