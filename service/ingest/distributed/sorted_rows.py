"""Separates a task's rows into those that fit, by target, and those that do not, which are counted.

Rows that do not fit may become dead letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from service.errors.gateway_error import CallerError
from service.ingest.dead_letters.dead_letters import DeadLetterSink
from service.ingest.decoding.streams.rows import BadRow, Rows, TargetRows
from service.ingest.distributed.split_reader import of_file
from service.ingest.request_rows import Unfit
from service.model.ingest.ingest import BadRecord
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.validation_schema import UnreadableFile
from service.model.ingest.writing import Destination

MAX_REPORTED = 100


@dataclass(frozen=True, slots=True)
class SplitOutcome:
    """The outcome of one task.

    `results` are write results, spelled as in `service.committables`. With a `failure`, or with
    `unreadable` files, there are no results and no files. `bad` are the first records that did not fit.
    """

    results: bytes = b""
    bad: tuple[BadRecord, ...] = ()
    bad_count: int = 0
    row_count: int = 0
    failure: CallerError | None = None
    unreadable: tuple[UnreadableFile, ...] = ()


class SortedRows:
    """A separator of one task's rows, which then reports the task's outcome.

    `place_of_line`, if given, returns a record's place, which is reported instead of its line. Without
    `has_rows`, only dead letters are written.
    """

    def __init__(
        self,
        destinations: tuple[Destination, ...],
        record_format: RecordFormat,
        dead_letters: DeadLetterSink | None,
        place_of_line: Callable[[int], str] | None = None,
        *,
        is_routed: bool,
        has_rows: bool = True,
    ) -> None:
        self._has_rows = has_rows
        self._is_routed = is_routed
        self._destinations = destinations
        self._record_format = record_format
        self._dead_letters = dead_letters
        self._place_of_line = place_of_line
        self._place = ""
        self._reported: list[BadRecord] = []
        self._bad_count = 0
        self._row_count = 0

    def sorted_out(self, place: str, rows: Iterable[Rows]) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields what is to be written of these rows, which come from this place."""
        self._place = place
        for row in rows:
            if isinstance(row, TargetRows):
                self._row_count += row.rows.num_rows
                # Without dead letters one bad record is enough to write nothing.
                if self._has_rows and (self._dead_letters is not None or not self._bad_count):
                    yield self._destinations[row.target], row.rows
            else:
                unfit = self._unfit(row)
                if self._dead_letters is not None:
                    yield from self._dead_letters.take(unfit)

    def rest(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields what remains to be written after all rows."""
        if self._dead_letters is not None:
            yield from self._dead_letters.rest()

    def outcome(self, results: bytes = b"") -> SplitOutcome:
        """Returns the outcome so far."""
        return SplitOutcome(results, tuple(self._reported), self._bad_count, self._row_count)

    def failed(self, failure: CallerError) -> SplitOutcome:
        """Returns the outcome of a task that a retry would not fix."""
        return SplitOutcome(failure=of_file(self._place, failure))

    def _unfit(self, bad: BadRow) -> Unfit:
        has_lines = self._record_format.is_text
        reported = self._as_reported(bad, has_lines)
        self._bad_count += 1
        if len(self._reported) < MAX_REPORTED:
            self._reported.append(reported)
        payload_format = self._record_format if has_lines else RecordFormat.NDJSON
        # An unparsable record has no route; without routes, there is only one write.
        write = bad.target if self._is_routed else 0
        return Unfit(reported, bad.payload, payload_format, write)

    def _as_reported(self, bad: BadRow, has_lines: bool) -> BadRecord:
        number = bad.position.number
        place = self._place if self._place_of_line is None else self._place_of_line(number)
        # In a body, which has no place, lines and rows are reported by their numbers alone.
        reason = f"{place}: {bad.reason}" if place else bad.reason
        if self._place_of_line is not None:
            return BadRecord(place, reason)
        if has_lines:
            return BadRecord(place, reason, line=number, column=bad.position.column)
        return BadRecord(place, reason, row=number)
