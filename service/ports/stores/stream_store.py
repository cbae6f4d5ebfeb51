"""Streams that are kept, and the lease by which one replica runs each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from service.errors.gateway_error import GatewayError
from service.model.ingest.streams import BatchDone, CreatorRoles, StreamRecord, StreamState


class StreamLease(Protocol):
    """The right to run one stream; one replica has it at a time."""

    def is_held(self) -> bool:
        """Whether this replica still has it; it is lost with the connection to its store."""

    def release(self) -> None:
        """Lets another replica take it."""


class StreamStore(Protocol):
    """All streams, of all replicas."""

    def add(self, record: StreamRecord) -> StreamRecord:
        """Keeps a new stream. A caller's first stream with the same `request_id` wins: all get its record.

        Raises:
            MetricsStoreDown: the store does not answer; the stream may or may not be in it.
        """

    def streams(self, caller: str | None = None, state: StreamState | None = None) -> Sequence[StreamRecord]:
        """Lists the streams of a caller, or in a state, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def move(
        self,
        stream_id: UUID,
        state: StreamState,
        error: GatewayError | None = None,
        *,
        resumed_by: CreatorRoles | None = None,
    ) -> None:
        """Records the state and error of a running stream; of any other stream only if it is resumed.

        Who resumes a stream is its creator: these roles replace those that it had.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def done(self, stream_id: UUID, batch: BatchDone) -> None:
        """Records that a micro-batch is in the tables; once, however often it is reported.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def lease(self, stream_id: UUID) -> StreamLease | None:
        """Returns the right to run the stream; None: another replica has it.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
