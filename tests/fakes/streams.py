"""Streams that are stored and never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from api.http.requests.stream_request import stream_definition
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.errors.source_errors import StreamNotFound
from service.ingest.streaming.stream_creator import roles_of
from service.ingest.streaming.stream_service import StreamService
from service.model.authentication.principals import Principal
from service.model.ingest.stream_standing import StreamLag
from service.model.ingest.streams import StreamRecord, StreamState
from service.model.policies.decisions import Access
from tests.fakes.stream_store import FakeStreamStore


class FakeStreams(StreamService):
    def __init__(self) -> None:
        self.store = FakeStreamStore()
        self.lags: dict[UUID, StreamLag] = {}

    def create(
        self,
        name: str,
        body: Mapping[str, Any],
        creator: Principal,
        access: Access,  # noqa: ARG002
        request_id: UUID | None = None,
    ) -> StreamRecord:
        stream_definition(body, schema_from_json)
        at = datetime(2026, 1, 1, 12, tzinfo=UTC)
        return self.store.add(StreamRecord(uuid4(), creator.name, name, body, at, request_id=request_id))

    def list(self, caller: str | None) -> Sequence[StreamRecord]:
        return self.store.streams(caller)

    def lag_of(self, stream_id: UUID) -> StreamLag | None:
        return self.lags.get(stream_id)

    def find(self, stream_id: UUID, caller: str) -> StreamRecord:
        found = self.store.records.get(stream_id)
        if found is None or found.caller != caller:
            raise StreamNotFound
        return found

    def stop(self, stream_id: UUID, caller: str) -> StreamRecord:
        self.find(stream_id, caller)
        self.store.move(stream_id, StreamState.STOPPED)
        return self.find(stream_id, caller)

    def stop_any(self, stream_id: UUID) -> None:
        if stream_id not in self.store.records:
            raise StreamNotFound
        self.store.move(stream_id, StreamState.STOPPED)

    def resume(self, stream_id: UUID, creator: Principal, access: Access) -> StreamRecord:  # noqa: ARG002
        self.find(stream_id, creator.name)
        resumed_by = roles_of(creator)
        self.store.move(stream_id, StreamState.RUNNING, resumed_by=resumed_by)
        return self.find(stream_id, creator.name)
