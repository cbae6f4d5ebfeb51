"""The values that listings give for partitions of tables without snapshots."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from service.adapters.probe_values.listed_values import ListedValues
from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.key_set import KeyValue
from service.model.tables.tables import TableColumn, TableFacts, TableName, TableSource
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.probe_values import FakeProbeValues

SALES = TableName("lake", "shop", "sales")
TYPES = ("int", "long", "date", "string", "boolean", "decimal(7, 2)", "timestamptz", "char(3)", "binary")


def events(table: str = "events") -> TableFacts:
    columns = tuple(TableColumn(at, f"c{at}", type_name, False) for at, type_name in enumerate(TYPES))
    facts = facts_of_empty_table(TableName("spark_catalog", "logs", table), columns)
    return replace(facts, source=TableSource.FILES)


EVENTS = events()


def values_of(type_name: str, *texts: str) -> tuple[KeyValue, ...] | None:
    listed, column = ListedValues(FakeProbeValues()), f"c{TYPES.index(type_name)}"
    listed.listed(EVENTS, {column: texts})
    found = listed.of(EVENTS.name, None, column)
    return found.values if isinstance(found, ColumnValues) else None


@pytest.mark.parametrize(
    ("type_name", "texts", "values"),
    [
        ("int", ["9", "-1", "007"], (-1, 7, 9)),
        ("long", [str(2**40)], (2**40,)),
        ("date", ["2026-01-31", "1969-12-26"], (date(1969, 12, 26), date(2026, 1, 31))),
        ("string", ["b", "7", "é"], ("7", "b", "é")),
        ("boolean", ["true", "false"], (False, True)),
        ("int", [], ()),
    ],
)
def test_values_are_of_the_type_of_the_column(
    type_name: str, texts: list[str], values: tuple[KeyValue, ...]
) -> None:
    assert values_of(type_name, *texts) == values


@pytest.mark.parametrize(
    ("type_name", "text"),
    [
        ("decimal(7, 2)", "2.00"),
        ("timestamptz", "2026-01-31 00:00:00"),
        ("char(3)", "abc"),
        ("binary", "a"),
        ("int", "x"),
        ("date", "+10000-01-01"),
        ("boolean", "TRUE"),
    ],
)
def test_what_is_not_certain_is_not_known(type_name: str, text: str) -> None:
    assert values_of(type_name, text) is None


def test_a_listing_is_not_pinned_and_the_next_one_replaces_it() -> None:
    listed = ListedValues(FakeProbeValues())
    assert listed.of(EVENTS.name, None, "c0") is NotKnown.UNAVAILABLE
    listed.listed(EVENTS, {"c0": ["2", "1"]})
    found = listed.of(EVENTS.name, None, "c0")
    assert isinstance(found, ColumnValues)
    assert found == ColumnValues((1, 2), 1, 2, is_clustered=False, is_pinned=False)
    assert listed.of(EVENTS.name, None, "c3") is NotKnown.UNAVAILABLE
    listed.listed(EVENTS, {"c0": ["1", None]})
    assert listed.of(EVENTS.name, None, "c0") == replace(found, values=(1,), upper=1, has_null=True)
    listed.listed(EVENTS, {})
    assert listed.of(EVENTS.name, None, "c0") is NotKnown.UNAVAILABLE


def test_of_tables_with_snapshots_others_tell() -> None:
    others = FakeProbeValues()
    others.put(SALES, 1, "day", ColumnValues((1,), 1, 1, is_clustered=True))
    listed = ListedValues(others)
    assert listed.of(SALES, 1, "day") is NotKnown.PENDING
    others.settle()
    assert listed.of(SALES, 1, "day") == ColumnValues((1,), 1, 1, is_clustered=True)


def test_memory_is_bounded() -> None:
    listed = ListedValues(FakeProbeValues(), max_cached_bytes=1_000)
    for table in ("first", "second"):
        listed.listed(events(table), {"c0": [str(number) for number in range(10)]})
    assert listed.of(events("first").name, None, "c0") is NotKnown.UNAVAILABLE
    assert listed.of(events("second").name, None, "c0") is not NotKnown.UNAVAILABLE
    listed.listed(events("large"), {"c0": [str(number) for number in range(100)]})
    assert listed.of(events("large").name, None, "c0") is NotKnown.UNAVAILABLE
