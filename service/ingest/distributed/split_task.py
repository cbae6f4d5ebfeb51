"""An executor's task: it reads a part of a large input, and writes its rows into files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from service.committables import write_results_to_bytes
from service.errors.gateway_error import CallerError
from service.ingest.dead_letters.dead_letters import DeadLetterSink
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import FIRST
from service.ingest.distributed.line_stream import LineStream
from service.ingest.distributed.placed_messages import PlacedMessages
from service.ingest.distributed.sorted_rows import SortedRows, SplitOutcome
from service.ingest.distributed.split_reader import Split, SplitReader, place_of
from service.ingest.distributed.unreadable_files import Unreadable, readable_rows, unreadable_files
from service.model.ingest.micro_batches import Message
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.writing import Destination, TableKey, WritableTable
from service.model.tables.tables import TableName
from service.ports.tables.data_files import DataFiles

Pairs = Iterable[tuple[Destination, pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class SplitTask:
    """Everything that an executor needs to write rows; picklable.

    Files of a call whose result is lost belong to no table: they are orphans, and never duplicate rows.
    Errors that a retry would not fix are part of the outcome. All others are raised, so that the task is
    retried, perhaps elsewhere.
    """

    destinations: tuple[Destination, ...]
    data_files: DataFiles
    dead_letters: DeadLetterSink | None
    left_out: frozenset[TableKey] = frozenset()
    """Tables that already have their rows, from an earlier try."""
    has_rows: bool = True
    """Whether rows are written, and not only dead letters."""
    reports_unreadable: bool = False
    """Whether files that cannot be read are reported, instead of failing the task."""

    def read(self, reader: SplitReader, splits: Sequence[Split]) -> SplitOutcome:
        """Reads parts, one by one, and writes their rows."""
        rows = self.sorting(reader.plan, reader.record_format)
        try:
            return self._outcome(rows, self.of_splits(rows, reader, splits))
        except Unreadable:
            return unreadable(rows, reader, splits)

    def messages(self, plan: ReadPlan, bounds: ReadBounds, messages: Iterable[Message]) -> SplitOutcome:
        """Writes records that come one by one, each as a message."""
        rows, pairs = self.of_messages(plan, bounds, messages)
        return self._outcome(rows, pairs)

    def of_splits(self, rows: SortedRows, reader: SplitReader, splits: Sequence[Split]) -> Pairs:
        """Yields what is to be written of these parts, in their order.

        Raises, while it is iterated:
            Unreadable: a file cannot be read, and this must be reported.
        """
        for split in splits:
            read = readable_rows(reader, split) if self.reports_unreadable else reader.rows(split)
            yield from self._not_left_out(rows.sorted_out(place_of(split), read))
        yield from self._not_left_out(rows.rest())

    def of_messages(
        self, plan: ReadPlan, bounds: ReadBounds, messages: Iterable[Message]
    ) -> tuple[SortedRows, Pairs]:
        """Returns the same for messages, and the object that separates their rows."""
        placed = PlacedMessages(messages)
        rows = self.sorting(plan, RecordFormat.NDJSON, placed.place_of_line)
        read = read_rows(LineStream.buffered(placed.values()), RecordFormat.NDJSON, plan, FIRST, bounds)
        return rows, self._not_left_out(_all(rows, rows.sorted_out("", read)))

    def sorting(
        self, plan: ReadPlan, record_format: RecordFormat, place_of_line: Callable[[int], str] | None = None
    ) -> SortedRows:
        """Returns the object that separates the rows of one call."""
        is_routed = plan.route is not None
        return SortedRows(
            self.destinations,
            record_format,
            self.dead_letters,
            place_of_line,
            is_routed=is_routed,
            has_rows=self.has_rows,
        )

    def _outcome(self, rows: SortedRows, pairs: Pairs) -> SplitOutcome:
        try:
            results = self.data_files.write_all(pairs)
        except CallerError as failure:
            return rows.failed(failure)
        return rows.outcome(write_results_to_bytes(results))

    def _not_left_out(self, pairs: Pairs) -> Pairs:
        return (pair for pair in pairs if pair[0].target.key not in self.left_out)


def unreadable(rows: SortedRows, reader: SplitReader, splits: Sequence[Split]) -> SplitOutcome:
    """Returns an outcome with those of these files that cannot be read."""
    try:
        return SplitOutcome(unreadable=tuple(unreadable_files(reader, splits)))
    except CallerError as failure:
        # A file may have been removed or changed since it was first read.
        return rows.failed(failure)


def _all(rows: SortedRows, pairs: Pairs) -> Pairs:
    yield from pairs
    yield from rows.rest()


@dataclass(frozen=True, slots=True)
class OpenedDeadLetters:
    """A `service.ports.tables.table_changes.DeadLetterTables` for executors, which have no catalog."""

    tables: Mapping[TableName, WritableTable]

    def opened(self, name: TableName) -> WritableTable:
        """Returns the table of dead letters with this name, which was opened before."""
        return self.tables[name]
