"""What a stream has at once: messages, or files with records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from service.errors import CallerError
from service.model.ingest.judged_by import Judging, UnreadableFile
from service.model.ingest.sources import SourceFile, SourceRecords
from service.model.ingest.writing import TableKey

R = TypeVar("R")
V = TypeVar("V")
Message = tuple[bytes, int, int]
"""What it says, and the partition and offset that it stands at."""


class MicroBatch(Protocol):
    """What has come since the last one. After a crash the same one is given again, with the same records."""

    @property
    def checkpoint_id(self) -> UUID:
        """What tells this stream's position from any other's."""

    @property
    def batch_id(self) -> int:
        """Grows by one with every micro-batch of a checkpoint."""

    def position(self) -> str:
        """Where its source stood when it was planned; another text if it was planned anew with more."""

    def files(self) -> Sequence[str]:
        """The addresses of the files that have come, if a folder is read; they may be gone again.

        What has come into its subfolders may be among them, and is not meant.
        """

    def map(self, function: Callable[[Iterator[Message]], R]) -> list[R]:
        """What the function, which is picklable, makes of each part's messages, on executors."""

    def regroup(
        self,
        apart: Callable[[Iterator[Message]], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        part_count: int,
    ) -> list[R]:
        """What `together` makes of all that `apart` gave for each part below `part_count`, on executors.

        It gets them in the order of the messages: by partition, and by offset. Both functions are picklable,
        and may be called again for the same.
        """


@dataclass(frozen=True, slots=True)
class MicroBatchRecords:
    """The messages of a micro-batch; tables in `left_out` have theirs already, from an earlier try.

    With `judging` they are asked for dead letters alone: the records that do not fit its fields, which
    are those that the rows were read as when their tables took them. A table may have changed since.
    """

    batch: MicroBatch
    left_out: frozenset[TableKey] = frozenset()
    judging: Judging | None = None


@dataclass(frozen=True, slots=True)
class UnfoundFile:
    """A file that is not there, or has a name that no address has; `failure` is for who has to have it."""

    file: UnreadableFile
    failure: CallerError


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Files of a micro-batch as they are now."""

    files: Sequence[SourceFile] = ()
    unfound: Sequence[UnfoundFile] = ()

    def all(self) -> Sequence[SourceFile]:
        """The files, if they are all there.

        Raises:
            CallerError: one is not.
        """
        for each in self.unfound:
            raise each.failure
        return self.files


@dataclass(frozen=True, slots=True)
class MicroBatchFiles:
    """The files of a micro-batch, whose records are as those of a source.

    `found` gives them as they are now. It raises SourceNotAllowed where one is not what its name says.
    `left_out` and `judging` are as of messages.

    An earlier try may have settled tables without the files that are `unreadable`, and they stay left out,
    whatever is in them by now. With `are_taken` the rows of all others are in tables, or their dead letters
    are owed: none of them can be left out any more.
    """

    batch: MicroBatch
    records: SourceRecords
    found: Callable[[Sequence[str]], FoundFiles]
    left_out: frozenset[TableKey] = frozenset()
    judging: Judging | None = None
    unreadable: tuple[UnreadableFile, ...] = ()
    are_taken: bool = False
