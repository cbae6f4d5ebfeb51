from __future__ import annotations

import gc
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_gateway import build_gateway
from api.http.requests.stream_request import stream_definition
from service.gateway import Gateway
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import share_jars
from tests.java_options import long_lived_jvms
from tests.refresh.asker import Asker
from tests.refresh.tables import SCHEMA

QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.integration)


@pytest.fixture(scope="package")
def data_dir() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-refresh-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="package")
def gateway(data_dir: Path) -> Iterator[Gateway]:
    """A gateway of real parts in this process, which refreshes aggregations over tables of any size."""
    share_jars(data_dir)
    settings = Settings(
        data_dir=data_dir,
        spark_master="local[2]",
        spark_driver_memory="2g",
        spark_conf=QUICK,
        refresh_results=True,
        refresh_min_table_bytes=0,
        refresh_floating_point=True,
        dynamic_filtering_min_table_bytes=0,
        dynamic_filtering_collect_timeout_s=60,
        catalog_facts_timeout_s=60,
        # Tasks write each row that may be left in a file: rows of states have to come back all the same.
        result_inline_bytes=0,
        result_task_inline_bytes=0,
    )
    with long_lived_jvms():
        gateway = build_gateway(settings, stream_definition)
        yield gateway
        gateway.close()
    # The journal's threads leave the connections of their pool to the garbage collector.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del gateway
        gc.unfreeze()
        gc.collect()


@pytest.fixture(scope="package")
def lake(gateway: Gateway, data_dir: Path) -> Iterator[SqlCatalog]:  # noqa: ARG001
    """The catalog, opened as another process would open it."""
    with closing(embedded_catalog(data_dir)) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        yield catalog


@pytest.fixture(scope="package")
def asker(gateway: Gateway, lake: SqlCatalog) -> Asker:  # noqa: ARG001
    return Asker(gateway)
