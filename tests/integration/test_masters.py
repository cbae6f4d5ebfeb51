from __future__ import annotations

import json
import socket
from contextlib import closing
from pathlib import Path

from tests.integration.conftest import embedded_catalog
from tests.integration.lakehouse import DAYS, make_star
from tests.integration.running import RunningGateway
from tests.integration.spark_cluster import spark_cluster


def test_a_cluster_is_used_by_its_address_alone(folder: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    # Where executors reach the driver, and how large they may be, is the operator's; the rest is as ever.
    properties = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
    with spark_cluster(folder / "cluster", port) as master:
        settings = {"SLUICE_SPARK_MASTER": master, "SLUICE_SPARK_CONF": json.dumps(properties)}
        running = RunningGateway.start(folder / "clustered", settings)
        try:
            with closing(embedded_catalog(running.data_dir)) as lake:
                make_star(lake)
            sql = "SELECT count(DISTINCT day_key) AS days FROM shop.sales"
            answer = running.client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
            assert answer["result"]["rows"] == [[DAYS]]
            assert answer["pruning"]["dataFiles"] == {"total": DAYS, "selected": DAYS}
            workers_files = [each.name for each in (folder / "cluster" / "work").rglob("stderr")]
            assert workers_files, "no executor ran on the worker"
        finally:
            assert running.stop() == 0
