"""Finds the fields that the records of a source have.

Executors read the files for it, once more than for their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from service.errors.gateway_error import CallerError
from service.ingest.decoding.streams.note_names import note_names
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.distributed.large_parts import LargeInputs, parts_of_files
from service.ingest.distributed.split_reader import Split, SplitReader, SplitsOfSource, of_file, place_of
from service.model.ingest.ingest_request import Route
from service.model.ingest.sources import SourceFile, SourceRecords

Names = list[set[str]]


def names_in_source(
    files: Sequence[SourceFile],
    source: SourceRecords,
    route: Route | None,
    known: Sequence[frozenset[str]],
    large: LargeInputs,
) -> Names:
    """Returns the names of all records in these files, target by target: see `present_names`.

    Raises:
        SourceNotAllowed, SourceChanged, IngestInvalid: the files cannot be read.
        ExecutorsFailed, EngineNotReady, EngineLost: the executors could not read them.
    """
    parts = parts_of_files(files, source, ReadPlan((), route), large, large.bounds.split_bytes)
    task = NamesTask(parts.reader, tuple(known))
    return _joined(large.executors.map(task.read, parts.groups, str(uuid4())), known)


@dataclass(frozen=True, slots=True)
class NamesTask:
    """An executor's task; picklable. It returns errors that a retry would not fix, and raises the others."""

    reader: SplitReader
    known: tuple[frozenset[str], ...]

    def read(self, splits: Sequence[Split]) -> Names | CallerError:
        """Returns the names in some parts."""
        assert isinstance(self.reader, SplitsOfSource)
        found: list[Names] = []
        for split in splits:
            try:
                found.append(self.reader.names(split, self.known))
            except CallerError as failure:
                return of_file(place_of(split), failure)
        return _joined(found, self.known)


def _joined(found: Iterable[Names | CallerError], known: Sequence[frozenset[str]]) -> Names:
    joined: Names = [set() for _ in known]
    for names_found in found:
        if isinstance(names_found, CallerError):
            raise names_found
        for names, more, own in zip(joined, names_found, known, strict=True):
            note_names(names, more, own)
    return joined
