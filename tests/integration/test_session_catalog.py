"""Tables without snapshots over HTTP: folders declared by the operator, and a Hive metastore's tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.equivalence.folders import write, write_file
from tests.integration.asking import JsonObject, ask, explain, post, problem, rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import FIRST_DAY, make_star
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway, run_sluice
from tests.polling import until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SPARK = PRUNES_THOUGH_BUSY | {"SLUICE_SPARK_MASTER": "local[2]", "SLUICE_SPARK_DRIVER_MEMORY": "1g"}
ALWAYS = {"dynamicFiltering": {"minTableBytes": 0, "verify": True}}
NEVER = {"dynamicFiltering": {"enabled": False}}
JOINED = (
    "SELECT f.id, d.name FROM spark_catalog.logs.{table} f JOIN spark_catalog.logs.kinds d ON f.k = d.k"
    " WHERE d.name = 'odd' ORDER BY 1"
)
METASTORE = """
import sys
from pyspark.sql import SparkSession
folder = sys.argv[1]
url = f"jdbc:derby:;databaseName={folder}/store;create=true"
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.sql.catalogImplementation", "hive").config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", url)
    .config("hive.exec.dynamic.partition.mode", "nonstrict").getOrCreate()
)
spark.sql("CREATE SCHEMA logs")
source = "SELECT id, string(id % 2) AS s, int(id % 8) AS k FROM range(80)"
for name, kind in (("hive_style", "PARQUET"), ("hive_orc", "ORC"), ("texts", "TEXTFILE")):
    spark.sql(f"CREATE TABLE logs.{name} (id BIGINT) PARTITIONED BY (s STRING, k INT) STORED AS {kind}")
    spark.sql(f"INSERT INTO logs.{name} SELECT id, s, k FROM ({source})")
spark.sql(f"CREATE TABLE logs.tracked USING parquet PARTITIONED BY (k) AS {source}")
spark.sql("CREATE VIEW logs.seen AS SELECT id, k FROM logs.tracked")
kinds = "SELECT int(id) AS k, if(id % 4 = 1, 'odd', 'other') AS name FROM range(20)"
spark.sql(f"CREATE TABLE logs.kinds USING parquet AS {kinds}")
spark.stop()
"""


@pytest.fixture(scope="module")
def declared(folder: Path) -> Iterator[RunningGateway]:
    """A gateway with folders declared by its operator."""
    place = folder / "declared-files"
    write(place / "events", [{"id": number, "k": number % 8 or None} for number in range(80)], ["k"])
    write_file(place / "kinds" / "a.parquet", _kinds(range(20)))
    tables = {
        "logs.events": {"location": str(place / "events"), "partition_columns": {"k": "INT"}},
        "logs.kinds": {"location": str(place / "kinds")},
        "logs.later": {"location": str(place / "later")},
    }
    gateway = RunningGateway.start(folder / "declared", SPARK | {"SLUICE_PARQUET_TABLES": json.dumps(tables)})
    yield gateway
    gateway.stop()


@pytest.fixture(scope="module")
def hive(folder: Path) -> Iterator[RunningGateway]:
    """A gateway with a metastore, in which another program has created tables."""
    place = folder / "hive-files"
    place.mkdir()
    subprocess.run([sys.executable, "-c", METASTORE, str(place)], cwd=place, check=True, capture_output=True)
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{place}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={place}/store",
    }
    gateway = RunningGateway.start(folder / "hive", SPARK | {"SLUICE_SPARK_CONF": json.dumps(conf)})
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        make_star(lake)
    yield gateway
    gateway.stop()


def pruned(client: httpx.Client, sql: str) -> tuple[JsonObject, JsonObject, JsonObject]:
    """Repeats a query until one filter is applied, as table facts may be late; explains it."""

    def attempt() -> tuple[JsonObject, JsonObject, JsonObject] | None:
        answer = ask(client, sql, **ALWAYS)
        explanation = explain(client, answer["queryId"])
        applied = [filter_ for filter_ in explanation["filters"] if filter_["applied"]]
        return (answer, explanation, applied[0]) if len(applied) == 1 else None

    found = until(attempt, within_s=60)
    assert found is not None
    return found


def _kinds(keys: range) -> list[dict[str, object]]:
    return [{"k": key, "name": "odd" if key % 4 == 1 else "other"} for key in keys]


def test_a_declared_folder_is_pruned_and_explained(declared: RunningGateway) -> None:
    plain = ask(declared.client, JOINED.format(table="events"), **NEVER)
    answer, explanation, applied = pruned(declared.client, JOINED.format(table="events"))
    assert answer["result"]["rows"] == plain["result"]["rows"] != []
    assert applied["probe"] == {
        "table": "spark_catalog.logs.events",
        "columns": ["k"],
        "snapshotId": None,
        "alias": "f",
        "tableReference": 1,
    }
    assert (applied["source"], applied["build"]["snapshotIds"]) == ("COLLECTED", [None])
    assert explanation["verification"] == "SAME"
    assert "VERSION AS OF" not in explanation["rewrittenSql"]
    [scan] = [scan for scan in explanation["scans"] if scan["table"] == "spark_catalog.logs.events"]
    assert scan["partitions"] == scan["dataFiles"] == {"total": 8, "selected": 2}
    text = declared.client.get(f"/explain/{answer['queryId']}", headers={"Accept": "text/plain"}).text
    assert "spark_catalog.logs.events (without snapshots)" in text
    assert "data files  2 of 8" in text


def test_a_folder_of_which_nothing_is_needed_is_nothing_of_its_total(declared: RunningGateway) -> None:
    nobody = JOINED.format(table="events").replace("= 'odd'", "= 'nobody'")
    _, explanation, applied = pruned(declared.client, nobody)
    assert applied["form"] == "EMPTY"
    [scan] = [scan for scan in explanation["scans"] if scan["table"] == "spark_catalog.logs.events"]
    assert scan["partitions"] == scan["dataFiles"] == {"total": 8, "selected": 0}
    assert scan["hasRun"] is False


def test_declared_folders_are_tables_like_others(declared: RunningGateway) -> None:
    names = [table["name"] for table in declared.client.get("/tables?catalog=spark_catalog").json()["tables"]]
    assert "spark_catalog.logs.events" in names
    described = declared.client.get("/tables/spark_catalog.logs.events").json()
    assert (described["source"], described["snapshotId"], described["dataFileCount"]) == ("FILES", None, 8)
    assert [field["transform"] for field in described["partitionSpec"]] == ["identity"]
    found = problem(post(declared.client, "SELECT * FROM spark_catalog.logs.evnts"), 404, "TABLE_NOT_FOUND")
    assert "spark_catalog.logs.events" in found["detail"]
    assert "catalog:spark_catalog" in declared.client.get("/readyz").json()["parts"]


def test_nobody_writes_to_them(declared: RunningGateway) -> None:
    for sql in (
        "DROP TABLE spark_catalog.logs.events",
        "INSERT INTO spark_catalog.logs.events VALUES (1, 1)",
    ):
        problem(post(declared.client, sql), 403, "SQL_WRITES_OFF")


def test_a_folder_that_comes_later_becomes_a_table(declared: RunningGateway, folder: Path) -> None:
    sql = "SELECT count(*) FROM spark_catalog.logs.later"
    assert post(declared.client, sql).status_code == 404
    write_file(folder / "declared-files" / "later" / "a.parquet", _kinds(range(3)))
    until(lambda: post(declared.client, sql).status_code == 200, within_s=60)


def test_declared_folders_are_there_again_after_the_jvm_was_lost(declared: RunningGateway) -> None:
    before = rows(declared.client, JOINED.format(table="events"))
    jvm = declared.jvm()
    assert jvm is not None
    jvm.kill()
    until(lambda: declared.client.get("/readyz").status_code == 503)
    until(lambda: declared.client.get("/readyz").status_code == 200, within_s=120)
    answer, _, _ = pruned(declared.client, JOINED.format(table="events"))
    assert answer["result"]["rows"] == before


@pytest.mark.parametrize("table", ["hive_style", "hive_orc", "tracked"])
def test_a_metastores_table_is_pruned_and_explained(hive: RunningGateway, table: str) -> None:
    plain = ask(hive.client, JOINED.format(table=table), **NEVER)
    answer, explanation, applied = pruned(hive.client, JOINED.format(table=table))
    assert answer["result"]["rows"] == plain["result"]["rows"] != []
    assert applied["probe"]["table"] == f"spark_catalog.logs.{table}"
    [scan] = [scan for scan in explanation["scans"] if scan["table"] == f"spark_catalog.logs.{table}"]
    assert scan["partitions"] == {"total": 8, "selected": 2}
    assert scan["dataFiles"]["selected"] * 4 == scan["dataFiles"]["total"]


@pytest.mark.parametrize("table", ["texts", "seen"])
def test_what_is_read_by_other_means_says_why_it_takes_no_filter(hive: RunningGateway, table: str) -> None:
    def refusals() -> list[JsonObject]:
        found = ask(hive.client, JOINED.format(table=table), **ALWAYS)
        filters = explain(hive.client, found["queryId"])["filters"]
        return [filter_ for filter_ in filters if filter_["joinType"] != "NONE"]

    [refused] = until(refusals, within_s=60)
    assert (refused["reason"], refused["probe"]["table"]) == (
        "SOURCE_NOT_SUPPORTED",
        f"spark_catalog.logs.{table}",
    )


def test_a_metastores_table_is_pruned_by_keys_of_an_iceberg_table(hive: RunningGateway) -> None:
    sql = (
        "SELECT f.id FROM spark_catalog.logs.hive_style f"
        f" JOIN shop.calendar c ON f.k = c.day_key - {FIRST_DAY}"
        f" WHERE c.month = 1 AND c.day_key < {FIRST_DAY + 3}"
    )
    plain = ask(hive.client, sql, **NEVER)
    answer, _, applied = pruned(hive.client, sql)
    assert sorted(answer["result"]["rows"]) == sorted(plain["result"]["rows"]) != []
    assert applied["build"]["tables"] == ["lake.shop.calendar"]


def test_folders_beside_a_metastore_are_refused_at_the_start(folder: Path) -> None:
    settings = {
        "SLUICE_SPARK_CONF": json.dumps({"spark.sql.catalogImplementation": "hive"}),
        "SLUICE_PARQUET_TABLES": json.dumps({"logs.events": {"location": "/data"}}),
    }
    refused = run_sluice("serve", folder / "refused", settings)
    assert refused.returncode != 0
    assert "would be written into the Hive metastore" in refused.stderr
