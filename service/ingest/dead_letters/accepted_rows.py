"""Separates rows to write from records that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.ingest.dead_letters.dead_letters import DeadLetters
from service.ingest.decoding.streams.rows import TargetRows
from service.ingest.request_rows import Unfit
from service.model.ingest.ingest import BadRecord, Rejected
from service.model.ingest.writing import Destination, TableKey, WritableTable

MAX_REPORTED = 100


class AcceptedRows:
    """An iterable of the rows to write, which is read once and then knows the bad records.

    With dead letters, bad records become their rows. Without, one bad record is enough to write nothing, and
    all that follow are only counted.

    Raises, while it is iterated:
        RecordsInvalid: records do not fit; with the first hundred.
        IngestInvalid: there are no records.
    """

    def __init__(
        self,
        rows: Iterable[TargetRows | Unfit],
        destinations: Sequence[Destination],
        dead_letters: DeadLetters | None,
    ) -> None:
        self._rows = rows
        self._destinations = destinations
        self._dead_letters = dead_letters
        self._reported: list[BadRecord] = []
        self._bad_count = 0
        self._good_count = 0
        self.tables: dict[TableKey, WritableTable] = {}
        """Every table that rows were given for."""

    @property
    def rejected(self) -> Rejected:
        """The bad records so far."""
        return Rejected(self._bad_count, tuple(self._reported))

    def __iter__(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields the rows to be written, with their destinations."""
        for destination, rows in self._written():
            self.tables[destination.table.key] = destination.table
            yield destination, rows

    def _written(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        for row in self._rows:
            if isinstance(row, Unfit):
                self._count(row)
                if self._dead_letters is not None:
                    yield from self._dead_letters.take(row)
            else:
                self._good_count += row.rows.num_rows
                if self._dead_letters is not None or not self._bad_count:
                    yield self._destinations[row.target], row.rows
        self._check()
        if self._dead_letters is not None:
            yield from self._dead_letters.rest()

    def _count(self, unfit: Unfit) -> None:
        self._bad_count += 1
        if len(self._reported) < MAX_REPORTED:
            self._reported.append(unfit.record)

    def _check(self) -> None:
        count = self._bad_count + self._good_count
        if count == 0:
            raise IngestInvalid("There are no records.")
        if self._bad_count and self._dead_letters is None:
            reported = f"{self._bad_count} of {count} records do not fit."
            raise RecordsInvalid(reported, self._reported, self._bad_count)
