"""The engine's streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from service.errors.gateway_error import GatewayError
from service.model.ingest.micro_batches import MicroBatch
from service.model.ingest.stream_standing import StreamProgress
from service.model.ingest.streams import StreamSource


class RunningStream(Protocol):
    """One stream's query."""

    def is_active(self) -> bool:
        """Whether it still reads."""

    def has_read(self) -> bool:
        """Whether its source has answered since it was started."""

    def progress(self) -> StreamProgress:
        """Returns its progress, as far as it is known."""

    def failure(self) -> GatewayError | None:
        """Returns the error that ended it, if any."""

    def stop(self) -> None:
        """Ends it; the batch in progress is repeated when the stream starts again."""


OnBatch = Callable[[MicroBatch], None]
"""Writes a micro-batch; when it returns, the batch counts as read."""


class StreamQueries(Protocol):
    """Runs streams."""

    def check(self, source: StreamSource) -> None:
        """Checks that the names of the source's files, or its topic, can match any.

        Raises:
            StreamInvalid: they cannot.
            EngineNotReady, EngineLost: there is no engine to ask.
        """

    def start(
        self, stream_id: UUID, source: StreamSource, interval_ms: int, on_batch: OnBatch
    ) -> RunningStream:
        """Continues to read from where the stream was.

        Raises:
            StreamInvalid, StreamFailed: the source cannot be read.
            EngineNotReady, EngineLost: there is no engine to run it on.
        """
