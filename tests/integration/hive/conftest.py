from __future__ import annotations

import hashlib
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make_star
from tests.integration.running import RunningGateway
from tests.java_options import long_lived_jvms

# Beeline splits what it gets at blanks.
NAME, PASSWORD = "kim", "kims-secret"


@dataclass(frozen=True)
class HiveGateway:
    """A gateway whose callers need passwords, and where it speaks HiveServer2's protocol."""

    gateway: RunningGateway
    port: int

    @property
    def http_port(self) -> int:
        return int(self.gateway.url.rpartition(":")[2])


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="package")
def hive() -> Iterator[HiveGateway]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-hive-"))
    port = free_port()
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_HIVE_PORT": str(port),
        "SLUICE_HIVE_HTTP": "true",
        "SLUICE_SQL_WRITES": "true",
        "SLUICE_API_TOKENS": f'{{"{NAME}": "{hashlib.sha256(PASSWORD.encode()).hexdigest()}"}}',
    }
    with long_lived_jvms():
        gateway = RunningGateway.start(folder / "gateway", settings, within_s=400)
    gateway.watch_password(NAME, PASSWORD)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
        yield HiveGateway(gateway, port)
    finally:
        gateway.stop()
        shutil.rmtree(folder, ignore_errors=True)
