"""Ingests as the HTTP layer uses them: in memory, failing or waiting when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from service.errors.ingest_errors import IngestCanceled, IngestInvalid, IngestNotFound
from service.errors.unavailable import MetricsStoreDown
from service.ingest.audited_ingest import note_accepted
from service.ingest.ingest_service import Accepted, IngestService
from service.model.ingest.ingest import IngestCommit, IngestRecord, WrittenTarget
from service.model.ingest.ingest_history import IngestListing, IngestSummary, Spread, TableIngests
from service.model.ingest.ingest_request import IngestRequest, StreamedRecords
from service.model.policies.decisions import Access
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.tables import TableName
from service.ports.tables.sources import never
from tests.fakes.spools import FakeSpool, FakeSpools

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class FakeIngestGateway(IngestService):
    """Accepts every ingest unless there is a `refusal`, and commits it at once unless it `delays_commits`.

    It waits while `may_go_on` is not set. Commits that it holds are made when it is closed. Nothing is found
    while its log `is_down`. With a `commit_error`, which is a code and its detail, every table's commit
    fails, or only that of the `refusing_table`.
    """

    def __init__(self) -> None:
        self.refusal: Exception | None = None
        self.delays_commits = False
        self.is_down = False
        self.is_elsewhere = False
        """Whether another replica commits what is delayed."""
        self.commit_error: tuple[str, str] | None = None
        self.refusing_table: TableName | None = None
        self.records: dict[UUID, IngestRecord] = {}
        self.delayed: dict[UUID, Future[None]] = {}
        self.requests: list[IngestRequest] = []
        self.bodies: list[bytes] = []
        self.has_begun = threading.Event()
        self.has_delayed = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.was_canceled = threading.Event()
        self.spools = FakeSpools()

    def new_spool(self) -> FakeSpool:
        """Opens a spool; `spools.open_ones` lists those not yet closed."""
        return self.spools.new()

    def accept(
        self,
        request: IngestRequest,
        caller: str,
        access: Access,  # noqa: ARG002
        is_canceled: Callable[[], bool] = never,
    ) -> Accepted:
        self.has_begun.set()
        for _ in range(2_000):
            if self.may_go_on.wait(0.01):
                break
            if is_canceled():
                self.was_canceled.set()
                raise IngestCanceled
        if self.refusal is not None:
            raise self.refusal
        commits = tuple(
            IngestCommit(write.key, (WrittenTarget(write.key, (1, 2), 1, len(write.records), 100),))
            for write in request.writes
        )
        record = IngestRecord(uuid4(), caller, request.request_id, request.fingerprint, NOON, commits)
        self.requests.append(request)
        note_accepted(record)
        if isinstance(request.shared, StreamedRecords):
            self.bodies.append(request.shared.open().read())
        self.records[record.ingest_id] = record
        settled: Future[None] = Future()
        self.delayed[record.ingest_id] = settled
        self.has_delayed.set()
        if not self.delays_commits:
            self.commit_delayed()
        return Accepted(record, settled)

    def commit_delayed(self) -> None:
        """Commits every ingest that is held."""
        for ingest_id in list(self.delayed):
            settled = self.delayed.pop(ingest_id, None)
            if settled is not None:
                record = self.records[ingest_id]
                self.records[ingest_id] = replace(record, commits=tuple(map(self._done, record.commits)))
                settled.set_result(None)

    def _done(self, commit: IngestCommit) -> IngestCommit:
        if self.commit_error is None or self.refusing_table not in (None, commit.key.table):
            return replace(commit, snapshot_id=77)
        code, detail = self.commit_error
        return replace(commit, error_code=code, error_detail=detail)

    def find(self, ingest_id: UUID, caller: str) -> IngestRecord:
        if self.is_down:
            raise MetricsStoreDown
        found = self.records.get(ingest_id)
        if found is None or found.caller != caller:
            raise IngestNotFound
        return found

    def settling(self, ingest_id: UUID) -> Future[None] | None:
        return None if self.is_elsewhere else self.delayed.get(ingest_id)

    def list(self, listing: IngestListing) -> Sequence[IngestRecord]:
        own = [record for record in self.records.values() if record.caller == listing.caller]
        newest_first = sorted(own, key=lambda record: (record.accepted_at, record.ingest_id), reverse=True)
        return [record for record in newest_first if listing.takes(record)][: listing.limit]

    def summary(self, since: datetime | None, table: str | None) -> IngestSummary:
        found = TableIngests(
            "lake.logs.events",
            3,
            1,
            {"TABLE_CHANGED": 1},
            30,
            4,
            500,
            Spread(1, 2, 3),
            2,
            3,
            2,
            4,
            Spread(4, 5, 6),
        )
        return IngestSummary(since or NOON, [found] if table in (None, found.table) else [])

    @staticmethod
    def read_schema(schema: Mapping[str, Any]) -> TableSchema:
        """Reads schemas of the form `{"fields": [{"id", "name"}]}` only."""
        given = schema.get("fields")
        if not isinstance(given, list) or not all(isinstance(field, dict) for field in given):
            raise IngestInvalid("This is no schema.")
        fields = (Field(field.get("id", 0), field.get("name", ""), Primitive("string")) for field in given)
        return TableSchema(0, tuple(fields))

    def stop_taking(self) -> None:
        pass

    def close(self, timeout_s: float) -> None:  # noqa: ARG002
        self.commit_delayed()
