"""An error would say that a hidden row exists: no expression of a query is evaluated on one."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import pytest

from service.errors.query_errors import QueryFailed
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.ready_masks import ReadyMask, expression_of
from service.model.policies.table_patterns import TablePattern
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.engine.query_engine import Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.engine import SparkEngine
from spark_session.session.table_guards import DO_NOT_FIT
from tests.contract.test_views import command

pytestmark = pytest.mark.integration

PREDICATES = (
    "k <> 5",
    "name <> 'hide'",
    # Iceberg cannot evaluate these, so that Spark does, after what Iceberg might have evaluated.
    "locate('hide', name) = 0",
    "weight < 5 OR weight > 5.5",
    "coalesce(j, 0) + 0 <> 5",
)
"""Each hides the one row with `k = 5`."""
FAILING = (
    "SELECT k FROM t WHERE 1 / (k - 5) < 9",
    "SELECT k FROM t WHERE 1 / (k - 5) < 9 AND 1 / (k - 5) > -9",
    "SELECT k FROM t WHERE j = k AND 1 / (j - 5) < 9",
    "SELECT k FROM t WHERE k < 0 OR 1 / (k - 5) < 9",
    "SELECT k FROM t WHERE CAST(substr(name, 2) AS INT) >= 0",
    "SELECT k FROM t WHERE if(k = 5, raise_error('seen'), TRUE)",
    "SELECT k FROM t WHERE assert_true(k <> 5) IS NULL",
    "SELECT k FROM t WHERE element_at(array(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), k - 5) > 0",
    "SELECT k FROM t WHERE name LIKE concat(if(k = 5, '\\\\', ''), name)",
    "SELECT x FROM (SELECT 1 / (k - 5) AS x FROM t) WHERE x < 9 AND x > -9",
    "SELECT 1 / (k - 5) AS x FROM t GROUP BY x HAVING x < 9",
    "SELECT k FROM (SELECT k FROM t UNION ALL SELECT k FROM d) WHERE 1 / (k - 5) < 9",
    "SELECT k, e FROM t LATERAL VIEW explode(array(1 / (k - 5))) x AS e WHERE e < 9",
    "SELECT k FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY j) AS r FROM t)"
    " WHERE r = 1 AND 1 / (k - 5) < 9",
    "SELECT x FROM (SELECT 1 / (k - 5) AS x, row_number() OVER (PARTITION BY 1 / (k - 5) ORDER BY k) AS r"
    " FROM t) WHERE x < 9",
    "WITH c AS (SELECT * FROM t) SELECT a.k FROM c a JOIN c b ON a.k = b.k WHERE 1 / (a.k - 5) < 9",
    "SELECT t.k FROM t JOIN d ON t.k = d.k WHERE 1 / (t.k - 5) < 9",
    "SELECT t.k FROM t JOIN d ON t.k = d.k WHERE 1 / (d.k - 5) < 9",
    "SELECT t.k FROM t JOIN d ON 1 / (t.k - 5) = d.k",
    "SELECT t.k FROM t LEFT JOIN d ON t.k = d.k AND 1 / (t.k - 5) < 9",
    "SELECT t.k FROM d RIGHT JOIN t ON t.k = d.k WHERE 1 / (t.k - 5) < 9",
    "SELECT k FROM d WHERE EXISTS (SELECT 1 FROM t WHERE t.k = d.k AND 1 / (t.k - 5) < 9)",
    "SELECT k FROM d WHERE k + 1 NOT IN (SELECT k FROM t WHERE 1 / (k - 5) < 9)",
    "SELECT k FROM d WHERE k IN (SELECT 1 / (k - 5) FROM t)",
    "SELECT k, (SELECT max(1 / (t.k - 5)) FROM t WHERE t.k = d.k) AS m FROM d",
    "SELECT k FROM t WHERE 1 / (k - 5) < (SELECT max(k) FROM d WHERE d.k = t.k)",
)
"""Each fails if it is evaluated on the row with `k = 5`."""
NOT_FAILING = (
    "SELECT t.k FROM t JOIN d ON t.k = d.k WHERE d.k BETWEEN 1 AND 3 AND name LIKE 'x%'",
    "SELECT sum(k * j) / count(*) AS s FROM t WHERE upper(name) IN ('X1', 'X2') GROUP BY weight * 2",
    "SELECT 1 / k AS x FROM t WHERE k > 0 AND weight * 2 > 1 ORDER BY x LIMIT 3",
    "SELECT CAST(name AS DATE) AS day FROM t WHERE k IS NULL",
)
"""No condition of these fails, whatever the row has. Values of shown rows may."""
RUNS: tuple[Mapping[str, str], ...] = (
    {},
    {"spark.sql.codegen.wholeStage": "false"},
)
"""Spark evaluates conditions in two ways; the second evaluates their common parts first."""


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    command(shared_engine, "CREATE NAMESPACE IF NOT EXISTS lake.hidden", schema=None)
    run = {"schema": "hidden"}
    command(shared_engine, "CREATE TABLE t (k INT, j INT, name STRING, weight DOUBLE, day DATE)", **run)
    command(
        shared_engine,
        "INSERT INTO t SELECT id, id, if(id = 5, 'hide', concat('x', id)), id, NULL FROM range(0, 10, 1, 1)",
        **run,
    )
    command(
        shared_engine, "CREATE TABLE d AS SELECT CAST(id AS INT) AS k FROM range(10) WHERE id <> 5", **run
    )
    return shared_engine


def statement(sql: str, predicate: str, properties: Mapping[str, str], *masks: ColumnMask) -> Statement:
    table = TablePattern.parse("lake.hidden.t")
    policies = PolicySet(
        1,
        (Grant("analyst", Action.SELECT, TablePattern.parse("lake.hidden.*")),),
        (RowFilter("analyst", table, predicate),),
        masks,
    )
    access = RoleAccess(CompiledPolicies(policies), frozenset({"analyst"}))
    return Statement(
        uuid4(),
        sql,
        (),
        "lake",
        "hidden",
        100,
        10**6,
        is_canceled=lambda: False,
        access=access,
        properties=properties,
    )


@pytest.mark.parametrize("sql", FAILING)
def test_no_expression_of_a_query_fails_on_a_hidden_row(engine: SparkEngine, sql: str) -> None:
    for predicate in PREDICATES:
        for properties in RUNS:
            rows = engine.run(statement(sql, predicate, properties)).rows
            assert rows.num_rows > 0
            if "k" in rows.column_names:
                assert 5 not in rows.column("k").to_pylist()


@pytest.mark.parametrize("predicate", PREDICATES)
def test_no_mask_fails_on_a_hidden_row(engine: SparkEngine, predicate: str) -> None:
    digits = ColumnMask(
        "analyst",
        TablePattern.parse("lake.hidden.t"),
        "name",
        "CAST(CAST(substr(name, 2) AS INT) AS STRING)",
    )
    for properties in RUNS:
        asked = statement("SELECT k FROM t WHERE name = '6'", predicate, properties, digits)
        assert engine.run(asked).rows.to_pylist() == [{"k": 6}]


@pytest.mark.parametrize("sql", NOT_FAILING)
def test_conditions_that_cannot_fail_are_merged_with_the_row_filter(engine: SparkEngine, sql: str) -> None:
    """They reach the source only so."""
    assert "SPARK_PARTITION_ID" not in _optimized(engine, sql)


@pytest.mark.parametrize("mask", list(ReadyMask))
def test_ready_made_masks_are_merged_with_the_row_filter(engine: SparkEngine, mask: ReadyMask) -> None:
    column = "day" if mask is ReadyMask.YEAR_ONLY else "name"
    masked = ColumnMask("analyst", TablePattern.parse("lake.hidden.t"), column, expression_of(mask, column))
    assert "SPARK_PARTITION_ID" not in _optimized(engine, "SELECT * FROM t WHERE k > 2", masked)


def test_a_condition_that_can_fail_stays_above_the_row_filter(engine: SparkEngine) -> None:
    lines = [line.strip() for line in _optimized(engine, FAILING[0]).splitlines()]
    filters = [line.removeprefix("+- ").split("#")[0] for line in lines if "Filter" in line]
    assert filters == [
        "Filter ((1.0 / cast((k",
        "Filter (SPARK_PARTITION_ID() >= 0)",
        "Filter (isnotnull(k",
    ]


@pytest.mark.parametrize(
    ("sql", "predicate"),
    [
        ("SELECT k FROM t", "nowhere = 5"),
        ("SELECT d.k FROM d, LATERAL (SELECT k FROM t WHERE t.k = d.k AND 1 / (t.k - 5) < 9) AS x", "k <> 5"),
    ],
)
def test_an_error_of_the_policies_does_not_show_them(engine: SparkEngine, sql: str, predicate: str) -> None:
    with pytest.raises(QueryFailed) as failed:
        engine.run(statement(sql, predicate, {}))
    assert failed.value.detail == DO_NOT_FIT


def _optimized(engine: SparkEngine, sql: str, *masks: ColumnMask) -> str:
    assert engine.session is not None
    with engine.session.children.taken("lake", "hidden", str(uuid4())) as child:
        frame, is_restricted = analyzed(engine.session, child, statement(sql, PREDICATES[0], {}, *masks))
        assert is_restricted
        return str(frame._jdf.queryExecution().optimizedPlan().toString())
