"""Streams as Spark's Structured Streaming runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader

from service.errors.gateway_error import GatewayError
from service.errors.source_errors import StreamFailed, StreamInvalid
from service.errors.unavailable import EngineLost, EngineNotReady, ExecutorsFailed
from service.model.ingest.ingest_request import WriteFault
from service.model.ingest.stream_standing import StreamProgress
from service.model.ingest.streams import DirectorySource, KafkaSource, StreamSource
from service.ports.engine.stream_queries import OnBatch
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import sentence
from spark_session.streaming.executors import label
from spark_session.streaming.micro_batch import SparkMicroBatch
from spark_session.streaming.stream_failures import StreamFailures
from spark_session.streaming.stream_progress import stream_progress

log = structlog.get_logger(__name__)

_TWICE = "concurrently using the same checkpoint"
# Spark's status while it has nothing to do: its source has answered.
_IDLE = "Waiting for data to arrive"
_CAUSES_AT_MOST = 20
# All that Spark has of a file; a stream must be given a schema.
_FILE_SCHEMA = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
# Spark silently ignores files that are older than its newest file by more than this, a week by default; a
# moved file keeps its time. This is the largest possible age: Spark subtracts it from the newest time, which
# is never below zero.
_ANY_AGE = f"{2**63 - 1}ms"
# Operators may change these; a stream's own options are fixed.
_KAFKA_DEFAULTS = MappingProxyType(
    {
        # Messages of aborted transactions do not count.
        "kafka.isolation.level": "read_committed",
        # Silent servers are reported within a minute; Kafka's own bounds would take three.
        "kafka.default.api.timeout.ms": "30000",
        "fetchOffset.numRetries": "2",
    }
)


class SparkStreamQueries:
    """Implements `StreamQueries`; `session` returns the current session, if any.

    A stream's progress is in a folder of its own below `checkpoints`, which all replicas must see.
    `kafka_options` are the operator's, for Spark's Kafka source: how to log in, for one. Callers set none.
    """

    def __init__(
        self,
        session: Callable[[], WarmSession | None],
        checkpoints: str,
        kafka_options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._session = session
        self._checkpoints = checkpoints.rstrip("/")
        self._kafka_options = {**_KAFKA_DEFAULTS, **kafka_options}

    def check(self, source: StreamSource) -> None:
        """See `service.ports.engine.stream_queries.StreamQueries`."""
        if isinstance(source, DirectorySource) and source.glob is not None:
            _check_glob(source.glob, self._running_session())

    def start(
        self, stream_id: UUID, source: StreamSource, interval_ms: int, on_batch: OnBatch
    ) -> SparkRunningStream:
        """See `service.ports.engine.stream_queries.StreamQueries`."""
        self.check(source)
        session = self._running_session()
        failures = StreamFailures(source, self._kafka_options)
        checkpoint = f"{self._checkpoints}/{stream_id}"
        running = SparkRunningStream(session, on_batch, failures, checkpoint)
        try:
            label(session.context, str(stream_id))
            rows = self._rows(session.root.newSession(), source)
            running.query = (
                rows.writeStream.queryName(str(stream_id))
                .option("checkpointLocation", checkpoint)
                .trigger(processingTime=f"{interval_ms} milliseconds")
                .foreachBatch(running.take)
                .start()
            )
        except PySparkException as failure:
            known = failures.known([str(failure)])
            raise known or StreamInvalid(failures.masked(sentence(str(failure)))) from failure
        except (Py4JError, OSError) as failure:
            raise _lost(session, failure) from failure
        return running

    def _running_session(self) -> WarmSession:
        session = self._session()
        if session is None:
            raise EngineNotReady
        return session

    def _rows(self, spark: SparkSession, source: StreamSource) -> DataFrame:
        """Returns messages and their positions; of files, Spark only notes the names as they come."""
        match source:
            case DirectorySource():
                # Works for files of any kind: nothing is read unless their content is selected.
                reader = _reader(spark, "binaryFile", _folder_options(source))
                return reader.schema(_FILE_SCHEMA).load(source.uri).select("path")
            case KafkaSource():
                options = self._kafka_options | _topic_options(source)
                return _reader(spark, "kafka", options).load().select("value", "partition", "offset")


class SparkRunningStream:
    """Implements `service.ports.engine.stream_queries.RunningStream`."""

    def __init__(
        self, session: WarmSession, on_batch: OnBatch, failures: StreamFailures, checkpoint: str
    ) -> None:
        self._checkpoint = checkpoint
        self._session = session
        self._on_batch = on_batch
        self._failures = failures
        self._failed: GatewayError | None = None
        self.query: StreamingQuery | None = None

    def take(self, rows: DataFrame, batch_id: int) -> None:
        """Runs one micro-batch as Spark's callback; an error here ends the query."""
        try:
            batch = SparkMicroBatch(self._session, rows, batch_id, self._failures, self._checkpoint)
            self._on_batch(batch)
        except GatewayError as failure:
            self._failed = failure
            raise

    def is_active(self) -> bool:
        """See `service.ports.engine.stream_queries.RunningStream`."""
        if self.query is None or not self._session.is_alive():
            return False
        try:
            return bool(self.query.isActive)
        except (PySparkException, Py4JError, OSError):
            return False

    def has_read(self) -> bool:
        """See `service.ports.engine.stream_queries.RunningStream`."""
        if self.query is None or not self._session.is_alive():
            return False
        try:
            return self.query.lastProgress is not None or self.query.status["message"] == _IDLE
        except (PySparkException, Py4JError, OSError):
            return False

    def progress(self) -> StreamProgress:
        """See `service.ports.engine.stream_queries.RunningStream`."""
        if self.query is None or not self._session.is_alive():
            return StreamProgress()
        try:
            last = self.query._jsq.lastProgress()
            return stream_progress(self.query.status, None if last is None else str(last.json()))
        except (PySparkException, Py4JError, OSError):
            return StreamProgress()

    def failure(self) -> GatewayError | None:
        """See `service.ports.engine.stream_queries.RunningStream`."""
        if self._failed is not None:
            return self._failed
        if self._session.is_lost():
            return EngineLost("The engine was lost while the stream ran.")
        try:
            words = [] if self.query is None else _words(self.query)
        except (PySparkException, Py4JError, OSError) as failure:
            return _lost(self._session, failure)
        if any(_TWICE in word for word in words):
            # A replica that has just lost its lease may have run the stream for a moment longer.
            return ExecutorsFailed("Another replica still ran the stream.")
        return self._failures.of(words) if words else None

    def stop(self) -> None:
        """See `service.ports.engine.stream_queries.RunningStream`."""
        try:
            if self.query is not None and self._session.is_alive():
                self.query.stop()
        except (PySparkException, Py4JError, OSError) as failure:
            log.info("stream_not_stopped", error=type(failure).__name__)


def _reader(spark: SparkSession, name: str, options: Mapping[str, str]) -> DataStreamReader:
    return spark.readStream.format(name).options(**options)


def _check_glob(glob: str, session: WarmSession) -> None:
    """Asks Hadoop, by whose patterns the files are found; Spark would end without a cause."""
    try:
        session.jvm.gateway.jvm.org.apache.hadoop.fs.GlobFilter(glob)
    except Py4JJavaError as error:
        said = str(error.java_exception.getMessage()).splitlines()[0]
        reason = f"The glob {glob!r:.200} is none: {said}."
        raise StreamInvalid(reason, [WriteFault("/source/glob", reason)]) from error
    except (Py4JError, OSError) as failure:
        raise _lost(session, failure) from failure


def _folder_options(source: DirectorySource) -> dict[str, str]:
    options = {
        "maxFilesPerTrigger": str(source.files_per_batch),
        "maxFileAge": _ANY_AGE,
        # Otherwise folders called `day=1` would be partitions, and an error beside other folders. So all of
        # them are listed, and the reader leaves out the files in them.
        "recursiveFileLookup": "true",
    }
    return options | ({} if source.glob is None else {"pathGlobFilter": source.glob})


def _topic_options(source: KafkaSource) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "subscribe": source.topic,
        "startingOffsets": source.starting_offsets,
        "maxOffsetsPerTrigger": str(source.messages_per_batch),
        # Messages that are lost before they were read are reported, not skipped.
        "failOnDataLoss": "true",
    }


def _words(query: StreamingQuery) -> list[str]:
    """Returns why the query ended: Spark's message, then the message of each of its causes."""
    ended = query.exception()
    if ended is None:
        return []
    words, cause = [str(ended)], query._jsq.exception().get().getCause()
    while cause is not None and len(words) < _CAUSES_AT_MOST:
        words.append(str(cause.toString()))
        cause = cause.getCause()
    return words


def _lost(session: WarmSession, failure: Exception) -> GatewayError:
    if session.is_lost():
        return EngineLost("The engine was lost while the stream ran.")
    log.warning("stream_failed", error=type(failure).__name__, reason=str(failure))
    return StreamFailed("Spark could not run the stream; the log has the cause.")
