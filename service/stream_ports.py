"""The external parts that streams need: small Protocols, as in `service.ingest_ports`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from service.errors import GatewayError
from service.model.ingest.micro_batches import FoundFiles, MicroBatch
from service.model.ingest.stream_standing import StreamProgress
from service.model.ingest.streams import BatchDone, CreatorRoles, StreamRecord, StreamSource, StreamState


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


class StreamMetrics(Protocol):
    """Metrics of the streams in this process since its start. Nothing blocks, nothing raises."""

    def batch_done(self) -> None:
        """Counts a micro-batch that is in its tables."""

    def failed(self, code: str) -> None:
        """Counts a run that failed, by the code of its error."""


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


class StreamSources(Protocol):
    """The places that the operator lets streams read."""

    def check(self, source: StreamSource) -> None:
        """Checks that a stream may read there.

        Raises:
            SourceNotAllowed: it may not.
            StreamInvalid: it cannot be the source of a stream.
        """

    def files(self, uris: Sequence[str]) -> FoundFiles:
        """Returns these files of a folder as they are now, and those that are gone or have no address.

        Raises:
            SourceNotAllowed: a file lies outside of the allowed locations.
            StreamSourceDown: a file is gone, and so is the folder.
            StorageDown: the storage does not answer.
        """
