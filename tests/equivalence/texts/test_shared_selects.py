"""A SELECT that several places read, each for its own keys, is filtered by the union of the keys."""

from __future__ import annotations

import pytest

from service.model.query.query import Parameter
from tests.equivalence.harness import Harness

X = "WITH x AS (SELECT id, k, b, name FROM by_k)"
BOTH = "a.k = d.k AND b.k = e.k AND d.year = 1999 AND e.year = 2000"

PRUNED = {
    "other keys in one SELECT": (
        f"{X} SELECT a.id, b.id AS other FROM x a, x b, dim d, dim e WHERE {BOTH} AND a.id < b.id"
    ),
    "the same keys": (
        f"{X} SELECT a.id, b.id AS other FROM x a, x b, dim d WHERE a.k = d.k AND b.k = d.k AND d.year = 1999"
    ),
    "in the branches of a union": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT -b.id FROM x b JOIN tiny t ON b.k = t.k WHERE t.year = 2000"
    ),
    "by IN and by EXISTS": (
        f"{X} SELECT a.id FROM x a WHERE a.k IN (SELECT k FROM dim WHERE year = 1999)"
        " UNION ALL SELECT b.id FROM x b WHERE EXISTS (SELECT 1 FROM dim d WHERE d.k = b.k AND d.year = 2000)"
    ),
    "on the side that an outer join fills": (
        f"{X} SELECT d.k, a.id FROM dim d LEFT JOIN x a ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.k, b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
    ),
    "under other conditions each": (
        f"{X} SELECT a.id, b.id AS other FROM x a, x b, dim d, dim e"
        f" WHERE {BOTH} AND a.id > 5 AND b.name > 'A'"
    ),
    "through a derived table and under another name": (
        f"{X} SELECT a.id FROM (SELECT k AS other, id FROM x WHERE b > 0) a JOIN dim d ON a.other = d.k"
        " WHERE d.year = 1999 UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
    ),
    "a computed key": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k + 1 WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
    ),
    "groups of the key": (
        "WITH x AS (SELECT k, count(*) AS n FROM by_k GROUP BY k)"
        " SELECT a.k, a.n, b.k AS other, b.n AS m FROM x a, x b, dim d, dim e"
        f" WHERE {BOTH}"
    ),
    "a union below": (
        "WITH x AS (SELECT id, k FROM by_k WHERE id > 2 UNION ALL SELECT id, k FROM sorted_by_k)"
        f" SELECT a.id, b.id AS other FROM x a, x b, dim d, dim e WHERE {BOTH}"
    ),
    "in a SELECT that is itself read twice": (
        f"{X}, y AS (SELECT a.id, b.id AS other FROM x a, x b, dim d, dim e WHERE {BOTH})"
        " SELECT p.id, q.other FROM y p JOIN y q ON p.id = q.id"
    ),
    "NULL is a key for both": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k <=> d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k <=> e.k WHERE e.year = 2000"
    ),
    "neither finds a key": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1066"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 1067"
    ),
    "one finds none": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1066"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 1999"
    ),
    "a self join by the key": (
        f"{X} SELECT a.id, b.id AS other FROM x a JOIN x b ON a.k = b.k JOIN dim d ON a.k = d.k"
        " WHERE d.year = 1999"
    ),
    "three places, of which two want the same": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
        " UNION ALL SELECT c.b FROM x c JOIN dim e ON c.k = e.k WHERE e.year = 2000"
    ),
}

AS_IT_IS = {
    "a third place that counts": (
        f"{X} SELECT a.id, b.id AS other, (SELECT count(*) FROM x) AS n FROM x a, x b, dim d, dim e"
        f" WHERE {BOTH}"
    ),
    "a third place in an anti join": (
        f"{X} SELECT a.id, b.id AS other FROM x a JOIN dim d ON a.k = d.k AND d.year = 1999"
        " JOIN x b ON a.id <= b.id JOIN dim e ON b.k = e.k AND e.year = 2000"
        " LEFT ANTI JOIN x c ON c.id = a.id + 1"
    ),
    "a third place in NOT IN": (
        f"{X} SELECT a.id, b.id AS other FROM x a, x b, dim d, dim e"
        f" WHERE {BOTH} AND a.b NOT IN (SELECT id FROM x)"
    ),
    "a place that keeps its rows": (
        f"{X} SELECT a.id, e.k FROM x a LEFT JOIN dim e ON a.k = e.k AND e.year = 2000"
        " UNION ALL SELECT b.id, d.k FROM x b JOIN dim d ON b.k = d.k WHERE d.year = 1999"
    ),
    "a total below": (
        "WITH x AS (SELECT k, id, count(*) OVER () AS n FROM by_k)"
        f" SELECT a.id, b.id AS other, a.n FROM x a, x b, dim d, dim e WHERE {BOTH}"
    ),
    "a place that is read through another that is shared": (
        f"{X}, y AS (SELECT id, k FROM x) SELECT a.id FROM y a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM y b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
        " UNION ALL SELECT c.id FROM x c WHERE c.id < 4"
    ),
    "a third place that is turned round": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
        " UNION ALL SELECT id FROM x UNPIVOT (v FOR n IN (k, b))"
    ),
    "the only other place is turned round": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT id FROM x UNPIVOT (v FOR n IN (k, b))"
    ),
    "a third place that is pivoted": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 2000"
        " UNION ALL SELECT id FROM x PIVOT (count(b) FOR k IN (1 AS one, 3 AS three))"
    ),
    "two places of one name, one of them in parentheses": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k AND d.year = 1999"
        " LEFT SEMI JOIN x ON a.k = x.k LEFT ANTI JOIN (x) ON x.id = a.id + 1"
    ),
    "a subquery that is also what is grouped by": (
        f"SELECT ({X} SELECT count(*) FROM x a JOIN dim d ON a.k = d.k AND d.year = 1999"
        " JOIN x b ON a.id <= b.id) AS m, count(*) AS n FROM by_day GROUP BY 1"
    ),
    "one joins NULL, the other does not": (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k <=> d.k WHERE d.year = 2000"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = 1999"
    ),
}


@pytest.mark.parametrize("sql", PRUNED.values(), ids=PRUNED)
def test_what_several_places_read_is_pruned_to_the_keys_of_any(sql: str, harness: Harness) -> None:
    checked = harness.check(sql)
    assert "by_k.k" in checked.applied, checked.pruned.filters
    assert checked.files("by_k").selected < checked.files("by_k").total


@pytest.mark.parametrize("sql", AS_IT_IS.values(), ids=AS_IT_IS)
def test_it_is_read_whole_where_one_place_needs_more(sql: str, harness: Harness) -> None:
    assert "by_k.k" not in harness.check(sql).applied


def test_parameters_of_all_places_count(harness: Harness) -> None:
    sql = (
        f"{X} SELECT a.id FROM x a JOIN dim d ON a.k = d.k WHERE d.year = :one"
        " UNION ALL SELECT b.id FROM x b JOIN dim e ON b.k = e.k WHERE e.year = :other"
    )
    for one, other in ((1999, 2000), (1999, 1066), (2000, 1066), (1066, 2000)):
        checked = harness.check(sql, {"one": Parameter(one), "other": Parameter(other)})
        assert "by_k.k" in checked.applied
