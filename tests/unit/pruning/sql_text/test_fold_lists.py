"""A folded list renders as it was written, and changes no result of detection."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from service.pruning.detect import detect
from service.pruning.detection import DetectionContext
from service.pruning.name_resolution.qualify import qualify
from service.pruning.sql_text.fold_lists import LONG, fold_lists
from tests.unit.pruning.tables import TABLES

NUMBERS = ", ".join(str(number - 5) for number in range(LONG + 1))
TEXTS = ", ".join(f"'day {number}'" for number in range(LONG + 1))


def query(condition: str) -> exp.Query:
    sql = f"SELECT count(*) FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key WHERE {condition}"
    tree = parse_one(sql, read="spark")
    assert isinstance(tree, exp.Query)
    return tree


def keys_queries(tree: exp.Query) -> list[tuple[str, str, str]]:
    """Returns each filter's build query, fingerprint and description."""
    qualified = qualify(tree, TABLES, "lake", "shop")
    assert qualified is not None
    found = [
        assignment.filter
        for assignment in detect(qualified, DetectionContext(TABLES, {}, {}, 1_000)).assignments
    ]
    return [
        (dynamic_filter.filtering_query, dynamic_filter.fingerprint, dynamic_filter.build.predicate)
        for dynamic_filter in found
    ]


@pytest.mark.parametrize(
    "condition",
    [
        f"d.day_key IN ({NUMBERS})",
        f"d.name IN ({TEXTS}) AND NOT d.month IN ({NUMBERS})",
        f"d.name IN ({TEXTS}, 5, -6.5, 1e3)",
        f"d.day_key IN (SELECT r.day_key FROM returns AS r WHERE r.item_key IN ({NUMBERS}))",
    ],
)
def test_long_lists_are_folded_and_the_filters_stay(condition: str) -> None:
    tree = query(condition)
    before = tree.copy()
    folded = fold_lists(tree)
    assert tree == before
    assert folded.sql("spark") == tree.sql("spark")
    assert sum(1 for _ in folded.walk()) < LONG
    assert keys_queries(folded) == keys_queries(tree) != []


@pytest.mark.parametrize(
    "values",
    [
        f"{NUMBERS}, DATE '2000-01-01'",
        f"{TEXTS}, 'it''s'",
        f"{TEXTS}, 'a\\\\b'",
        f"{NUMBERS}, rand()",
        f"{NUMBERS}, :value",
        f"{NUMBERS}, NULL",
        f"{NUMBERS}, - 'x'",
    ],
)
def test_a_list_of_anything_else_stays_as_it_is(values: str) -> None:
    tree = query(f"d.name IN ({values})")
    assert fold_lists(tree) == tree


def test_short_lists_cost_nothing() -> None:
    tree = query("d.month IN (1, 2, 3)")
    assert fold_lists(tree) is tree
