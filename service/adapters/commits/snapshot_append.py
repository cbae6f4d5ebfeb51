"""One snapshot that adds files to a branch, prepared and published in two steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pydantic import Field
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSpecId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetPropertiesUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
)

from service.adapters.commits.begin_append import begin_append
from service.adapters.commits.committed_rounds import round_properties, round_summary
from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.time_order import in_order
from service.adapters.commits.undescribable_files import BAD_DESCRIPTION, undescribable_files
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.errors.ingest_errors import CommittableUnreadable
from service.model.ingest.writing import Committable

ReadDataFile = Callable[[str, Schema, PartitionSpec], DataFile]
"""Reads a data file from Iceberg's JSON, for a schema and a partition spec. Raises ValueError on failure."""


@dataclass(frozen=True, slots=True)
class SnapshotAppend:
    """A snapshot whose manifests are written, and which is not in a table yet."""

    snapshot_id: int
    _table: Table
    _discard: Callable[[], None]
    _updates: tuple[TableUpdate, ...]
    _requirements: tuple[TableRequirement, ...]
    _left_out: tuple[str, ...] = ()
    _own: tuple[str, ...] = ()
    late_counts: tuple[int, ...] = ()
    """The late records of each write result, which it does not hold; (): none."""

    @classmethod
    def prepare(
        cls, table: Table, committable: Committable, read_data_file: ReadDataFile, lists: ManifestLists
    ) -> SnapshotAppend:
        """Writes the manifests. All files must have the table's default partition spec.

        A branch that does not exist starts from the head of `main`.

        Raises:
            CommittableUnreadable: the description of some files cannot be committed; nothing is left behind.
            Exception: what PyIceberg raises for a table or its storage; nothing is left behind either.
        """
        metadata = table.metadata
        append = begin_append(table, committable.key.branch, round_summary(committable), lists)
        files = [file for result in committable.write_results for file in result.data_files]

        def read(text: str) -> DataFile:
            return read_data_file(text, metadata.schema(), metadata.spec())

        try:
            for path in files:
                append.append_data_file(read(path))
            snapshot = append.written()
        except BaseException as error:
            append._clean_all_uncommitted()
            # Finding them takes as long as writing the manifests, so it is done only after a failure.
            found = undescribable_files(metadata, files, read) if isinstance(error, BAD_DESCRIPTION) else []
            if not found:
                raise
            raise CommittableUnreadable(data_files=found) from error
        return cls.of(table, committable, snapshot, append._clean_all_uncommitted)

    @classmethod
    def of(
        cls, table: Table, committable: Committable, snapshot: Snapshot, discard: Callable[[], None]
    ) -> SnapshotAppend:
        """Returns an append whose manifests are already written, based on the table as it is here."""
        metadata, branch, snapshot_id = table.metadata, committable.key.branch, snapshot.snapshot_id
        updates = (
            AddSnapshotUpdate(snapshot=in_order(snapshot, metadata)),
            _branch_head(metadata, branch, snapshot_id),
            SetPropertiesUpdate(updates=round_properties(branch, committable.round_id, snapshot_id)),
        )
        requirements = _requirements(metadata, branch)
        late = committable.late_counts
        return cls(snapshot_id, table, discard, updates, requirements, late_counts=late)

    def publish(self) -> None:
        """Makes it the branch's newest snapshot, if table and branch have not changed.

        Raises:
            CommitFailedException: they have changed.
            Exception: what PyIceberg raises; the snapshot may or may not be in the table.
        """
        self._table._do_commit(self._updates, self._requirements)

    def leaving_out(self, files: Iterable[str]) -> SnapshotAppend:
        """Returns the same append, which does not need these files (Iceberg's JSON) of its round."""
        return replace(self, _left_out=(*self._left_out, *files))

    def owning(self, files: Iterable[str]) -> SnapshotAppend:
        """Returns the same append, which owns these files (Iceberg's JSON), written only for it."""
        return replace(self, _own=(*self._own, *files))

    def remove_left_out(self) -> None:
        """Deletes the files that the snapshot does not need. The snapshot must be in the table."""
        delete_files(self._table.io, locations_of(self._left_out))

    def discard(self) -> None:
        """Deletes the manifests of a snapshot that never got into the table, and the files that it owns."""
        self._discard()
        delete_files(self._table.io, locations_of(self._own))


def _branch_head(metadata: TableMetadata, branch: str, snapshot_id: int) -> SetSnapshotRefUpdate:
    before = metadata.refs.get(branch)
    # PyIceberg's own update drops the retention settings of the branch and its snapshots.
    return SetSnapshotRefUpdate(
        ref_name=branch,
        type=SnapshotRefType.BRANCH,
        snapshot_id=snapshot_id,
        max_ref_age_ms=before and before.max_ref_age_ms,
        max_snapshot_age_ms=before and before.max_snapshot_age_ms,
        min_snapshots_to_keep=before and before.min_snapshots_to_keep,
    )


def _requirements(metadata: TableMetadata, branch: str) -> tuple[TableRequirement, ...]:
    """Everything that the files were checked against must be unchanged when they are committed."""
    return (
        _AssertNextSnapshot(uuid=metadata.table_uuid, sequence_number=metadata.next_sequence_number()),
        AssertDefaultSpecId(default_spec_id=metadata.default_spec_id),
        AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        *(
            _head_requirement(metadata, name)
            for name in dict.fromkeys((MAIN_BRANCH, branch))
            if name == branch or branch not in metadata.refs
        ),
    )


class _AssertNextSnapshot(AssertTableUUID):
    """The UUID alone for a catalog server, which checks sequence numbers itself.

    PyIceberg checks them for format version 2 alone, and all branches share them.
    """

    sequence_number: int = Field(exclude=True)

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override] # as PyIceberg
        super().validate(base_metadata)
        if base_metadata is not None and base_metadata.next_sequence_number() != self.sequence_number:
            raise CommitFailedException("Requirement failed: another branch was committed to concurrently")


def _head_requirement(metadata: TableMetadata, branch: str) -> AssertRefSnapshotId:
    ref = metadata.refs.get(branch)
    if ref is None and branch != MAIN_BRANCH and not metadata.snapshots:
        return _AssertNewBranch(ref=branch, snapshot_id=None)
    return AssertRefSnapshotId(ref=branch, snapshot_id=ref and ref.snapshot_id)


class _AssertNewBranch(AssertRefSnapshotId):
    """The same for a catalog server. PyIceberg itself rejects branches of tables without snapshots."""

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override] # as PyIceberg
        if base_metadata is None or self.ref in base_metadata.refs:
            raise CommitFailedException(f"Requirement failed: {self.ref} was created concurrently")
