"""Keeps the times in a table's metadata increasing, whatever the clocks do.

Java's Iceberg, and therefore Spark, refuses to read a table in which a change is more than a minute older
than the one before. PyIceberg uses the clock's time unchecked. A clock that was set back, or another
machine's fast clock, would make the table unreadable.

Source: `TableMetadata` of Iceberg, "[BUG] Expected sorted snapshot log entries".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import TableUpdate, _apply_table_update
from pyiceberg.typedef import IcebergBaseModel


def now_ms() -> int:
    """The wall clock, in milliseconds."""
    return time.time_ns() // 1_000_000


def after_all(metadata: TableMetadata, moment_ms: int) -> int:
    """Returns the moment; if the table has a later one, the millisecond after its latest."""
    reported = [metadata.last_updated_ms, *(entry.timestamp_ms for entry in metadata.snapshot_log)]
    return max(moment_ms, max(reported) + 1)


def in_order(snapshot: Snapshot, metadata: TableMetadata) -> Snapshot:
    """Returns the snapshot, at a moment after all moments in the table."""
    moment_ms = after_all(metadata, snapshot.timestamp_ms)
    return snapshot.model_copy(update={"timestamp_ms": moment_ms})


def with_increasing_time(catalog: Catalog, updates: tuple[TableUpdate, ...]) -> tuple[TableUpdate, ...]:
    """Returns the updates (none adds a snapshot) so that the table's own time increases too.

    The server of a REST catalog uses its own clock, and does not know such an update.
    """
    moved: Any = _MovedOn()
    return updates if isinstance(catalog, RestCatalog) else (*updates, moved)


class _MovedOn(IcebergBaseModel):
    """An update of the time alone, which PyIceberg leaves as it is."""


_register: Callable[[type], Callable[[Any], Any]] = _apply_table_update.register


@_register(_MovedOn)
def _moved_on(_: _MovedOn, metadata: TableMetadata, __: object) -> TableMetadata:
    return metadata.model_copy(update={"last_updated_ms": after_all(metadata, now_ms())})
