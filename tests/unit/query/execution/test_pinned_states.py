"""The states by which the engine knows whether a rewritten text reads the tables that it read before."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from service.model.query.query import Parameter
from service.model.tables.tables import TableAt, TableFacts, TableName, TableSource
from service.query.execution.pinned_states import pinned_states
from service.query.filtering.pruned_query import PrunedQuery
from tests.unit.pruning.tables import TABLES

SALES = replace(TABLES[TableAt(TableName("lake", "shop", "sales"))], metadata_location="file:/sales/7.json")
CALENDAR = replace(
    TABLES[TableAt(TableName("lake", "shop", "calendar"))], metadata_location="file:/calendar/3.json"
)
WRITTEN = "SELECT f.note FROM sales f"


def states(*facts: TableFacts, written: str = WRITTEN, expanded: str | None = None) -> dict[str, str]:
    return dict(pinned_states(PrunedQuery("SELECT 'now'", expanded_sql=expanded, facts=facts), written))


def test_each_table_has_a_state_that_no_other_commit_has() -> None:
    before = states(SALES, CALENDAR)
    assert before.keys() == {"lake.shop.sales", "lake.shop.calendar"}
    assert states(replace(SALES, metadata_location="file:/sales/8.json"), CALENDAR) != before
    assert states(replace(SALES, table_uuid=UUID(int=99)), CALENDAR) != before


def test_names_are_compared_in_lower_case() -> None:
    upper = replace(SALES, name=TableName("lake", "Shop", "SALES"))
    assert states(upper) == states(SALES)
    assert states(SALES, upper) == states(SALES)
    assert states(SALES, replace(upper, metadata_location="file:/other/1.json")) == {}


@pytest.mark.parametrize(
    "unknown",
    [replace(SALES, metadata_location=""), replace(SALES, source=TableSource.FILES)],
    ids=["no metadata file", "no snapshots"],
)
def test_without_the_state_of_a_table_there_is_none_at_all(unknown: TableFacts) -> None:
    assert states(unknown, CALENDAR) == {}
    assert states() == {}


def test_a_text_that_may_name_the_moment_has_none() -> None:
    assert states(SALES, written="SELECT DATE'today' FROM sales") == {}
    assert states(SALES, expanded="SELECT * FROM (SELECT TIMESTAMP'now' FROM sales)") == {}
    assert states(SALES, written="SELECT DATE'today' FROM a_view", expanded="SELECT 1 FROM sales")


@pytest.mark.parametrize(
    ("value", "is_known"),
    [("today", False), ("10:00", False), ("shirt", True), ("2026-01-31", True), (10, True)],
)
def test_a_value_that_may_be_the_moment_has_none(value: str | int, is_known: bool) -> None:
    found = pinned_states(PrunedQuery("", facts=(SALES,)), WRITTEN, {"day": Parameter(value)})
    assert bool(found) is is_known
