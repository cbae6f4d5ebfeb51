"""Upserts on executors: any task reads rows, and one task writes all rows of a key, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import pyarrow as pa

from service.committables import write_results_to_bytes
from service.errors.gateway_error import CallerError
from service.ingest.dead_letters.dead_letters import FIELDS, DeadLetters
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.ingest.decoding.values.marked_rows import marked_schema
from service.ingest.distributed.gathered import gathered
from service.ingest.distributed.sorted_rows import SortedRows, SplitOutcome
from service.ingest.distributed.split_reader import Split, SplitReader
from service.ingest.distributed.split_task import Pairs, SplitTask, unreadable
from service.ingest.distributed.unreadable_files import Unreadable
from service.ingest.write_schema.written_fields import written_fields
from service.model.ingest.micro_batches import Message
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.ingest.writing import Destination, WriteTarget

_MESSAGE_BYTES = 128 * 1024
_MOST_BYTES = 64 * 1024**2
# Spark sorts messages, and has a hundred or more in memory before it checks how much that is.
_MOST_MESSAGE_BYTES = 1024**2


@dataclass(frozen=True, slots=True)
class MovedRows:
    """Rows that one task read and another writes, as a message of Arrow; some may be marked as deletes."""

    target: WriteTarget
    rows: bytes
    are_marked: bool = False


Moved = MovedRows | SplitOutcome


@dataclass(frozen=True, slots=True)
class KeyedTask:
    """Both halves of the task; picklable.

    Input that is read twice is divided into the same parts, so either half may be retried.
    """

    task: SplitTask
    part_count: int

    def splits_apart(self, reader: SplitReader, splits: Sequence[Split]) -> Iterator[tuple[int, Moved]]:
        """Reads these splits, and yields their rows, in order, with the part to which their keys belong."""
        rows = self.task.sorting(reader.plan, reader.record_format)
        try:
            yield from self._apart(rows, self.task.of_splits(rows, reader, splits))
        except Unreadable:
            yield from self._to_all(unreadable(rows, reader, splits))

    def messages_apart(
        self, plan: ReadPlan, bounds: ReadBounds, messages: Iterable[Message]
    ) -> Iterator[tuple[int, Moved]]:
        """Reads messages, and yields their rows in the same way."""
        yield from self._apart(*self.task.of_messages(plan, bounds, messages))

    def _apart(self, rows: SortedRows, pairs: Pairs) -> Iterator[tuple[int, Moved]]:
        turn = count()
        try:
            for destination, batch in gathered(pairs, self._gathered_bytes()):
                parts: Iterable[tuple[int, pa.RecordBatch]]
                if destination.target.is_upsert:
                    parts = self.task.data_files.key_parts(destination, batch, self.part_count)
                else:
                    # Rows to append may be written by any task.
                    parts = [(next(turn) % self.part_count, batch)]
                for part, some in parts:
                    for rows_of_part in _pieces(some):
                        message = rows_of_part.serialize().to_pybytes()
                        are_marked = rows_of_part.schema.names[-1:] == [DELETE_MARK]
                        yield part, MovedRows(destination.target, message, are_marked)
            yield 0, rows.outcome()
        except CallerError as failure:
            yield from self._to_all(rows.failed(failure))

    def _to_all(self, outcome: SplitOutcome) -> Iterator[tuple[int, Moved]]:
        # If only some parts received it, an earlier try of theirs might have succeeded.
        for part in range(self.part_count):
            yield part, outcome

    def _gathered_bytes(self) -> int:
        # Divided among many parts, a smaller batch would give messages of only a few rows.
        return min(self.part_count * _MESSAGE_BYTES, _MOST_BYTES)

    def together(self, moved: Iterator[Moved]) -> list[SplitOutcome]:
        """Writes the rows of one part, in the order in which they were read, and returns all outcomes."""
        reported: list[SplitOutcome] = []
        try:
            results = self.task.data_files.write_all(self._rows(moved, reported))
        except CallerError as failure:
            return [*reported, SplitOutcome(failure=failure)]
        return [*reported, SplitOutcome(write_results_to_bytes(results))]

    def _rows(
        self, moved: Iterator[Moved], reported: list[SplitOutcome]
    ) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        known = {destination.target: destination for destination in self.task.destinations}
        schemas: dict[tuple[WriteTarget, bool], pa.Schema] = {}
        for item in moved:
            match item:
                case SplitOutcome():
                    reported.append(item)
                case MovedRows(target, data, are_marked):
                    kind = (target, are_marked)
                    if kind not in schemas:
                        schemas[kind] = self._schema(known, *kind)
                    rows = pa.ipc.read_record_batch(pa.py_buffer(data), schemas[kind])
                    yield known[target], rows

    def _schema(
        self, known: dict[WriteTarget, Destination], target: WriteTarget, are_marked: bool
    ) -> pa.Schema:
        if target in known:
            found = known[target]
            fields = written_fields(found.table.schema, target.write_schema_column_ids)
            return marked_schema(fields) if are_marked else arrow_schema(fields)
        assert isinstance(self.task.dead_letters, DeadLetters), "those of a micro-batch are not moved"
        known[target] = self.task.dead_letters.destination(target.key.table)
        return arrow_schema(FIELDS)


def _pieces(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    length = max(-(-rows.num_rows * _MOST_MESSAGE_BYTES // max(rows.nbytes, 1)), 1)
    for start in range(0, rows.num_rows, length):
        yield rows.slice(start, length)
