from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from spark_session.engine.engine import SparkEngine
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.engines import SharedEngine, plain_engine
from tests.integration.guarded import Guarded, guarded_gateway
from tests.integration.lakehouse import make_star
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway
from tests.java_options import long_lived_jvms

ENGINE = SharedEngine()
ROOM_OF_ENGINE = Path(__file__).with_name("engine")


@contextmanager
def _new_folder() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-gateways-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for the gateways of one test file: two files may use the same names."""
    with _new_folder() as path:
        yield path


@pytest.fixture(scope="session")
def shared_folder() -> Iterator[Path]:
    """A folder for the gateways that many test files share."""
    with _new_folder() as path:
        yield path


@pytest.fixture(scope="session")
def running(shared_folder: Path) -> Iterator[RunningGateway]:
    """A gateway with embedded servers and default settings, and with capacity for queries that never end."""
    settings = {
        **PRUNES_THOUGH_BUSY,
        "SLUICE_SPARK_MASTER": "local[4]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_MAINTENANCE_MIN_SNAPSHOT_AGE_H": "0",
        "SLUICE_QUERY_WORKERS": "6",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        # These tests check what scans read. Every table is small enough to become a local relation instead.
        "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
        "SLUICE_INGEST_SOURCE_PREFIXES": (shared_folder / "sources").as_uri(),
        "SLUICE_INGEST_EXECUTED_BODY_BYTES": str(1024 * 1024),
        "SLUICE_INGEST_SPLIT_BYTES": str(1024 * 1024),
    }
    with long_lived_jvms():
        gateway = RunningGateway.start(shared_folder / "embedded", settings)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
        yield gateway
    finally:
        gateway.stop()


@pytest.fixture(scope="session")
def sources_folder(shared_folder: Path) -> Path:
    """The folder whose files the embedded gateway may read."""
    path = shared_folder / "sources"
    path.mkdir()
    return path


@pytest.fixture
def gateway(running: RunningGateway) -> httpx.Client:
    """A client of the embedded gateway."""
    return running.client


@pytest.fixture(scope="session")
def lake(running: RunningGateway) -> Iterator[SqlCatalog]:
    """The embedded catalog, opened as another process would open it."""
    with closing(embedded_catalog(running.data_dir)) as catalog:
        yield catalog


@pytest.fixture(scope="session")
def guarded(shared_folder: Path) -> Iterator[Guarded]:
    with guarded_gateway(shared_folder / "guarded") as parts:
        yield parts


@pytest.fixture(scope="module")
def shared_engine(folder: Path) -> SparkEngine:
    """An engine without a gateway, for tests that make tables of their own."""
    return ENGINE.get(plain_engine(folder / f"engine-{uuid4().hex}"))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Closes the shared engine unless the next test may use it."""
    if nextitem is None or nextitem.path.parent != ROOM_OF_ENGINE:
        ENGINE.close()


@pytest.fixture
def log_table(lake: SqlCatalog) -> Iterator[Table]:
    """A new, empty table for one test."""
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.t_{uuid4().hex}"
    yield lake.create_table(name, LOG_SCHEMA, properties=VERSION_2)
    lake.drop_table(name)


@pytest.fixture
def inbox(sources_folder: Path) -> Path:
    """A new folder for one test, below the one that the embedded gateway may read."""
    folder = sources_folder / uuid4().hex
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def new_name() -> str:
    """A new table name in schema `shop`, for one test."""
    return f"shop.t_{uuid4().hex}"
