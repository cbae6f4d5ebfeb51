"""Keys of `<=>`: NULL is a key if a row has it, but not where an outer join produces it."""

from __future__ import annotations

import pytest

from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm
from tests.equivalence.harness import Harness
from tests.equivalence.keys.test_key_types import three_keys

__all__ = ["three_keys"]

# The dimension's row of NULLs is in the year 2000.
WITH_NULL, WITHOUT_NULL = "d.year = 2000", "d.year = 1999"

PRUNED = {
    "an inner join": ("by_k", "SELECT f.id, d.big_k FROM by_k f JOIN dim d ON f.k <=> d.k WHERE {only}"),
    "a comma join": ("by_k", "SELECT f.id FROM dim d, by_k f WHERE d.k IS NOT DISTINCT FROM f.k AND {only}"),
    "a LEFT JOIN": ("by_k", "SELECT d.k, f.id FROM dim d LEFT JOIN by_k f ON f.k <=> d.k WHERE {only}"),
    "a RIGHT JOIN": ("by_k", "SELECT d.k, f.id FROM by_k f RIGHT JOIN dim d ON f.k <=> d.k WHERE {only}"),
    "a LEFT SEMI JOIN": ("by_k", "SELECT f.id FROM by_k f LEFT SEMI JOIN dim d ON f.k <=> d.k AND {only}"),
    "EXISTS": (
        "by_k",
        "SELECT id FROM by_k f WHERE EXISTS (SELECT 1 FROM dim d WHERE d.k <=> f.k AND {only})",
    ),
    "a derived table on either side": (
        "by_k",
        "SELECT x.id FROM (SELECT k AS j, id FROM by_k WHERE id > 0) x"
        " JOIN (SELECT d.k, d.big_k FROM dim d WHERE {only}) y ON x.j <=> y.k",
    ),
    "GROUP BY the key on either side": (
        "by_k",
        "SELECT x.k, x.n FROM (SELECT k, count(*) AS n FROM by_k GROUP BY k) x"
        " JOIN (SELECT d.k FROM dim d WHERE {only} GROUP BY d.k) y ON x.k <=> y.k",
    ),
    "another type of the same values": (
        "by_k",
        "SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.big_k WHERE {only}",
    ),
    "casts": ("by_k", "SELECT f.id FROM by_k f JOIN dim d ON CAST(f.k AS LONG) <=> d.k + 1 WHERE {only}"),
    "a decimal": (
        "by_price",
        "SELECT f.id FROM by_price f JOIN dim d ON f.price <=> d.wide_price WHERE {only}",
    ),
    "text": ("by_name", "SELECT f.id FROM by_name f JOIN dim d ON f.name <=> d.name WHERE {only}"),
    "a truth value": (
        "by_paid",
        "SELECT f.id FROM by_paid f JOIN tiny d ON f.is_paid <=> d.is_paid WHERE {only}",
    ),
    "days": ("by_day", "SELECT f.id FROM by_day f JOIN dim d ON f.day <=> d.day WHERE {only}"),
    "days of moments": (
        "by_day_of_at",
        "SELECT f.id FROM by_day_of_at f JOIN dim d ON to_date(f.at) <=> d.day WHERE {only}",
    ),
    "hours": ("by_hour", "SELECT f.id FROM by_hour f JOIN dim d ON f.at_utc <=> d.at_utc WHERE {only}"),
    "buckets": ("by_bucket", "SELECT f.id FROM by_bucket f JOIN dim d ON f.b <=> d.big_k WHERE {only}"),
    "a sort order": ("sorted_by_k", "SELECT f.id FROM sorted_by_k f JOIN dim d ON f.k <=> d.k WHERE {only}"),
    "a chain of dimensions": (
        "by_k",
        "SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.k JOIN dim t ON d.parent = t.k"
        " WHERE t.k < 3 AND {only}",
    ),
    "values": (
        "by_k",
        "SELECT f.id FROM by_k f JOIN (VALUES (1, 2000), (NULL, 2000), (3, 1999)) AS d (k, year)"
        " ON f.k <=> d.k WHERE {only}",
    ),
}

SAME_ROWS = {
    "a fact that a join has filled": (
        "SELECT p.k, f.id FROM parents p LEFT JOIN by_k f ON p.big_k = f.b JOIN dim d ON f.k <=> d.k"
        " WHERE {only}"
    ),
    "a fact that a join below has filled": (
        "SELECT x.i, d.k FROM (SELECT p.k AS i, f.k FROM parents p LEFT JOIN by_k f ON p.big_k = f.b) x"
        " JOIN dim d ON x.k <=> d.k WHERE {only}"
    ),
    "a fact that was filled before it is again": (
        "SELECT p.k, f.id, d.k FROM parents p LEFT JOIN by_k f ON p.big_k = f.b"
        " RIGHT JOIN dim d ON f.k <=> d.k WHERE {only}"
    ),
    "a dimension that a join has filled": (
        "SELECT f.id FROM parents p LEFT JOIN dim d ON p.k = d.big_k AND d.k > 100 JOIN by_k f ON f.k <=> d.k"
        " WHERE p.parent = 2"
    ),
    "a dimension that a join below has filled": (
        "SELECT f.id FROM by_k f JOIN (SELECT d.k FROM parents p LEFT JOIN dim d ON p.k = d.big_k AND {only}"
        " WHERE p.parent = 2) x ON f.k <=> x.k"
    ),
    "the total of a ROLLUP": (
        "SELECT f.id, x.n FROM by_k f JOIN (SELECT d.k, count(*) AS n FROM dim d WHERE {only}"
        " GROUP BY d.k WITH ROLLUP) x ON f.k <=> x.k"
    ),
    "an aggregate of nothing": (
        "SELECT f.id FROM by_k f JOIN (SELECT max(d.k) AS k FROM dim d WHERE d.year = 1900) x ON f.k <=> x.k"
    ),
    "EXISTS of a row that a join has filled": (
        "SELECT p.k, f.id FROM parents p LEFT JOIN by_k f ON p.big_k = f.b"
        " WHERE EXISTS (SELECT 1 FROM dim d WHERE d.k <=> f.k AND {only})"
    ),
    "EXISTS among rows that a join has filled": (
        "SELECT id FROM by_k f WHERE EXISTS"
        " (SELECT 1 FROM parents p LEFT JOIN dim d ON p.k = d.big_k AND {only} WHERE d.k <=> f.k)"
    ),
    "NOT EXISTS": (
        "SELECT id FROM by_k f WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.k <=> f.k AND {only})"
    ),
    "NOT": "SELECT f.id FROM by_k f JOIN tiny d ON NOT (f.k <=> d.k) WHERE {only}",
    "OR": "SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.k OR f.b = d.big_k WHERE {only}",
    "the kept side": "SELECT f.id, d.k FROM by_k f LEFT JOIN dim d ON f.k <=> d.k AND {only}",
    "a FULL JOIN": (
        "SELECT f.id, d.k FROM by_k f FULL JOIN (SELECT * FROM dim d WHERE {only}) d ON f.k <=> d.k"
    ),
    "an anti join": "SELECT f.id FROM by_k f LEFT ANTI JOIN dim d ON f.k <=> d.k AND {only}",
    "text and a number": "SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.text_k WHERE {only}",
    "beside an equality of the same columns": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.k AND f.k = d.k WHERE {only}"
    ),
    "beside an equality of others": (
        "SELECT f.id FROM by_pair f JOIN dim d ON f.k <=> d.k AND f.b = d.big_k WHERE {only}"
    ),
    "two of them": "SELECT f.id FROM by_pair f JOIN dim d ON f.k <=> d.k AND f.b <=> d.big_k WHERE {only}",
    "a key that is there once, and nothing else of the table": (
        "SELECT f.id FROM by_k f JOIN parents d ON f.k <=> d.k WHERE {only}"
    ),
    "by way of a third": (
        "SELECT f.id FROM by_k f JOIN dim x ON f.k = x.k JOIN dim d ON x.k <=> d.k WHERE {only}"
    ),
}


@pytest.mark.parametrize("only", [WITH_NULL, WITHOUT_NULL])
@pytest.mark.parametrize(("table", "sql"), PRUNED.values(), ids=PRUNED)
def test_a_scan_is_pruned_to_the_keys_and_null(table: str, sql: str, only: str, harness: Harness) -> None:
    checked = harness.check(sql.format(only=only))
    assert {column.split(".")[0] for column in checked.applied} == {table}, checked.pruned.filters
    assert (" IS NULL)" in checked.pruned.sql) is (only is WITH_NULL)


@pytest.mark.parametrize("only", [WITH_NULL, WITHOUT_NULL])
@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, only: str, harness: Harness) -> None:
    harness.check(sql.format(only=only))


def test_a_null_alone_is_a_key(harness: Harness) -> None:
    checked = harness.check("SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.k WHERE d.big_k IS NULL")
    [found] = checked.applied.values()
    assert (found.form, found.value_count) == (FilterForm.IN, 1)
    assert checked.filtered.rows.num_rows > 0
    assert checked.files("by_k").selected == 2


def test_without_a_key_nothing_is_read(harness: Harness) -> None:
    checked = harness.check("SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.k WHERE d.year = 1900")
    [found] = checked.applied.values()
    assert found.form is FilterForm.EMPTY
    assert checked.files("by_k").selected == 0


def test_equal_and_null_safe_keys_are_two_sets(harness: Harness) -> None:
    sql = "SELECT f.id FROM by_k f JOIN dim d ON f.k {operator} d.k WHERE d.year = 2000"
    for operator, null_count in (("=", 0), ("<=>", 1), ("=", 0), ("<=>", 1)):
        checked = harness.check(sql.format(operator=operator))
        [found] = checked.applied.values()
        assert found.value_count == 4 + null_count
        assert len(checked.pruned.fingerprints) == 1


@pytest.mark.parametrize(
    ("table", "condition"),
    [("by_k", "f.k <=> d.k"), ("by_name", "f.name <=> d.name"), ("by_day_of_at", "to_date(f.at) <=> d.day")],
)
def test_too_many_keys_keep_the_null(table: str, condition: str, three_keys: Harness) -> None:
    sql = f"SELECT f.id FROM {table} f JOIN dim d ON {condition} WHERE d.k BETWEEN 0 AND 4 OR d.k IS NULL"
    checked = three_keys.check(sql)
    [found] = checked.applied.values()
    assert (found.form, found.exceeds_threshold) == (FilterForm.RANGES, True)
    assert checked.files(table).selected < checked.files(table).total, checked.pruned.sql


def test_keys_that_are_cast_in_another_way_than_the_engine_does_are_left_alone(harness: Harness) -> None:
    checked = harness.check("SELECT f.id FROM by_k f JOIN dim d ON f.k <=> d.text_k WHERE d.year = 2000")
    assert checked.applied == {}
    assert Reason.TYPE_NOT_CONVERTIBLE in {filter_record.reason for filter_record in checked.pruned.filters}
