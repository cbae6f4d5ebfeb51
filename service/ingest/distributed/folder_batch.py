"""The files of a micro-batch: those that cannot be read are dead letters, and the others are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from service.errors import StreamFailed
from service.ingest.dead_letters.dead_letters import Letters
from service.ingest.distributed.sorted_rows import SplitOutcome
from service.ingest.distributed.split_task import SplitTask
from service.ingest.request_rows import Unfit
from service.model.ingest.ingest import BadRecord
from service.model.ingest.judged_by import UnreadableFile
from service.model.ingest.micro_batches import FoundFiles
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.source_uris import SourceUri, address_of
from service.model.ingest.sources import SourceFile
from service.model.ingest.writing import Destination

# `file:`, or another scheme, nothing, and the host or bucket.
_BEFORE_PATH = 3

MapFiles = Callable[[SplitTask, Sequence[SourceFile]], Sequence[SplitOutcome]]
"""Has a task read files, and write their rows."""


@dataclass(frozen=True, slots=True)
class FolderOutcomes:
    """What became of the tasks, and the files that none of these rows are of."""

    outcomes: Sequence[SplitOutcome]
    unreadable: tuple[UnreadableFile, ...] = ()


def write_readable(
    task: SplitTask,
    found: FoundFiles,
    mapped: MapFiles,
    discard: Callable[[SplitOutcome], None],
    *,
    are_taken: bool = False,
) -> FolderOutcomes:
    """Of a file all rows are written, or none; those without are told as one bad record each.

    A file that is gone, or has no address, counts as one that cannot be read: whoever took it away may never
    bring it back.

    Raises:
        CallerError: one is gone, and `are_taken`: tables have rows of these files already.
        StreamFailed: the same of one that cannot be read.
    """
    files = found.all() if are_taken else found.files
    outcomes = mapped(replace(task, tells_unreadable=True), files)
    if any(each.failure for each in outcomes):
        return FolderOutcomes(outcomes)
    unfound = tuple(each.file for each in found.unfound)
    broken = tuple({each.uri: each for outcome in outcomes for each in outcome.unreadable}.values())
    if broken:
        # Other parts of these files may have been read by other tasks.
        for each in outcomes:
            discard(each)
        if are_taken:
            raise _taken_before(broken[0])
        outcomes = mapped(task, without(files, broken))
    unreadable = (*unfound, *broken)
    bad = tuple(map(_told, unreadable))
    return FolderOutcomes([*outcomes, SplitOutcome(bad=bad, bad_count=len(bad))], unreadable)


def without(files: Sequence[SourceFile], unreadable: Sequence[UnreadableFile]) -> Sequence[SourceFile]:
    """The files that can be read."""
    uris = {each.uri for each in unreadable}
    return [each for each in files if each.uri not in uris]


def names_in_folder(names: Sequence[str], folder: str) -> Sequence[str]:
    """Those right in the folder, of all that are below it.

    >>> names_in_folder(["file:/in/a.csv", "file:/in/day=1/b.csv", "file:/in/sub/c.csv"], "file:///in/")
    ['file:/in/a.csv']
    """
    depth = len(SourceUri.parse(folder).segments) + 1
    # Not parsed: they may have what no address has.
    return [each for each in names if len(address_of(each).split("/")[_BEFORE_PATH:]) == depth]


def without_names(names: Sequence[str], unreadable: Sequence[UnreadableFile]) -> Sequence[str]:
    """The same before files are looked for: those that are not read need not be there any more.

    >>> without_names(["file:/in/a.csv", "file:/in/b.csv"], [UnreadableFile("file:///in/a.csv", "")])
    ['file:/in/b.csv']
    """
    uris = {each.uri for each in unreadable}
    return [each for each in names if address_of(each) not in uris]


def letters_of_files(
    letters: Letters, files: Sequence[UnreadableFile], record_format: RecordFormat, write: int | None
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    """One dead letter for each; `write` is None where records have routes, which no file has."""
    for each in files:
        yield from letters.take(Unfit(_told(each), b"", record_format, write))
    yield from letters.rest()


def _told(file: UnreadableFile) -> BadRecord:
    return BadRecord(file.uri, f"{file.uri}: {file.reason}")


def _taken_before(file: UnreadableFile) -> StreamFailed:
    return StreamFailed(
        f"{file.uri} cannot be read for the tables that are left, while others have its part of this batch:"
        f" {file.reason} Put it back as it was, mend the tables that do not take it, and resume the stream."
    )
