"""One snapshot of an upsert, with the files that delete what its rows replace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Snapshot

from service.adapters.commits.committed_rounds import round_summary
from service.adapters.commits.earlier_deletes import earlier_deletes, is_unpartitioned
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.data_files.content_files import locations_of
from service.adapters.data_files.file_set import delete_files
from service.adapters.synced_files import Sync, path_on_disk
from service.ingest_ports import RowDeltas
from service.model.writing import Committable, RowDelta


def prepare_row_delta(
    table: Table, committable: Committable, row_deltas: RowDeltas, sync: Sync
) -> SnapshotAppend:
    """Has the manifests written. A branch that is not there begins with what `main` has now.

    Rows under earlier partition specs are reached by delete files of theirs, which are written here, and
    belong to this snapshot as its manifests do.

    Raises:
        CommitFailedException: the table has changed meanwhile.
        UpsertNotPossible: the table holds rows that the deletes would not reach.
        CommittableUnreadable: a file is described in a way that cannot be understood, or cannot be read.
        PartDown: what writes the manifests is down, or the storage.
    """
    results = committable.write_results
    own: list[str] = []
    try:
        for each in earlier_deletes(table, results, _specs_out_of_reach(table, committable.key.branch)):
            own.append(each)
        delta = RowDelta(
            committable.key,
            table.metadata_location,
            tuple(file for each in results for file in each.data_files),
            (*(file for each in results for file in each.delete_files), *own),
            round_summary(committable),
        )
        text = row_deltas.prepare(delta)
        if text is None:
            raise CommitFailedException(f"{committable.key.table} was committed to meanwhile")
    except BaseException:
        delete_files(table.io, locations_of(own))
        raise
    snapshot = Snapshot.model_validate_json(text)
    if path_on_disk(snapshot.manifest_list) is not None:
        sync([*locations_of(own), *_written(table.io, snapshot)])
    return SnapshotAppend.of(table, committable, snapshot, lambda: _delete(table.io, snapshot, own))


def _specs_out_of_reach(table: Table, branch: str) -> list[PartitionSpec]:
    """Those that files of the branch are under, and the deletes of the present spec do not reach.

    An equality delete of a partition reaches files of the same spec alone, one without partition all.

    Source: the Iceberg table specification, "Scan Planning".
    """
    spec, specs = table.spec(), table.specs()
    if len(specs) == 1 or is_unpartitioned(spec):
        return []
    ref = table.metadata.refs.get(branch) or table.metadata.refs.get(MAIN_BRANCH)
    head = table.metadata.snapshot_by_id(ref.snapshot_id) if ref else None
    found = (
        {each.partition_spec_id for each in head.manifests(table.io) if _has_rows(each)} if head else set()
    )
    return [specs[each] for each in sorted(found - {spec.spec_id})]


def _has_rows(manifest: ManifestFile) -> bool:
    counts = (manifest.added_files_count, manifest.existing_files_count)
    return manifest.content == ManifestContent.DATA and any(each is None or each > 0 for each in counts)


def _delete(io: FileIO, snapshot: Snapshot, own: Iterable[str]) -> None:
    """Deletes what was written for this snapshot alone; what cannot be deleted now is an orphan."""
    with suppress(OSError):
        for location in list(_written(io, snapshot)):
            io.delete(location)
    delete_files(io, locations_of(own))


def _written(io: FileIO, snapshot: Snapshot) -> Iterator[str]:
    """The manifests that are new in the snapshot, and their list."""
    for each in snapshot.manifests(io):
        if each.added_snapshot_id == snapshot.snapshot_id:
            yield each.manifest_path
    yield snapshot.manifest_list
