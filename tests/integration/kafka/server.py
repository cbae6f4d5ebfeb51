"""Kafka's own server as a process, broker and controller in one, which can be killed and restarted.

It listens on two loopback ports: one without login for tests, and one with login. Its topics survive a
restart.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_session.jars.jars import check_java
from tests.polling import until

HOST = "127.0.0.1"
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
USER, PASSWORD = "reader", "hunter2-of-the-reader"
START_WITHIN_S = 60


class KafkaServer:
    def __init__(self, class_path: str, folder: Path) -> None:
        self._class_path = class_path
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._open_port, self._login_port, self._controller_port = free_ports(3)

    @property
    def open_address(self) -> str:
        return f"{HOST}:{self._open_port}"

    @property
    def login_address(self) -> str:
        return f"{HOST}:{self._login_port}"

    def start(self) -> None:
        """Starts the server, and returns when it accepts connections."""
        if not self._folder.exists():
            self._format()
        log = self._folder / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(self._command(), stdout=output, stderr=subprocess.STDOUT)
        until(lambda: self._has_ended() or is_listening(self._open_port), START_WITHIN_S)
        assert not self._has_ended(), f"Kafka did not start: {log.read_text()[-4000:]}"

    def stop(self) -> None:
        """Kills the server, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _command(self) -> list[str]:
        bounds = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        main = ["-cp", self._class_path, "kafka.Kafka", str(self._folder / "server.properties")]
        return [str(check_java()), *bounds, *main]

    def _format(self) -> None:
        topics = self._folder / "topics"
        topics.mkdir(parents=True)
        # This is what Kafka's own tool would write, which needs a JVM of its own.
        (topics / "meta.properties").write_text(
            "version=1\nnode.id=1\ncluster.id=c2x1aWNlLXRlc3RzAAAAAA\ndirectory.id=c2x1aWNlLWZvbGRlcgAAAA\n"
        )
        (self._folder / "server.properties").write_text(self._properties(topics))

    def _properties(self, topics: Path) -> str:
        listeners = f"OPEN://{self.open_address},LOGIN://{self.login_address}"
        return f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{HOST}:{self._controller_port}
controller.listener.names=CONTROLLER
listeners={listeners},CONTROLLER://{HOST}:{self._controller_port}
advertised.listeners={listeners}
listener.security.protocol.map=OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=OPEN
sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config={LOGIN} user_{USER}="{PASSWORD}";
log.dirs={topics}
auto.create.topics.enable=false
log.cleaner.enable=false
num.network.threads=2
num.io.threads=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


@contextmanager
def kafka_server(class_path: str, folder: Path) -> Iterator[KafkaServer]:
    """Runs a server, and kills it at the end in any case."""
    server = KafkaServer(class_path, folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_ports(count: int) -> list[int]:
    """Reserves all ports at once, so that they differ."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def is_listening(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
