"""All streams: accepting them, looking them up, stopping and resuming them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from service.errors.source_errors import StreamInvalid, StreamNotFound
from service.idempotency import same_request, sent_before
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.stream_creator import roles_of
from service.ingest.streaming.stream_ports import ReadBody, StreamPace, StreamPorts
from service.ingest.streaming.stream_runner import StreamRunner
from service.ingest.write_rights import check_write_rights
from service.model.authentication.principals import Principal
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.sources import SourceRecords
from service.model.ingest.stream_standing import StreamLag
from service.model.ingest.streams import (
    CreatorRoles,
    DirectorySource,
    StreamRecord,
    StreamSource,
    StreamState,
)
from service.model.policies.decisions import FULL_ACCESS, Access


class StreamService:
    """The streams of this gateway; any thread may call any method. `runner` runs them."""

    def __init__(
        self, ports: StreamPorts, ingests: IngestService, read_body: ReadBody, pace: StreamPace
    ) -> None:
        self.read_body = read_body
        self._ports = ports
        self._ingests = ingests
        self._pace = pace
        self.runner = StreamRunner(ports, ingests, read_body, pace)

    def create(
        self,
        name: str,
        body: Mapping[str, Any],
        creator: Principal,
        access: Access,
        request_id: UUID | None = None,
    ) -> StreamRecord:
        """Accepts a stream; it begins within moments, here or in another replica.

        A `requestId` that this caller has sent before returns the earlier stream, whatever its state is now.

        Raises:
            RequestIdReused: the requestId is known, with another body.
            StreamInvalid, SourceNotAllowed: its source cannot be read here.
            GatewayError: its tables cannot be written as requested.
        """
        fingerprint, caller = _fingerprint(name, body), creator.name
        before = sent_before(self._find_request, caller, request_id, fingerprint)
        if before is not None:
            return before
        definition = self.read_body(body)
        if any(write.is_inferred for write in definition.writes):
            raise StreamInvalid("The columns of a stream cannot be inferred: name them in writeSchema.")
        self._ports.sources.check(definition.source)
        self._ports.queries.check(definition.source)
        if self._is_full():
            # The last place may have gone to the same request, sent to another replica in the meantime.
            before = sent_before(self._find_request, caller, request_id, fingerprint)
            if before is None:
                raise self._too_many()
            return before
        # This check comes last, because it may create tables.
        self._ingests.check(
            IngestRequest(
                definition.writes,
                "",
                on_error=definition.on_error,
                route=definition.route,
                executed=_records_of(definition.source),
            ),
            access,
        )
        record = StreamRecord(
            uuid4(),
            caller,
            name,
            body,
            self._ports.clock.now(),
            request_id=request_id,
            fingerprint=fingerprint,
            creator_roles=roles_of(creator),
        )
        added = self._ports.store.add(record)
        self.runner.look_now(record.stream_id)
        return same_request(added, fingerprint)

    def list(self, caller: str | None) -> Sequence[StreamRecord]:
        """Returns the caller's streams, the newest first. None: those of all callers.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._ports.store.streams(caller)

    def lag_of(self, stream_id: UUID) -> StreamLag | None:
        """Returns how far a stream is behind, at once; None if another gateway runs it, or none does."""
        return self.runner.lag_of(stream_id)

    def find(self, stream_id: UUID, caller: str) -> StreamRecord:
        """Returns the stream as it is now.

        Raises:
            StreamNotFound: this caller has no such stream.
            MetricsStoreDown: the store does not answer.
        """
        found = next((record for record in self.list(caller) if record.stream_id == stream_id), None)
        if found is None:
            raise StreamNotFound
        return found

    def stop(self, stream_id: UUID, caller: str) -> StreamRecord:
        """Stops a stream; its progress is kept. Stopping it twice is fine.

        Raises:
            StreamNotFound: this caller has no such stream.
            MetricsStoreDown: the store does not answer.
        """
        self.find(stream_id, caller)
        self._move(stream_id, StreamState.STOPPED)
        return self.find(stream_id, caller)

    def stop_any(self, stream_id: UUID) -> None:
        """Stops a stream, whoever created it.

        Raises:
            StreamNotFound: there is no such stream.
            MetricsStoreDown: the store does not answer.
        """
        if all(record.stream_id != stream_id for record in self.list(None)):
            raise StreamNotFound
        self._move(stream_id, StreamState.STOPPED)

    def resume(self, stream_id: UUID, creator: Principal, access: Access) -> StreamRecord:
        """Resumes a stream that does not run; it continues where it was, with the roles of now.

        Raises:
            StreamNotFound: this caller has no such stream.
            TableAccessDenied: it may not write to the stream's tables now.
            StreamInvalid: the maximum number of streams runs; a stream that already runs may still be
                resumed.
            MetricsStoreDown: the store does not answer.
        """
        found = self.find(stream_id, creator.name)
        if access is not FULL_ACCESS:
            definition = self.read_body(found.body)
            check_write_rights(definition.writes, definition.on_error, access)
        if found.state is not StreamState.RUNNING and self._is_full():
            raise self._too_many()
        self._move(stream_id, StreamState.RUNNING, roles_of(creator))
        return self.find(stream_id, creator.name)

    def _move(self, stream_id: UUID, state: StreamState, resumed_by: CreatorRoles | None = None) -> None:
        self._ports.store.move(stream_id, state, resumed_by=resumed_by)
        self.runner.look_now(stream_id)

    def _is_full(self) -> bool:
        return len(self._ports.store.streams(state=StreamState.RUNNING)) >= self._pace.running_at_most

    def _too_many(self) -> StreamInvalid:
        return StreamInvalid(
            f"{self._pace.running_at_most} streams run already, which is what stream_max_running allows."
        )

    def _find_request(self, caller: str, request_id: UUID) -> StreamRecord | None:
        return next((record for record in self.list(caller) if record.request_id == request_id), None)


def _records_of(source: StreamSource) -> SourceRecords | None:
    """Returns the form of the records; None for messages. It says what a write may ask of them."""
    return source.records if isinstance(source, DirectorySource) else None


def _fingerprint(name: str, body: Mapping[str, Any]) -> str:
    """Returns a text that is the same for the same body."""
    return hashlib.sha256(json.dumps([name, body], sort_keys=True).encode()).hexdigest()
