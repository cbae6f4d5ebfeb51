from __future__ import annotations

from dataclasses import replace

import pytest

from service.model.query.refresh import RefreshOutcome
from service.model.tables.tables import TableColumn, TableFacts, TableName
from service.ports.bounded_calls import no_answer
from service.pruning.aggregation.read_aggregation import ReadAggregation, read_aggregation
from tests.fakes.catalogs import facts_of_empty_table

SALES, ITEM = TableName("lake", "shop", "sales"), TableName("lake", "shop", "item")


def table(name: TableName, *columns: str) -> TableFacts:
    described = (
        TableColumn(place, column, "long", is_required=False) for place, column in enumerate(columns)
    )
    facts = facts_of_empty_table(name, tuple(described))
    return replace(facts, snapshot_id=1, snapshot_schema_id=facts.schema_id)


TABLES = {facts.name: facts for facts in (table(SALES, "k", "paid"), table(ITEM, "k", "label"))}


def read(source: str) -> ReadAggregation | RefreshOutcome:
    sql = f"SELECT count(*) FROM {source}"
    return read_aggregation(no_answer, sql, frozenset({"lake"}), ("lake", "shop"), TABLES)


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("sales JOIN item ON sales.k = item.k", ("k", "paid", "k", "label")),
        ("sales LEFT SEMI JOIN item ON sales.k = item.k", ("k", "paid")),
        ("sales ANTI JOIN item ON sales.k = item.k", ("k", "paid")),
        ("(SELECT k FROM sales) AS s JOIN item ON s.k = item.k", None),
    ],
)
def test_the_columns_are_those_that_the_query_can_name(source: str, columns: tuple[str, ...] | None) -> None:
    found = read(source)
    assert isinstance(found, ReadAggregation)
    assert found.columns == columns


def test_a_table_that_is_named_twice_does_not_grow() -> None:
    found = read("sales JOIN (SELECT k FROM lake.shop.SALES) s ON s.k = sales.k JOIN item ON item.k = s.k")
    assert isinstance(found, ReadAggregation)
    assert found.fact == ITEM
