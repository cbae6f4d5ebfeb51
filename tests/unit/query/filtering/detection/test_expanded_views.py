"""Which views of a query are expanded, and how often the engine is asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableColumn, TableFacts, TableName
from service.model.tables.views import ExpandedText, View, ViewColumn
from service.pruning.sql_text.expand_views import MAX_CHARACTERS
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names
from service.query.filtering.detection.expanded_views import MAX_DEPTH, ExpandedViews
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.views import FakeViews

LAKE = frozenset({"lake"})
QUERY = "SELECT * FROM v JOIN item ON v.k = item.k"


def name(table: str) -> TableName:
    return TableName("lake", "shop", table)


def table(table: str) -> TableFacts:
    return facts_of_empty_table(name(table), (TableColumn(1, "k", "int", is_required=False),))


def view(table: str, sql: str) -> View:
    return View(name(table), sql, "lake", ("shop",), (ViewColumn("k", "int"),))


@pytest.fixture
def catalogs() -> FakeCatalogs:
    return FakeCatalogs(tables=[table("sales"), table("item")])


@pytest.fixture
def views() -> FakeViews:
    return FakeViews(view("v", "SELECT k FROM sales"))


@pytest.fixture
def opening(views: FakeViews, catalogs: FakeCatalogs) -> ExpandedViews:
    return ExpandedViews(views, catalogs, LAKE)


def opened(opening: ExpandedViews, catalogs: FakeCatalogs, sql: str = QUERY) -> ExpandedText | None:
    parsed = parse(sql)
    assert parsed is not None
    names = _names(parsed)
    return opening.open(parsed, names, catalogs.facts_of(list(names.values())), "lake", "shop")


def _names(parsed: ParsedQuery) -> Mapping[int, TableAt]:
    return table_names(parsed, LAKE, "lake", "shop")


def test_a_query_of_tables_asks_for_no_view(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    assert opened(opening, catalogs, "WITH v AS (SELECT 1 AS k) SELECT * FROM sales JOIN v USING (k)") is None
    assert views.asked == []


def test_a_view_is_expanded_with_the_facts_of_what_it_reads(
    opening: ExpandedViews, catalogs: FakeCatalogs
) -> None:
    found = opened(opening, catalogs)
    assert found is not None
    assert found.sql == (
        "SELECT * FROM (SELECT `k` FROM (\nSELECT k FROM `lake`.`shop`.sales\n) AS `v`(`k`)) AS `v`"
        " JOIN item ON v.k = item.k"
    )
    assert found.facts.keys() == {TableAt(name("sales")), TableAt(name("item"))}
    assert found.views == {name("v"): (name("sales"),)}


def test_a_name_that_nobody_knows_leaves_the_query_as_it_is(
    opening: ExpandedViews, catalogs: FakeCatalogs
) -> None:
    assert opened(opening, catalogs, "SELECT * FROM nothing") is None


def test_views_of_views_are_expanded(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.put(view("w", "SELECT k FROM v WHERE k > 1"))
    found = opened(opening, catalogs, "SELECT * FROM w, v")
    assert found is not None
    assert found.sql.count("`shop`.sales") == 2
    assert found.views.keys() == {name("v"), name("w")}
    assert sorted(views.asked) == [name("v"), name("w")]


def test_a_view_below_that_cannot_be_expanded_is_read_by_its_name(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.put(view("chance", "SELECT k FROM sales TABLESAMPLE (3 ROWS)"))
    views.put(view("w", "SELECT k FROM chance"))
    found = opened(opening, catalogs, "SELECT * FROM w")
    assert found is not None
    assert "FROM `lake`.`shop`.chance" in found.sql
    assert found.views == {name("w"): (name("chance"),)}


@pytest.mark.parametrize("text", ["SELECT k FROM gone", "SELECT k FROM lake.a.b.sales", "SELECT k FROM ("])
def test_a_view_of_what_is_not_known_stays(
    text: str, opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.put(view("v", text))
    assert opened(opening, catalogs) is None


def test_views_of_each_other_stay(opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs) -> None:
    views.put(view("v", "SELECT k FROM w"))
    views.put(view("w", "SELECT k FROM v"))
    assert opened(opening, catalogs) is None
    assert views.readings == []


def test_a_chain_of_views_is_expanded_so_deep_and_no_deeper(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    for step in range(2 * MAX_DEPTH):
        views.put(view(f"v{step}", f"SELECT k FROM v{step + 1}"))
    views.put(view(f"v{2 * MAX_DEPTH}", "SELECT k FROM sales"))
    found = opened(opening, catalogs, "SELECT * FROM v0")
    assert found is not None
    assert len(found.views) == MAX_DEPTH
    assert len(views.asked) == MAX_DEPTH + 1


def test_views_that_multiply_are_not_expanded_without_end(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    references = ", ".join(f"v{{0}} AS a{number}" for number in range(20))
    views.put(view("v0", "SELECT k FROM sales"))
    for step in range(1, 5):
        views.put(view(f"v{step}", f"SELECT a0.k FROM {references.format(step - 1)}"))
    found = opened(opening, catalogs, "SELECT * FROM v4")
    assert found is None or len(found.sql) <= MAX_CHARACTERS


def test_a_view_that_the_engine_reads_otherwise_stays(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.others.add(name("v"))
    assert opened(opening, catalogs) is None


def test_the_engine_is_asked_once_for_as_long_as_nothing_changes(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    for _ in range(3):
        assert opened(opening, catalogs) is not None
    catalogs.append(name("sales"), record_count=3)
    assert opened(opening, catalogs) is not None
    assert len(views.readings) == 1


def test_the_engine_is_asked_again_when_a_table_below_has_other_columns(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    assert opened(opening, catalogs) is not None
    catalogs.put(replace(catalogs.facts(name("sales")), schema_id=1))
    views.others.add(name("v"))
    assert opened(opening, catalogs) is None


def test_a_replaced_view_is_expanded_as_it_is_now(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    assert opened(opening, catalogs) is not None
    views.put(view("v", "SELECT k FROM item"))
    found = opened(opening, catalogs)
    assert found is not None
    assert found.views == {name("v"): (name("item"),)}


def test_a_replaced_view_below_is_asked_about_again(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.put(view("w", "SELECT k FROM v"))
    assert opened(opening, catalogs, "SELECT * FROM w") is not None
    views.put(view("v", "SELECT k FROM item"))
    assert opened(opening, catalogs, "SELECT * FROM w") is not None
    assert [reading.view.name.table for reading in views.readings] == ["v", "w", "v", "w"]


def test_what_changes_while_the_engine_looks_at_it_is_not_believed(catalogs: FakeCatalogs) -> None:
    class Altering(FakeViews):
        def is_read_alike(self, reading: object) -> bool:  # noqa: ARG002
            facts = catalogs.facts(name("sales"))
            catalogs.put(replace(facts, schema_id=facts.schema_id + 1))
            return True

    opening = ExpandedViews(Altering(view("v", "SELECT k FROM sales")), catalogs, LAKE)
    assert opened(opening, catalogs) is None


def test_without_its_catalog_a_query_stays_as_it_is(
    opening: ExpandedViews, views: FakeViews, catalogs: FakeCatalogs
) -> None:
    views.is_down = True
    assert opened(opening, catalogs) is None
    views.is_down = False
    assert opened(opening, catalogs) is not None
