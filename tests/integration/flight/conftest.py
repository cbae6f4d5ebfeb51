"""A gateway that serves Arrow Flight SQL to callers with tokens."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make_star
from tests.integration.running import RunningGateway
from tests.java_options import long_lived_jvms

NAME, PASSWORD = "ana", "ana's secret"


@dataclass(frozen=True)
class FlightGateway:
    """The gateway, and where its clients find it."""

    running: RunningGateway
    port: int

    @property
    def uri(self) -> str:
        return f"grpc://127.0.0.1:{self.port}"

    def queries(self) -> list[dict[str, str]]:
        """The caller's queries, the newest first."""
        headers = {"Authorization": f"Bearer {PASSWORD}"}
        answered = httpx.get(f"{self.running.url}/query", params={"limit": 20}, headers=headers, timeout=30)
        found: list[dict[str, str]] = answered.raise_for_status().json()["queries"]
        return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="package")
def flight(shared_folder: Path) -> Iterator[FlightGateway]:
    port = free_port()
    settings = {
        "SLUICE_SPARK_MASTER": "local[4]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_QUERY_WORKERS": "6",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_FLIGHT_PORT": str(port),
        "SLUICE_API_TOKENS": json.dumps({NAME: hashlib.sha256(PASSWORD.encode()).hexdigest()}),
    }
    with long_lived_jvms():
        running = RunningGateway.start(shared_folder / "flight", settings)
    running.watch_password(NAME, PASSWORD)
    try:
        with closing(embedded_catalog(running.data_dir)) as lake:
            make_star(lake)
        yield FlightGateway(running, port)
    finally:
        running.stop()
