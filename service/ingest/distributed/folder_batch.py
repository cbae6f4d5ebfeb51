"""Writes the files of a micro-batch; files that cannot be read become dead letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from service.errors.source_errors import StreamFailed
from service.ingest.dead_letters.dead_letters import DeadLetterSink
from service.ingest.distributed.sorted_rows import SplitOutcome
from service.ingest.distributed.split_task import SplitTask
from service.ingest.request_rows import Unfit
from service.model.ingest.ingest import BadRecord
from service.model.ingest.micro_batches import FoundFiles
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.source_uris import SourceUri, address_of
from service.model.ingest.sources import SourceFile
from service.model.ingest.validation_schema import UnreadableFile
from service.model.ingest.writing import Destination

# The scheme, an empty part, and the host or bucket.
_BEFORE_PATH = 3

MapFiles = Callable[[SplitTask, Sequence[SourceFile]], Sequence[SplitOutcome]]
"""A function that runs a task to read files and write their rows."""


@dataclass(frozen=True, slots=True)
class FolderOutcomes:
    """The outcomes of the tasks, and the files that contributed no rows to them."""

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
    """Writes all rows of each file or none; a file without rows is reported as one bad record.

    A missing file, or one without an address, counts as unreadable: whoever removed it may never restore it.

    Raises:
        CallerError: a file is missing, and `are_taken`: tables already have rows of these files.
        StreamFailed: a file cannot be read, and `are_taken`.
    """
    files = found.all() if are_taken else found.files
    outcomes = mapped(replace(task, reports_unreadable=True), files)
    if any(outcome.failure for outcome in outcomes):
        return FolderOutcomes(outcomes)
    unfound = tuple(file.file for file in found.unfound)
    broken = tuple({file.uri: file for outcome in outcomes for file in outcome.unreadable}.values())
    if broken:
        # Other parts of these files may have been read by other tasks.
        for outcome in outcomes:
            discard(outcome)
        if are_taken:
            raise _taken_before(broken[0])
        outcomes = mapped(task, without(files, broken))
    unreadable = (*unfound, *broken)
    bad = tuple(map(_reported, unreadable))
    return FolderOutcomes([*outcomes, SplitOutcome(bad=bad, bad_count=len(bad))], unreadable)


def without(files: Sequence[SourceFile], unreadable: Sequence[UnreadableFile]) -> Sequence[SourceFile]:
    """Returns the files without the unreadable ones."""
    uris = {file.uri for file in unreadable}
    return [file for file in files if file.uri not in uris]


def names_in_folder(names: Sequence[str], folder: str) -> Sequence[str]:
    """Returns the names directly in the folder, of all that are below it.

    >>> names_in_folder(["file:/in/a.csv", "file:/in/day=1/b.csv", "file:/in/sub/c.csv"], "file:///in/")
    ['file:/in/a.csv']
    """
    depth = len(SourceUri.parse(folder).segments) + 1
    # Not parsed, because they may have characters that no address has.
    return [name for name in names if len(address_of(name).split("/")[_BEFORE_PATH:]) == depth]


def without_names(names: Sequence[str], unreadable: Sequence[UnreadableFile]) -> Sequence[str]:
    """Returns the names without the unreadable files, before files are looked up.

    Files that are not read may be missing.

    >>> without_names(["file:/in/a.csv", "file:/in/b.csv"], [UnreadableFile("file:///in/a.csv", "")])
    ['file:/in/b.csv']
    """
    uris = {file.uri for file in unreadable}
    return [name for name in names if address_of(name) not in uris]


def dead_letters_of_files(
    dead_letters: DeadLetterSink,
    files: Sequence[UnreadableFile],
    record_format: RecordFormat,
    write: int | None,
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    """Yields one dead letter for each file; `write` is None where records have routes, as no file has one."""
    for file in files:
        yield from dead_letters.take(Unfit(_reported(file), b"", record_format, write))
    yield from dead_letters.rest()


def _reported(file: UnreadableFile) -> BadRecord:
    return BadRecord(file.uri, f"{file.uri}: {file.reason}")


def _taken_before(file: UnreadableFile) -> StreamFailed:
    return StreamFailed(
        f"{file.uri} cannot be read for the tables that are left, while others have its part of this batch:"
        f" {file.reason} Put it back as it was, repair the tables that do not accept it, and resume the"
        " stream."
    )
