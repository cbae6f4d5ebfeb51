"""A gateway with TLS that speaks all protocols of SQL, its authority, and the jars of drivers."""

from __future__ import annotations

import hashlib
import json
import os
import ssl
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.drivers.jdbc_program import trust_store
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.hive.conftest import free_port
from tests.integration.lakehouse import make_star
from tests.integration.running import RunningGateway
from tests.integration.tls import Authority
from tests.java_options import long_lived_jvms

# Beeline splits what it gets at blanks.
NAME, PASSWORD = "kim", "kims-secret-of-drivers"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Secure:
    """The gateway, and what its clients need: the authority's certificate as PEM and as a store of Java's."""

    gateway: RunningGateway
    hive_port: int
    flight_port: int
    authority: Path
    other_authority: Path
    """One that did not sign the gateway's certificate."""
    folder: Path

    @property
    def http_port(self) -> int:
        return int(self.gateway.url.rpartition(":")[2])

    @property
    def store(self) -> Path:
        return trust_store(self.authority, self.folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "SLUICE_TEST_DRIVERS" not in os.environ:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="`make drivers-test` runs it"))


@pytest.fixture(scope="package")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("drivers")
    folder.chmod(0o755)
    authority = Authority(folder / "authority")
    certificate = authority.certificate(HOST)
    trusted = ssl.create_default_context(cafile=authority.ca)

    class OverTls(RunningGateway):
        def _verify(self) -> ssl.SSLContext:
            return trusted

    hive_port, flight_port = free_port(), free_port()
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_QUERY_WORKERS": "6",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_HIVE_PORT": str(hive_port),
        "SLUICE_HIVE_HTTP": "true",
        "SLUICE_FLIGHT_PORT": str(flight_port),
        "SLUICE_TLS_CERTIFICATE_FILE": str(certificate),
        "SLUICE_TLS_KEY_FILE": str(certificate),
        "SLUICE_API_TOKENS": json.dumps({NAME: hashlib.sha256(PASSWORD.encode()).hexdigest()}),
        # All callers have one address, and some send wrong passwords.
        "SLUICE_AUTH_FAILURES_PER_MINUTE": "1000",
    }
    with long_lived_jvms():
        gateway = OverTls.start(folder / "gateway", settings, within_s=400)
    gateway.watch_password(NAME, PASSWORD)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
        stranger = Authority(folder / "stranger", "stranger").ca
        yield Secure(gateway, hive_port, flight_port, authority.ca, stranger, folder)
    finally:
        gateway.stop()
