from __future__ import annotations

import json
import socket
from contextlib import closing
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import DAYS, make_star
from tests.integration.running import RunningGateway
from tests.integration.spark_cluster import REST_PORT, SparkCluster, spark_cluster
from tests.integration.spark_strangers import asks_for_secret


def test_a_cluster_is_used_by_its_address_alone(folder: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with spark_cluster(folder / "cluster", port) as cluster:
        _check_that_strangers_are_refused(cluster)
        # The operator sets how executors reach the driver, and their size. All else is as usual.
        properties = cluster.properties | {"spark.executor.memory": "512m"}
        settings = {
            "SLUICE_SPARK_MASTER": cluster.url,
            "SLUICE_SPARK_CONF": json.dumps(properties),
            "SLUICE_INGEST_SOURCE_PREFIXES": (folder / "clustered-inbox").as_uri(),
            "SLUICE_INGEST_EXECUTED_BODY_BYTES": str(1024 * 1024),
            "SLUICE_INGEST_SPLIT_BYTES": str(1024 * 1024),
        }
        running = RunningGateway.start(folder / "clustered", settings)
        try:
            with closing(embedded_catalog(running.data_dir)) as lake:
                make_star(lake)
                _check_that_executors_write(running, lake, folder / "clustered-inbox")
                _check_that_executors_find_a_body(running, lake)
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


def _check_that_strangers_are_refused(cluster: SparkCluster) -> None:
    # There are only these two ports: applications sent to a REST server would run without the secret.
    assert cluster.ports("master") == {cluster.port, cluster.web_port}
    assert REST_PORT not in cluster.ports("master")
    assert asks_for_secret("127.0.0.1", cluster.port)


def _check_that_executors_write(running: RunningGateway, lake: SqlCatalog, inbox: Path) -> None:
    inbox.mkdir()
    for number in range(8):
        lines = (json.dumps({"id": number * 500 + index}) for index in range(500))
        (inbox / f"{number}.ndjson").write_text("\n".join(lines))
    table = lake.create_table("shop.from_executors", Schema(NestedField(1, "id", LongType())))
    source = {"uri": f"{inbox.as_uri()}/*.ndjson", "format": "ndjson"}
    answer = running.client.post("/ingest", json={"table": "lake.shop.from_executors", "source": source})
    assert answer.status_code == 200, answer.text
    assert answer.json()["commits"][0]["addedRecords"] == 4000
    assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == list(range(4000))


def _check_that_executors_find_a_body(running: RunningGateway, lake: SqlCatalog) -> None:
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "note", StringType()))
    table = lake.create_table("shop.from_a_body", schema, properties={"format-version": "2"})
    keys, turns = 4000, 10
    records = ({"id": number, "note": f"{turn}" * 60} for turn in range(turns) for number in range(keys))
    body = "\n".join(json.dumps(record) for record in records).encode()
    assert len(body) > 3 * 1024**2
    answer = running.client.post(
        "/ingest",
        params={"table": "lake.shop.from_a_body", "mode": "upsert", "equalityFields": "id"},
        content=body,
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert answer.status_code == 200, answer.text
    sql = "SELECT count(*), count(DISTINCT id), min(left(note, 1)) FROM shop.from_a_body"
    asked = running.client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
    assert asked["result"]["rows"] == [[keys, keys, "9"]]
    # Their input was staged beside the table until they had read it.
    folder = Path(table.location().removeprefix("file://"))
    assert (folder / "bodies").is_dir()
    assert not list((folder / "bodies").iterdir())
