"""Prepares one snapshot whose manifests the Iceberg library in the engine writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import FileIO
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from service.adapters.commits.committed_rounds import round_summary
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.disk.synced_files import Sync, path_on_disk
from service.model.ingest.writing import Committable, RowDelta
from service.ports.tables.table_changes import RowDeltas

PYICEBERG_WRITES_UP_TO = 2
"""The newest format version whose manifests PyIceberg writes. Later ones number the rows of a snapshot."""


def engine_snapshot(
    table: Table,
    committable: Committable,
    row_deltas: RowDeltas,
    sync: Sync,
    deletes: tuple[str, ...] = (),
    own: tuple[str, ...] = (),
    replaced: tuple[str, ...] = (),
) -> SnapshotAppend:
    """Has the manifests of the round's data files and these delete files written.

    `own` are delete files, too, which were written only for this snapshot. `replaced` are delete files of the
    table that it leaves out. All are Iceberg's JSON. A branch that does not exist starts from the head of
    `main`.

    Raises:
        CommitFailedException: the table has changed in the meantime.
        CommittableUnreadable: a file's description cannot be understood.
        PartDown: the storage is down, or the engine.
    """
    delta = RowDelta(
        committable.key,
        table.metadata_location,
        tuple(file for result in committable.write_results for file in result.data_files),
        (*deletes, *own),
        round_summary(committable),
        replaced,
    )
    text = row_deltas.prepare(delta)
    if text is None:
        raise CommitFailedException(f"{committable.key.table} was committed to meanwhile")
    snapshot = Snapshot.model_validate_json(text)
    if path_on_disk(snapshot.manifest_list) is not None:
        sync([*dict.fromkeys(locations_of(own)), *_written(table.io, snapshot)])
    return SnapshotAppend.of(table, committable, snapshot, lambda: _delete(table.io, snapshot, own))


def _delete(io: FileIO, snapshot: Snapshot, own: Iterable[str]) -> None:
    """Deletes what was written only for this snapshot. Files that cannot be deleted become orphans."""
    with suppress(OSError):
        for location in list(_written(io, snapshot)):
            io.delete(location)
    # Several deletion vectors may share a file.
    delete_files(io, dict.fromkeys(locations_of(own)))


def _written(io: FileIO, snapshot: Snapshot) -> Iterator[str]:
    """The manifests that are new in the snapshot, and their list."""
    for manifest in snapshot.manifests(io):
        if manifest.added_snapshot_id == snapshot.snapshot_id:
            yield manifest.manifest_path
    yield snapshot.manifest_list
