"""The files by which a later snapshot of a table differs from an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestContent, ManifestEntry, ManifestEntryStatus
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

_OF_DELETES = ("added-delete-files", "removed-delete-files")


@dataclass(frozen=True, slots=True)
class SnapshotChanges:
    """Data files that were added and removed; a commit that only rewrites rows counts as none."""

    added: tuple[DataFile, ...] = ()
    removed: tuple[DataFile, ...] = ()

    @property
    def changes_no_row(self) -> bool:
        """Whether both snapshots have the same rows."""
        return not (self.added or self.removed)


class NotComparable(Exception):
    """The later snapshot does not follow from the earlier one by added and removed data files, or by many."""


def changes_between(
    table: Table, earlier_id: int, later_id: int, max_snapshots: int, max_files: int
) -> SnapshotChanges:
    """Returns what the commits after the earlier snapshot changed, from the manifests that they added.

    A commit of the operation `replace` has the same rows as the one before it, as the format has it.

    Raises:
        NotComparable: the earlier snapshot is not an ancestor, a commit changed delete files, its manifests
            do not say what its summary says, or there are more commits or files.
    """
    added: list[DataFile] = []
    removed: list[DataFile] = []
    for snapshot in _after(table, earlier_id, later_id, max_snapshots):
        if snapshot.summary is not None and snapshot.summary.operation is Operation.REPLACE:
            continue
        changed = _changes_of(table.io, snapshot)
        added += changed.added
        removed += changed.removed
        if len(added) + len(removed) > max_files:
            raise NotComparable
    return SnapshotChanges(tuple(added), tuple(removed))


def _after(table: Table, earlier_id: int, later_id: int, max_snapshots: int) -> Iterator[Snapshot]:
    """Yields the snapshots from the later one back to the one after the earlier one."""
    found: int | None = later_id
    for _ in range(max_snapshots + 1):
        if found == earlier_id:
            return
        snapshot = None if found is None else table.snapshot_by_id(found)
        if snapshot is None:
            raise NotComparable
        yield snapshot
        found = snapshot.parent_snapshot_id
    raise NotComparable


def _changes_of(io: FileIO, snapshot: Snapshot) -> SnapshotChanges:
    if any(_count(snapshot, key) for key in _OF_DELETES):
        raise NotComparable
    entries = list(_entries_of(io, snapshot))
    added, removed = (
        tuple(entry.data_file for entry in entries if entry.status == status)
        for status in (ManifestEntryStatus.ADDED, ManifestEntryStatus.DELETED)
    )
    counts = _count(snapshot, "added-data-files"), _count(snapshot, "deleted-data-files")
    if counts != (len(added), len(removed)):
        raise NotComparable
    return SnapshotChanges(added, removed)


def _entries_of(io: FileIO, snapshot: Snapshot) -> Iterator[ManifestEntry]:
    for manifest in snapshot.manifests(io):
        if manifest.added_snapshot_id == snapshot.snapshot_id:
            if manifest.content is not ManifestContent.DATA:
                raise NotComparable
            yield from manifest.fetch_manifest_entry(io, discard_deleted=False)


def _count(snapshot: Snapshot, key: str) -> int:
    text = None if snapshot.summary is None else snapshot.summary[key]
    if snapshot.summary is None or not (text is None or text.isdecimal()):
        raise NotComparable
    return int(text or 0)
