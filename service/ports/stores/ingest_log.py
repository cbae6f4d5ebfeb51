"""The log of accepted ingests, and the records of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from service.model.ingest.commit_rounds import PendingRound, WaitingIngests
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.ingest_history import IngestListing, TableIngests
from service.model.ingest.writing import TableKey, WriteResult

OnRefused = Callable[[int], None]
"""Called with the number of accepted ingests that one of their tables has just refused."""


def count_nothing(_: int) -> None:
    """For callers that count nothing."""


class IngestLog(Protocol):
    """Accepted ingests until they are committed, and what became of them since."""

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        """Keeps the ingest durably; from now on it will be committed, whatever happens to this process.

        The exception is a table that changes so that the commit is impossible; the state then reports it
        (`IngestState`). The first of a caller's requests with the same `request_id` wins: all get its record.

        Raises:
            MetricsStoreDown: the log does not answer; the ingest may or may not be in it.
        """

    def find(self, ingest_id: UUID) -> IngestRecord | None:
        """Returns the ingest as it is now.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> IngestRecord | None:
        """Returns the ingest by the id that this caller gave the request.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def waiting(self) -> WaitingIngests:
        """Counts what waits to be committed, of all replicas. An ingest of several tables counts once.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def round(
        self, key: TableKey, max_files: int, on_refused: OnRefused = count_nothing
    ) -> AbstractContextManager[PendingRound | None]:
        """Takes what waits for one table and branch, as one round that nobody else has while it is open.

        Yields None if nothing waits, or another replica has the round. A round that a crash left open comes
        again before anything new, with the same id and files. `on_refused` is called with the number of its
        ingests that were refused, some or all, as soon as the log has it.

        Raises:
            MetricsStoreDown: the log does not answer.
        """


class IngestHistory(Protocol):
    """The ingest log, read for many ingests at once, and kept small."""

    def ingests(self, listing: IngestListing) -> Sequence[IngestRecord]:
        """Lists a caller's ingests, the newest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        """Lists, by name, every table that data was accepted for or committed to since then.

        Raises:
            MetricsStoreDown: the log does not answer.
        """

    def forget_before(self, moment: datetime, limit: int) -> int:
        """Deletes at most `limit` ingests that ended before then, except those with a part that waits.

        Also kept is an ingest of a stream's batch that its stream does not know to be done: the batch may
        come again. Returns how many were deleted. Their files belong to the table, or to nothing.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
