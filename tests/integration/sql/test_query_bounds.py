"""A short query cannot make Spark allocate, loop or fan out without bound, on a heap of default size."""

from __future__ import annotations

from time import monotonic

import pytest

from service.errors.statement_errors import QueryTooLarge, ReadOptionInvalid
from service.model.query.query import Parameter
from spark_session.engine.engine import SparkEngine
from tests.integration.sql.engine_calls import run

pytestmark = pytest.mark.integration

# On a busy machine, analyzing thirty nested subqueries takes a while; folding them would never end.
LONGEST_REFUSAL_S = 30
CUBE = ", ".join(f"id + {number}" for number in range(30))


def nested(column: str, levels: int, start: str) -> str:
    sql = start
    for _ in range(levels):
        sql = f"SELECT {column} AS x FROM ({sql})"
    return f"SELECT length(string(x)) FROM ({sql}) WHERE x <> '0'"


def with_tables(levels: int) -> str:
    tables = ", ".join(f"a{number + 1} AS (SELECT x || x AS x FROM a{number})" for number in range(levels))
    return f"WITH a0 AS (SELECT 'x' AS x), {tables} SELECT length(x) FROM a{levels}"


HOSTILE = [
    "SELECT count(*) FROM range(0, 10, 1, 2000000000)",
    "SELECT count(*) FROM range(0, 10, 1, 1000000 * 2000)",
    "SELECT count(*) FROM range(start => 0, end => 10, step => 1, numSlices => 2000000000)",
    "SELECT count(*) FROM range(0, 1000000000, 1, 9000) a CROSS JOIN range(0, 1000000000, 1, 9000) b",
    "SELECT /*+ REPARTITION(2000000000) */ * FROM lake.shop.sales",
    "SELECT /*+ COALESCE(2000000000) */ * FROM lake.shop.sales",
    "SELECT /*+ REPARTITION_BY_RANGE(2000000000, id) */ * FROM lake.shop.sales",
    "SELECT /*+ REBALANCE(2000000000, id) */ * FROM lake.shop.sales",
    "SELECT repeat('x', 2000000000)",
    "SELECT builtin.repeat('x', 2000000000)",
    "SELECT IDENTIFIER('repeat')('x', 2000000000)",
    "SELECT length(repeat('x', 1000 * 1000 * 1000))",
    "SELECT repeat(repeat('a', 10000), 10000)",
    "SELECT repeat('x', n) FROM VALUES (2000000000) t(n)",
    "SELECT repeat('x', n) FROM (SELECT 2000000000 AS n)",
    "SELECT repeat('x', int(id)) FROM range(2000000000, 2000000001)",
    "SELECT sequence(1, n) FROM (SELECT 2000000000 AS n)",
    "VALUES (repeat('x', 2000000000))",
    "SELECT 1 LIMIT length(repeat('x', 2000000000))",
    "SELECT * FROM range(length(space(2000000000)))",
    "SELECT space(2000000000)",
    "SELECT lpad('x', 2000000000)",
    "SELECT rpad('x', 2000000000, 'y')",
    "SELECT sequence(1, 10000000000)",
    "SELECT explode(sequence(1, 1000000000))",
    "SELECT sequence(TIMESTAMP'0001-01-01', TIMESTAMP'9999-12-31', INTERVAL 1 SECOND)",
    "SELECT array_repeat(1, 2000000000)",
    "SELECT randstr(2000000000)",
    "SELECT format_string('%2000000000d', 1)",
    "SELECT format_number(1, 2000000000)",
    "SELECT round(1.5D, 2000000000)",
    "SELECT bround(5, -2000000000)",
    "SELECT transform(sequence(1, 100000), x -> repeat('a', 100000))",
    "SELECT aggregate(sequence(1, 30), 'x', (a, x) -> a || a)",
    "SELECT reduce(array_repeat(name, 40), 'x', (a, x) -> concat(a, x, a)) FROM lake.shop.sales",
    "SELECT array_insert(array(1), 2000000000, 1)",
    "SELECT size(split(repeat('a', 30000000), ''))",
    "SELECT repeat(name, 2000000000) FROM lake.shop.sales",
    "SELECT replace(repeat('a', 10000), 'a', repeat('b', 10000))",
    "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "SELECT window(ts, '10000 days', '1 second') FROM VALUES (TIMESTAMP'2020-01-01') t(ts)",
    f"SELECT count(*) FROM lake.shop.sales GROUP BY CUBE({CUBE})",
    f"SELECT count(*) FROM lake.shop.sales GROUP BY GROUPING SETS (CUBE({CUBE}))",
    f"SELECT count(*) FROM lake.shop.sales GROUP BY {CUBE} WITH CUBE",
    "SELECT stack(2000000000, 1)",
    "SELECT * FROM stack(2000000000, 1)",
    "SELECT * FROM lake.shop.sales LATERAL VIEW stack(2000000000, 1) s AS a",
    "SELECT count_min_sketch(id, 0.000000001D, 0.9D, 1) FROM lake.shop.sales",
    "SELECT approx_count_distinct(id, 0.0001) FROM lake.shop.sales",
    "SELECT theta_sketch_agg(id, 26) FROM lake.shop.sales",
    "SELECT listagg(name, repeat(',', 1000000)) FROM lake.shop.sales",
    "SELECT string_agg(name, space(1001)) FROM lake.shop.sales",
    "SELECT exists(sequence(1, 30000), x -> exists(sequence(1, 30000), y -> x = -y))",
    "SELECT size(filter(sequence(1, 3000000), x -> forall(sequence(1, 1000), y -> y > x)))",
    "SELECT aggregate(sequence(1, 9000), 0, (a, x) -> a + aggregate(sequence(1, 9000), 0, (b, y) -> b + y))",
    nested("x || x", 40, "SELECT 'x' AS x"),
    nested("concat(x, x)", 31, "SELECT name AS x FROM lake.shop.sales"),
    nested("x + x", 28, "SELECT id AS x FROM lake.shop.sales"),
    nested("repeat(x, 100)", 5, "SELECT 'x' AS x"),
    with_tables(40),
    "SELECT 'x' AS a0" + "".join(f", a{number} || a{number} AS a{number + 1}" for number in range(40)),
    "WITH RECURSIVE t(n, x) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, x || x FROM t WHERE n < 32) "
    "SELECT length(x) FROM t",
    "WITH RECURSIVE t(n) MAX RECURSION LEVEL 2000000000 AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) "
    "SELECT max(n) FROM t",
]

FAIR = [
    "SELECT repeat('x', 10), lpad('7', 3, '0'), space(2), round(1.25, 1), format_string('%05d', 7)",
    "SELECT count(*) FROM range(1000000)",
    "SELECT count(*) FROM (SELECT explode(sequence(DATE'1990-01-01', DATE'2050-12-31', INTERVAL 1 DAY)))",
    "SELECT count(*) FROM (SELECT explode(sequence(1, 100000)))",
    "SELECT /*+ REPARTITION(20) */ id FROM lake.shop.sales",
    "SELECT /*+ COALESCE(1) */ id FROM lake.shop.sales",
    "SELECT k, count(*) FROM lake.shop.sales GROUP BY CUBE(k, name) LIMIT 5",
    "SELECT window(ts, '1 hour', '10 minutes') FROM VALUES (TIMESTAMP'2020-01-01') t(ts)",
    "SELECT * FROM lake.shop.sales WITH (`batch-size`='1000', `split-size`='134217728', `lookback`='20')",
    "SELECT aggregate(sequence(1, 50), '', (a, x) -> concat(a, ',', x))",
    "SELECT aggregate(array(1, 2), 0, (a, x) -> a + x)",
    "SELECT exists(sequence(1, 1000), x -> exists(sequence(1, 1000), y -> x = -y))",
    "SELECT listagg(name, ', ') FROM lake.shop.sales",
    "VALUES (split(string(12), ''), concat(string(1), string(2)), round(1.25, 1), repeat('x', 2 + 1))",
    "SELECT * FROM lake.shop.sales, LATERAL explode(split(name, '')) LIMIT 3",
    "SELECT sum(id) OVER (PARTITION BY k ORDER BY id), max(name) OVER (ORDER BY id ROWS 2 PRECEDING) "
    ", rank() OVER w FROM lake.shop.sales WINDOW w AS (ORDER BY name) LIMIT 3",
    "SELECT k, sum(sum(id)) OVER (ORDER BY k) FROM lake.shop.sales GROUP BY k",
    "SELECT id FROM lake.shop.sales s WHERE EXISTS (SELECT 1 FROM lake.shop.sales t WHERE t.id = s.id + 1)",
    "SELECT * FROM lake.shop.sales PIVOT (max(repeat(name, int(k))) FOR k IN (1, 2)) LIMIT 3",
    "SELECT max(size(split(name, ''))), max(array_insert(array(k), 3, 1)) FROM lake.shop.sales",
    "SELECT max(repeat(name, int(k))) FROM lake.shop.sales",
    "WITH RECURSIVE t(n, p) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, p || '/' || n FROM t WHERE n < 20) "
    "SELECT max(length(p)) FROM t",
    "SELECT * FROM (SELECT id FROM range(10) ORDER BY id LIMIT 1000000000) a",
    "SELECT replace(replace(replace(name, '1', 'one'), '2', 'two'), '3', 'three') FROM lake.shop.sales",
    "SELECT sum(x) FROM (SELECT x + x AS x FROM (SELECT k + id AS x FROM lake.shop.sales))",
    "SELECT a.id FROM range(0, 100, 1, 50) a CROSS JOIN range(0, 10, 1, 50) b LIMIT 3",
]


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: sql[:60])
def test_a_short_text_that_asks_for_very_much_is_refused(engine: SparkEngine, sql: str) -> None:
    started = monotonic()
    with pytest.raises(QueryTooLarge):
        run(engine, sql)
    assert monotonic() - started < LONGEST_REFUSAL_S
    assert run(engine, "SELECT 1 AS one").rows.to_pylist() == [{"one": 1}]


@pytest.mark.parametrize("sql", FAIR, ids=lambda sql: sql[:60])
def test_what_is_asked_for_every_day_is_answered(engine: SparkEngine, sql: str) -> None:
    assert run(engine, sql).rows.num_rows > 0


@pytest.mark.parametrize(
    "option",
    [
        "'batch-size'='2000000000'",
        "'split-size'='1'",
        "`SPLIT-size`='0'",
        "'lookback'='2000000000'",
        "'file-open-cost'='9000000000000000000'",
        "'vectorization-enabled'='maybe'",
        "'start-snapshot-id'='first'",
    ],
)
def test_a_read_option_out_of_bounds_is_refused(engine: SparkEngine, option: str) -> None:
    for sql in ("SELECT sum(id) FROM {}", "WITH a AS (SELECT * FROM {}) SELECT (SELECT max(id) FROM a)"):
        with pytest.raises(ReadOptionInvalid):
            run(engine, sql.format(f"lake.shop.sales WITH ({option})"))


def test_a_parameter_is_bounded_as_a_value_in_the_text(engine: SparkEngine) -> None:
    for sql in ("SELECT repeat('x', :n)", "SELECT 1 FROM range(0, 10, 1, :n)", "VALUES (space(:n))"):
        with pytest.raises(QueryTooLarge):
            run(engine, sql, {"n": Parameter(2_000_000_000)})
    with pytest.raises(QueryTooLarge):
        run(engine, "SELECT ?, repeat('x', ?)", (Parameter(1), Parameter(2_000_000_000)))
    assert run(engine, "SELECT repeat('x', :n) AS v", {"n": Parameter(3)}).rows.to_pylist() == [{"v": "xxx"}]
