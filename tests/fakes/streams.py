"""Streams that are stored and never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from api.http.requests.stream_request import stream_definition
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.errors import StreamNotFound
from service.ingest.streaming.stream_service import StreamService
from service.model.ingest.streams import StreamRecord, StreamState
from service.model.policies.decisions import Access
from tests.fakes.stream_store import FakeStreamStore


class FakeStreams(StreamService):
    def __init__(self) -> None:
        self.store = FakeStreamStore()

    def create(
        self,
        name: str,
        body: Mapping[str, Any],
        caller: str,
        access: Access,  # noqa: ARG002
        request_id: UUID | None = None,
    ) -> StreamRecord:
        stream_definition(body, schema_from_json)
        at = datetime(2026, 1, 1, 12, tzinfo=UTC)
        return self.store.add(StreamRecord(uuid4(), caller, name, body, at, request_id=request_id))

    def list(self, caller: str) -> Sequence[StreamRecord]:
        return self.store.streams(caller)

    def find(self, stream_id: UUID, caller: str) -> StreamRecord:
        found = self.store.records.get(stream_id)
        if found is None or found.caller != caller:
            raise StreamNotFound
        return found

    def move(self, stream_id: UUID, state: StreamState, caller: str) -> StreamRecord:
        self.find(stream_id, caller)
        self.store.move(stream_id, state, is_resumed=state is StreamState.RUNNING)
        return self.find(stream_id, caller)
