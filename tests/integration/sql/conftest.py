"""One engine, without a gateway, for the tests of what SQL may hold and ask for."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import SparkSettings
from tests.engine_jars import engine_jars
from tests.integration.sql.engine_calls import root_of


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    folder = tmp_path_factory.mktemp("bounds")
    lake = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "warehouse"),
    }
    jars = engine_jars()
    engine = SparkEngine(SparkSettings("local[2]", jars, folder, lake, ("lake",), "lake"))
    engine.start()
    for command in (
        "CREATE NAMESPACE lake.shop",
        "CREATE TABLE lake.shop.sales USING iceberg AS "
        "SELECT id, id % 7 AS k, string(id) AS name FROM range(1000)",
        "CREATE TABLE lake.shop.by_k USING iceberg PARTITIONED BY (k) AS SELECT 1 AS id, 2 AS k",
    ):
        root_of(engine).sql(command)
    yield engine
    engine.close()
    del engine
    gc.collect()
