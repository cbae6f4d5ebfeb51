"""What of a micro-batch is in its tables by now, and what is still to be brought there."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.ingest.ingest import IngestCommit, IngestRecord, Write
from service.model.ingest.judged_by import Judging, ReadAs, UnreadableFile
from service.model.ingest.writing import TableKey


class BatchProgress:
    """Follows the attempts at one micro-batch: first at its rows, then at its dead letters.

    A table is settled by the attempt that it took its rows of, or that had none for it. Its dead letters are
    what did not fit in that very attempt, whatever the table is like when they are written: so each record
    is in one of the two, once.

    A file that was unreadable in an attempt which settled a table is left out of all that follow, and is a
    dead letter as a whole. Whether it can be read depends on the tables' columns: told anew in each attempt,
    it could be a letter, and rows of another table.
    """

    def __init__(self, writes: Sequence[Write]) -> None:
        self._writes = writes
        self._judged: dict[int, ReadAs] = {}
        self._read: tuple[ReadAs, ...] = ()
        self._unreadable: dict[str, UnreadableFile] = {}
        self._has_bad_records = False
        self.settled: frozenset[TableKey] = frozenset()
        """Tables to leave out of the next attempt at rows."""
        self.settled_letters: frozenset[TableKey] = frozenset()
        """Tables to leave out of the next attempt at dead letters."""
        self.record_count = 0
        self.rejected_count = 0

    @property
    def judging(self) -> Judging | None:
        """What tells the dead letters; None: there are none.

        What is not judged is read as it was by the last attempt that found records which do not fit.
        """
        if not self._judged:
            return None
        reads = (self._judged.get(index, read) for index, read in enumerate(self._read))
        return Judging(tuple(reads), frozenset(self._judged), self.unreadable)

    @property
    def unreadable(self) -> tuple[UnreadableFile, ...]:
        """Files to leave out of the next attempt at rows: they are dead letters."""
        return tuple(self._unreadable.values())

    @property
    def are_taken(self) -> bool:
        """Whether something of the other files is in a table already, or is to be a dead letter."""
        return bool(self.record_count) or self._has_bad_records

    def tried_rows(self, ended: IngestRecord) -> None:
        """Takes down what came of an attempt at rows."""
        refused = {each.key for each in ended.commits if each.error_code is not None}
        now_settled = {each.key for each in self._writes} - refused - self.settled
        if ended.judged_by is not None:
            self._read = ended.judged_by.reads
            judged = (index for index, write in enumerate(self._writes) if write.key in now_settled)
            settled = {index: self._read[index] for index in judged}
            self._judged |= settled
            if settled:
                # Of an attempt that no table took, nothing was left out.
                unreadable = ended.judged_by.unreadable
                self._unreadable |= {each.uri: each for each in unreadable}
                # A file counts as one of them.
                self._has_bad_records |= ended.rejected.count > len(unreadable)
        self.record_count += _record_count(ended.commits)
        self.settled |= now_settled

    def tried_letters(self, ended: IngestRecord) -> None:
        """Takes down what came of an attempt at dead letters."""
        self.rejected_count += _record_count(ended.commits)
        self.settled_letters |= {each.key for each in ended.commits if each.error_code is None}


def _record_count(commits: Sequence[IngestCommit]) -> int:
    taken = (each for each in commits if each.error_code is None)
    return sum(target.record_count for each in taken for target in each.targets)
