"""The micro-batches of a stream: messages, or files with records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from service.model.ingest.sources import SourceFile, SourceRecords
from service.model.ingest.validation_schema import UnreadableFile, ValidationSchema
from service.model.ingest.writing import TableKey

R = TypeVar("R")
V = TypeVar("V")
Message = tuple[bytes, int, int]
"""A message's content, its partition and its offset."""


class MicroBatch(Protocol):
    """The messages or files since the last micro-batch; after a crash the same one comes again.

    It has the same records then.
    """

    @property
    def checkpoint_id(self) -> UUID:
        """The id that distinguishes this stream's position from any other's."""

    @property
    def batch_id(self) -> int:
        """The number that grows by one with every micro-batch of a checkpoint."""

    def position(self) -> str:
        """Returns where the source stood when the batch was planned.

        The text differs if the batch was planned again with more records.
        """

    def files(self) -> Sequence[str]:
        """Returns the addresses of the new files, if a folder is read; they may be gone again.

        Files in its subfolders may be among them, and do not count.
        """

    def map(self, function: Callable[[Iterator[Message]], R]) -> list[R]:
        """Returns the function's result for each part's messages.

        The function is picklable and runs on executors.
        """

    def regroup(
        self,
        apart: Callable[[Iterator[Message]], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        part_count: int,
    ) -> list[R]:
        """Returns the result of `together` for each part below `part_count`, over all values from `apart`.

        Both run on executors. `together` receives the values in the order of the messages: by partition, and
        by offset. Both functions are picklable, and may be called again for the same.
        """


@dataclass(frozen=True, slots=True)
class MicroBatchRecords:
    """The messages of a micro-batch; tables in `left_out` already have theirs, from an earlier try.

    With `validation_schema`, only dead letters are wanted: the records that do not fit its fields. These are
    the fields that the rows were read as when their tables took them; a table may have changed since.
    """

    batch: MicroBatch
    left_out: frozenset[TableKey] = frozenset()
    validation_schema: ValidationSchema | None = None


@dataclass(frozen=True, slots=True)
class UnfoundFile:
    """A file that is missing, or has an impossible name; `failure` is for callers that need the file."""

    file: UnreadableFile
    failure: Exception


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files of a micro-batch as they are now."""

    files: Sequence[SourceFile] = ()
    unfound: Sequence[UnfoundFile] = ()

    def all(self) -> Sequence[SourceFile]:
        """Returns the files, if none is missing.

        Raises:
            CallerError: a file is missing.
        """
        for file in self.unfound:
            raise file.failure
        return self.files


@dataclass(frozen=True, slots=True)
class MicroBatchFiles:
    """The files of a micro-batch, whose records are spelled like those of a source.

    `found` returns the files as they are now. It raises SourceNotAllowed where a file is not what its name
    says. `left_out` and `validation_schema` are as in `MicroBatchRecords`.

    An earlier try may have settled tables without the `unreadable` files; they stay left out, whatever they
    contain by now. With `are_taken`, the rows of all other files are in tables, or their dead letters are
    still to be written: none of these files may be left out any more.
    """

    batch: MicroBatch
    records: SourceRecords
    found: Callable[[Sequence[str]], FoundFiles]
    left_out: frozenset[TableKey] = frozenset()
    validation_schema: ValidationSchema | None = None
    unreadable: tuple[UnreadableFile, ...] = ()
    are_taken: bool = False
