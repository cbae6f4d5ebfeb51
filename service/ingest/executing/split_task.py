"""What an executor does: reads one part of a large input, and writes its rows into files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

import pyarrow as pa

from service.errors import CallerError, GatewayError, IngestInvalid
from service.ingest.dead_letters import DeadLetters
from service.ingest.executing.line_stream import LineStream
from service.ingest.reading.decompressed import decompressed
from service.ingest.reading.plan import ReadPlan
from service.ingest.reading.read_bounds import ReadBounds
from service.ingest.reading.read_rows import read_rows
from service.ingest.reading.rows import FIRST, BadRow, Position, TargetRows
from service.ingest.request_rows import WITH_LINES, Unfit
from service.ingest_ports import DataFiles, SplitOpener
from service.model.committables import write_results_to_bytes
from service.model.ingest import BadRecord, Compression, RecordFormat
from service.model.sources import SourceSplit
from service.model.tables import TableName
from service.model.writing import Destination, TableKey, WritableTable, WriteResult

TOLD_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class BodyBlock:
    """A part of a request's body: whole lines, the first of which has this number."""

    data: bytes
    first_line: int


@dataclass(frozen=True, slots=True)
class SplitOutcome:
    """What became of one split. `results` are write results, as `service.model.committables` has them.

    With a `failure` there are none, and no files either. `bad` are the first records that did not fit.
    """

    results: bytes = b""
    bad: tuple[BadRecord, ...] = ()
    bad_count: int = 0
    row_count: int = 0
    failure: CallerError | None = None


@dataclass(frozen=True, slots=True)
class SplitTask:
    """All that an executor must know. It is picklable, and called for one split at a time.

    Files of a call that is not heard of again belong to no table: they are orphans, never rows twice. What
    another try would not mend is told in the outcome; everything else is raised, so that it is tried again,
    perhaps elsewhere.
    """

    plan: ReadPlan
    destinations: tuple[Destination, ...]
    record_format: RecordFormat
    compression: Compression
    max_bytes: int
    open_split: SplitOpener
    data_files: DataFiles
    letters: DeadLetters | None
    left_out: frozenset[TableKey] = frozenset()
    """Tables that have their rows already, from an earlier try."""

    def __call__(self, split: SourceSplit | BodyBlock) -> SplitOutcome:
        """Reads a split, and writes its rows."""
        match split:
            case BodyBlock(data, first_line):
                opened: AbstractContextManager[BinaryIO] = nullcontext(BytesIO(data))
                return self._outcome(opened, _Bad(self, "", Position(first_line)))
            case SourceSplit(file, start):
                # How many lines are before a later part, nobody has counted.
                place = file.uri if start == 0 else f"{file.uri}, lines after byte {start}"
                return self._outcome(self.open_split(split), _Bad(self, place, FIRST))

    def lines(self, lines: Iterable[bytes]) -> SplitOutcome:
        """Writes records that come one by one, each without an end of line."""
        return self._outcome(nullcontext(LineStream.buffered(lines)), _Bad(self, "", FIRST))

    def _outcome(self, opened: AbstractContextManager[BinaryIO], bad: _Bad) -> SplitOutcome:
        results: list[WriteResult] = []
        try:
            with opened as raw:
                rows = read_rows(
                    self._decompressed(raw), self.record_format, self.plan, bad.start, self._bounds
                )
                results = self.data_files.write_all(bad.sorted_out(rows))
        except CallerError as failure:
            # That a file is another one by now may be seen only when it has been read.
            for each in results:
                with suppress(GatewayError):
                    self.data_files.discard(bad.tables[each.target.key], each)
            return SplitOutcome(failure=bad.placed(failure))
        return SplitOutcome(write_results_to_bytes(results), tuple(bad.told), bad.count, bad.row_count)

    @property
    def _bounds(self) -> ReadBounds:
        # Where a page begins in a file far away, each look at one would be a request.
        return ReadBounds(self.max_bytes, has_pages_checked=False)

    def _decompressed(self, raw: BinaryIO) -> BinaryIO:
        if self.compression is Compression.NONE:
            return raw
        return decompressed(raw, self.compression, self.max_bytes)


class _Bad:
    """Sorts a split's rows out: bad ones are counted, and become dead letters where those are wanted."""

    def __init__(self, task: SplitTask, place: str, start: Position) -> None:
        self._task = task
        self._place = place
        self.start = start
        self.told: list[BadRecord] = []
        self.count = 0
        self.row_count = 0
        self.tables: dict[TableKey, WritableTable] = {}

    def sorted_out(self, rows: Iterable[TargetRows | BadRow]) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        for destination, batch in self._all(rows):
            if destination.target.key not in self._task.left_out:
                self.tables[destination.target.key] = destination.table
                yield destination, batch

    def placed(self, failure: CallerError) -> CallerError:
        """The failure, with the name of the file that it is about."""
        return type(failure)(f"{self._place}: {failure.detail}") if self._is_nameless(failure) else failure

    def _is_nameless(self, failure: CallerError) -> bool:
        return bool(self._place) and type(failure) is IngestInvalid

    def _all(self, rows: Iterable[TargetRows | BadRow]) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        letters = self._task.letters
        for each in rows:
            if isinstance(each, TargetRows):
                self.row_count += each.rows.num_rows
                yield self._task.destinations[each.target], each.rows
            else:
                unfit = self._unfit(each)
                if letters is not None:
                    yield from letters.take(unfit)
        if letters is not None:
            yield from letters.rest()

    def _unfit(self, bad: BadRow) -> Unfit:
        number = bad.position.number
        has_lines = self._task.record_format in WITH_LINES
        # Lines and rows are told without a place otherwise: a body has none.
        reason = f"{self._place}: {bad.reason}" if self._place else bad.reason
        told = (
            BadRecord(self._place, reason, line=number, column=bad.position.column)
            if has_lines
            else BadRecord(self._place, reason, row=number)
        )
        self.count += 1
        if len(self.told) < TOLD_AT_MOST:
            self.told.append(told)
        payload_format = self._task.record_format if has_lines else RecordFormat.NDJSON
        return Unfit(told, bad.payload, payload_format, bad.target)


@dataclass(frozen=True, slots=True)
class OpenedDeadLetters:
    """Implements `service.ingest_ports.DeadLetterTables` for executors, which have no catalog."""

    tables: Mapping[TableName, WritableTable]

    def opened(self, name: TableName) -> WritableTable:
        """The table of dead letters with this name, which was opened before."""
        return self.tables[name]
