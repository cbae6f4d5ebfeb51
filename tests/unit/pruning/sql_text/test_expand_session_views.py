from __future__ import annotations

import tracemalloc

import pytest

from service.model.sessions.sessions import SessionView
from service.ports.bounded_calls import no_answer
from service.pruning.sql_text.expand_session_views import WithoutSessionViews, expand_session_views


def view(name: str, sql: str, catalog: str | None = "lake", schema: str | None = "shop") -> SessionView:
    return SessionView(name, sql, catalog, schema)


ITEMS = view("items", "SELECT k FROM item")
DIM = view("dim", "SELECT * FROM dim WHERE year = 1999")


def expanded(sql: str, *views: SessionView) -> WithoutSessionViews | None:
    return expand_session_views(no_answer, sql, views, frozenset({"lake"}))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT k FROM items", "SELECT k FROM (\nSELECT k FROM `lake`.`shop`.item\n) AS `items`"),
        ("SELECT k FROM Items AS i", "SELECT k FROM (\nSELECT k FROM `lake`.`shop`.item\n) AS i"),
        (
            "SELECT 1 FROM dim, t",
            "SELECT 1 FROM (\nSELECT * FROM `lake`.`shop`.dim WHERE year = 1999\n) AS `dim`, t",
        ),
        (
            "WITH c AS (SELECT k FROM items) SELECT k FROM c",
            "WITH c AS (SELECT k FROM (\nSELECT k FROM `lake`.`shop`.item\n) AS `items`) SELECT k FROM c",
        ),
    ],
)
def test_a_view_stands_where_it_is_named(sql: str, expected: str) -> None:
    found = expanded(sql, ITEMS, DIM)
    assert found is not None
    assert found.sql == expected


def test_a_view_reads_those_that_were_made_before_it() -> None:
    over = view("over_dim", "SELECT k FROM dim", "lake", "other")
    found = expanded("SELECT k FROM over_dim", DIM, over)
    assert found is not None
    assert "FROM `lake`.`shop`.dim WHERE year" in found.sql
    assert found.views == {"over_dim": ("dim",)}
    found = expanded("SELECT k FROM over_dim", over, DIM)
    assert found is not None
    assert found.sql == "SELECT k FROM (\nSELECT k FROM `lake`.`other`.dim\n) AS `over_dim`"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM t",
        "SELECT k FROM lake.shop.items",
        "WITH items AS (SELECT 1 AS k) SELECT k FROM items JOIN dim ON true",
        "SELECT k FROM items TABLESAMPLE (5 PERCENT) JOIN dim ON true",
        "SELECT k FROM items AS i(n) JOIN dim ON true",
        "SELECT k FROM dim JOIN odd ON true",
        "SELECT k FROM dim JOIN over_odd ON true",
        "SELECT k FROM",
    ],
)
def test_a_text_that_is_not_certain_stays_as_it_is(sql: str) -> None:
    odd = view("odd", "SELECT k FROM t VERSION AS OF 3")
    assert expanded(sql, ITEMS, DIM, odd, view("over_odd", "SELECT k FROM odd")) is None


@pytest.mark.parametrize(("catalog", "schema"), [(None, None), ("lake", None), ("lake", "`a-b`")])
def test_a_view_without_a_plain_schema_stays_as_it_is(catalog: str | None, schema: str | None) -> None:
    assert expanded("SELECT k FROM v", view("v", "SELECT k FROM item", catalog, schema)) is None


def test_views_that_double_with_each_step_are_left_alone() -> None:
    views = [view("v0", "SELECT k FROM item")]
    for number in range(1, 40):
        below = f"v{number - 1}"
        views.append(view(f"v{number}", f"SELECT a.k FROM {below} a JOIN {below} b ON a.k = b.k"))
    assert expanded("SELECT k FROM v39", *views) is None


def test_a_text_that_names_a_large_view_often_is_never_made() -> None:
    large = view("large", f"SELECT k FROM item WHERE k IN ({', '.join(map(str, range(10_000)))})")
    sql = "SELECT 1 FROM large" + ", large" * 2_000
    tracemalloc.start()
    try:
        assert expanded(sql, large) is None
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
