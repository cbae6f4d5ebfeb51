"""Scans by Comet have the rows of those by Spark, and are reported alike.

`make comet-test` runs these, and the other tests of this folder with Comet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.gateway import Gateway
from service.model.query.planned_work import PlannedWork
from service.model.query.scan_metrics import ScanRecord
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import PrunedQuery
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import WITHOUT_COMET, Harness, different_rows
from tests.equivalence.lakehouse import FACTS
from tests.thorough import WITH_COMET, pairs_of

pytestmark = pytest.mark.skipif(not WITH_COMET, reason="SLUICE_TEST_COMET=1 runs these")

NATIVE = re.compile(r"CometIcebergNativeScan .*table=lake\.shop\.(\w+),")
ONCE: Mapping[str, str] = {}
ADAPTIVE = {"spark.sql.adaptive.enabled": "true"}
WITHOUT_FILES = frozenset({"emptied", "never_filled"})
TEXTS = {
    "all": "SELECT * FROM {fact} f",
    "some": "SELECT f.id, f.name, f.at, f.price FROM {fact} f WHERE f.k BETWEEN 2 AND 5 AND f.b IS NOT NULL",
    "grouped": "SELECT f.k, count(*) AS n, sum(f.price) AS p, min(f.name) AS m FROM {fact} f GROUP BY f.k",
    "joined": "SELECT f.id FROM {fact} f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
    "twice": (
        "SELECT f.id FROM {fact} f JOIN dim d ON f.k = d.k WHERE d.year = 1999 UNION ALL "
        "SELECT f.id FROM {fact} f JOIN dim d ON f.k = d.k WHERE d.year = 2000"
    ),
    "subquery": (
        "SELECT f.id FROM {fact} f WHERE f.k = (SELECT max(k) FROM tiny) OR f.k IN (SELECT k FROM tiny)"
    ),
}


@pytest.mark.parametrize("plan", ["adaptive", "once"])
@pytest.mark.parametrize(("fact", "text"), pairs_of(FACTS, tuple(TEXTS)))
def test_a_scan_reads_and_reports_what_that_of_spark_does(
    fact: str, text: str, plan: str, from_memory: Harness
) -> None:
    sql = TEXTS[text].format(fact=fact)
    properties = ADAPTIVE if plan == "adaptive" else ONCE
    by_spark = ran(from_memory, sql, {**properties, **WITHOUT_COMET})
    by_comet = ran(from_memory, sql, properties)
    assert different_rows(by_spark.rows, by_comet.rows) == ""
    assert reported(by_comet) == reported(by_spark)
    assert "Comet" not in by_spark.plan_text()
    is_read = any(scan.table.endswith(f".{fact}") and scan.has_run for scan in by_comet.scans)
    if fact != "vectored" and fact not in WITHOUT_FILES and is_read:
        # It leaves deletion vectors to Spark.
        assert fact in NATIVE.findall(by_comet.plan_text())


@pytest.fixture(scope="module")
def grown(gateway: Gateway, lake: SqlCatalog) -> str:  # noqa: ARG001
    """A table whose older files lack columns, have them under other names, or of smaller types."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    name = "lake.shop.grown"
    for statement in (
        f"CREATE TABLE {name} (a INT, f FLOAT, s STRUCT<x: INT>) USING iceberg",
        f"INSERT INTO {name} VALUES (1, 0.5, struct(1)), (2, NULL, NULL), (-0, -0.0, struct(NULL))",
        f"ALTER TABLE {name} ADD COLUMN b STRING",
        f"ALTER TABLE {name} ADD COLUMN s.y STRING",
        f"ALTER TABLE {name} ALTER COLUMN a TYPE BIGINT",
        f"ALTER TABLE {name} ALTER COLUMN f TYPE DOUBLE",
        f"INSERT INTO {name} VALUES (3000000000, double('NaN'), struct(3, 'y'), 'b'), (2, 1.5, NULL, NULL)",
        f"ALTER TABLE {name} RENAME COLUMN b TO c",
        f"ALTER TABLE {name} ADD COLUMN b INT",
        f"ALTER TABLE {name} ADD COLUMN m MAP<STRING, ARRAY<INT>>",
        f"INSERT INTO {name} VALUES (5, 2.5, struct(5, NULL), 'c', 7, map('k', array(1, NULL)))",
    ):
        engine.session.children._root.sql(statement)
    return name


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM grown",
        "SELECT b FROM grown",
        "SELECT c, s.y FROM grown",
        "SELECT m['k'] AS m FROM grown",
        "SELECT count(*) AS n, count(b) AS b, count(c) AS c, count(s) AS s FROM grown",
        "SELECT a FROM grown WHERE a = 1",
        "SELECT a, c FROM grown WHERE c IS NULL AND b IS NULL",
        "SELECT a FROM grown WHERE b > 0 OR s.x = 1",
        "SELECT a FROM grown WHERE s.y IS NULL",
        "SELECT a, count(*) AS n FROM grown GROUP BY a HAVING a > 1",
        "SELECT f, count(*) AS n FROM grown GROUP BY f",
        "SELECT max(f) AS f, min(f) AS g FROM grown",
        "SELECT a FROM grown WHERE f > 1 ORDER BY f DESC LIMIT 2",
        "SELECT a FROM grown WHERE f = 0.0",
        "SELECT a FROM grown VERSION AS OF {first}",
    ],
)
def test_files_of_earlier_schemas_are_read_alike(
    text: str, grown: str, lake: SqlCatalog, from_memory: Harness
) -> None:
    first = lake.load_table(grown.removeprefix("lake.")).history()[0].snapshot_id
    sql = text.format(first=first)
    by_spark = ran(from_memory, sql, WITHOUT_COMET)
    by_comet = ran(from_memory, sql, {})
    # By their texts: NaN does not equal itself, and -0.0 equals 0.0.
    assert sorted(map(repr, by_comet.rows.to_pylist())) == sorted(map(repr, by_spark.rows.to_pylist()))
    assert "Comet" in by_comet.plan_text()


@pytest.mark.parametrize("text", TEXTS)
def test_a_query_is_admitted_by_the_same_bytes(text: str, from_memory: Harness) -> None:
    sql = TEXTS[text].format(fact="by_k")
    found: list[PlannedWork] = []

    def admit(work: PlannedWork) -> str:
        found.append(work)
        return "default"

    for properties in (WITHOUT_COMET, {}):
        from_memory.run(sql, pruned=PrunedQuery(sql, properties=properties), admit=admit)
    assert found[0] == found[1]
    assert found[0].selected_bytes > 0


def ran(harness: Harness, sql: str, properties: Mapping[str, str]) -> EngineResult:
    return harness.run(sql, pruned=PrunedQuery(sql, properties=properties))


def reported(result: EngineResult) -> list[object]:
    """Returns what is reported of each scan, but for the rows that it read and its time."""
    return sorted((_reported(scan) for scan in result.scans), key=repr)


def _reported(scan: ScanRecord) -> object:
    metrics = scan.metrics
    assert 0 <= metrics.rows.selected <= metrics.rows.total
    has_rows = scan.has_run and metrics.data_files.selected > 0
    return (
        *(scan.table, scan.snapshot_id, scan.has_run, scan.is_native, has_rows and metrics.rows.selected > 0),
        *(metrics.partitions, metrics.manifests, metrics.data_files, metrics.bytes, metrics.rows.total),
        *(scan.columns, scan.predicates),
    )
