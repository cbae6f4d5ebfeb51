"""Futures of callers that wait for ingests to be committed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nsmallest
from uuid import UUID

from cachetools import FIFOCache

from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import TableKey

MAX_SETTLED = 1_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a round, for everything in it."""

    snapshot_id: int | None
    error_code: str | None = None
    error_detail: str | None = None


@dataclass(slots=True)
class _Waiter:
    keys: set[TableKey]
    record: IngestRecord | None
    """The ingest as far as it is known here; None: only the log has it."""
    settled: Future[None] = field(default_factory=Future)
    asked_count: int = 0
    """How often it was looked up in the log."""


class Waiters:
    """Futures by ingest, each resolved when all tables and branches of its ingest are settled.

    An ingest is settled when it is committed or refused; the log says which.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[UUID, _Waiter] = {}
        self._settled: FIFOCache[UUID, IngestRecord] = FIFOCache(MAX_SETTLED)

    def wait_for(self, record: IngestRecord) -> Future[None]:
        """Returns the ingest's future; all who ask while it waits get the same one."""
        keys = set(unsettled(record))
        with self._lock:
            waiter = self._waiters.get(record.ingest_id) or _Waiter(keys, record)
            if keys:
                self._waiters[record.ingest_id] = waiter
        if not keys and not waiter.settled.done():
            self._resolve([waiter])
        return waiter.settled

    def settle(self, key: TableKey, ingest_ids: Iterable[UUID], outcome: Outcome | None = None) -> None:
        """Notes that these ingests are settled for this table and branch.

        Without an outcome, it is unknown here how.
        """
        ended = []
        with self._lock:
            for ingest_id in ingest_ids:
                waiter = self._waiters.get(ingest_id)
                if waiter is None:
                    continue
                waiter.keys.discard(key)
                waiter.record = _settled(waiter.record, key, outcome)
                if not waiter.keys:
                    ended.append(self._waiters.pop(ingest_id))
                    self._remember(waiter.record)
        self._resolve(ended)

    def accepted_at(self, ingest_ids: Iterable[UUID]) -> list[datetime]:
        """Returns when those of these ingests were accepted that are waited for here."""
        with self._lock:
            waiting = [self._waiters[ingest_id] for ingest_id in ingest_ids if ingest_id in self._waiters]
        return [waiter.record.accepted_at for waiter in waiting if waiter.record is not None]

    def oldest_accepted_at(self) -> datetime | None:
        """Returns when the longest-waiting ingest was accepted, as far as it is known here."""
        with self._lock:
            known = (waiter.record for waiter in self._waiters.values() if waiter.record is not None)
            return next((record.accepted_at for record in known), None)

    def future_of(self, ingest_id: UUID) -> Future[None] | None:
        """Returns the future of an ingest that is waited for here."""
        with self._lock:
            waiter = self._waiters.get(ingest_id)
            return None if waiter is None else waiter.settled

    def settled(self, ingest_id: UUID) -> IngestRecord | None:
        """Returns one of the ingests that were settled last, as the log has it; None: ask the log."""
        with self._lock:
            return self._settled.get(ingest_id)

    def oldest(self, key: TableKey) -> UUID | None:
        """Returns the longest-waiting ingest for this table and branch."""
        with self._lock:
            return next(
                (ingest_id for ingest_id, waiter in self._waiters.items() if key in waiter.keys), None
            )

    def least_asked(self, key: TableKey, at_most: int) -> list[UUID]:
        """Returns some ingests that wait for this table and branch, those looked up least often."""
        with self._lock:
            waiting = (
                (ingest_id, waiter) for ingest_id, waiter in self._waiters.items() if key in waiter.keys
            )
            chosen = nsmallest(at_most, waiting, key=lambda pair: pair[1].asked_count)
            for _, waiter in chosen:
                waiter.asked_count += 1
        return [ingest_id for ingest_id, _ in chosen]

    def __len__(self) -> int:
        """Returns how many ingests are waited for."""
        with self._lock:
            return len(self._waiters)

    def keys(self) -> set[TableKey]:
        """Returns every table and branch that an ingest waits for."""
        with self._lock:
            return {key for waiter in self._waiters.values() for key in waiter.keys}

    def release(self) -> None:
        """Resolves all futures; the ingests are as the log has them."""
        with self._lock:
            waiters = list(self._waiters.values())
            self._waiters.clear()
        self._resolve(waiters)

    def _remember(self, record: IngestRecord | None) -> None:
        if record is not None:
            self._settled[record.ingest_id] = record

    def _resolve(self, waiters: Sequence[_Waiter]) -> None:
        for waiter in waiters:
            # The waiting caller may have canceled it.
            if waiter.settled.set_running_or_notify_cancel():
                waiter.settled.set_result(None)


def unsettled(record: IngestRecord) -> list[TableKey]:
    """Returns the tables and branches that the ingest still waits for."""
    return [
        commit.key for commit in record.commits if commit.snapshot_id is None and commit.error_code is None
    ]


def _settled(record: IngestRecord | None, key: TableKey, outcome: Outcome | None) -> IngestRecord | None:
    if record is None or outcome is None:
        return None
    commits = tuple(
        replace(
            commit,
            snapshot_id=outcome.snapshot_id,
            error_code=outcome.error_code,
            error_detail=outcome.error_detail,
        )
        if commit.key == key
        else commit
        for commit in record.commits
    )
    return replace(record, commits=commits)
