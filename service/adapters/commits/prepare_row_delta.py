"""Prepares one snapshot of an upsert, with the files that delete the rows it replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table

from service.adapters.commits.earlier_deletes import earlier_deletes
from service.adapters.commits.engine_snapshot import engine_snapshot
from service.adapters.commits.live_files import data_manifests
from service.adapters.commits.needed_deletes import NeededDeletes, is_unpartitioned
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.disk.synced_files import Sync
from service.model.ingest.writing import Committable
from service.ports.tables.table_changes import RowDeltas


def prepare_row_delta(
    table: Table,
    committable: Committable,
    needed: NeededDeletes,
    row_deltas: RowDeltas,
    prepare_append: Callable[[], SnapshotAppend],
    sync: Sync,
) -> SnapshotAppend:
    """Prepares the snapshot, and has its manifests written.

    A branch that does not exist starts from the head of `main`.

    Rows under earlier partition specs need delete files of those specs. They are written here, and belong to
    this snapshot as its manifests do. Delete files that cannot delete any row of the branch are left out. If
    none remains, the snapshot is an append, which `prepare_append` prepares.

    Raises:
        CommitFailedException: the table has changed in the meantime.
        UpsertNotPossible: the table holds rows that the deletes would not reach.
        CommittableUnreadable: a file's description cannot be understood, or the file cannot be read.
        PartDown: the storage is down, or the engine that writes the manifests.
    """
    branch, results = committable.key.branch, committable.write_results
    sent = [file for result in results for file in result.delete_files]
    sent_needed = needed.of(table, branch, sent)
    left_out = _without(sent, sent_needed)
    own: list[str] = []
    try:
        for delete in earlier_deletes(table, results, specs_out_of_reach(table, branch)):
            own.append(delete)
        own_needed = needed.of(table, branch, own)
        delete_files(table.io, locations_of(_without(own, own_needed)))
        has_data = any(result.data_files for result in results)
        if (sent or not has_data) and not sent_needed and not own_needed:
            return prepare_append().leaving_out(left_out)
        prepared = engine_snapshot(
            table, committable, row_deltas, sync, tuple(sent_needed), tuple(own_needed)
        )
    except BaseException:
        delete_files(table.io, locations_of(own))
        raise
    return prepared.leaving_out(left_out)


def _without(files: Iterable[str], others: Iterable[str]) -> list[str]:
    gone = set(others)
    return [file for file in files if file not in gone]


def specs_out_of_reach(table: Table, branch: str) -> list[PartitionSpec]:
    """Returns the specs of files of the branch that deletes of the current spec do not reach.

    An equality delete with a partition applies only to files of the same spec, one without a partition to all
    files.

    Source: the Iceberg table specification, "Scan Planning".
    """
    spec, specs = table.spec(), table.specs()
    if len(specs) == 1 or is_unpartitioned(spec):
        return []
    found = {manifest.partition_spec_id for manifest in data_manifests(table, branch)}
    return [specs[spec_id] for spec_id in sorted(found - {spec.spec_id})]
