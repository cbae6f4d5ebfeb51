"""What streams need from outside: Protocols of at most five methods, as in `service.ingest_ports`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from service.errors import GatewayError
from service.model.ingest.micro_batches import FoundFiles, MicroBatch
from service.model.ingest.stream_standing import StreamProgress
from service.model.ingest.streams import BatchDone, StreamRecord, StreamSource, StreamState


class StreamLease(Protocol):
    """The right to run one stream, which one replica has at a time."""

    def is_held(self) -> bool:
        """Whether it still is ours; it goes with the connection to where it is kept."""

    def release(self) -> None:
        """Lets another replica have it."""


class StreamStore(Protocol):
    """All streams, of all replicas."""

    def add(self, record: StreamRecord) -> StreamRecord:
        """Keeps a new stream. Of a caller's with the same `request_id` the first wins, and is what all get.

        Raises:
            MetricsStoreDown: the store does not answer; the stream may or may not be in it.
        """

    def streams(self, caller: str | None = None, state: StreamState | None = None) -> Sequence[StreamRecord]:
        """Those of a caller, or in a state, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def move(
        self,
        stream_id: UUID,
        state: StreamState,
        error: GatewayError | None = None,
        *,
        is_resumed: bool = False,
    ) -> None:
        """Takes down the state and the error of a stream that is running; of any other only if it is resumed.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def done(self, stream_id: UUID, batch: BatchDone) -> None:
        """Takes down that a micro-batch is in the tables; once, however often it is told.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def lease(self, stream_id: UUID) -> StreamLease | None:
        """The right to run the stream; None: another replica has it.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class RunningStream(Protocol):
    """One stream's query."""

    def is_active(self) -> bool:
        """Whether it reads on."""

    def has_read(self) -> bool:
        """Whether its source has answered since it was started."""

    def progress(self) -> StreamProgress:
        """How it is doing, as far as it says."""

    def failure(self) -> GatewayError | None:
        """What ended it, if it did not end by itself."""

    def stop(self) -> None:
        """Ends it; what it was working on is worked on again when it is started anew."""


class StreamMeters(Protocol):
    """Numbers of what streams did in this process since its start. Nothing blocks, nothing raises."""

    def batch_done(self) -> None:
        """Counts a micro-batch that is in its tables."""

    def failed(self, code: str) -> None:
        """Counts a run that failed, by the code of its error."""


OnBatch = Callable[[MicroBatch], None]
"""Writes a micro-batch; when it returns, the batch counts as read."""


class StreamQueries(Protocol):
    """Runs streams."""

    def check(self, source: StreamSource) -> None:
        """Whether what names its files, or its topic, can name any.

        Raises:
            StreamInvalid: it cannot.
            EngineNotReady, EngineLost: there is nobody to ask.
        """

    def start(
        self, stream_id: UUID, source: StreamSource, interval_ms: int, on_batch: OnBatch
    ) -> RunningStream:
        """Reads on from where the stream was.

        Raises:
            StreamInvalid, StreamFailed: the source cannot be read.
            EngineNotReady, EngineLost: there is nothing to run it on.
        """


class StreamSources(Protocol):
    """Where streams may read, as the operator lets them."""

    def check(self, source: StreamSource) -> None:
        """Whether a stream may read there.

        Raises:
            SourceNotAllowed: it may not.
            StreamInvalid: it is no source for a stream.
        """

    def files(self, uris: Sequence[str]) -> FoundFiles:
        """These very files of a folder, as they are now, and those that are gone or have no address.

        Raises:
            SourceNotAllowed: one lies outside of what may be read.
            StreamSourceDown: one is gone, and so is the folder.
            StorageDown: the storage does not answer.
        """
