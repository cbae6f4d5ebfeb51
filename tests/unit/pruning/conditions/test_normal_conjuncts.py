"""Conditions with one normal form select the same rows: they share cached keys."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import pytest
from sqlglot import parse_one

from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from service.pruning.conditions.normal_conjuncts import normal_conjuncts

COMPARED: Mapping[str, Callable[[bool, bool], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
VALUES = {"TRUE": True, "FALSE": False}


def normal(condition: str) -> frozenset[str]:
    return frozenset(normal_conjuncts(parse_one(condition, read="spark")))


OTHER_ROWS: Mapping[str, tuple[str, str]] = {
    # Each pair selects other rows in Spark 4.1: comparisons associate to the left.
    "a chain of equalities": ("'t' = 'true' = a", "a = 't' = 'true'"),
    "a chain of comparisons": ("1 < 2 = a", "a = 1 < 2"),
    "a comparison as an end": ("(1 = 2) = a", "a = 1 = 2"),
    # A text is compared with these numbers as DECIMAL(20, 0) or as DOUBLE: the first two types decide.
    "a number beyond BIGINT": ("a IN (1, 99999999999999999999)", "a IN (99999999999999999999, 1)"),
    "a number near its end": ("a IN (1, 9223372036854775808)", "a IN (9223372036854775808, 1)"),
    "another sign": ("a IN (1, -99999999999999999999)", "a IN (-99999999999999999999, 1)"),
}


@pytest.mark.parametrize(("one", "other"), OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_conditions_with_other_rows_have_another_form(one: str, other: str) -> None:
    assert normal(one) != normal(other)


SAME_ROWS: Mapping[str, tuple[str, str]] = {
    "sides": ("5 > a", "a < 5"),
    "sides with a sum": (
        "DATE '2001-01-01' + INTERVAL 3 DAYS >= a",
        "a <= DATE '2001-01-01' + INTERVAL 3 DAYS",
    ),
    "a range": ("a BETWEEN 1 + 1 AND :x", "a >= 1 + 1 AND :x >= a"),
    "a list": ("a IN (999999999999999999, -1)", "a IN (-1, 999999999999999999, -1)"),
}


@pytest.mark.parametrize(("one", "other"), SAME_ROWS.values(), ids=SAME_ROWS)
def test_spellings_of_one_condition_have_one_form(one: str, other: str) -> None:
    assert normal(one) == normal(other)


def _of_the_engine(chain: Sequence[str], a: bool) -> bool:
    """Evaluates `x < y = z` as the engine does: from the left, all operators alike."""
    values = {**VALUES, "a": a}
    found = values[chain[0]]
    for compared, operand in zip(chain[1::2], chain[2::2], strict=True):
        found = COMPARED[compared](found, values[operand])
    return found


def test_chains_of_comparisons_with_one_form_select_the_same_rows() -> None:
    operands, selected = ("a", *VALUES), defaultdict[frozenset[str], set[tuple[bool, ...]]](set)
    for parts in (
        (operands, COMPARED, operands),
        (operands, COMPARED, operands, COMPARED, operands),
        (("a", "TRUE"), COMPARED, VALUES, COMPARED, VALUES, COMPARED, ("a", "TRUE")),
    ):
        for chain in product(*parts):
            text = " ".join(chain)
            if is_safe_to_render(parse_one(text, read="spark")):
                selected[normal(text)].add(tuple(_of_the_engine(chain, a) for a in VALUES.values()))
    assert len(selected) > 100
    assert {form: rows for form, rows in selected.items() if len(rows) > 1} == {}
