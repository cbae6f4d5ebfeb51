"""All ingests of this gateway: accepting them, following them to their commit, and looking them up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import IngestNotFound, RecordsInvalid, TooManyIngests
from service.errors.unavailable import ShuttingDown
from service.ingest.audited_ingest import audited_ingest, note_accepted
from service.ingest.committing.committer import Committer
from service.ingest.dead_letters.rejected_counts import with_rejected_counts
from service.ingest.run_ingest import IngestPorts, destinations_of, run_ingest
from service.ingest.traced_ingest import reported
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.ingest_history import IngestListing, IngestSummary
from service.model.ingest.ingest_request import IngestRequest
from service.model.policies.decisions import Access
from service.model.tables.dead_letter_names import SUFFIX
from service.model.tables.schemas import TableSchema
from service.ports.stores.ingest_log import IngestHistory
from service.ports.tables.data_files import Spool
from service.ports.tables.sources import never
from service.tracing import step

ReadSchema = Callable[[Mapping[str, Any]], TableSchema]
"""A function that reads Iceberg's JSON of a schema, or raises IngestInvalid."""
SUMMARY_OF = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Accepted:
    """An ingest that will be committed or reported as `FAILED`; `settled` resolves when nothing waits."""

    record: IngestRecord
    settled: Future[None]


class IngestService:
    """The ingests of this gateway; any thread may call any method."""

    def __init__(
        self,
        ports: IngestPorts,
        committer: Committer,
        read_schema: ReadSchema,
        history: IngestHistory,
        max_waiting: int = 10_000,
    ) -> None:
        self.read_schema = read_schema
        self._history = history
        self._ports = ports
        self._committer = committer
        self._max_waiting = max_waiting
        self._is_ending = threading.Event()

    def new_spool(self) -> Spool:
        """Returns space for the body of an ingest, until it is closed.

        Raises:
            ShuttingDown: nothing is taken in any more.
        """
        self._check_taking()
        return self._ports.spools.new()

    def accept(
        self, request: IngestRequest, caller: str, access: Access, is_canceled: Callable[[], bool] = never
    ) -> Accepted:
        """Writes the files and makes them durable; blocks until then, and their commit follows by itself.

        The caller's rights are decided here; a commit after it asks nobody.

        `is_canceled` is polled until the files of a source are found. From then on the ingest is accepted
        whether or not the caller still waits for it: the same `requestId` finds it.

        Raises:
            ShuttingDown: nothing is taken in any more.
            IngestCanceled: `is_canceled` said so.
            GatewayError: as `run_ingest` does; nothing was accepted.
        """
        self._check_taking()
        with (
            step("sluice.ingest") as span,
            self._counting_refusals(),
            audited_ingest(request, caller, self._ports.trail, self._ports.clock),
            self._committer.expecting(dict.fromkeys(write.key for write in request.writes)),
        ):
            ports = self._ports.within(access).canceled_by(is_canceled)
            record = run_ingest(request, caller, ports, self._check_room)
            note_accepted(record)
            if span.is_recorded:
                reported(span, record)
        return Accepted(record, self._committer.follow(record))

    def check(self, request: IngestRequest, access: Access) -> None:
        """Checks that its tables can be written as requested; its records are not read.

        Raises:
            GatewayError: they cannot be.
        """
        destinations_of(request, self._ports.within(access))

    def find(self, ingest_id: UUID, caller: str) -> IngestRecord:
        """Returns the ingest as it is now.

        Raises:
            IngestNotFound: this caller has no such ingest.
            MetricsStoreDown: the log does not answer.
        """
        found = self._committer.settled(ingest_id) or self._ports.log.find(ingest_id)
        if found is None or found.caller != caller:
            raise IngestNotFound
        return found

    def settling(self, ingest_id: UUID) -> Future[None] | None:
        """Returns what resolves when nothing of the ingest waits; None: only the log can say it.

        All callers share it: never cancel it.
        """
        return self._committer.following(ingest_id)

    def sent_before(self, request_id: UUID, caller: str) -> IngestRecord | None:
        """Returns the ingest of this caller's with this id; None also where the log has forgotten it.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        return self._ports.log.find_request(caller, request_id)

    def list(self, listing: IngestListing) -> Sequence[IngestRecord]:
        """Returns a caller's ingests, the newest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        return self._history.ingests(listing)

    def summary(self, since: datetime | None, table: str | None) -> IngestSummary:
        """Returns what all callers wrote to each table, and at which cost; without `since`, in the last day.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        beginning = since or self._ports.clock.now() - SUMMARY_OF
        found = self._history.tables(beginning, table)
        dead_letters = found if table is None else self._history.tables(beginning, f"{table}{SUFFIX}")
        return IngestSummary(beginning, with_rejected_counts(found, dead_letters))

    def count_backlog(self) -> None:
        """Reports what waits now to the metrics."""
        self._ports.metrics.backlog(self._committer.backlog())

    def stop_taking(self) -> None:
        """Accepts no further ingests; those that were accepted are committed."""
        self._is_ending.set()

    def close(self, timeout_s: float) -> None:
        """Ends running rounds; what waits is committed after the next start, or by another replica."""
        self._committer.close(timeout_s)

    @contextmanager
    def _counting_refusals(self) -> Iterator[None]:
        try:
            yield
        except GatewayError as refusal:
            self._ports.metrics.refused(refusal.code)
            if isinstance(refusal, RecordsInvalid):
                self._ports.metrics.rejected(refusal.bad_count)
            raise

    def _check_taking(self) -> None:
        if self._is_ending.is_set():
            raise ShuttingDown

    def _check_room(self) -> None:
        if self._committer.waiting_count >= self._max_waiting:
            raise TooManyIngests(f"{self._max_waiting} ingests wait to be committed.", retry_after_s=5)
