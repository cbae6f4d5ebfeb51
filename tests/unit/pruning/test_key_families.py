"""Filters that differ only in their conditions are of one family, and equal conditions share their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from sqlglot import exp, parse_one

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.query.query import Parameter, Parameters
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.detect import detect
from service.pruning.detection import DetectionContext
from service.pruning.name_resolution.qualify import qualify
from service.pruning.rewrites.local_relations import named_in
from tests.unit.pruning.tables import TABLES

CALENDAR = TableAt(TableName("lake", "shop", "calendar"))
JOINED = "SELECT count(*) FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key WHERE "


def filter_of(
    sql: str,
    tables: Mapping[TableAt, TableFacts] = TABLES,
    parameters: Parameters = (),
    is_keeping_rows: bool = True,
) -> DynamicFilter:
    tree = parse_one(sql, read="spark")
    assert isinstance(tree, exp.Query)
    qualified = qualify(tree, tables, "lake", "shop")
    assert qualified is not None
    context = DetectionContext(
        tables, parameters, {}, 1_000, is_named=named_in(sql, tree), is_keeping_rows=is_keeping_rows
    )
    [assignment] = detect(qualified, context).assignments
    return assignment.filter


def with_calendar(**changes: object) -> Mapping[TableAt, TableFacts]:
    return {**TABLES, CALENDAR: replace(TABLES[CALENDAR], **changes)}  # type: ignore[arg-type]


def family(found: DynamicFilter) -> str:
    assert found.family is not None
    return found.family.fingerprint


def test_conditions_and_snapshots_do_not_matter_to_a_family() -> None:
    march, april = filter_of(f"{JOINED} d.month = 3"), filter_of(f"{JOINED} d.month = 4 AND d.name > 'a'")
    later = filter_of(f"{JOINED} d.month = 3", with_calendar(snapshot_id=99))
    by_value = filter_of(f"{JOINED} d.month = :x", parameters={"x": Parameter(3)})
    assert family(march) == family(april) == family(later) == family(by_value)
    assert len({found.fingerprint for found in (march, april, later, by_value)}) == 4


def test_what_a_caller_may_see_decides_about_the_family() -> None:
    restrictions = (Restriction(), Restriction("month > 2"), Restriction(masks=(("month", "1"),)))
    sql = f"{JOINED} d.month = 3"
    families = {family(filter_of(sql, with_calendar(restriction=each))) for each in restrictions}
    assert len(families) == len(restrictions)


def test_another_key_or_comparison_is_another_family() -> None:
    by_day = filter_of(f"{JOINED} d.month = 3")
    null_safe = filter_of(f"{JOINED} d.month = 3".replace("= d.day_key", "<=> d.day_key"))
    assert family(by_day) != family(null_safe)


def test_a_family_has_the_columns_that_the_text_names() -> None:
    found = filter_of(f"{JOINED} d.month = 3").family
    assert found is not None
    # A name may be a part of another one: a column too many does no harm.
    assert found.named_columns == ("day_key", "day", "month")
    everything = filter_of(f"{JOINED.replace('count(*)', '*')} d.month = 3").family
    assert everything is not None
    assert everything.named_columns == tuple(column.name for column in TABLES[CALENDAR].columns)


def test_without_kept_rows_filters_have_no_family() -> None:
    kept = filter_of(f"{JOINED} d.month = 3")
    found = filter_of(f"{JOINED} d.month = 3", is_keeping_rows=False)
    assert found == replace(kept, family=None)


def test_keys_of_several_tables_are_of_no_family() -> None:
    joined = f"{JOINED} d.month IN (SELECT c.month FROM calendar AS c WHERE c.name = 'a')"
    assert filter_of(joined).family is None


SAME: Mapping[str, tuple[str, str]] = {
    "order": ("d.month = 3 AND d.name = 'a'", "d.name = 'a' AND d.month = 3"),
    "list": ("d.month IN (3, 1, 2, 3)", "d.month IN (1, 2, 3)"),
    "side": ("5 > d.month", "d.month < 5"),
    "between": ("d.month BETWEEN 2 AND 4", "d.month >= 2 AND 4 >= d.month"),
    "parentheses": (
        "(d.month = 3 AND (d.name = 'a' AND d.year = 1))",
        "d.month = 3 AND d.year = 1 AND d.name = 'a'",
    ),
    "repetition": ("d.month = 3 AND d.month = 3", "(d.month = 3)"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_conditions_that_are_written_differently_share_their_keys(one: str, other: str) -> None:
    assert filter_of(JOINED + one).fingerprint == filter_of(JOINED + other).fingerprint


DIFFERENT: Mapping[str, tuple[str, str]] = {
    "bound": ("d.month < 5", "d.month <= 5"),
    "side": ("5 > d.month", "5 < d.month"),
    "list": ("d.month IN (1, 2)", "d.month IN (1, 3)"),
    "not": ("NOT d.month BETWEEN 2 AND 4", "d.month BETWEEN 2 AND 4"),
    "or": ("d.month = 1 OR d.name = 'a'", "d.month = 1 AND d.name = 'a'"),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_other_conditions_have_other_keys(one: str, other: str) -> None:
    assert filter_of(JOINED + one).fingerprint != filter_of(JOINED + other).fingerprint
