"""One snapshot of an upsert, with the files that delete what its rows replace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import VoidTransform

from service.adapters.commits.committed_rounds import ROUND
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.synced_files import Sync, path_on_disk
from service.errors import SEND_ALONE_AGAIN, UpsertNotPossible
from service.ingest_ports import RowDeltas
from service.model.writing import Committable, RowDelta


def prepare_row_delta(
    table: Table, committable: Committable, row_deltas: RowDeltas, sync: Sync
) -> SnapshotAppend:
    """Has the manifests written. A branch that is not there begins with what `main` has now.

    Raises:
        CommitFailedException: the table has changed meanwhile.
        UpsertNotPossible: the table holds rows that the deletes would not reach.
        CommittableUnreadable: a file is described in a way that cannot be understood.
        PartDown: what writes the manifests is down.
    """
    _check_all_are_reached(table, committable.key.branch)
    results = committable.write_results
    delta = RowDelta(
        committable.key,
        table.metadata_location,
        tuple(file for each in results for file in each.data_files),
        tuple(file for each in results for file in each.delete_files),
        {ROUND: str(committable.round_id)},
    )
    text = row_deltas.prepare(delta)
    if text is None:
        raise CommitFailedException(f"{committable.key.table} was committed to meanwhile")
    snapshot = Snapshot.model_validate_json(text)
    if path_on_disk(snapshot.manifest_list) is not None:
        sync(_written(table.io, snapshot))
    return SnapshotAppend.of(table, committable, snapshot, lambda: _delete_manifests(table.io, snapshot))


def _check_all_are_reached(table: Table, branch: str) -> None:
    """An equality delete of a partition reaches files of the same spec alone, one without partition all.

    Source: the Iceberg table specification, "Scan Planning".
    """
    spec = table.spec()
    if len(table.specs()) == 1 or _is_unpartitioned(spec):
        return
    ref = table.metadata.refs.get(branch) or table.metadata.refs.get(MAIN_BRANCH)
    head = table.metadata.snapshot_by_id(ref.snapshot_id) if ref else None
    if head is not None and any(_is_out_of_reach(each, spec) for each in head.manifests(table.io)):
        raise UpsertNotPossible(
            f"{'.'.join(table.name())} holds files of an earlier partition spec, which the deletes of an "
            f"upsert do not reach. Compact it first. {SEND_ALONE_AGAIN}"
        )


def _is_unpartitioned(spec: PartitionSpec) -> bool:
    return all(isinstance(each.transform, VoidTransform) for each in spec.fields)


def _is_out_of_reach(manifest: ManifestFile, spec: PartitionSpec) -> bool:
    counts = (manifest.added_files_count, manifest.existing_files_count)
    return (
        manifest.content == ManifestContent.DATA
        and manifest.partition_spec_id != spec.spec_id
        and any(each is None or each > 0 for each in counts)
    )


def _delete_manifests(io: FileIO, snapshot: Snapshot) -> None:
    """Deletes those that were written for this snapshot; what cannot be deleted is an orphan."""
    with suppress(OSError):
        for location in list(_written(io, snapshot)):
            io.delete(location)


def _written(io: FileIO, snapshot: Snapshot) -> Iterator[str]:
    """The manifests that are new in the snapshot, and their list."""
    for each in snapshot.manifests(io):
        if each.added_snapshot_id == snapshot.snapshot_id:
            yield each.manifest_path
    yield snapshot.manifest_list
