from __future__ import annotations

import pytest

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.pruning.aggregation.inline_ctes import inline_ctes
from service.pruning.sql_text.parse import parse


def inlined(sql: str) -> str:
    """Returns the text in one line."""
    parsed = parse(sql)
    assert parsed is not None
    return inline_ctes(parsed).replace("(\n", "(").replace("\n)", ")").strip()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("WITH f AS (SELECT a FROM t) SELECT a FROM f", "SELECT a FROM (SELECT a FROM t) AS `f`"),
        ("WITH f AS (SELECT a FROM t) SELECT x.a FROM F x", "SELECT x.a FROM (SELECT a FROM t) x"),
        ("WITH f(b) (SELECT a FROM t) SELECT b FROM f", "SELECT b FROM (SELECT a FROM t) AS `f`(`b`)"),
        # A name in its own text is that of a table.
        ("WITH t AS (SELECT a FROM t) SELECT a FROM t", "SELECT a FROM (SELECT a FROM t) AS `t`"),
        (
            "WITH f AS (SELECT a FROM t), g AS (SELECT a FROM f) SELECT a FROM g JOIN u ON true",
            "SELECT a FROM (SELECT a FROM (SELECT a FROM t) AS `f`) AS `g` JOIN u ON true",
        ),
        # The nearest definition counts.
        (
            "WITH f AS (WITH f AS (SELECT a FROM t) SELECT a FROM f) SELECT a FROM f",
            "SELECT a FROM ( SELECT a FROM (SELECT a FROM t) AS `f`) AS `f`",
        ),
        (
            "SELECT a FROM (WITH f AS (SELECT a FROM t) SELECT a FROM f) x, s.f",
            "SELECT a FROM ( SELECT a FROM (SELECT a FROM t) AS `f`) x, s.f",
        ),
        # An expression sees only those before it.
        (
            "WITH f AS (SELECT a FROM g), g AS (SELECT a FROM f) SELECT a FROM g",
            "SELECT a FROM (SELECT a FROM (SELECT a FROM g) AS `f`) AS `g`",
        ),
        (
            "WITH `a b` AS (SELECT ')' AS c FROM t /* ( */) SELECT 'WITH' FROM `a b`",
            "SELECT 'WITH' FROM (SELECT ')' AS c FROM t /* ( */) AS `a b`",
        ),
    ],
)
def test_an_expression_stands_where_it_is_named(sql: str, expected: str) -> None:
    assert inlined(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "WITH f AS (SELECT a FROM t) SELECT a FROM f JOIN f AS g ON true",
        "WITH f AS (SELECT a FROM t) SELECT a FROM t",
        "WITH f AS (SELECT a FROM t), g AS (SELECT a FROM u) SELECT a FROM f",
        "WITH f(b) AS (SELECT a FROM t) SELECT b FROM f AS x",
        "WITH f AS (SELECT a FROM t) SELECT b FROM f AS x(b)",
        "WITH f AS (SELECT a FROM t) SELECT a FROM f TABLESAMPLE (5 PERCENT)",
        "WITH RECURSIVE f AS (SELECT 1 AS a UNION ALL SELECT a FROM f) SELECT a FROM f",
        "WITH f AS (SELECT a FROM t) SELECT a FROM s.f",
    ],
)
def test_other_expressions_are_refused(sql: str) -> None:
    with pytest.raises(NotRefreshable) as failure:
        inlined(sql)
    assert failure.value.reason is RefreshOutcome.CTE
