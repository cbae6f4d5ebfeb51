"""An in-memory store of streams that can be taken down, and whose leases can be lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from service.errors.gateway_error import GatewayError
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.streams import BatchDone, CreatorRoles, StreamRecord, StreamState


class FakeLease:
    def __init__(self, store: FakeStreamStore, stream_id: UUID) -> None:
        self._store = store
        self._stream_id = stream_id

    def is_held(self) -> bool:
        return self._store.leases.get(self._stream_id) is self

    def release(self) -> None:
        if self.is_held():
            del self._store.leases[self._stream_id]


class FakeStreamStore:
    def __init__(self) -> None:
        self.records: dict[UUID, StreamRecord] = {}
        self.leases: dict[UUID, FakeLease] = {}
        self.is_down = False

    def add(self, record: StreamRecord) -> StreamRecord:
        self._check()
        asked = (record.caller, record.request_id)
        same = [known for known in self.records.values() if (known.caller, known.request_id) == asked]
        if same and record.request_id is not None:
            return same[0]
        self.records[record.stream_id] = record
        return record

    def streams(self, caller: str | None = None, state: StreamState | None = None) -> Sequence[StreamRecord]:
        self._check()
        found = [
            record
            for record in self.records.values()
            if caller in (None, record.caller) and state in (None, record.state)
        ]
        return sorted(found, key=lambda record: record.created_at, reverse=True)

    def move(
        self,
        stream_id: UUID,
        state: StreamState,
        error: GatewayError | None = None,
        *,
        resumed_by: CreatorRoles | None = None,
    ) -> None:
        self._check()
        record = self.records[stream_id]
        if resumed_by is not None or record.state is StreamState.RUNNING:
            code, detail = (None, None) if error is None else (error.code, error.detail)
            self.records[stream_id] = replace(
                record,
                state=state,
                error_code=code,
                error_detail=detail,
                creator_roles=resumed_by or record.creator_roles,
            )

    def done(self, stream_id: UUID, batch: BatchDone) -> None:
        self._check()
        record = self.records[stream_id]
        if record.last_batch_id is None or record.last_batch_id < batch.batch_id:
            self.records[stream_id] = replace(
                record,
                checkpoint_id=batch.checkpoint_id,
                last_batch_id=batch.batch_id,
                last_batch_at=batch.at,
                batch_count=record.batch_count + 1,
                record_count=record.record_count + batch.record_count,
                rejected_count=record.rejected_count + batch.rejected_count,
            )

    def lease(self, stream_id: UUID) -> FakeLease | None:
        self._check()
        if stream_id in self.leases:
            return None
        self.leases[stream_id] = FakeLease(self, stream_id)
        return self.leases[stream_id]

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown
