"""Writes in memory, and tables that tell of commits as a test says."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from service.errors.gateway_error import GatewayError
from service.errors.unavailable import MetricsStoreDown
from service.model.tables.tables import TableName
from service.model.writes.writes import WriteOutcome, WriteRecord
from service.ports.stores.write_log import FoundMark, MarkedCommit


class FakeWriteLog:
    """The `WriteLog` port. While `is_down`, it does not answer."""

    def __init__(self) -> None:
        self._records: dict[UUID, WriteRecord] = {}
        self._lock = threading.Lock()
        self.is_down = False

    def begin(self, record: WriteRecord) -> WriteRecord:
        with self._lock:
            self._check()
            if record.request_id is not None:
                for other in self._records.values():
                    if (other.caller, other.request_id) == (record.caller, record.request_id):
                        return other
            self._records.setdefault(record.query_id, record)
            return record

    def end(
        self, query_id: UUID, outcome: WriteOutcome, error_code: str | None, error_detail: str | None
    ) -> None:
        with self._lock:
            self._check()
            found = self._records.get(query_id)
            if found is not None and not found.state.is_final:
                self._records[query_id] = replace(
                    found, outcome=outcome, error_code=error_code, error_detail=error_detail
                )

    def find(self, query_id: UUID) -> WriteRecord | None:
        with self._lock:
            self._check()
            return self._records.get(query_id)

    def find_request(self, caller: str, request_id: UUID) -> WriteRecord | None:
        with self._lock:
            self._check()
            found = (each for each in self._records.values() if each.caller == caller)
            return next((each for each in found if each.request_id == request_id), None)

    def forget_before(self, moment: datetime) -> int:
        with self._lock:
            self._check()
            old = [each.query_id for each in self._records.values() if each.started_at < moment]
            for query_id in old:
                del self._records[query_id]
            return len(old)

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


class FakeCommitMarks:
    """The `CommitMarks` port: has the commits that a test puts in. `fault` is raised instead of an answer."""

    def __init__(self) -> None:
        self.commits: dict[UUID, MarkedCommit] = {}
        self.is_complete = True
        self.fault: GatewayError | None = None
        self.asked = 0

    def find(self, table: TableName, query_id: UUID, since: datetime) -> FoundMark:  # noqa: ARG002
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        found = self.commits.get(query_id)
        return FoundMark(found, is_complete=self.is_complete)
