"""The engine without HTTP, in situations that only code inside Spark can set up."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from py4j.protocol import Py4JJavaError

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.errors.table_errors import TableNotFound
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.scan_metrics import PruningMetrics, Selection
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine
from spark_session.engine.engine_terms import in_engine_terms
from spark_session.results.served_batches import served_batches
from tests.class_archive import ARCHIVE
from tests.integration.spark_server import datasets_that_give_up

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    return shared_engine


@pytest.mark.skipif(str(ARCHIVE) not in os.environ.get("JDK_JAVA_OPTIONS", ""), reason="a whole run makes it")
def test_a_jvm_of_the_tests_starts_from_the_class_archive(engine: SparkEngine) -> None:
    assert engine.session is not None
    mapped = psutil.Process(engine.session.jvm.process.pid).memory_maps()
    assert ARCHIVE.name in {Path(part.path).name for part in mapped}, "the JVM found that it does not match"


def test_sessions_of_queries_have_no_artifacts_to_remove(engine: SparkEngine) -> None:
    assert engine.session is not None
    children = engine.session.children
    with children.taken("lake", None, str(uuid4())) as child:
        child.sql("SELECT count(*) FROM range(3)").collect()
        own = child._jsparkSession.sessionState().artifactManager()
    assert own.equals(children._root._jsparkSession.sessionState().artifactManager())


def statement(sql: str) -> Statement:
    return Statement(uuid4(), sql, (), None, None, 1000, 10**6, is_canceled=lambda: False, access=FULL_ACCESS)


def run(engine: SparkEngine, sql: str) -> EngineResult:
    return engine.run(statement(sql))


def prepare(engine: SparkEngine, *commands: str) -> None:
    """Runs commands as an administrator would in another Spark session."""
    assert engine.session is not None
    for command in commands:
        engine.session.children._root.sql(command)


@pytest.mark.parametrize("function", ["current_user()", "user()", "session_user()", "current_user"])
def test_the_current_user_is_the_caller_of_each_query(engine: SparkEngine, function: str) -> None:
    sql = f"SELECT {function} AS who FROM range(3) WHERE id = 1"
    for caller in ("ann", "bob"):
        assert engine.run(replace(statement(sql), caller=caller)).rows.to_pylist() == [{"who": caller}]


VALUES_ALONE = [
    ("SELECT 1", [1]),
    ("SELECT x + 1, upper(y) FROM (SELECT 41 AS x, 'a' AS y) AS t", [42, "A"]),
    ("SELECT named_struct('a', array(1, NULL)), CAST(NULL AS DATE)", [{"a": [1, None]}, None]),
    ("SELECT (SELECT max(id) FROM range(3))", [2]),
    ("SELECT length(uuid()), rand() < 1", [36, True]),
]


@pytest.mark.parametrize(("sql", "expected"), VALUES_ALONE)
def test_values_alone_are_what_they_were(engine: SparkEngine, sql: str, expected: list[object]) -> None:
    assert [list(row.values()) for row in run(engine, sql).rows.to_pylist()] == [expected]


def test_values_alone_need_no_task(engine: SparkEngine) -> None:
    assert "LocalTableScan" in run(engine, "SELECT 1").plan_text()
    scheduler = engine.session.context._jsc.sc().dagScheduler() if engine.session else None
    assert scheduler is not None
    before = scheduler.numTotalJobs()
    for sql, _ in VALUES_ALONE[:3]:
        run(engine, sql)
    assert scheduler.numTotalJobs() == before


DEEP = (
    "SELECT rlike(repeat({}, 100000), '(a|b)*c') AS x",
    "SELECT regexp_count(repeat({}, 100000), '(a|b)*c') AS x",
)


@pytest.mark.parametrize("sql", DEEP)
def test_a_stack_that_overflows_fails_the_query_alone(engine: SparkEngine, sql: str) -> None:
    session = engine.session
    for text in (sql.format("'a'"), f"{sql.format('chr(97 + id)')} FROM range(0, 1)"):
        with pytest.raises(QueryFailed, match="too deep for the engine's stack"):
            run(engine, text)
    assert engine.session is session


def test_no_message_names_a_property_that_a_caller_cannot_set(engine: SparkEngine) -> None:
    failing = ("SELECT 1/0", "SELECT CAST('x' AS INT)", "SELECT array(1)[7]", "SELECT * FROM nowhere.a.b")
    for sql in failing:
        with pytest.raises(GatewayError) as raised:
            run(engine, sql)
        assert "spark.sql" not in raised.value.detail
    with pytest.raises(SqlInvalid, match="There is no catalog nowhere"):
        engine.run(replace(statement("SELECT 1"), catalog="nowhere"))


def test_a_view_that_runs_a_program_is_not_read(engine: SparkEngine, tmp_path: Path) -> None:
    program = f"touch {tmp_path / 'ran'}"
    prepare(
        engine,
        f"CREATE GLOBAL TEMPORARY VIEW trap AS SELECT TRANSFORM (id) USING '{program}' AS (a) FROM range(1)",
        "CREATE GLOBAL TEMPORARY VIEW fair AS SELECT id FROM range(3)",
    )
    with pytest.raises(StatementNotAllowed, match="view"):
        run(engine, "SELECT * FROM global_temp.trap")
    with pytest.raises(StatementNotAllowed, match="view"):
        run(engine, "SELECT 1 WHERE EXISTS (SELECT * FROM global_temp.trap)")
    assert run(engine, "SELECT count(*) AS n FROM global_temp.fair").rows.to_pylist() == [{"n": 3}]
    assert not (tmp_path / "ran").exists()


def test_totals_of_a_snapshot_are_those_of_all_its_manifests(engine: SparkEngine) -> None:
    prepare(engine, "CREATE TABLE lake.s.t (k INT, v INT) USING iceberg PARTITIONED BY (k)")
    for commit in (1, 2, 3):
        prepare(engine, f"INSERT INTO lake.s.t SELECT 10 * {commit} + id, id FROM range(4)")
        [scan] = run(engine, "SELECT v FROM lake.s.t WHERE k < 12").scans
        metrics = scan.metrics
        assert (metrics.partitions.total, metrics.data_files.total) == (4 * commit, 4 * commit)
        assert (metrics.partitions.selected, metrics.data_files.selected, metrics.rows.selected) == (2, 2, 2)
        assert (metrics.manifests.total, metrics.manifests.selected) == (commit, 1)
        assert metrics.rows.total == 4 * commit


def test_changes_of_a_table_are_read_though_they_have_no_files_to_count(engine: SparkEngine) -> None:
    prepare(
        engine,
        "CREATE TABLE lake.s.changed (k INT) USING iceberg",
        "INSERT INTO lake.s.changed VALUES (1), (2)",
    )
    answer = run(engine, "SELECT k FROM lake.s.changed.changes ORDER BY k")
    assert (answer.rows.to_pylist(), answer.scans) == ([{"k": 1}, {"k": 2}], ())


def test_a_plan_selects_the_files_that_a_run_reads_and_runs_nothing(engine: SparkEngine) -> None:
    prepare(engine, "CREATE TABLE lake.s.planned (k INT, v INT) USING iceberg PARTITIONED BY (k)")
    for commit in (1, 2, 3):
        prepare(engine, f"INSERT INTO lake.s.planned SELECT 10 * {commit} + id, id FROM range(4)")
    sql = "SELECT v / 0 FROM lake.s.planned WHERE k < 12 ORDER BY v"
    planned = engine.explain(statement(sql))
    [scan] = planned.scans
    metrics = scan.metrics
    assert (metrics.partitions, metrics.manifests) == (Selection(12, 2), Selection(3, 1))
    assert (metrics.data_files.total, metrics.data_files.selected) == (12, 2)
    assert (metrics.rows, planned.rows.num_rows, planned.running_ms) == (Selection(12, 0), 0, 0)
    assert [column.name for column in planned.columns] == ["(v / 0)"]
    assert "== Physical Plan ==" in planned.plan_text()
    with pytest.raises(QueryFailed, match="Division by zero"):
        run(engine, sql)


def test_only_what_may_run_is_planned(engine: SparkEngine) -> None:
    with pytest.raises(StatementNotAllowed):
        engine.explain(statement("DROP TABLE lake.s.planned"))
    with pytest.raises(TableNotFound):
        engine.explain(statement("SELECT * FROM lake.s.missing"))


def test_a_query_that_fails_while_it_runs_says_what_it_had_read(engine: SparkEngine) -> None:
    prepare(
        engine,
        "CREATE TABLE lake.s.some (k INT) USING iceberg",
        "INSERT INTO lake.s.some VALUES (1), (2)",
    )
    with pytest.raises(QueryFailed, match="Division by zero") as raised:
        run(engine, "SELECT k / 0 FROM lake.s.some")
    so_far = raised.value.run
    assert so_far is not None
    assert [scan.table for scan in so_far.scans] == ["lake.s.some"]
    assert "== Physical Plan ==" in so_far.plan_text


@pytest.fixture(scope="module")
def star(engine: SparkEngine) -> None:
    prepare(
        engine,
        "CREATE TABLE lake.s.facts (k INT, v INT) USING iceberg PARTITIONED BY (k)",
        "INSERT INTO lake.s.facts SELECT id, id FROM range(4)",
        "CREATE TABLE lake.s.days (k INT, month INT) USING iceberg",
        "INSERT INTO lake.s.days SELECT id, id FROM range(0, 4, 1, 1)",
    )


def reported(result: EngineResult) -> dict[str, tuple[bool, Selection]]:
    return {scan.table: (scan.has_run, scan.metrics.data_files) for scan in result.scans}


@pytest.mark.usefixtures("star")
@pytest.mark.parametrize("hint", ["", "/*+ MERGE(c) */", "/*+ SHUFFLE_HASH(c) */"])
def test_a_scan_whose_rows_turned_out_to_match_nothing_is_reported_as_it_ran(
    engine: SparkEngine, hint: str
) -> None:
    sql = f"SELECT {hint} f.v FROM lake.s.facts f JOIN lake.s.days c ON f.k = c.k WHERE c.month * 2 = 99"
    found = reported(run(engine, sql))
    assert set(found) == {"lake.s.facts", "lake.s.days"}
    assert found["lake.s.days"] == (True, Selection(1, 1))
    has_run, facts = found["lake.s.facts"]
    assert (facts.total, facts.selected) == (4, 4 if has_run else 0)


@pytest.mark.usefixtures("star")
def test_a_scan_that_was_planned_and_never_ran_has_read_nothing_of_its_total(engine: SparkEngine) -> None:
    # Spark knows that the broadcast has no rows before the other side begins.
    sql = (
        "SELECT /*+ BROADCAST(c) */ f.v FROM lake.s.facts f JOIN lake.s.days c ON f.v = c.k"
        " WHERE c.month * 2 = 99"
    )
    result = run(engine, sql)
    assert reported(result) == {
        "lake.s.days": (True, Selection(1, 1)),
        "lake.s.facts": (False, Selection(4, 0)),
    }
    [facts] = [scan.metrics for scan in result.scans if not scan.has_run]
    assert (facts.partitions, facts.manifests) == (Selection(4, 0), Selection(1, 0))
    assert facts.rows == Selection(4, 0)


@pytest.mark.usefixtures("star")
def test_each_scan_is_reported_once(engine: SparkEngine) -> None:
    sql = (
        "SELECT count(*) FROM lake.s.facts f JOIN lake.s.days c ON f.k = c.k JOIN lake.s.facts g ON g.k = c.k"
        " WHERE c.month < 2 AND f.v > (SELECT min(k * 2) FROM lake.s.days) - 1"
    )
    for result in (run(engine, sql), engine.explain(statement(sql))):
        tables = sorted(scan.table for scan in result.scans)
        assert tables == ["lake.s.days", "lake.s.days", "lake.s.facts", "lake.s.facts"]
    assert all(scan.has_run for scan in run(engine, sql).scans)


@pytest.mark.usefixtures("star")
def test_a_scan_that_spark_itself_prunes_says_so(engine: SparkEngine) -> None:
    sql = "SELECT f.v FROM lake.s.facts f JOIN lake.s.days c ON f.k = c.k WHERE c.month = 2"
    [facts, days] = sorted(run(engine, sql).scans, key=lambda scan: scan.table, reverse=True)
    assert (facts.is_native, facts.metrics.data_files) == (True, Selection(4, 1))
    assert days.is_native is False
    assert {scan.is_native for scan in engine.explain(statement(sql)).scans} == {None}


@pytest.mark.usefixtures("star")
def test_a_scan_says_which_columns_it_reads(engine: SparkEngine) -> None:
    sql = "SELECT max(f.v) FROM lake.s.facts f JOIN lake.s.days c ON f.k = c.k"
    for result in (run(engine, sql), engine.explain(statement(sql))):
        assert {scan.table: scan.columns for scan in result.scans} == {
            "lake.s.facts": ("k", "v"),
            "lake.s.days": ("k",),
        }


@pytest.mark.usefixtures("star")
def test_totals_are_reported_for_tables_that_are_not_read(engine: SparkEngine) -> None:
    [scan] = run(engine, "SELECT v FROM lake.s.facts WHERE k < 1").scans
    nothing = Selection(0, 0)
    bare = replace(scan, metrics=PruningMetrics(nothing, nothing, nothing, nothing, nothing, planning_ms=0))
    elsewhere = run(engine, "SELECT 1")
    assert [total.metrics.partitions for total in elsewhere.with_totals([bare])] == [Selection(4, 0)]
    assert [total.metrics.manifests for total in elsewhere.with_totals([bare])] == [Selection(1, 0)]
    gone = replace(bare, table="lake.s.gone")
    assert elsewhere.with_totals([gone]) == (gone,)


def test_rows_that_nobody_serves_and_nobody_says_why_are_not_waited_for(engine: SparkEngine) -> None:
    assert engine.session is not None
    gateway = engine.session.context._gateway
    assert gateway is not None
    collector = engine.session.rows._java
    silent, reported = datasets_that_give_up(gateway, "stack", "What is wrong")
    with pytest.raises(QueryFailed, match="gave this query up"):
        served_batches(silent, collector, 1)
    with pytest.raises(Py4JJavaError, match="What is wrong"):
        served_batches(reported, collector, 1)
    with (
        pytest.raises(QueryFailed, match="too deep for the engine's stack"),
        in_engine_terms(engine.session, lambda: False),
    ):
        silent.recurse()


def test_more_rows_than_are_served_at_once_come_in_their_order(engine: SparkEngine) -> None:
    sql = "SELECT id FROM range(0, 40000, 1, 7) ORDER BY id DESC"
    found = engine.run(replace(statement(sql), row_limit=50_000))
    assert found.rows.column("id").to_pylist() == list(range(39_999, -1, -1))
    nothing = engine.run(replace(statement(f"{sql} LIMIT 0"), row_limit=50_000))
    assert (nothing.rows.num_rows, nothing.rows.column_names) == (0, ["id"])
