"""One micro-batch of a stream, in the gateway's terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import TypeVar
from uuid import UUID

from pyspark import RDD
from pyspark.sql import DataFrame

from service.errors.unavailable import ExecutorsFailed
from service.model.ingest.micro_batches import Message
from spark_session.session.warm_session import WarmSession
from spark_session.streaming.executors import regrouped, spark_errors
from spark_session.streaming.stream_checkpoint import StreamCheckpoint
from spark_session.streaming.stream_failures import StreamFailures
from spark_session.streaming.topic_partitions import of_partition, placed_messages

# Spark's id of a stream's progress; it is in the checkpoint, and survives restarts.
_QUERY_ID = "sql.streaming.queryId"
R = TypeVar("R")
V = TypeVar("V")


class SparkMicroBatch:
    """Implements `service.model.ingest.micro_batches.MicroBatch` within Spark's callback, in its thread."""

    def __init__(
        self, session: WarmSession, rows: DataFrame, batch_id: int, failures: StreamFailures, checkpoint: str
    ) -> None:
        self._checkpoint = StreamCheckpoint(session, checkpoint)
        self._session = session
        self._failures = failures
        self._rows = rows
        self._files: Sequence[str] | None = None
        self.batch_id = batch_id
        self.checkpoint_id = UUID(session.context.getLocalProperty(_QUERY_ID))

    def position(self) -> str:
        """See `service.model.ingest.micro_batches.MicroBatch`."""
        return sha256("\n".join(self._checkpoint.offsets(self.batch_id)).encode()).hexdigest()

    def files(self) -> Sequence[str]:
        """See `service.model.ingest.micro_batches.MicroBatch`."""
        if self._files is None:
            # Not from the rows: they silently leave out files that are gone.
            self._files = tuple(dict.fromkeys(self._checkpoint.planned_files(self.batch_id)))
        return self._files

    def map(self, function: Callable[[Iterator[Message]], R]) -> list[R]:
        """See `service.model.ingest.micro_batches.MicroBatch`."""
        return self._collected(lambda: self._rows.rdd.mapPartitions(partial(of_partition, function)))

    def regroup(
        self,
        apart: Callable[[Iterator[Message]], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        part_count: int,
    ) -> list[R]:
        """See `service.model.ingest.micro_batches.MicroBatch`."""

        def parts() -> RDD[R]:
            values = self._rows.rdd.mapPartitions(partial(placed_messages, apart))
            return regrouped(values, together, part_count)

        return self._collected(parts)

    def _collected(self, results: Callable[[], RDD[R]]) -> list[R]:
        try:
            with spark_errors(self._session):
                return results().collect()
        except ExecutorsFailed as failure:
            raise self._failures.known([str(failure.__cause__)]) or failure from failure
