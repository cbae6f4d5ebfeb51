"""Queries that read little are planned once, and have the rows that they had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from spark_session.engine.engine import SparkEngine
from spark_session.session.small_queries import SmallQueries
from tests.integration.engine.test_engine import prepare, run

pytestmark = pytest.mark.integration

ADAPTIVE = "AdaptiveSparkPlan"
MAX_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE NAMESPACE IF NOT EXISTS lake.small",
        "CREATE OR REPLACE TABLE small.facts USING iceberg AS"
        " SELECT id, id % 7 AS k, id / 3 AS v FROM range(200)",
        "CREATE OR REPLACE TABLE small.names USING iceberg AS SELECT id AS k, string(id) AS n FROM range(7)",
    )
    return shared_engine


@pytest.fixture
def planned_once(engine: SparkEngine) -> Iterator[SparkEngine]:
    assert engine.session is not None
    before = engine.session.small_queries
    engine.session.small_queries = SmallQueries(engine.session.jvm.gateway, MAX_BYTES)
    yield engine
    engine.session.small_queries = before


SMALL = [
    "SELECT k, count(*), sum(v) FROM small.facts GROUP BY k",
    "SELECT n, max(id) FROM small.facts JOIN small.names USING (k) GROUP BY n",
    "SELECT /*+ MERGE(names) */ n, id FROM small.facts LEFT JOIN small.names USING (k)",
    "SELECT count(*) FROM small.facts WHERE k = (SELECT max(k) FROM small.names)",
    "SELECT id, rank() OVER (PARTITION BY k ORDER BY v DESC) FROM small.facts",
    "WITH t AS (SELECT k, rand() < 2 AS r FROM small.facts) SELECT count(*) FROM t JOIN t AS u USING (k)",
    "SELECT DISTINCT k FROM small.facts UNION SELECT k FROM small.names",
]
LARGE = {
    "many bytes": "SELECT id % 3 AS k, count(*) FROM range(0, 100000) GROUP BY 1",
    "no keys": "SELECT f.id, count(*) FROM small.facts AS f JOIN small.names AS n ON f.k < n.k GROUP BY 1",
    "a subquery in a filter": "SELECT n FROM small.names"
    " WHERE k = (SELECT max(id % 7) FROM range(0, 100000)) ORDER BY n LIMIT 5",
    "arrays": "SELECT x, count(*) FROM small.facts LATERAL VIEW explode(sequence(1, id)) t AS x GROUP BY x",
}


@pytest.mark.parametrize("sql", SMALL)
def test_a_query_that_reads_little_has_the_same_rows(
    engine: SparkEngine, planned_once: SparkEngine, sql: str
) -> None:
    small = run(planned_once, sql)
    assert ADAPTIVE not in small.plan_text().partition("== Physical Plan ==")[2]
    assert engine.session is not None
    engine.session.small_queries = SmallQueries(engine.session.jvm.gateway, 0)
    adaptive = run(engine, sql)
    assert ADAPTIVE in adaptive.plan_text()
    assert _bag(small.rows.to_pylist()) == _bag(adaptive.rows.to_pylist())


@pytest.mark.parametrize("kind", LARGE)
def test_a_query_that_may_make_many_rows_stays_adaptive(planned_once: SparkEngine, kind: str) -> None:
    assert ADAPTIVE in run(planned_once, LARGE[kind]).plan_text()


def test_explain_shows_the_plan_of_a_run(planned_once: SparkEngine) -> None:
    shown = {kind: str(run(planned_once, f"EXPLAIN {sql}").rows.to_pylist()) for kind, sql in LARGE.items()}
    assert all(ADAPTIVE in plan for plan in shown.values())
    assert ADAPTIVE not in str(run(planned_once, f"EXPLAIN {SMALL[0]}").rows.to_pylist())


def test_the_next_query_is_planned_for_itself(planned_once: SparkEngine) -> None:
    assert ADAPTIVE not in run(planned_once, SMALL[0]).plan_text()
    assert ADAPTIVE in run(planned_once, LARGE["many bytes"]).plan_text()


def _bag(rows: list[dict[str, object]]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in rows)
