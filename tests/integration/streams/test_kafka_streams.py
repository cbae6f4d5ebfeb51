"""Streams over topics of a real Kafka: every message once, whatever is killed or down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.integration.asking import rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.kafka.client import KafkaClient, kafka_client
from tests.integration.kafka.jars import kafka_class_path
from tests.integration.kafka.server import LOGIN, PASSWORD, USER, KafkaServer, kafka_server
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2, ids, named
from tests.integration.running import REPOSITORY, RunningGateway
from tests.integration.scraping import numbers_when
from tests.polling import until

pytestmark = pytest.mark.integration

WITHIN_S = 60
MESSAGES, MESSAGES_PER_BATCH, BATCHES_BEFORE_KILL = 240, 30, 3
MESSAGES_BEHIND = 20
LOG_IN = {
    "kafka.security.protocol": "SASL_PLAINTEXT",
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.jaas.config": f'{LOGIN} username="{USER}" password="{PASSWORD}";',
    # An unresponsive server is noticed within seconds.
    "kafka.request.timeout.ms": "2000",
    "kafka.default.api.timeout.ms": "3000",
    "fetchOffset.numRetries": "1",
}


class Lives:
    """A gateway that can be killed and restarted on its data, and its catalog as others open it."""

    def __init__(self, data_dir: Path, settings: dict[str, str]) -> None:
        self._data_dir = data_dir
        self._settings = settings
        self.begin()

    def begin(self) -> None:
        self.running = RunningGateway.start(self._data_dir, self._settings)
        self.lake: SqlCatalog = embedded_catalog(self._data_dir)

    def kill(self) -> None:
        self.lake.close()
        self.running.kill()

    def new_table(self) -> Table:
        self.lake.create_namespace_if_not_exists("logs")
        return self.lake.create_table(f"logs.t_{uuid4().hex}", LOG_SCHEMA, properties=VERSION_2)

    def same(self, table: Table) -> Table:
        """Opens the table again, after the catalog's server has moved."""
        return self.lake.load_table(table.name())

    def create(self, **body: Any) -> str:
        """Creates a stream, and returns its link."""
        answer = self.running.client.post("/streams", json={"interval": "100ms"} | body)
        assert answer.status_code == 201, answer.text
        link: str = answer.json()["links"]["self"]
        return link

    def stream(self, link: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.running.client.get(link).json()
        return answer

    def until_so(self, link: str, is_so: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Waits until the stream is in this condition, and returns it; a failed stream ends the wait."""
        until(lambda: is_so(found := self.stream(link)) or found["state"] == "FAILED", WITHIN_S)
        reported = self.stream(link)
        assert is_so(reported), reported
        return reported

    def until_records(self, link: str, count: int) -> dict[str, Any]:
        return self.until_so(link, lambda stream: stream["progress"]["records"] >= count)


@pytest.fixture(scope="module")
def class_path() -> str:
    return kafka_class_path(REPOSITORY / ".sluice" / "jars")


@pytest.fixture(scope="module")
def kafka(class_path: str, folder: Path) -> Iterator[KafkaServer]:
    with kafka_server(class_path, folder / "kafka") as server:
        yield server


@pytest.fixture(scope="module")
def topics(class_path: str, kafka: KafkaServer) -> Iterator[KafkaClient]:
    with kafka_client(class_path, kafka.open_address) as client:
        yield client


@pytest.fixture(scope="module")
def lives(kafka: KafkaServer, folder: Path) -> Iterator[Lives]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_STREAM_KAFKA_SERVERS": kafka.login_address,
        "SLUICE_STREAM_KAFKA_TOPICS": "clicks-*",
        "SLUICE_STREAM_KAFKA_OPTIONS": json.dumps(LOG_IN),
    }
    made = Lives(folder / "kafka-gateway", settings)
    yield made
    made.lake.close()
    made.running.stop()


@pytest.fixture
def topic(topics: KafkaClient) -> str:
    name = f"clicks-{uuid4().hex}"
    topics.create_topic(name)
    return name


@pytest.fixture
def table(lives: Lives) -> Table:
    return lives.new_table()


def source(kafka: KafkaServer, topic: str, **more: Any) -> dict[str, Any]:
    return {"kafka": {"bootstrapServers": kafka.login_address, "topic": topic} | more}


def messages(numbers: Iterable[int]) -> list[bytes]:
    """Returns messages of two kinds in turn; only one kind has an amount."""
    kinds = ({"kind": "a"}, {"kind": "b", "amount": 1})
    return [json.dumps({"id": number} | kinds[number % 2]).encode() for number in numbers]


def test_each_message_is_written_once_though_the_gateway_is_killed(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str
) -> None:
    halves = {"a": lives.new_table(), "b": lives.new_table()}
    written = {"a": ["id", "kind"], "b": ["kind", "amount", "id"]}
    topics.send(topic, messages(range(MESSAGES // 2)))
    link = lives.create(
        source=source(kafka, topic, messagesPerBatch=MESSAGES_PER_BATCH),
        route={
            "field": "kind",
            "to": {
                character: {"table": named(halves[character]), "writeSchema": written[character]}
                for character in "ab"
            },
        },
    )
    lives.until_so(link, lambda stream: stream["progress"]["batches"] >= BATCHES_BEFORE_KILL)
    lives.kill()
    topics.send(topic, messages(range(MESSAGES // 2, MESSAGES)))
    lives.begin()
    reported = lives.until_records(link, MESSAGES)
    assert (reported["progress"]["records"], reported["progress"]["rejected"], reported["error"]) == (
        MESSAGES,
        0,
        None,
    )
    for remainder, (kind, table) in enumerate(halves.items()):
        half = lives.same(table)
        assert ids(half) == list(range(remainder, MESSAGES, 2))
        assert_one_snapshot_a_batch(half, reported["checkpointId"])
        for file in half.inspect.files()["file_path"].to_pylist():
            assert pq.read_schema(file.removeprefix("file://")).names == written[kind]
    lives.running.client.delete(link)


def test_the_lag_of_a_stream_is_in_the_metrics(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str, table: Table
) -> None:
    topics.send(topic, messages(range(MESSAGES_BEHIND)))
    # Each message is one commit, so a scrape finds some that are not read.
    link = lives.create(
        table=named(table),
        writeSchema=["id", "kind", "amount"],
        source=source(kafka, topic, messagesPerBatch=1),
    )
    name = "sluice_stream_lag_messages"
    behind = numbers_when(lives.running, lambda found: found[name] > 0, WITHIN_S)
    assert behind[name] < MESSAGES_BEHIND
    numbers_when(lives.running, lambda found: found[name] == 0, 3 * WITHIN_S)
    assert lives.until_records(link, MESSAGES_BEHIND)["state"] == "RUNNING"
    lives.running.client.delete(link)


def test_of_the_messages_of_a_key_the_last_one_counts_though_the_gateway_is_killed(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str, table: Table
) -> None:
    def send(first: int, last: int) -> None:
        """Sends each key's messages to one partition, as producers must."""
        for partition in range(2):
            numbers = (number for number in range(first, last) if number % 6 % 2 == partition)
            values = [json.dumps({"id": number % 6, "amount": number}).encode() for number in numbers]
            topics.send(topic, values, partition=partition)

    name = named(table)
    send(0, MESSAGES // 2)
    link = lives.create(
        source=source(kafka, topic, messagesPerBatch=MESSAGES_PER_BATCH),
        table=name,
        mode="upsert",
        equalityFields=["id"],
    )
    lives.until_so(link, lambda stream: stream["progress"]["batches"] >= BATCHES_BEFORE_KILL)
    lives.kill()
    send(MESSAGES // 2, MESSAGES)
    lives.begin()
    sql = f"SELECT id, amount FROM {name} ORDER BY id"
    expected = [[number, MESSAGES - 6 + number] for number in range(6)]
    until(lambda: rows(lives.running.client, sql) == expected, WITHIN_S)
    assert lives.stream(link)["error"] is None
    assert_one_snapshot_a_batch(lives.same(table), lives.stream(link)["checkpointId"])
    lives.running.client.delete(link)


def assert_one_snapshot_a_batch(table: Table, checkpoint: str) -> None:
    batches = []
    for snapshot in table.snapshots():
        assert snapshot.summary is not None
        batches.append(str(snapshot.summary["sluice.stream-batches"]))
    assert len(set(batches)) == len(batches) > BATCHES_BEFORE_KILL
    assert all(batch.startswith(f"{checkpoint}/") and "," not in batch for batch in batches)


def test_messages_that_are_no_records_are_reported_and_those_that_were_given_up_are_none(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str, table: Table
) -> None:
    topics.send_and_give_up(topic, messages([100, 101]), partition=1)
    garbage = [b"\xff\xfe", b"[1]", b'{"id": "x"}', b'{"id": 5, "note": "a\nb"}', b'{"id": 6}\n{"id": 7}']
    tombstone = None
    topics.send(
        topic, [b'{"id": 1}', b'{\n  "id": 2\n}', *garbage, tombstone, b"", b'{"id": 3}\n'], partition=1
    )
    body = {"source": source(kafka, topic), "table": named(table)}
    strict = lives.create(**body, name="strict")
    failed = lives.until_so(strict, lambda stream: stream["state"] == "FAILED")
    assert failed["error"]["code"] == "RECORDS_INVALID"
    assert ids(table) == []
    link = lives.create(**body, onError="DEAD_LETTER")
    reported = lives.until_so(link, lambda stream: stream["progress"]["rejected"] >= 5)
    assert (reported["state"], reported["progress"]["records"], reported["progress"]["rejected"]) == (
        "RUNNING",
        3,
        5,
    )
    assert ids(table) == [1, 2, 3]
    *schema, name = table.name()
    dead_letters = lives.lake.load_table((*schema, f"{name}__dead_letter")).scan().to_arrow()
    # The offsets before are two aborted messages, their marker, and two records that fit.
    assert sorted(dead_letters["position"].to_pylist()) == [f"partition 1, offset {n}" for n in range(5, 10)]
    lives.running.client.delete(link)


def test_a_stream_may_begin_with_what_comes_next(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str, table: Table
) -> None:
    topics.send(topic, messages([1, 2]))
    link = lives.create(source=source(kafka, topic, startingOffsets="latest"), table=named(table))
    numbers = iter(range(10, 10_000))

    def has_read_one() -> bool:
        topics.send(topic, messages([next(numbers)]))
        return bool(lives.stream(link)["progress"]["records"])

    until(has_read_one, WITHIN_S)
    lives.running.client.delete(link)
    assert min(ids(table)) >= 10


def test_a_stream_waits_for_its_server_and_for_its_topic(
    kafka: KafkaServer, topics: KafkaClient, lives: Lives, topic: str, table: Table
) -> None:
    later = f"clicks-later-{uuid4().hex}"
    waiting = lives.create(source=source(kafka, later), table=named(table))
    reported = lives.until_so(waiting, lambda stream: stream["error"])
    assert (reported["state"], reported["error"]["code"]) == ("RUNNING", "STREAM_SOURCE_DOWN")
    assert f"There is no topic {later}" in reported["error"]["detail"]

    topics.send(topic, messages(range(10)))
    link = lives.create(source=source(kafka, topic), table=named(table))
    lives.until_records(link, 10)
    kafka.stop()
    reported = lives.until_so(link, lambda stream: stream["error"])
    assert (reported["state"], reported["error"]["code"]) == ("RUNNING", "STREAM_SOURCE_DOWN")
    assert "does not answer" in reported["error"]["detail"]

    kafka.start()
    topics.create_topic(later)
    topics.send(topic, messages(range(10, 20)))
    topics.send(later, messages(range(20, 30)))
    lives.until_records(link, 20)
    lives.until_records(waiting, 10)
    for url in (link, waiting):
        lives.until_so(url, lambda stream: stream["error"] is None)
        lives.running.client.delete(url)
    assert ids(table) == list(range(30))


@pytest.mark.parametrize(
    ("server", "topic_name", "setting"),
    [
        ("elsewhere:9092", "clicks-1", "stream_kafka_servers"),
        (None, "payments", "stream_kafka_topics"),
        (None, "__consumer_offsets", "stream_kafka_topics"),
    ],
)
def test_only_what_is_allowed_is_read(
    kafka: KafkaServer, lives: Lives, table: Table, server: str | None, topic_name: str, setting: str
) -> None:
    kafka_body = {"bootstrapServers": server or kafka.login_address, "topic": topic_name}
    body = {"source": {"kafka": kafka_body}, "table": named(table)}
    refused = lives.running.client.post("/streams", json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "SOURCE_NOT_ALLOWED")
    assert setting in refused.json()["detail"]


def test_how_streams_log_in_stands_nowhere(lives: Lives) -> None:
    reported = lives.running.client.get("/streams").text
    assert PASSWORD not in reported
    data_dir = lives.running.data_dir
    for path in data_dir.rglob("*"):
        if path.is_file() and "jars" not in path.relative_to(data_dir).parts:
            assert PASSWORD.encode() not in path.read_bytes(), path
