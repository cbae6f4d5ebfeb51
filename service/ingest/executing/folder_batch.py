"""The files of a micro-batch: those that cannot be read are dead letters, and the others are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from service.ingest.dead_letters import Letters
from service.ingest.executing.sorted_rows import SplitOutcome
from service.ingest.executing.split_task import SplitTask
from service.ingest.request_rows import Unfit
from service.model.ingest import BadRecord
from service.model.judged_by import UnreadableFile
from service.model.record_formats import RecordFormat
from service.model.sources import SourceFile
from service.model.writing import Destination

MapFiles = Callable[[SplitTask, Sequence[SourceFile]], Sequence[SplitOutcome]]
"""Has a task read files, and write their rows."""


@dataclass(frozen=True, slots=True)
class FolderOutcomes:
    """What became of the tasks, and the files that none of these rows are of."""

    outcomes: Sequence[SplitOutcome]
    unreadable: tuple[UnreadableFile, ...] = ()


def write_readable(
    task: SplitTask, files: Sequence[SourceFile], mapped: MapFiles, discard: Callable[[SplitOutcome], None]
) -> FolderOutcomes:
    """Of a file all rows are written, or none; those without are told as one bad record each."""
    outcomes = mapped(replace(task, tells_unreadable=True), files)
    found = {each.uri: each for outcome in outcomes for each in outcome.unreadable}
    if not found or any(each.failure for each in outcomes):
        return FolderOutcomes(outcomes)
    # Other parts of these files may have been read by other tasks.
    for each in outcomes:
        discard(each)
    unreadable = tuple(found.values())
    bad = tuple(map(_told, unreadable))
    again = mapped(task, without(files, unreadable))
    return FolderOutcomes([*again, SplitOutcome(bad=bad, bad_count=len(bad))], unreadable)


def without(files: Sequence[SourceFile], unreadable: Sequence[UnreadableFile]) -> Sequence[SourceFile]:
    """The files that can be read."""
    uris = {each.uri for each in unreadable}
    return [each for each in files if each.uri not in uris]


def letters_of_files(
    letters: Letters, files: Sequence[UnreadableFile], record_format: RecordFormat, write: int | None
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    """One dead letter for each; `write` is None where records have routes, which no file has."""
    for each in files:
        yield from letters.take(Unfit(_told(each), b"", record_format, write))
    yield from letters.rest()


def _told(file: UnreadableFile) -> BadRecord:
    return BadRecord(file.uri, f"{file.uri}: {file.reason}")
