"""Rows under a condition have a wider relation if all rows of their table are few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from sqlglot import exp, parse_one

from service.model.filters.relations import RelationQuery
from service.model.query.query import Parameter, Parameters
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.detect import detect
from service.pruning.detection import DetectionContext
from service.pruning.name_resolution.qualify import qualify
from service.pruning.rewrites.local_relations import RelationAssignment, named_in
from tests.unit.pruning.tables import TABLES

CALENDAR = TableAt(TableName("lake", "shop", "calendar"))
ROWS = TABLES[CALENDAR].record_count
JOINED = "SELECT d.name, d.year FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key"


def with_calendar(**changes: object) -> Mapping[TableAt, TableFacts]:
    return {**TABLES, CALENDAR: replace(TABLES[CALENDAR], **changes)}  # type: ignore[arg-type]


def rows_of(
    sql: str,
    tables: Mapping[TableAt, TableFacts] = TABLES,
    parameters: Parameters = (),
    session: Mapping[str, str] | None = None,
    at_most: int = ROWS,
) -> RelationQuery:
    tree = parse_one(sql, read="spark")
    assert isinstance(tree, exp.Query)
    qualified = qualify(tree, tables, "lake", "shop")
    assert qualified is not None
    context = DetectionContext(
        tables, parameters, session or {}, 1_000, is_named=named_in(sql, tree), max_relation_rows=at_most
    )
    found = (assignment.query for assignment in detect(qualified, context).relations)
    [query] = (query for query in found if query.rows_of.tables == (CALENDAR.name,))
    return query


def wider(query: RelationQuery) -> RelationQuery:
    assert query.wider is not None
    return query.wider


def test_the_wider_rows_are_those_of_the_text_without_its_conditions() -> None:
    found = wider(rows_of(f"{JOINED} WHERE d.year = 2000"))
    assert found == rows_of(JOINED)
    assert (found.rows_of.predicate, found.wider, " WHERE " in found.sql) == ("", None, False)


def test_conditions_and_values_do_not_matter_to_them() -> None:
    one, other = (
        rows_of(f"{JOINED} WHERE d.year = 2000"),
        rows_of(f"{JOINED} WHERE d.year > 1 AND d.year < 9"),
    )
    by_value = rows_of(f"{JOINED} WHERE d.year = :x", parameters={"x": Parameter(2000)})
    assert wider(one) == wider(other) == wider(by_value)
    assert len({one.fingerprint, other.fingerprint, by_value.fingerprint}) == 3
    assert by_value.parameter_names == {"x"}
    assert not wider(by_value).parameter_names


def test_all_else_that_rows_depend_on_does() -> None:
    sql = f"{JOINED} WHERE d.year = 2000"
    others = (
        rows_of(sql),
        rows_of(sql, with_calendar(snapshot_id=99)),
        rows_of(sql, with_calendar(restriction=Restriction("month > 2"))),
        rows_of(sql, session={"timeZone": "Europe/Zurich"}),
        rows_of(f"{sql} AND d.month = 1"),
    )
    assert len({wider(query).fingerprint for query in others}) == len(others)


def test_rows_that_a_policy_hides_stay_restricted() -> None:
    hidden = with_calendar(restriction=Restriction("month > 2"))
    assert wider(rows_of(f"{JOINED} WHERE d.year = 2000", hidden)).rows_of.is_restricted


@pytest.mark.parametrize(
    ("sql", "count", "at_most"),
    [
        (f"{JOINED} WHERE d.year = 2000", ROWS, ROWS - 1),
        (f"{JOINED} WHERE d.year = 2000", 0, ROWS),
        (JOINED, ROWS, ROWS),
        (f"{JOINED} WHERE d.year = 2000 AND d.day_key IN (SELECT item_key FROM item)", ROWS, ROWS),
        (f"{JOINED} LEFT SEMI JOIN item AS i ON i.item_key = f.day_key WHERE d.year = 2000", ROWS, ROWS),
    ],
    ids=["many rows", "of unknown count", "no condition", "a subquery that joins", "a semi join"],
)
def test_other_rows_have_no_wider_ones(sql: str, count: int, at_most: int) -> None:
    assert rows_of(sql, with_calendar(record_count=count), at_most=at_most).wider is None


def test_an_assignment_reads_the_rows_that_are_in_memory() -> None:
    query = rows_of(f"{JOINED} WHERE d.year = 2000")
    assignment = RelationAssignment(query, 7)
    assert assignment.reading(query.fingerprint) == assignment
    assert assignment.reading(wider(query).fingerprint) == RelationAssignment(wider(query), 7)
