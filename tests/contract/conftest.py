from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import migrations
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import SparkSettings
from tests.integration.engines import SharedEngine, jars, started
from tests.integration.object_store.server import ObjectStore, object_store
from tests.migrations.recorded_statements import recorded

# Enough for three relations of ten rows.
RELATION_BYTES = 3_000
ENGINE = SharedEngine()


@pytest.fixture(scope="package", autouse=True)
def _recorded_statements() -> Iterator[None]:
    with recorded():
        yield


@pytest.fixture(scope="package")
def server_directory() -> Iterator[Path]:
    # Not `tmp_path`: the server may run as another user, who has no access to pytest's directory.
    path = Path(tempfile.mkdtemp(prefix="sluice-servers-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def silent_address() -> Iterator[str]:
    """An address that accepts connections and never sends anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="package")
def object_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("objects") / "log") as server:
        yield server


@pytest.fixture(scope="package")
def postgres(server_directory: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres.start(server_directory / "postgres")
    yield server
    server.stop()


@pytest.fixture(scope="package")
def metrics_url(postgres: EmbeddedPostgres) -> str:
    url = postgres.url("sluice")
    migrations.upgrade(url)
    return url


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SparkEngine:
    """An engine with a catalog in its memory."""
    lake = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        "spark.sql.catalog.lake.warehouse": "memory:warehouse",
        "spark.sql.catalog.lake.cache-enabled": "false",
    }
    folder = tmp_path_factory.mktemp("engine")
    settings = SparkSettings("local[1]", jars(), folder, lake, ("lake",), "lake", "1g")
    return ENGINE.get(started(replace(settings, max_relation_bytes=RELATION_BYTES)))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Closes the engine after the last contract."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        ENGINE.close()


@pytest.fixture(scope="package")
def valkey(server_directory: Path) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey.start(server_directory / "valkey")
    yield server
    server.stop()
