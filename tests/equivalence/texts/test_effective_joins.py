"""Outer joins that a null-rejecting condition makes inner joins: the same rows, and fewer files."""

from __future__ import annotations

import pytest

from service.model.filters.filter_record import Reason
from service.model.query.query import Parameter
from service.model.query.rewrites import RewriteKind
from tests.equivalence.harness import Harness

LEFT = "SELECT f.id, d.big_k FROM by_k f LEFT JOIN dim d ON f.k = d.k"
FULL = "SELECT f.id, d.big_k FROM by_k f FULL JOIN dim d ON f.k = d.k"
RIGHT = "SELECT f.id, d.big_k FROM dim d RIGHT JOIN by_k f ON f.k = d.k"

PRUNED = {
    "an equality": f"{LEFT} WHERE d.year = 1999",
    "turned round": f"{RIGHT} WHERE d.year = 1999",
    "a comparison": f"{LEFT} WHERE 3 > d.parent",
    "BETWEEN": f"{LEFT} WHERE d.year BETWEEN 1998 AND 1999",
    "NOT BETWEEN": f"{LEFT} WHERE d.year NOT BETWEEN 1998 AND 1999",
    "a list": f"{LEFT} WHERE d.year IN (1999, 2001, NULL)",
    "not in a list": f"{LEFT} WHERE d.year NOT IN (1999, 2001)",
    "in a subquery": f"{LEFT} WHERE d.year IN (SELECT year FROM tiny WHERE k = 0)",
    "LIKE": f"{LEFT} WHERE d.name LIKE 'A%'",
    "NOT LIKE": f"{LEFT} WHERE d.name NOT LIKE 'A%' AND d.year = 1999",
    "that it is not NULL, beside what is true of NULL": (
        f"{LEFT} WHERE d.big_k IS NOT NULL AND coalesce(d.year, 1999) = 1999"
    ),
    "both branches of an OR": f"{LEFT} WHERE d.year = 1999 OR d.parent = 4",
    "a sum": f"{LEFT} WHERE d.year + 1 = 2000",
    "a condition of the fact in the ON": f"{LEFT} AND f.id % 2 = 0 WHERE d.year = 1999",
    "one of the dimension there": f"{LEFT} AND d.parent > 1 WHERE d.year = 1999",
    "a FULL JOIN of which both sides are asked for": f"{FULL} WHERE d.year = 1999 AND f.id > 0",
    "one by an equality of both": f"{FULL} WHERE d.year = 1999 AND d.big_k = f.b",
    "one of which one side is": f"{FULL} WHERE d.year = 1999",
    "by a join further on": f"{LEFT} JOIN tiny t ON d.parent = t.k WHERE t.year = 2000",
    "by a semi join further on": f"{LEFT} LEFT SEMI JOIN tiny t ON d.parent = t.k AND t.year = 2000",
    "by an outer join further on, which is none": (
        f"{LEFT} LEFT JOIN tiny t ON d.parent = t.k WHERE t.year = 2000"
    ),
    "before a RIGHT JOIN that is none": (
        "SELECT f.id, p.k FROM by_k f JOIN dim d ON f.k = d.k RIGHT JOIN parents p ON d.parent = p.k"
        " WHERE d.year = 1999"
    ),
    "from around the SELECT": (
        "SELECT x.id FROM (SELECT f.id, d.year AS y FROM by_k f LEFT JOIN dim d ON f.k = d.k) x"
        " WHERE x.y = 1999"
    ),
    "from around an aggregate": (
        "SELECT x.n FROM (SELECT d.year AS y, count(*) AS n FROM by_k f LEFT JOIN dim d ON f.k = d.k"
        " GROUP BY d.year) x WHERE x.y = 1999"
    ),
    "from two places around": (
        "WITH c AS (SELECT d.year AS y, f.id FROM by_k f LEFT JOIN dim d ON f.k = d.k)"
        " SELECT a.id, b.id AS other FROM c a JOIN c b ON a.id <= b.id WHERE a.y = 1999 AND b.y = 2000"
    ),
    "by a join around": (
        "SELECT x.id FROM (SELECT f.id, d.parent AS p FROM by_k f LEFT JOIN dim d ON f.k = d.k) x"
        " JOIN tiny t ON x.p = t.k WHERE t.year = 2000"
    ),
    "of a derived table": (
        "SELECT f.id FROM by_k f LEFT JOIN (SELECT k, year + 1 AS y FROM dim WHERE parent < 4) d ON f.k = d.k"
        " WHERE d.y = 2000"
    ),
    "of one that the condition may be moved into": (
        "SELECT f.id, x.n FROM by_k f LEFT JOIN (SELECT d.k, d.year AS y, count(*) AS n FROM dim d"
        " GROUP BY d.k, d.year) x ON f.k = x.k WHERE x.y = 1999 AND coalesce(x.n, 1) < 9"
    ),
    "beside a NULL-safe equality": (
        "SELECT f.id FROM by_k f LEFT JOIN dim d ON f.k <=> d.k WHERE d.year = 2000"
    ),
    "in a subquery with an outer row": (
        "SELECT f.id FROM by_k f WHERE EXISTS (SELECT 1 FROM tiny t LEFT JOIN dim d ON t.k = d.parent"
        " WHERE d.k = f.k AND d.year = 1999)"
    ),
}

SAME_ROWS = {
    "NULLs are asked for": f"{LEFT} WHERE d.year IS NULL",
    "or allowed": f"{LEFT} WHERE d.year = 1999 OR d.year IS NULL",
    "by the other table": f"{LEFT} WHERE d.year = 1999 OR f.id % 3 = 0",
    "by a value in their place": f"{LEFT} WHERE coalesce(d.year, 1999) = 1999",
    "by CASE": f"{LEFT} WHERE CASE WHEN d.year > 1998 THEN 0 ELSE 1 END = 1",
    "by <=>": f"{LEFT} WHERE d.year <=> f.k",
    "by NOT IN of nothing": f"{LEFT} WHERE d.year NOT IN (SELECT year FROM tiny WHERE k = 77)",
    "by a test of truth": f"{LEFT} WHERE (d.year = 1999) IS NOT TRUE",
    "by NOT over AND": f"{LEFT} WHERE NOT (d.year = 1999 AND f.id > 17)",
    "in the ON alone": f"{LEFT} AND d.year = 1999",
    "a FULL JOIN that keeps the fact": f"{FULL} WHERE f.id > 3",
    "a FULL JOIN that keeps both": FULL,
    "a LEFT JOIN before a RIGHT JOIN": (
        "SELECT f.id, p.k FROM by_k f LEFT JOIN dim d ON f.k = d.k RIGHT JOIN parents p ON d.parent = p.k"
        " WHERE p.year = 2000"
    ),
    "one of two outer joins": (
        f"{LEFT} LEFT JOIN tiny t ON f.k = t.k AND t.year = 2000 WHERE d.year = 1999 AND t.parent IS NULL"
    ),
    "the second narrows the first's filled side": (
        "SELECT t.k, f.id FROM tiny t LEFT JOIN by_k f ON t.k = f.k JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "the same, where the dimension is a filter and no more": (
        "SELECT t.k, f.id FROM parents t LEFT JOIN by_k f ON t.parent = f.b JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999"
    ),
    "a dimension that is a filter and no more": (
        "SELECT f.id FROM by_k f LEFT JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    ),
    "one before a RIGHT JOIN": (
        "SELECT f.id, p.k FROM by_k f JOIN dim d ON f.k = d.k RIGHT JOIN parents p ON f.b = p.big_k"
        " WHERE d.year = 1999"
    ),
    "a comma before a RIGHT JOIN, which has one side less": (
        "SELECT t.k, d.big_k, f.id FROM tiny t, dim d RIGHT JOIN by_k f ON f.k = d.k AND d.year = 1999"
        " WHERE t.year = 2000"
    ),
    "before a FULL JOIN": (
        "SELECT t.k, d.big_k, f.id FROM tiny t, dim d FULL JOIN by_k f ON f.k = d.k AND d.year = 1999"
        " WHERE t.year = 2000 AND f.id > 0"
    ),
    "a condition of NULL beside the one that drops them": (
        f"{LEFT} WHERE d.big_k > 0 AND (d.year IS NULL OR d.year = 1999)"
    ),
    "a RIGHT JOIN on <=> after a LEFT JOIN": (
        "SELECT t.k, f.id, d.big_k FROM tiny t LEFT JOIN by_k f ON t.k = f.k RIGHT JOIN dim d ON f.k <=> d.k"
        " WHERE d.year = 2000"
    ),
    "the same, where the NULLs are dropped": (
        "SELECT t.k, f.id, d.big_k FROM tiny t LEFT JOIN by_k f ON t.k = f.k RIGHT JOIN dim d ON f.k <=> d.k"
        " WHERE d.year = 2000 AND f.id > 0"
    ),
    "a join on <=> of what a LEFT JOIN fills": (
        "SELECT t.k, f.id, d.big_k FROM tiny t LEFT JOIN by_k f ON t.k = f.k JOIN dim d ON f.k <=> d.k"
        " WHERE d.year = 2000 AND f.id > 0"
    ),
    "over a derived table whose NULLs are dropped outside": (
        "SELECT x.id, d.big_k FROM (SELECT f.id, f.k FROM tiny t LEFT JOIN by_k f ON t.k = f.k) x"
        " JOIN dim d ON x.k <=> d.k WHERE d.year = 2000 AND x.id > 0"
    ),
}


@pytest.mark.parametrize("sql", PRUNED.values(), ids=PRUNED)
def test_a_scan_is_pruned(sql: str, harness: Harness) -> None:
    checked = harness.check(sql)
    assert "by_k.k" in checked.applied, checked.pruned.filters
    assert checked.files("by_k").selected < max(1, checked.files("by_k").total)


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)


def test_a_parameter_that_is_null_keeps_no_row(harness: Harness) -> None:
    query = f"{LEFT} WHERE d.year = :year"
    for year in (1999, None):
        harness.check(query, {"year": Parameter(year, "INT" if year is None else None)})


def test_a_side_whose_nulls_stay_is_preserved(harness: Harness) -> None:
    checked = harness.check(f"{LEFT} AND d.year = 1999")
    assert checked.applied == {}
    assert Reason.PROBE_IS_PRESERVED_SIDE in {filter_.reason for filter_ in checked.pruned.filters}


def test_an_outer_join_stays_in_the_text(harness: Harness) -> None:
    sql = SAME_ROWS["a dimension that is a filter and no more"]
    harness.check(sql)
    assert RewriteKind.JOIN_ELIMINATED not in {rewrite.kind for rewrite in harness.prune(sql).rewrites}
