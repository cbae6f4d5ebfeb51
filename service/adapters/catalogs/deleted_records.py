"""Computes how many rows a snapshot's deletes remove, as far as snapshot summaries say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyiceberg.table.snapshots import Snapshot

_LOOKED_AT = 1_000


def deleted_record_count(snapshots: Iterable[Snapshot], snapshot: Snapshot | None) -> int | None:
    """The number of rows in data files that readers do not see; None if it is uncertain.

    Without reading files, the number of rows that an equality delete removes is unknown. Position deletes
    remove one row each, as long as none of their data files was removed without them.
    """
    if snapshot is None:
        return 0
    records = _number(snapshot, "total-records")
    if records is None:
        return None
    if records == 0 or _number(snapshot, "total-delete-files") == 0:
        return 0
    if _number(snapshot, "total-equality-deletes") != 0 or not _all_apply(snapshots, snapshot):
        return None
    deleted = _number(snapshot, "total-position-deletes")
    return deleted if deleted is not None and deleted <= records else None


def _all_apply(snapshots: Iterable[Snapshot], snapshot: Snapshot) -> bool:
    """Whether no data file was removed since the branch had no deletes."""
    for ancestor in _ancestry(snapshots, snapshot):
        if _number(ancestor, "total-delete-files") == 0:
            return True
        if _number(ancestor, "deleted-data-files", 0) != 0:
            return False
    return False


def _ancestry(snapshots: Iterable[Snapshot], snapshot: Snapshot) -> Iterator[Snapshot]:
    by_id = {other.snapshot_id: other for other in snapshots}
    found: Snapshot | None = snapshot
    for _ in range(_LOOKED_AT):
        if found is None:
            return
        yield found
        parent = found.parent_snapshot_id
        found = None if parent is None else by_id.get(parent)


def _number(snapshot: Snapshot, key: str, missing: int | None = None) -> int | None:
    text = None if snapshot.summary is None else snapshot.summary[key]
    try:
        return missing if text is None else int(text)
    except ValueError:
        return None
