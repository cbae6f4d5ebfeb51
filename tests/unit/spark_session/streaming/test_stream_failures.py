"""The errors of Spark and Kafka for an ended stream, in words for callers."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from service.errors.source_errors import StreamFailed, StreamSourceDown
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.streams import DirectorySource, KafkaSource
from spark_session.streaming.stream_failures import NO_KAFKA, StreamFailures

TOPIC = KafkaSource("kafka:9092", "clicks")
JAAS = 'a.b.PlainLoginModule required username="ann" password="hunter2";'
FAILURES = StreamFailures(TOPIC, {"kafka.sasl.jaas.config": JAAS, "kafka.security.protocol": "SASL_SSL"})
ENDED = "[STREAM_FAILED] Query [id = 1] terminated with exception: {} SQLSTATE: XXKST\n=== Plan ===\nx"


@pytest.mark.parametrize(
    "cause",
    [
        "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.",
        "org.apache.kafka.common.errors.DisconnectException: null",
        "org.apache.kafka.common.config.ConfigException: No resolvable bootstrap urls given in x",
        "java.util.concurrent.TimeoutException: Cannot fetch record for offset 5 in 120000 milliseconds",
    ],
)
def test_servers_that_do_not_answer_are_waited_for(cause: str) -> None:
    found = FAILURES.of([ENDED.format("it failed"), cause])
    assert isinstance(found, StreamSourceDown)
    assert found.detail == "kafka:9092 does not answer. The stream is tried again."


def test_a_topic_that_is_not_there_is_waited_for() -> None:
    cause = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host it."
    found = FAILURES.of([ENDED.format(cause)])
    assert isinstance(found, StreamSourceDown)
    assert found.detail.startswith("There is no topic clicks of kafka:9092.")


@pytest.mark.parametrize(
    "text",
    [
        "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data may have been lost because they are not available",
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range",
    ],
)
def test_messages_that_are_gone_end_a_stream(text: str) -> None:
    found = FAILURES.of([ENDED.format(text)])
    assert isinstance(found, StreamFailed)
    assert "are gone" in found.detail


def test_a_folder_that_is_not_there_is_waited_for() -> None:
    folder = StreamFailures(DirectorySource(SourceRecords("file:///in", RecordFormat.NDJSON)), {})
    found = folder.known(["[PATH_NOT_FOUND] Path does not exist: file:/in. SQLSTATE: 42K03"])
    assert isinstance(found, StreamSourceDown)
    assert found.detail.startswith("There is no folder file:///in.")


def test_a_connector_that_lacks_is_named() -> None:
    text = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka. Make sure the provider name is"
    found = FAILURES.known([text])
    assert found is not None
    assert found.detail == NO_KAFKA


def test_other_failures_are_reported_in_sparks_words_without_secrets() -> None:
    found = FAILURES.of([ENDED.format(f"no login with {JAAS} or hunter2 by SASL_SSL")])
    assert found.detail.startswith("Query [id = 1] terminated with exception: no login with ***")
    assert "hunter2" not in found.detail
    assert "SASL_SSL" in found.detail


def test_no_half_of_a_secret_is_logged() -> None:
    text = "org.apache.kafka.common.errors.TimeoutException".ljust(1_990) + JAAS
    with capture_logs() as logs:
        FAILURES.known([text])
    [line] = logs
    assert JAAS[:8] not in line["reason"]


def test_what_kafka_says_is_nothing_to_a_folder() -> None:
    folder = StreamFailures(DirectorySource(SourceRecords("file:///in", RecordFormat.NDJSON)), {})
    assert folder.known(["org.apache.kafka.common.errors.TimeoutException"]) is None
