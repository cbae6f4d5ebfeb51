"""A client that speaks Spark's RPC without the cluster's secret."""

from __future__ import annotations

import socket
import struct
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.integration.spark_cluster import WORKER, SparkCluster, daemon
from tests.polling import until

# A frame of Spark's transport has its length and type; a request also has its id and its body's length.
REQUEST, FAILURE = 3, 5
_ASKS_FOR_SECRET = b"SASL"
_SECONDS = 5.0


def refusal(host: str, port: int) -> bytes:
    """Sends a request without authentication, and returns the answer that comes within seconds.

    Raises:
        AssertionError: it was answered as one of the cluster's own.
    """
    body = b"who are you?"
    message = struct.pack(">BQI", REQUEST, 1, len(body)) + body
    got = b""
    with socket.create_connection((host, port), _SECONDS) as peer, suppress(TimeoutError, ConnectionError):
        peer.sendall(struct.pack(">Q", len(message) + 8) + message)
        while (len(got) < 8 or len(got) < struct.unpack(">Q", got[:8])[0]) and (more := peer.recv(65_536)):
            got += more
    assert len(got) < 9 or got[8] == FAILURE, f"port {port} answers a stranger: {got!r}"
    return got


def asks_for_secret(host: str, port: int) -> bool:
    """Returns whether the refusal says that a secret is missing."""
    return _ASKS_FOR_SECRET in refusal(host, port)


def is_worker_without_secret_refused(cluster: SparkCluster, folder: Path) -> bool:
    """Starts a worker without the secret, and returns whether the master refuses it."""
    with ExitStack() as stack:
        where = ["--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "512m"]
        command = [WORKER, *where, "-d", str(folder / "stranger"), cluster.url]
        daemon(stack, command, folder, "stranger")
        log = folder / "stranger.log"
        ended = ("Failed to connect to master", "Successfully registered")
        until(lambda: any(message in log.read_text() for message in ended), 120)
        return ended[1] not in log.read_text() and len(cluster.status()["workers"]) == 2
