"""Tables whose last commit came from a machine whose clock is ahead."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from random import getrandbits

from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.update import AddSnapshotUpdate, SetSnapshotRefUpdate

AHEAD = timedelta(hours=1)
# Java's Iceberg allows this clock difference between machines.
ALLOWED_MS = 60_000


def commit_ahead(table: Table) -> int:
    """Commits the same files again, dated an hour later, and returns that time in milliseconds."""
    before = table.current_snapshot()
    assert before is not None
    moment_ms = before.timestamp_ms + AHEAD // timedelta(milliseconds=1)
    snapshot = before.model_copy(
        update={
            "snapshot_id": getrandbits(62),
            "parent_snapshot_id": before.snapshot_id,
            "sequence_number": table.metadata.next_sequence_number(),
            "timestamp_ms": moment_ms,
        }
    )
    head = SetSnapshotRefUpdate(
        ref_name=MAIN_BRANCH,
        type=SnapshotRefType.BRANCH,
        snapshot_id=snapshot.snapshot_id,
        max_ref_age_ms=None,
        max_snapshot_age_ms=None,
        min_snapshots_to_keep=None,
    )
    table._do_commit((AddSnapshotUpdate(snapshot=snapshot), head), ())
    return moment_ms


def goes_back_ms(metadata: TableMetadata) -> int:
    """Returns the largest step back in time in the metadata's logs; Java's Iceberg rejects over a minute.

    Source: the constructor of Iceberg's `TableMetadata`.
    """
    snapshots = [entry.timestamp_ms for entry in metadata.snapshot_log]
    files = [entry.timestamp_ms for entry in metadata.metadata_log]
    orders = [[*snapshots, metadata.last_updated_ms], [*files, metadata.last_updated_ms]]
    pairs = [pair for order in orders for pair in pairwise(order)]
    return max((earlier - later for earlier, later in pairs), default=0)
