from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_gateway import build_gateway
from api.http.requests.stream_request import stream_definition
from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.folders import jdbc_url, make_folders, make_others
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import make_lakehouse
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import share_jars
from tests.java_options import long_lived_jvms
from tests.soak import SOAK
from tests.thorough import WITH_COMET

# Each query runs once or twice over a few rows, so compiling it would take longer than running it.
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
}

# Each query makes its own of the rows in memory, as it does by default.
NONE_KEPT = {"spark.sluice.foldsRelations": "false"}
# As in production.
COMPILED = {"spark.sql.adaptive.enabled": "true", "spark.sql.codegen.wholeStage": "true"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.integration)


@pytest.fixture(scope="package")
def data_dir() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-equivalence-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="package")
def folders(data_dir: Path) -> Path:
    """The folder of the tables without snapshots."""
    return data_dir / "folders"


@pytest.fixture(scope="package")
def gateway(data_dir: Path) -> Iterator[Gateway]:
    """A gateway of real parts in this process, which filters the scans of tables of any size."""
    share_jars(data_dir)
    settings = Settings(
        data_dir=data_dir,
        spark_master="local[2]",
        spark_driver_memory="2g",
        spark_conf=QUICK,
        parquet_tables=make_folders(data_dir / "folders"),
        # Little, so that rows are evicted while queries read them.
        hash_relations_max_bytes=16 << 20,
        manifest_entries_max_bytes=16 << 20,
        kept_plans_max_bytes=64 << 20,
        dynamic_filtering_min_table_bytes=0,
        dynamic_filtering_collect_timeout_s=60,
        dynamic_filtering_late_filters=True,
        sql_writes=True,
        sql_write_pruning=True,
        comet=WITH_COMET,
        comet_memory="1g",
        # On a busy machine, the default time ends before a text is read, and the query runs as written.
        dynamic_filtering_detection_timeout_s=20,
        # A query runs without a table's facts if they take longer than this, and these tests need them.
        catalog_facts_timeout_s=60,
        # And they name where keys came from.
        filter_cache_answer_ms=10_000,
    )
    with long_lived_jvms():
        gateway = build_gateway(settings, stream_definition)
        yield gateway
        gateway.close()
    del gateway
    gc.unfreeze()
    gc.collect()


@pytest.fixture(scope="package")
def lake(gateway: Gateway, data_dir: Path) -> Iterator[SqlCatalog]:
    """The catalog with every table, opened as another process would open it."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    root = engine.session.children._root
    with closing(embedded_catalog(data_dir)) as catalog:
        make_lakehouse(catalog, root.sql)
        make_others(data_dir / "others", jdbc_url(data_dir), root.sql)
        yield catalog


@pytest.fixture(scope="package")
def harness(gateway: Gateway, lake: SqlCatalog) -> Harness:  # noqa: ARG001
    return Harness(gateway, properties={} if SOAK and SOAK.keeps_rows else NONE_KEPT)


@pytest.fixture(scope="package")
def by_iceberg(gateway: Gateway, lake: SqlCatalog) -> Harness:  # noqa: ARG001
    """A harness whose queries are all planned by Iceberg."""
    return Harness(gateway, properties=NONE_KEPT, plans_from_memory=False)


@pytest.fixture(scope="package")
def from_memory(gateway: Gateway, lake: SqlCatalog) -> Harness:  # noqa: ARG001
    """A harness whose pruned queries choose their files from kept entries of manifests."""
    return Harness(gateway, properties=NONE_KEPT, plans_from_memory=True)


@pytest.fixture(scope="package", params=["interpreted", "compiled"])
def keeping(request: pytest.FixtureRequest, gateway: Gateway, lake: SqlCatalog) -> Harness:  # noqa: ARG001
    """A harness whose queries read rows that earlier ones have filtered and hashed."""
    return Harness(gateway, properties=COMPILED if request.param == "compiled" else {})
