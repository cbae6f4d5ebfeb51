"""Where a table says which commit rounds it has.

Every snapshot names its round. Snapshots expire, so the table's properties name the last round of each
branch: a crash lies between a round's commit and the next round, never further back.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from pyiceberg.table.metadata import TableMetadata

from service.model.ingest.writing import Committable

ROUND = "sluice.commit-round-id"
STREAM_BATCHES = "sluice.stream-batches"
_LAST_ROUND = "sluice.last-commit-round."
_LAST_SNAPSHOT = "sluice.last-commit-snapshot."


def round_properties(branch: str, round_id: UUID, snapshot_id: int) -> Mapping[str, str]:
    """What a commit sets in the table's properties, together with its snapshot."""
    return {_LAST_ROUND + branch: str(round_id), _LAST_SNAPSHOT + branch: str(snapshot_id)}


def round_summary(committable: Committable) -> dict[str, str]:
    """What a snapshot's summary says of the round that it was made of."""
    batches = ",".join(committable.stream_batches)
    return {ROUND: str(committable.round_id)} | ({STREAM_BATCHES: batches} if batches else {})


def last_round(metadata: TableMetadata, branch: str) -> UUID | None:
    """The round that was last committed to the branch; None: none was, or what is there is no round."""
    try:
        return UUID(metadata.properties[_LAST_ROUND + branch])
    except (KeyError, ValueError):
        return None


def snapshot_of_round(metadata: TableMetadata, branch: str, round_id: UUID) -> int | None:
    """The snapshot that was made of the round, though it may have expired or been rolled back; None: none."""
    wanted = str(round_id)
    for snapshot in reversed(metadata.snapshots):
        if snapshot.summary is not None and snapshot.summary.additional_properties.get(ROUND) == wanted:
            return snapshot.snapshot_id
    if metadata.properties.get(_LAST_ROUND + branch) == wanted:
        return int(metadata.properties[_LAST_SNAPSHOT + branch])
    return None
