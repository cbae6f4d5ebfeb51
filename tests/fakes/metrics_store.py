"""An in-memory metrics store that can be taken down."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from threading import Lock
from uuid import UUID

from service.errors.unavailable import MetricsStoreDown
from service.model.operations.health import PartHealth, PartState
from service.model.query.query import QueryRecord


class FakeMetricsStore:
    def __init__(self) -> None:
        self.is_down = False
        self.refused: set[UUID] = set()
        self.batches: list[int] = []
        self.batch_sizes: list[int] = []
        self.attempts = 0
        self.purged_before: list[datetime] = []
        self._records: dict[UUID, QueryRecord] = {}
        self._lock = Lock()

    @property
    def records(self) -> list[QueryRecord]:
        with self._lock:
            return list(self._records.values())

    def record(self, records: Sequence[QueryRecord]) -> None:
        with self._lock:
            self.attempts += 1
            self._require_up()
            if any(record.query_id in self.refused for record in records):
                raise MetricsStoreDown()
            self.batches.append(len(records))
            self.batch_sizes.append(sum(len(record.sql) + len(record.spark_plan) for record in records))
            for record in records:
                if not self._has_request(record):
                    self._records.setdefault(record.query_id, record)

    def clear(self) -> None:
        with self._lock:
            self._records.clear()

    def find(self, query_id: UUID) -> QueryRecord | None:
        with self._lock:
            self._require_up()
            return self._records.get(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        with self._lock:
            self._require_up()
            return self._by_request(caller, request_id)

    def forget_before(self, moment: datetime) -> int:
        with self._lock:
            self._require_up()
            self.purged_before.append(moment)
            old = [record.query_id for record in self._records.values() if record.submitted_at < moment]
            for query_id in old:
                del self._records[query_id]
            return len(old)

    def health(self) -> PartHealth:
        if self.is_down:
            return PartHealth("metricsStore", PartState.DOWN, "The metrics store does not answer.")
        return PartHealth("metricsStore", PartState.UP)

    def _require_up(self) -> None:
        if self.is_down:
            raise MetricsStoreDown()

    def _has_request(self, record: QueryRecord) -> bool:
        if record.request_id is None:
            return False
        return self._by_request(record.caller, record.request_id) is not None

    def _by_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        asked = (caller, request_id)
        return next(
            (record for record in self._records.values() if (record.caller, record.request_id) == asked), None
        )
