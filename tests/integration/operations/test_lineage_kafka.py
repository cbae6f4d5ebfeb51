"""Events over a real Kafka: stored once sending succeeds, and given up in time if it does not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Consumer

from service.adapters.lineage.receivers import has_topic
from service.adapters.lineage.transports import KafkaTransport, NotDelivered
from tests.integration.kafka.client import KafkaClient, kafka_client
from tests.integration.kafka.jars import kafka_class_path
from tests.integration.kafka.server import PASSWORD, USER, KafkaServer, kafka_server
from tests.integration.running import REPOSITORY

pytestmark = pytest.mark.integration

LOG_IN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": USER,
    "sasl.password": PASSWORD,
}
WITHIN_S = 60.0


@pytest.fixture(scope="module")
def class_path() -> str:
    return kafka_class_path(REPOSITORY / ".sluice" / "jars")


@pytest.fixture(scope="module")
def kafka(class_path: str, folder: Path) -> Iterator[KafkaServer]:
    with kafka_server(class_path, folder / "kafka-lineage") as server:
        yield server


@pytest.fixture(scope="module")
def topics(class_path: str, kafka: KafkaServer) -> Iterator[KafkaClient]:
    with kafka_client(class_path, kafka.open_address) as client:
        yield client


@pytest.fixture
def topic(topics: KafkaClient) -> str:
    name = f"lineage-{uuid4().hex}"
    topics.create_topic(name)
    return name


def messages(kafka: KafkaServer, topic: str, count: int) -> list[tuple[bytes, int, bytes]]:
    """Reads a number of messages, and returns their key, partition and value."""
    consumer = Consumer(
        {"bootstrap.servers": kafka.open_address, "group.id": uuid4().hex, "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        found: list[tuple[bytes, int, bytes]] = []
        deadline = time.monotonic() + WITHIN_S
        while len(found) < count and time.monotonic() < deadline:
            message = consumer.poll(1.0)
            if message is not None and message.error() is None:
                found.append((message.key(), message.partition(), message.value()))  # type: ignore[arg-type]
        return found
    finally:
        consumer.close()


def test_events_are_there_and_those_of_a_job_keep_their_order(kafka: KafkaServer, topic: str) -> None:
    with closing(KafkaTransport(kafka.login_address, topic, LOG_IN, 30)) as transport:
        for number in range(20):
            for job in ("query.a", "query.b"):
                transport.send(json.dumps([job, number]).encode(), job)
    found = messages(kafka, topic, 40)
    for key in (b"query.a", b"query.b"):
        own = [message for message in found if message[0] == key]
        assert [json.loads(value)[1] for _, _, value in own] == list(range(20))
        assert len({partition for _, partition, _ in own}) == 1


def test_what_the_server_does_not_take_is_reported(kafka: KafkaServer) -> None:
    transport = KafkaTransport(kafka.open_address, "not-there", {}, 2)
    with closing(transport), pytest.raises(NotDelivered):
        transport.send(b"{}", "query.a")


def test_a_server_that_is_gone_costs_no_more_than_its_time_and_is_found_again(
    kafka: KafkaServer, topic: str
) -> None:
    with closing(
        KafkaTransport(kafka.open_address, topic, {"reconnect.backoff.max.ms": "500"}, 2)
    ) as transport:
        transport.send(b'{"n": 1}', "query.a")
        kafka.stop()
        began = time.monotonic()
        with pytest.raises(NotDelivered):
            transport.send(b'{"n": 2}', "query.a")
        assert time.monotonic() - began < 10
        kafka.start()
        deadline = time.monotonic() + WITHIN_S
        while True:
            try:
                transport.send(b'{"n": 3}', "query.a")
            except NotDelivered:
                assert time.monotonic() < deadline
            else:
                break
    values = {value for _, _, value in messages(kafka, topic, 2)}
    assert {b'{"n": 1}', b'{"n": 3}'} <= values


def test_a_topic_is_looked_for_without_being_made(kafka: KafkaServer, topic: str) -> None:
    assert has_topic(kafka.open_address, topic, {}, WITHIN_S)
    missing = f"missing-{uuid4().hex}"
    assert not has_topic(kafka.open_address, missing, {}, WITHIN_S)
    assert not has_topic(kafka.open_address, missing, {}, WITHIN_S)
