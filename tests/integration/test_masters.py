from __future__ import annotations

import json
import socket
import sys
from contextlib import closing
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from tests.integration.conftest import embedded_catalog
from tests.integration.lakehouse import DAYS, make_star
from tests.integration.running import REPOSITORY, RunningGateway
from tests.integration.spark_cluster import spark_cluster


def test_a_cluster_is_used_by_its_address_alone(folder: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    # Where executors reach the driver, and how large they may be, is the operator's; the rest is as ever.
    properties = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        # What the executors' Python has as a wheel elsewhere.
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": str(REPOSITORY),
    }
    with spark_cluster(folder / "cluster", port) as master:
        settings = {
            "SLUICE_SPARK_MASTER": master,
            "SLUICE_SPARK_CONF": json.dumps(properties),
            "SLUICE_INGEST_SOURCE_PREFIXES": (folder / "clustered-inbox").as_uri(),
        }
        running = RunningGateway.start(folder / "clustered", settings)
        try:
            with closing(embedded_catalog(running.data_dir)) as lake:
                make_star(lake)
                _check_that_executors_write(running, lake, folder / "clustered-inbox")
            sql = "SELECT count(DISTINCT day_key) AS days FROM shop.sales"
            answer = running.client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
            assert answer["result"]["rows"] == [[DAYS]]
            assert answer["pruning"]["dataFiles"] == {"total": DAYS, "selected": DAYS}
            for worker in ("worker-1", "worker-2"):
                assert list((folder / "cluster" / "work" / worker).rglob("stderr")), (
                    f"no executor on {worker}"
                )
        finally:
            assert running.stop() == 0


def _check_that_executors_write(running: RunningGateway, lake: SqlCatalog, inbox: Path) -> None:
    inbox.mkdir()
    for number in range(8):
        lines = (json.dumps({"id": number * 500 + each}) for each in range(500))
        (inbox / f"{number}.ndjson").write_text("\n".join(lines))
    table = lake.create_table("shop.from_executors", Schema(NestedField(1, "id", LongType())))
    source = {"uri": f"{inbox.as_uri()}/*.ndjson", "format": "ndjson"}
    answer = running.client.post("/ingest", json={"table": "lake.shop.from_executors", "source": source})
    assert answer.status_code == 200, answer.text
    assert answer.json()["commits"][0]["addedRecords"] == 4000
    assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == list(range(4000))
