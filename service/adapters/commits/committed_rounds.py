"""How a table records which commit rounds it has.

Every snapshot names its round. Snapshots expire, so the table's properties also name the last round of each
branch. That is enough: a crash can only happen between a round's commit and the next round.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from pyiceberg.table.metadata import TableMetadata

from service.model.ingest.writing import Committable

ROUND = "sluice.commit-round-id"
STREAM_BATCHES = "sluice.stream-batches"
LATE_RECORDS = "sluice.late-records"
_LAST_ROUND = "sluice.last-commit-round."
_LAST_SNAPSHOT = "sluice.last-commit-snapshot."


def round_properties(branch: str, round_id: UUID, snapshot_id: int) -> Mapping[str, str]:
    """Returns the table properties that a commit sets together with its snapshot."""
    return {_LAST_ROUND + branch: str(round_id), _LAST_SNAPSHOT + branch: str(snapshot_id)}


def round_summary(committable: Committable) -> dict[str, str]:
    """Returns what a snapshot's summary says about its round."""
    batches = ",".join(committable.stream_batches)
    late = ",".join(map(str, committable.late_counts))
    return (
        {ROUND: str(committable.round_id)}
        | ({STREAM_BATCHES: batches} if batches else {})
        | ({LATE_RECORDS: late} if late else {})
    )


def late_counts_of(metadata: TableMetadata, snapshot_id: int, result_count: int) -> tuple[int, ...]:
    """Returns the late records of each write result of a round's snapshot; (): none, or it has expired."""
    snapshot = metadata.snapshot_by_id(snapshot_id)
    if snapshot is None or snapshot.summary is None:
        return ()
    try:
        found = tuple(map(int, snapshot.summary.additional_properties[LATE_RECORDS].split(",")))
    except (KeyError, ValueError):
        return ()
    return found if len(found) == result_count else ()


def last_round(metadata: TableMetadata, branch: str) -> UUID | None:
    """The round last committed to the branch. None: there is none, or the property holds no round id."""
    try:
        return UUID(metadata.properties[_LAST_ROUND + branch])
    except (KeyError, ValueError):
        return None


def snapshot_of_round(metadata: TableMetadata, branch: str, round_id: UUID) -> int | None:
    """The round's snapshot, which may have expired or been rolled back. None: the round is not committed."""
    wanted = str(round_id)
    for snapshot in reversed(metadata.snapshots):
        if snapshot.summary is not None and snapshot.summary.additional_properties.get(ROUND) == wanted:
            return snapshot.snapshot_id
    if metadata.properties.get(_LAST_ROUND + branch) == wanted:
        return int(metadata.properties[_LAST_SNAPSHOT + branch])
    return None
