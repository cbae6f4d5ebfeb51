"""Joins in parentheses, as tools write them, return the rows of the same joins without parentheses."""

from __future__ import annotations

import pytest

from tests.equivalence.harness import Harness

PRUNED = {
    "at the left end": (
        "SELECT f.id FROM (by_k f JOIN tiny t ON f.b = t.big_k) JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "without aliases, and bare names": (
        "SELECT id FROM (by_k JOIN (SELECT big_k FROM tiny) ON b = big_k) JOIN parents ON by_k.k = parents.k"
        " WHERE year = 1999"
    ),
    "twice": "SELECT f.id FROM ((by_k f JOIN tiny t ON f.b = t.big_k) JOIN dim d ON f.k = d.k)"
    " JOIN parents p ON d.parent = p.k WHERE d.year = 1999",
    "around the fact alone": "SELECT f.id FROM (by_k f) JOIN ((dim d)) ON f.k = d.k WHERE d.year = 1999",
    "around everything": "SELECT f.id FROM (by_k f JOIN dim d ON f.k = d.k) WHERE d.year = 1999",
    "at the right": (
        "SELECT f.id FROM dim d JOIN (by_k f JOIN tiny t ON f.b = t.big_k) ON f.k = d.k WHERE d.year = 1999"
    ),
    "around the dimension and its parents": (
        "SELECT f.id FROM by_k f JOIN (dim d JOIN parents p ON d.parent = p.k) ON f.k = d.k"
        " WHERE p.year = 1998"
    ),
    "LEFT JOIN inside": (
        "SELECT f.id, t.year FROM (by_k f LEFT JOIN tiny t ON f.b = t.big_k) JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "RIGHT JOIN inside": (
        "SELECT f.id, t.year FROM (tiny t RIGHT JOIN by_k f ON f.b = t.big_k) JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "LEFT JOIN around": (
        "SELECT d.k, f.id, t.k FROM dim d LEFT JOIN (by_k f JOIN tiny t ON f.b = t.big_k) ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "RIGHT JOIN around": (
        "SELECT d.k, f.id, t.k FROM (by_k f JOIN tiny t ON f.b = t.big_k) RIGHT JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "LEFT JOIN around the fact and its dimension": (
        "SELECT t.k, f.id FROM tiny t LEFT JOIN (by_k f JOIN dim d ON f.k = d.k AND d.year = 1999)"
        " ON f.b = t.big_k"
    ),
    "FULL JOIN around them": (
        "SELECT t.k, f.id FROM tiny t FULL JOIN (by_k f JOIN dim d ON f.k = d.k AND d.year = 1999)"
        " ON f.b = t.big_k"
    ),
    "FULL JOIN behind them, without parentheses": (
        "SELECT t.k, f.id FROM by_k f JOIN dim d ON f.k = d.k AND d.year = 1999 FULL JOIN tiny t"
        " ON f.b = t.big_k"
    ),
    "ANTI JOIN behind them": (
        "SELECT f.id FROM (by_k f JOIN dim d ON f.k = d.k) LEFT ANTI JOIN tiny t ON f.b = t.big_k"
        " WHERE d.year = 1999"
    ),
    "SEMI JOIN behind them": (
        "SELECT f.id FROM (by_k f JOIN tiny t ON f.b = t.big_k) LEFT SEMI JOIN dim d ON f.k = d.k"
        " AND d.year = 1999"
    ),
    "outer joins that WHERE makes inner ones": (
        "SELECT f.id FROM by_k f LEFT JOIN (dim d LEFT JOIN parents p ON d.parent = p.k) ON f.k = d.k"
        " WHERE p.year = 1998"
    ),
    "a name for the parentheses": (
        "SELECT z.id FROM (by_k f JOIN (SELECT big_k FROM tiny) t ON f.b = t.big_k) AS z"
        " JOIN dim d ON z.k = d.k WHERE d.year = 1999"
    ),
    "a name for a table in them": "SELECT z.id FROM ((by_k)) z JOIN dim d ON z.k = d.k WHERE d.year = 1999",
    "commas beside": (
        "SELECT f.id FROM tiny t, (by_k f JOIN dim d ON f.k = d.k), parents p"
        " WHERE d.year = 1999 AND f.b = t.big_k AND p.k = d.parent"
    ),
    "a common table expression": (
        "WITH x AS (SELECT id, k, b FROM by_k) SELECT f.id FROM (x f JOIN tiny t ON f.b = t.big_k)"
        " JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "in a derived table": (
        "SELECT x.id FROM (SELECT f.id, f.k FROM (by_k f JOIN tiny t ON f.b = t.big_k)) x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999"
    ),
    "in a subquery": (
        "SELECT f.id FROM by_k f WHERE f.k IN (SELECT d.k FROM (dim d JOIN parents p ON d.parent = p.k)"
        " WHERE p.year = 1998)"
    ),
    "a comment and a line between": (
        "SELECT f.id FROM ( -- the fact\n by_k\n f /* and */ JOIN tiny t ON f.b = t.big_k\n)\nJOIN dim d"
        " ON f.k = d.k WHERE d.year = 1999"
    ),
}

SAME_ROWS = {
    "a sample of parentheses": (
        "SELECT f.id FROM (by_k f JOIN tiny t ON f.b = t.big_k) TABLESAMPLE (50 PERCENT) REPEATABLE (7)"
        " JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "a sample of a derived table among parentheses": (
        "SELECT f.id FROM ((SELECT id, k FROM by_k)) TABLESAMPLE (50 PERCENT) REPEATABLE (7) f"
        " JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "a pivot of parentheses": (
        "SELECT * FROM (by_k JOIN (SELECT k AS j, year FROM dim WHERE year = 1999) d ON k = j)"
        " PIVOT (count(id) FOR year IN (1998, 1999))"
    ),
    "RIGHT inside LEFT": (
        "SELECT t.k, f.id, d.k FROM tiny t LEFT JOIN (by_k f RIGHT JOIN dim d ON f.k = d.k AND d.year = 1999)"
        " ON t.k = d.k"
    ),
    "LEFT inside FULL, with WHERE on the filled side": (
        "SELECT t.k, f.id, d.k FROM tiny t FULL JOIN (by_k f LEFT JOIN dim d ON f.k = d.k) ON f.b = t.big_k"
        " WHERE d.year = 1999"
    ),
    "FULL inside FULL": (
        "SELECT t.k, f.id, d.k FROM (by_k f FULL JOIN dim d ON f.k = d.k) FULL JOIN tiny t ON d.k <=> t.k"
        " WHERE d.year = 1999"
    ),
    "FULL inside RIGHT": (
        "SELECT t.k, f.id, d.k FROM (by_k f FULL JOIN dim d ON f.k = d.k AND d.year = 1999) RIGHT JOIN tiny t"
        " ON d.k = t.k"
    ),
    "a filled side that must be NULL": (
        "SELECT d.k, f.id FROM dim d LEFT JOIN (by_k f LEFT JOIN tiny t ON f.b <=> t.big_k) ON f.k = d.k"
        " AND t.k IS NULL WHERE d.year = 1999"
    ),
    "an OR of both sides": (
        "SELECT d.k, f.id FROM (tiny t LEFT JOIN by_k f ON t.k = f.k) RIGHT JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999 OR f.k IS NULL"
    ),
    "three deep": (
        "SELECT t.k, f.id, d.k, p.k FROM tiny t LEFT JOIN (by_k f LEFT JOIN (dim d JOIN parents p"
        " ON d.parent = p.k AND p.year = 1998) ON f.k = d.k) ON f.b = t.big_k"
    ),
    "three deep, and needed": (
        "SELECT t.k, f.id FROM tiny t LEFT JOIN (by_k f LEFT JOIN (dim d LEFT JOIN parents p"
        " ON d.parent = p.k) ON f.k = d.k) ON f.b = t.big_k AND p.year = 1998"
    ),
    "NOT IN": (
        "SELECT f.id FROM by_k f WHERE f.k NOT IN (SELECT d.k FROM (dim d LEFT JOIN tiny t ON d.k = t.k)"
        " WHERE d.year = 1999 AND d.k IS NOT NULL)"
    ),
    "NOT EXISTS": (
        "SELECT f.id FROM by_k f WHERE NOT EXISTS (SELECT 1 FROM (dim d JOIN parents p ON d.parent = p.k)"
        " WHERE d.k = f.k AND p.year = 1998)"
    ),
    "a total of everything in them": (
        "SELECT count(*), max(d.k) FROM tiny t LEFT JOIN (by_k f JOIN dim d ON f.k = d.k AND d.year = 2525)"
        " ON f.b = t.big_k"
    ),
    "<=> with what an inner outer join fills": (
        "SELECT d.k, t.k, f.id FROM dim d LEFT JOIN (tiny t LEFT JOIN by_k f ON t.k = f.k) ON d.k <=> f.k"
        " WHERE d.year = 1999"
    ),
    "a condition on the filled side that NULLs meet": (
        "SELECT f.id, d.k FROM by_k f LEFT JOIN (dim d JOIN parents p ON d.parent = p.k) ON f.k = d.k"
        " WHERE p.year IS NULL OR p.year = 1998"
    ),
    "USING inside": (
        "SELECT f.id FROM (by_k f JOIN tiny t USING (k)) JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "USING around": (
        "SELECT f.id FROM (by_k f JOIN tiny t ON f.b = t.big_k) JOIN dim d USING (day) WHERE d.year = 1999"
    ),
    "NATURAL": (
        "SELECT id FROM (by_k f JOIN (SELECT big_k FROM tiny) t ON f.b = t.big_k) NATURAL JOIN"
        " (SELECT k FROM dim WHERE year = 1999) d"
    ),
    "SEMI inside": (
        "SELECT f.id FROM (by_k f LEFT SEMI JOIN dim d ON f.k = d.k AND d.year = 1999) JOIN tiny t"
        " ON f.b = t.big_k"
    ),
    "ANTI inside": (
        "SELECT f.id FROM (by_k f LEFT ANTI JOIN dim d ON f.k = d.k AND d.year = 1999) JOIN tiny t"
        " ON f.b = t.big_k"
    ),
    "FULL inside": (
        "SELECT f.id, d.k FROM (by_k f FULL JOIN dim d ON f.k = d.k) JOIN tiny t ON f.b = t.big_k"
        " WHERE d.year = 1999 OR d.year IS NULL"
    ),
    "a star": (
        "SELECT * FROM (by_k f JOIN (SELECT k AS j, year FROM dim) d ON f.k = d.j) WHERE d.year = 1999"
    ),
    "names for the columns of parentheses": (
        "SELECT z.a FROM ((SELECT id, k FROM by_k) f JOIN (SELECT year FROM tiny) t ON f.k = t.year - 1998)"
        " AS z (a, b, c) JOIN dim d ON z.b = d.k WHERE d.year = 1999"
    ),
    "the fact at a moment that nobody can tell": (
        "SELECT f.id FROM (by_k TIMESTAMP AS OF now() f JOIN dim d ON f.k = d.k) WHERE d.year = 1999"
    ),
}


@pytest.mark.parametrize("sql", PRUNED.values(), ids=PRUNED)
def test_the_fact_is_pruned(sql: str, harness: Harness) -> None:
    checked = harness.check(sql)
    assert "by_k.k" in checked.applied, checked.pruned.filters
    assert 0 < checked.files("by_k").selected < checked.files("by_k").total


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)
