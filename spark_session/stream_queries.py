"""Streams as Spark's Structured Streaming runs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader

from service.errors import (
    EngineLost,
    EngineNotReady,
    ExecutorsFailed,
    GatewayError,
    StreamFailed,
    StreamInvalid,
)
from service.model.streams import DirectorySource, KafkaSource, StreamSource
from service.stream_ports import OnBatch
from spark_session.errors import sentence
from spark_session.executors import label
from spark_session.micro_batch import SparkMicroBatch
from spark_session.warm_session import WarmSession

log = structlog.get_logger(__name__)

_NO_KAFKA = (
    "Spark has no Kafka connector here: put org.apache.spark:spark-sql-kafka-0-10_2.13 of Spark's version "
    "into SLUICE_SPARK_PACKAGES, or its jars into SLUICE_SPARK_JARS."
)


_TWICE = "concurrently using the same checkpoint"


class SparkStreamQueries:
    """Implements `service.stream_ports.StreamQueries`; `session` gives the session of now, if there is one.

    What a stream has read stands in a folder of its own below `checkpoints`, which all replicas must see.
    `kafka_options` are the operator's, of Spark's Kafka source: how to log in, for one. Callers set none.
    """

    def __init__(
        self,
        session: Callable[[], WarmSession | None],
        checkpoints: str,
        kafka_options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._session = session
        self._checkpoints = checkpoints.rstrip("/")
        self._kafka_options = kafka_options

    def start(
        self, stream_id: UUID, source: StreamSource, interval_ms: int, on_batch: OnBatch
    ) -> SparkRunningStream:
        """See `service.stream_ports.StreamQueries`."""
        session = self._session()
        if session is None:
            raise EngineNotReady
        running = SparkRunningStream(session, on_batch)
        try:
            label(session.context, str(stream_id))
            rows = self._rows(session.root.newSession(), source)
            running.query = (
                rows.writeStream.queryName(str(stream_id))
                .option("checkpointLocation", f"{self._checkpoints}/{stream_id}")
                .trigger(processingTime=f"{interval_ms} milliseconds")
                .foreachBatch(running.take)
                .start()
            )
        except PySparkException as failure:
            raise StreamInvalid(_told(failure)) from failure
        except (Py4JError, OSError) as failure:
            raise _lost(session, failure) from failure
        return running

    def _rows(self, spark: SparkSession, source: StreamSource) -> DataFrame:
        """Bytes, a record's line or a message's value as it is, and of files their addresses."""
        match source:
            case DirectorySource():
                reader = _reader(spark, "text", _folder_options(source))
                # The file is looked at too: Spark follows links.
                return reader.load(source.uri).selectExpr("CAST(value AS BINARY)", "_metadata.file_path")
            case KafkaSource():
                options = dict(self._kafka_options) | _topic_options(source)
                return _reader(spark, "kafka", options).load().selectExpr("value")


class SparkRunningStream:
    """Implements `service.stream_ports.RunningStream`."""

    def __init__(self, session: WarmSession, on_batch: OnBatch) -> None:
        self._session = session
        self._on_batch = on_batch
        self._failed: GatewayError | None = None
        self._stopping = threading.Event()
        self.query: StreamingQuery | None = None

    def take(self, rows: DataFrame, batch_id: int) -> None:
        """Spark's callback for one micro-batch; whatever it raises ends the query."""
        try:
            self._on_batch(SparkMicroBatch(self._session, rows, batch_id))
        except GatewayError as failure:
            self._failed = failure
            raise

    def is_active(self) -> bool:
        """See `service.stream_ports.RunningStream`."""
        if self.query is None or not self._session.is_alive():
            return False
        try:
            return bool(self.query.isActive)
        except (PySparkException, Py4JError, OSError):
            return False

    def failure(self) -> GatewayError | None:
        """See `service.stream_ports.RunningStream`."""
        if self._failed is not None:
            return self._failed
        if not self._session.is_alive() or self._session.is_stopped():
            return EngineLost("The engine was lost while the stream ran.")
        try:
            ended = None if self.query is None else self.query.exception()
        except (PySparkException, Py4JError, OSError) as failure:
            return _lost(self._session, failure)
        if ended is not None and _TWICE in str(ended):
            # A replica that has just lost its lease may have run it for a moment longer.
            return ExecutorsFailed("Another replica still ran the stream.")
        return None if ended is None else StreamFailed(_told(ended))

    def stop(self) -> None:
        """See `service.stream_ports.RunningStream`."""
        try:
            if self.query is not None and self._session.is_alive():
                self.query.stop()
        except (PySparkException, Py4JError, OSError) as failure:
            log.info("stream_not_stopped", error=type(failure).__name__)


def _reader(spark: SparkSession, name: str, options: Mapping[str, str]) -> DataStreamReader:
    return spark.readStream.format(name).options(**options)


def _folder_options(source: DirectorySource) -> dict[str, str]:
    # Without it a carriage return would end a line too.
    options = {"lineSep": "\n", "maxFilesPerTrigger": str(source.files_per_batch)}
    return options | ({} if source.glob is None else {"pathGlobFilter": source.glob})


def _topic_options(source: KafkaSource) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "subscribe": source.topic,
        "startingOffsets": source.starting_offsets,
        "maxOffsetsPerTrigger": str(source.messages_per_batch),
        # Messages that are gone before they were read are told, not passed over.
        "failOnDataLoss": "true",
    }


def _told(failure: PySparkException | StreamingQueryException) -> str:
    text = str(failure)
    if "kafka" in text.lower() and ("Failed to find data source" in text or "DATA_SOURCE_NOT_FOUND" in text):
        return _NO_KAFKA
    return sentence(text)


def _lost(session: WarmSession, failure: Exception) -> GatewayError:
    if not session.is_alive() or session.is_stopped():
        return EngineLost("The engine was lost while the stream ran.")
    log.warning("stream_failed", error=type(failure).__name__, reason=str(failure)[:2000])
    return StreamFailed("Spark could not run the stream; the log has the cause.")
