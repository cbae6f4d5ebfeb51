"""The engine asks before its first job, with what the plan will read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.errors.query_errors import NotAdmitted
from service.model.query.planned_work import PlannedWork
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine
from tests.integration.engine.test_engine import prepare, statement

pytestmark = pytest.mark.integration

TABLE = "lake.admission.sales"


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE NAMESPACE IF NOT EXISTS lake.admission",
        f"CREATE TABLE {TABLE} (id BIGINT, day INT) USING iceberg PARTITIONED BY (day)",
        f"INSERT INTO {TABLE} SELECT id, id % 4 FROM range(100000)",
    )
    return shared_engine


def admitted(engine: SparkEngine, sql: str, pool: str = "short") -> tuple[EngineResult, PlannedWork]:
    """Runs the statement; returns its result, and what the engine has asked with."""
    asked: list[PlannedWork] = []

    def admit(work: PlannedWork) -> str:
        asked.append(work)
        return pool

    result = engine.run(replace(statement(sql), admit=admit))
    [work] = asked
    return result, work


def test_a_query_without_a_table_selects_nothing(engine: SparkEngine) -> None:
    assert admitted(engine, "SELECT 1")[1] == PlannedWork(0)


def test_the_bytes_of_a_plan_are_about_those_of_the_files_that_it_selects(engine: SparkEngine) -> None:
    whole, all_work = admitted(engine, f"SELECT sum(id) FROM {TABLE}")
    part, work = admitted(engine, f"SELECT sum(id) FROM {TABLE} WHERE day = 1")
    for result, planned in ((whole, all_work), (part, work)):
        selected = sum(scan.metrics.bytes.selected for scan in result.scans)
        assert 0.9 * selected <= planned.selected_bytes <= selected
        assert planned.is_bounded
    assert work.selected_bytes < all_work.selected_bytes / 3


def test_both_scans_of_a_join_and_those_of_subqueries_count(engine: SparkEngine) -> None:
    one = admitted(engine, f"SELECT sum(id) FROM {TABLE}")[1].selected_bytes
    join = f"SELECT a.day, count(*) FROM {TABLE} a JOIN {TABLE} b ON a.id = b.id + 1 GROUP BY 1"
    assert admitted(engine, join)[1].selected_bytes == 2 * one
    subquery = f"SELECT count(*) FROM {TABLE} WHERE id > (SELECT sum(id) / 1000000 FROM {TABLE})"
    assert admitted(engine, subquery)[1].selected_bytes > 1.5 * one


def test_rows_made_without_a_table_count_by_their_number(engine: SparkEngine) -> None:
    assert admitted(engine, "SELECT sum(id) FROM range(1000000)")[1].selected_bytes == 8_000_000


UNBOUNDED = [
    f"SELECT count(*) FROM {TABLE} a CROSS JOIN {TABLE} b WHERE a.id + b.id = 3 AND a.id < 2 AND b.id < 9",
    f"SELECT count(*) FROM {TABLE} a JOIN {TABLE} b ON a.id < b.id AND b.id < 9",
    "SELECT explode(sequence(1, 3))",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT count(*) FROM r",
]


@pytest.mark.parametrize("sql", UNBOUNDED)
def test_a_plan_that_may_make_many_more_rows_than_it_reads_has_no_bound(
    engine: SparkEngine, sql: str
) -> None:
    assert not admitted(engine, sql)[1].is_bounded


def test_a_query_that_is_not_admitted_starts_no_job(engine: SparkEngine) -> None:
    assert engine.session is not None
    tracker = engine.session.context._jsc.sc().statusTracker()

    def wait(_: PlannedWork) -> str:
        raise NotAdmitted

    asked: Statement = replace(statement(f"SELECT sum(id) FROM {TABLE}"), admit=wait)
    with pytest.raises(NotAdmitted):
        engine.run(asked)
    assert len(tracker.getJobIdsForTag(str(asked.query_id))) == 0
    assert not engine.session.calls.open()


def test_jobs_run_in_the_pool_that_admission_names(engine: SparkEngine) -> None:
    assert engine.session is not None
    context = engine.session.context
    asked = replace(statement(f"SELECT sum(id) FROM {TABLE}"), admit=lambda _: "short")
    engine.run(asked)
    assert context.getLocalProperty("spark.scheduler.pool") == "short"
    engine.run(statement("SELECT 1"))
    assert context.getLocalProperty("spark.scheduler.pool") == "queries"
    names = {str(pool.name()): pool for pool in _pools(engine)}
    assert {"queries", "short", "ingests"} <= names.keys()
    assert (names["short"].minShare(), names["short"].weight()) == (1, 4)


def _pools(engine: SparkEngine) -> list[Any]:
    assert engine.session is not None
    spark = engine.session.context._jsc.sc()
    return [spark.getPoolForName(name).get() for name in ("queries", "short", "ingests")]
