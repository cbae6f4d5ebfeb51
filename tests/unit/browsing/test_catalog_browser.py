"""Lists of catalogs, schemas, tables and views have what a principal may know of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.browsing.accepted_by import accepted_by
from service.browsing.catalog_browser import CatalogBrowser, RelationQuery
from service.errors.statement_errors import SqlInvalid
from service.errors.unavailable import CatalogDown
from service.model.filters.column_values import ColumnValues
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.tables.contents import AcceptedBy, RelationKind, SchemaEntry
from service.model.tables.tables import (
    PartitionField,
    SortField,
    TableColumn,
    TableFacts,
    TableName,
    TableSource,
)
from service.model.tables.views import View, ViewColumn
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.views import FakeViews
from tests.unit.policies.by_hand import ByHand

COLUMNS = tuple(
    TableColumn(number, name, "long", is_required=False, doc=f"the {name}")
    for number, name in enumerate(("day", "k", "card", "free"), start=1)
)
ORDERS = replace(facts_of_empty_table(TableName("lake", "shop", "orders"), COLUMNS), comment="all orders")
PAY = facts_of_empty_table(TableName("lake", "hr", "pay"), COLUMNS)
TOP = TableName("lake", "shop", "top")
VIEW = View(TOP, "SELECT 1", "lake", ("shop",), (ViewColumn("k", "bigint"),))
SCHEMAS = (SchemaEntry("lake", "shop", "sales"), SchemaEntry("lake", "hr"), SchemaEntry("lake", "empty"))


class Bench:
    def __init__(self) -> None:
        self.catalogs = FakeCatalogs(("lake",), [ORDERS, PAY])
        self.contents = FakeContents(SCHEMAS, [TOP])
        self.values = FakeProbeValues()
        self.browser = CatalogBrowser(
            ("rest", "lake"), self.catalogs, self.contents, FakeViews(VIEW), self.values, FakeClock()
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


def access(*rules: tuple[str, str]) -> Access:
    return RoleAccess(CompiledPolicies(ByHand({"role": rules}).policies()), frozenset({"role"}))


SHOP = access(("lake.shop.*", "select"))
ORDERS_ONLY = access(("lake.*.orders", "select"))


def names(bench: Bench, who: Access, **asked: object) -> list[str]:
    query = replace(RelationQuery("lake", None, 10), **asked)  # type: ignore[arg-type]
    return [str(entry.name) for entry in bench.browser.relations(query, who).entries]


def test_catalogs_and_schemas_are_those_that_may_be_known(bench: Bench) -> None:
    assert bench.browser.catalogs(FULL_ACCESS) == ["lake", "rest"]
    assert bench.browser.catalogs(SHOP) == ["lake"]
    assert bench.browser.catalogs(access()) == []
    assert bench.browser.schemas("lake", FULL_ACCESS).schemas == (SCHEMAS[2], SCHEMAS[1], SCHEMAS[0])
    assert bench.browser.schemas("lake", SHOP).schemas == (SCHEMAS[0],)
    assert bench.browser.schemas(None, ORDERS_ONLY).schemas == (SCHEMAS[0],)


def test_a_catalog_that_may_not_be_known_is_not_there(bench: Bench) -> None:
    for catalog in ("rest", "nope"):
        with pytest.raises(SqlInvalid, match=f"There is no catalog {catalog}"):
            bench.browser.schemas(catalog, SHOP)


def test_a_catalog_that_is_down_is_named(bench: Bench) -> None:
    bench.contents.down = {"rest"}
    assert bench.browser.schemas(None, FULL_ACCESS).missing == ("rest",)
    bench.contents.down = {"lake", "rest"}
    for catalog in (None, "lake"):
        with pytest.raises(CatalogDown):
            bench.browser.schemas(catalog, FULL_ACCESS)
    page = bench.browser.relations(RelationQuery("lake", None, 10), FULL_ACCESS)
    assert [entry.name for entry in page.entries] == [PAY.name, ORDERS.name]
    assert page.missing == ("lake",)


def test_tables_and_views_are_listed_together(bench: Bench) -> None:
    assert names(bench, FULL_ACCESS) == ["lake.hr.pay", "lake.shop.orders", "lake.shop.top"]
    assert names(bench, SHOP) == ["lake.shop.orders", "lake.shop.top"]
    assert names(bench, ORDERS_ONLY) == ["lake.shop.orders"]
    assert names(bench, access()) == []
    assert names(bench, FULL_ACCESS, schema="shop") == ["lake.shop.orders", "lake.shop.top"]


def test_pages_follow_one_another(bench: Bench) -> None:
    first = bench.browser.relations(RelationQuery("lake", None, 2), FULL_ACCESS)
    assert first.has_more
    second = bench.browser.relations(RelationQuery("lake", None, 2, first.entries[-1].name), FULL_ACCESS)
    assert [str(entry.name) for entry in second.entries] == ["lake.shop.top"]
    assert not second.has_more


def test_columns_of_many_tables_come_at_once(bench: Bench) -> None:
    query = RelationQuery("lake", "shop", 10, has_columns=True)
    table, view = bench.browser.relations(query, SHOP).entries
    assert (table.kind, table.comment, table.columns) == (RelationKind.TABLE, "all orders", COLUMNS)
    assert view.kind is RelationKind.VIEW
    assert view.columns == (TableColumn(0, "k", "bigint", is_required=False),)


def test_keys_are_those_of_tables_that_have_columns_as_identifiers(bench: Bench) -> None:
    asked = [ORDERS.name, PAY.name, TableName("lake", "shop", "nope")]
    assert bench.browser.keys(asked, FULL_ACCESS) == bench.browser.keys([], FULL_ACCESS) == {}
    bench.catalogs.put(replace(ORDERS, identifier_fields=("day", "k")))
    bench.catalogs.put(replace(PAY, identifier_fields=("k", "place.city")))
    assert bench.browser.keys(asked, FULL_ACCESS) == {ORDERS.name: ("day", "k")}
    masked = access(("lake.*.*", "select"), ("lake.shop.*", "mask:k=0"))
    assert bench.browser.keys(asked, masked) == {}


# ---- accepted columns -----------------------------------------------------------------------------


def layout(**changed: object) -> TableFacts:
    table = replace(ORDERS, snapshot_id=7, data_file_count=9, total_bytes=1 << 30)
    return replace(table, **changed)  # type: ignore[arg-type]


LAID_OUT = layout(
    partition_fields=(PartitionField("day", "Day", "identity"),),
    sort_fields=(
        SortField("day", "identity", "asc", "nulls-first"),
        SortField("k", "identity", "asc", "nulls-first"),
    ),
    bloom_filter_columns=("k", "card"),
)


def accepted(facts: TableFacts, values: FakeProbeValues | None) -> dict[str, AcceptedBy]:
    return {column.column: column.by for column in accepted_by(facts, values)}


def test_columns_are_accepted_by_the_layout_of_their_table() -> None:
    assert accepted(LAID_OUT, None) == {
        "day": AcceptedBy.PARTITION,
        "k": AcceptedBy.SORT,
        "card": AcceptedBy.BLOOM,
    }


def test_columns_are_accepted_by_what_files_hold_once_that_is_known() -> None:
    values = FakeProbeValues()
    values.put(ORDERS.name, 7, "free", ColumnValues(None, 1, 9, is_clustered=True))
    values.put(ORDERS.name, 7, "card", ColumnValues(None, 1, 9, is_clustered=False))
    facts = layout()
    assert accepted(facts, values)["free"] is AcceptedBy.BOUNDS
    values.settle()
    found = accepted(facts, values)
    assert found["free"] is AcceptedBy.CLUSTERED
    assert "card" not in found
    assert accepted(layout(data_file_count=1), values) == {}


def test_a_table_of_another_source_accepts_no_column() -> None:
    assert accepted(replace(LAID_OUT, source=TableSource.OTHER), FakeProbeValues()) == {}


def test_what_files_tell_is_only_for_who_sees_all_rows(bench: Bench) -> None:
    filtered = access(("lake.shop.orders", "select"), ("lake.shop.orders", "rows:k = 1"))
    assert list(bench.browser.accepted(layout(), filtered)) == []
    assert bench.values.asked == []
    assert bench.browser.accepted(layout(), SHOP)


def test_what_files_tell_of_a_masked_column_is_for_who_sees_its_values(bench: Bench) -> None:
    masked = access(("lake.shop.orders", "select"), ("lake.shop.orders", "mask:CARD=NULL"))
    assert {column.column for column in bench.browser.accepted(layout(), masked)} == {"day", "k", "free"}
    assert "card" not in {column for _, _, column in bench.values.asked}
