"""Tracks which parts of a micro-batch are in its tables, and which remain."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.ingest.ingest import IngestCommit, IngestRecord
from service.model.ingest.ingest_request import Write
from service.model.ingest.validation_schema import ReadAs, UnreadableFile, ValidationSchema
from service.model.ingest.writing import TableKey


class BatchProgress:
    """The progress of the attempts at one micro-batch: first at its rows, then at its dead letters.

    A table is settled by the attempt from which it took its rows, or that had none for it. Its dead letters
    are the records that did not fit in that same attempt, whatever the table is like when they are written.
    So each record is in exactly one of the two, once.

    If a file was unreadable in an attempt that settled a table, all later attempts leave it out, and it is a
    dead letter as a whole. Whether it can be read depends on the tables' columns: if each attempt decided
    this again, the file could be both a dead letter and rows of another table.
    """

    def __init__(self, writes: Sequence[Write]) -> None:
        self._writes = writes
        self._revalidated: dict[int, ReadAs] = {}
        self._read: tuple[ReadAs, ...] = ()
        self._unreadable: dict[str, UnreadableFile] = {}
        self._has_bad_records = False
        self.settled: frozenset[TableKey] = frozenset()
        """Tables to leave out of the next attempt at rows."""
        self.settled_dead_letters: frozenset[TableKey] = frozenset()
        """Tables to leave out of the next attempt at dead letters."""
        self.record_count = 0
        self.rejected_count = 0

    @property
    def validation_schema(self) -> ValidationSchema | None:
        """How the dead letters are found; None: there are none.

        Writes that are not revalidated are read as in the last attempt that found records that do not fit.
        """
        if not self._revalidated:
            return None
        reads = (self._revalidated.get(index, read) for index, read in enumerate(self._read))
        return ValidationSchema(tuple(reads), frozenset(self._revalidated), self.unreadable)

    @property
    def unreadable(self) -> tuple[UnreadableFile, ...]:
        """Files to leave out of the next attempt at rows, because they are dead letters."""
        return tuple(self._unreadable.values())

    @property
    def are_taken(self) -> bool:
        """Whether a part of the other files is already in a table, or will be a dead letter."""
        return bool(self.record_count) or self._has_bad_records

    def tried_rows(self, ended: IngestRecord) -> None:
        """Records the result of an attempt at rows."""
        refused = {commit.key for commit in ended.commits if commit.error_code is not None}
        now_settled = {write.key for write in self._writes} - refused - self.settled
        if ended.validated_schemas is not None:
            self._read = ended.validated_schemas.reads
            revalidated = (index for index, write in enumerate(self._writes) if write.key in now_settled)
            settled = {index: self._read[index] for index in revalidated}
            self._revalidated |= settled
            if settled:
                # If no table took an attempt, nothing is left out because of it.
                unreadable = ended.validated_schemas.unreadable
                self._unreadable |= {file.uri: file for file in unreadable}
                # Each unreadable file counts as one rejected record.
                self._has_bad_records |= ended.rejected.count > len(unreadable)
        self.record_count += _record_count(ended.commits)
        self.settled |= now_settled

    def tried_dead_letters(self, ended: IngestRecord) -> None:
        """Records the result of an attempt at dead letters."""
        self.rejected_count += _record_count(ended.commits)
        self.settled_dead_letters |= {commit.key for commit in ended.commits if commit.error_code is None}


def _record_count(commits: Sequence[IngestCommit]) -> int:
    taken = (commit for commit in commits if commit.error_code is None)
    return sum(target.change_count for commit in taken for target in commit.targets)
