"""Topics and messages, through Kafka's own Java clients."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway

from spark_session.jars.jars import check_java
from tests.integration.kafka.jars import pyspark_jars


class KafkaClient:
    """A client in `jvm`, which has Kafka's classes; when a method returns, its messages are stored."""

    def __init__(self, jvm: Any, address: str) -> None:
        self._jvm = jvm
        self._address = address
        self._producer = self._new_producer({"linger.ms": "5"})

    def create_topic(self, name: str, partitions: int = 2) -> None:
        admin = self._jvm.org.apache.kafka.clients.admin.Admin.create(self._properties({}))
        try:
            topic = self._jvm.org.apache.kafka.clients.admin.NewTopic(name, partitions, 1)
            admin.createTopics(self._jvm.java.util.List.of(topic)).all().get()
        finally:
            admin.close()

    def send(self, topic: str, values: Sequence[bytes | None], partition: int | None = None) -> None:
        for value in values:
            self._producer.send(self._record(topic, value, partition))
        self._producer.flush()

    def send_and_give_up(self, topic: str, values: Sequence[bytes], partition: int | None = None) -> None:
        """Sends messages in a transaction and aborts it, which leaves a marker behind them."""
        identity = {"transactional.id": f"given-up-{topic}"}
        producer = self._new_producer(identity)
        producer.initTransactions()
        producer.beginTransaction()
        for value in values:
            producer.send(self._record(topic, value, partition))
        producer.flush()
        producer.abortTransaction()
        producer.close()
        # The server writes the marker after its answer, and lets no other producer of this name start before.
        successor = self._new_producer(identity)
        successor.initTransactions()
        successor.close()

    def _record(self, topic: str, value: bytes | None, partition: int | None) -> Any:
        return self._jvm.org.apache.kafka.clients.producer.ProducerRecord(topic, partition, None, value)

    def _new_producer(self, more: dict[str, str]) -> Any:
        serializer = self._jvm.org.apache.kafka.common.serialization.ByteArraySerializer
        producer = self._jvm.org.apache.kafka.clients.producer.KafkaProducer
        return producer(self._properties(more), serializer(), serializer())

    def _properties(self, more: dict[str, str]) -> Any:
        properties = self._jvm.java.util.HashMap()
        for name, value in ({"bootstrap.servers": self._address} | more).items():
            properties.put(name, value)
        return properties


@contextmanager
def kafka_client(class_path: str, address: str) -> Iterator[KafkaClient]:
    """Runs a client in a JVM that ends with the block."""
    bounds = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    server = ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    py4j = next(pyspark_jars().glob("py4j-*.jar"))
    command = [str(check_java()), *bounds, "-cp", f"{py4j}:{class_path}", *server]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port, token = (process.stdout.readline().strip() for _ in range(2))
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(port), auth_token=token))
        try:
            yield KafkaClient(gateway.jvm, address)
        finally:
            gateway.close()
            process.kill()
