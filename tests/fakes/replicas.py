"""Replicas that meet in memory and use the clock of their shared store."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from uuid import UUID

from service.errors.query_errors import ReplicaLost
from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import QueryListing, QuerySummary, summary_of
from service.model.query.query import QueryError, QueryState
from service.model.query.replicas import (
    BegunRequest,
    Decided,
    OpenQuery,
    ProgressReport,
    Replica,
    SeenReplica,
)
from tests.fakes.clock import FakeClock
from tests.fakes.metrics_store import FakeMetricsStore

LATELY_MS = 300_000


@dataclass
class Row:
    """An open query, the replica that runs it, whether its cancel was requested, and its last report."""

    replica_id: UUID
    query: OpenQuery
    reported_ms: int
    is_canceled: bool = False
    report: ProgressReport | None = None
    report_from_ms: int = 0
    report_until_ms: int = 0

    def seen(self, now_ms: int) -> OpenQuery:
        """Returns the query as other replicas see it at this moment."""
        is_fresh = self.report_from_ms <= now_ms <= self.report_until_ms
        elapsed_ms = self.query.elapsed_ms + now_ms - self.reported_ms
        return replace(self.query, elapsed_ms=elapsed_ms, report=self.report if is_fresh else None)


@dataclass
class MeetingPlace:
    """The state that all replicas share. Only time that a test advances here passes."""

    store: FakeMetricsStore
    clock: FakeClock = field(default_factory=FakeClock)
    seen_ms: dict[UUID, int] = field(default_factory=dict)
    started: dict[UUID, tuple[Replica, datetime]] = field(default_factory=dict)
    rows: dict[UUID, Row] = field(default_factory=dict)
    ended: set[UUID] = field(default_factory=set)
    """Replicas whose process has ended without a word."""
    lock: Lock = field(default_factory=Lock)

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(timedelta(seconds=seconds))

    def now_ms(self) -> int:
        """Returns the store's wall clock."""
        return round(self.clock.now().timestamp() * 1000)

    def open_rows(self) -> dict[UUID, Row]:
        """Returns the open queries, without those whose record was written."""
        if self.store.is_down:
            raise MetricsStoreDown()
        recorded = {record.query_id for record in self.store.records}
        self.rows = {query_id: row for query_id, row in self.rows.items() if query_id not in recorded}
        return self.rows


class FakeReplicas:
    def __init__(self, place: MeetingPlace, replica: Replica) -> None:
        self.place = place
        self.replica = replica
        self.beats = 0
        self.looks = 0
        self.claims = 0
        self.lists = 0
        self.reports: list[Mapping[UUID, ProgressReport]] = []

    def beat(
        self, opened: Sequence[OpenQuery], reported: Collection[UUID], closed: Collection[UUID]
    ) -> Decided:
        with self.place.lock:
            rows = self.place.open_rows()
            own, now_ms = self.replica.replica_id, self.place.now_ms()
            self.beats += 1
            self.place.seen_ms[own] = now_ms
            self.place.started.setdefault(own, (self.replica, self.place.clock.now()))
            known = {*reported, *(query.record.query_id for query in opened)}
            lost = frozenset(
                record.query_id
                for record in self.place.store.records
                if record.query_id in known
                and record.error is not None
                and record.error.code == ReplicaLost.code
            )
            for query in opened:
                query_id = query.record.query_id
                before = rows.get(query_id)
                if query_id not in lost:
                    opened_row = before or Row(own, query, now_ms)
                    rows[query_id] = replace(opened_row, query=query, reported_ms=now_ms)
            for query_id in closed:
                rows.pop(query_id, None)
            canceled = {
                query_id for query_id, row in rows.items() if row.replica_id == own and row.is_canceled
            }
            others = (seen_ms for replica_id, seen_ms in self.place.seen_ms.items() if replica_id != own)
            has_others = any(seen_ms > now_ms - LATELY_MS for seen_ms in others)
            return Decided(lost, frozenset(canceled), now_ms, has_others)

    def take_lost(self, lost_after_s: float) -> Collection[UUID]:
        with self.place.lock:
            rows = self.place.open_rows()
            now_ms, silence_ms = self.place.now_ms(), lost_after_s * 1000
            lost = [
                row.query.record
                for row in rows.values()
                if abs(now_ms - self.place.seen_ms.get(row.replica_id, -math.inf)) > silence_ms
            ]
            error = QueryError(ReplicaLost.code, ReplicaLost().detail)
            self.place.store.record(
                [replace(record, state=QueryState.FAILED, error=error, request_id=None) for record in lost]
            )
            return [record.query_id for record in lost]

    def find(self, query_ids: Collection[UUID]) -> Mapping[UUID, OpenQuery]:
        with self.place.lock:
            rows, now_ms = self.place.open_rows(), self.place.now_ms()
            return {query_id: row.seen(now_ms) for query_id, row in rows.items() if query_id in query_ids}

    def claim(self, query: OpenQuery) -> BegunRequest | None:
        asked, own, now_ms = query.record, self.replica.replica_id, self.place.now_ms()
        with self.place.lock:
            self.claims += 1
            rows = self.place.open_rows()
            open_records = [
                row.query.record for row in rows.values() if row.replica_id not in self.place.ended
            ]
            for record in (*open_records, *self.place.store.records):
                if (record.caller, record.request_id) == (asked.caller, asked.request_id):
                    return BegunRequest(record.query_id, record.fingerprint)
            self.place.seen_ms.setdefault(own, now_ms)
            rows[asked.query_id] = Row(own, query, now_ms)
            return None

    def listed(self, listing: QueryListing) -> Sequence[QuerySummary]:
        with self.place.lock:
            self.lists += 1
            rows = [
                row for row in self.place.open_rows().values() if row.replica_id != self.replica.replica_id
            ]
        queries = [row.seen(self.place.now_ms()) for row in rows]
        found = [replace(summary_of(query.record, query.elapsed_ms), queue=query.queue) for query in queries]
        taken = sorted(filter(listing.takes, found), key=lambda summary: summary.position, reverse=True)
        return taken[: listing.limit]

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        with self.place.lock:
            queries = [row.query for row in self.place.open_rows().values()]
        same = [
            query
            for query in queries
            if (query.record.caller, query.record.request_id) == (caller, request_id)
        ]
        return max(same, key=lambda query: query.record.submitted_at, default=None)

    def seen(self, limit: int) -> Sequence[SeenReplica]:
        with self.place.lock:
            rows, now_ms = self.place.open_rows(), self.place.now_ms()
            found = [
                (self.place.seen_ms.get(own), replica, started_at, own)
                for own, (replica, started_at) in self.place.started.items()
                if own in self.place.seen_ms or any(row.replica_id == own for row in rows.values())
            ]
        return [
            SeenReplica(
                replica,
                started_at,
                None if seen_ms is None else abs(now_ms - seen_ms),
                sum(row.replica_id == own for row in rows.values()),
                own == self.replica.replica_id,
            )
            for seen_ms, replica, started_at, own in sorted(
                found, key=lambda each: (math.inf if each[0] is None else -each[0], each[3].int)
            )
        ][:limit]

    def ask_to_cancel(self, query_id: UUID) -> None:
        with self.place.lock:
            row = self.place.open_rows().get(query_id)
            if row is not None:
                row.is_canceled = True

    def canceled(self) -> Collection[UUID]:
        with self.place.lock:
            rows = self.place.open_rows().items()
            own = self.replica.replica_id
            self.looks += 1
            return {query_id for query_id, row in rows if row.replica_id == own and row.is_canceled}

    def report_progress(self, reports: Mapping[UUID, ProgressReport], valid_s: float) -> None:
        with self.place.lock:
            rows, now_ms = self.place.open_rows(), self.place.now_ms()
            self.reports.append(reports)
            for query_id, report in reports.items():
                row = rows.get(query_id)
                if row is not None and row.replica_id == self.replica.replica_id:
                    row.report, row.report_from_ms = report, now_ms
                    row.report_until_ms = now_ms + round(valid_s * 1000)

    def leave(self) -> None:
        with self.place.lock:
            self.place.open_rows()
            self.place.seen_ms.pop(self.replica.replica_id, None)
