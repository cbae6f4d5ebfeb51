"""Predicates on several columns hold for every tuple, and only for these unless there are too many."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import Probe
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm, Key
from service.model.filters.partition_tuples import PartitionTuples
from service.model.tables.tables import TableName
from service.pruning.predicates.composite_predicate import (
    MAX_POSSIBLE_TUPLES,
    TupleBounds,
    composite_predicate,
)

VALUES = range(5)
BOUNDS = st.builds(TupleBounds, max_parts=st.integers(0, 12), max_values=st.integers(0, 40))


def probe(width: int) -> Probe:
    columns = tuple("abcde"[:width])
    return Probe(TableName("lake", "shop", "t"), columns, ("int",) * width, 1)


@st.composite
def tuples(draw: st.DrawFn) -> tuple[int, list[Key]]:
    width = draw(st.integers(2, 5))
    return width, draw(st.lists(st.tuples(*[st.sampled_from(VALUES)] * width), min_size=1, max_size=40))


@given(tuples(), BOUNDS)
def test_it_is_true_of_every_tuple(given_tuples: tuple[int, list[Key]], bounds: TupleBounds) -> None:
    width, keys = given_tuples
    formed = composite_predicate(probe(width), keys, [None] * width, bounds)
    if isinstance(formed, Reason):
        assert formed is Reason.RANGES_ONLY
        return
    found = {key for key in product(VALUES, repeat=width) if is_true(formed.condition, key)}
    assert set(keys) <= found
    if formed.form is FilterForm.IN:
        assert found == set(keys)
    assert sum(1 for _ in formed.condition.find_all(exp.Literal)) <= bounds.max_values
    assert sum(1 for _ in formed.condition.find_all(exp.Or)) < bounds.max_parts


@given(tuples(), BOUNDS)
def test_a_scan_that_compares_tuples_has_a_condition_whatever_the_bounds_are(
    given_tuples: tuple[int, list[Key]], bounds: TupleBounds
) -> None:
    width, keys = given_tuples
    formed = composite_predicate(probe(width), keys, [None] * width, replace(bounds, are_compared=True))
    assert not isinstance(formed, Reason)
    found = {key for key in product(VALUES, repeat=width) if is_true(formed.condition, key)}
    assert set(keys) <= found
    alternatives = sum(1 for _ in formed.condition.find_all(exp.Or)) + 1
    assert formed.has_tuples == (formed.form is FilterForm.RANGES or alternatives > 1)


def test_long_lists_are_compared_too() -> None:
    bounds = TupleBounds(max_parts=9, max_values=900, are_compared=True)
    for count, has_tuples in ((200, False), (201, True)):
        formed = composite_predicate(probe(2), [(number, 7) for number in range(count)], [None] * 2, bounds)
        assert not isinstance(formed, Reason)
        assert (formed.form, formed.has_tuples) == (FilterForm.IN, has_tuples)


def test_more_tuples_than_are_grouped_are_compared() -> None:
    keys: list[Key] = [(number, 2 * number) for number in range(MAX_POSSIBLE_TUPLES + 1)]
    bounds = TupleBounds(max_parts=9, max_values=900)
    assert composite_predicate(probe(2), keys, [None] * 2, bounds) is Reason.RANGES_ONLY
    formed = composite_predicate(probe(2), keys, [None] * 2, replace(bounds, are_compared=True))
    assert not isinstance(formed, Reason)
    assert formed.has_tuples
    assert formed.condition.sql("spark") == "(`a` BETWEEN 0 AND 100000 AND `b` BETWEEN 0 AND 200000)"


@given(tuples(), st.lists(st.sampled_from(VALUES), min_size=1, unique=True))
def test_what_the_probe_cannot_hold_is_left_out(
    given_tuples: tuple[int, list[Key]], first: list[int]
) -> None:
    width, keys = given_tuples
    known = ColumnValues(tuple(sorted(first)), min(first), max(first), is_clustered=True)
    formed = composite_predicate(
        probe(width), keys, [known, *[None] * (width - 1)], TupleBounds(max_parts=50, max_values=500)
    )
    assert not isinstance(formed, Reason)
    found = {key for key in product(VALUES, repeat=width) if is_true(formed.condition, key)}
    assert found == {key for key in keys if key[0] in first}


@given(tuples(), st.data(), BOUNDS)
def test_what_no_partition_holds_is_left_out(
    given_tuples: tuple[int, list[Key]], data: st.DataObject, bounds: TupleBounds
) -> None:
    width, keys = given_tuples
    reported = data.draw(st.lists(st.sampled_from("abcde"[:width]), min_size=2, max_size=width, unique=True))
    values = st.none() | st.sampled_from(VALUES)
    known = PartitionTuples(tuple(reported), data.draw(st.frozensets(st.tuples(*[values] * len(reported)))))
    of_probe = known.of(probe(width).columns)
    assert of_probe is not None
    formed = composite_predicate(probe(width), keys, [None] * width, bounds, of_probe)
    there = {
        values
        for values in product(VALUES, repeat=width)
        if of_probe.matching(probe(width).columns, [values])
    }
    if formed is Reason.NOT_SELECTIVE:
        assert there <= set(keys)
        return
    if isinstance(formed, Reason):
        assert formed is Reason.RANGES_ONLY
        return
    found = {key for key in there if is_true(formed.condition, key)}
    assert set(keys) & there <= found
    if formed.form is not FilterForm.RANGES:
        assert found == set(keys) & there


def is_true(node: exp.Expr, row: Key) -> bool:
    match node:
        case exp.Paren():
            return is_true(node.this, row)
        case exp.Or():
            return is_true(node.left, row) or is_true(node.right, row)
        case exp.And():
            return is_true(node.left, row) and is_true(node.right, row)
        case exp.Boolean():
            return bool(node.this)
    value = row["abcde".index(node.this.name)]
    assert isinstance(value, int)
    match node:
        case exp.In():
            return value in [int(expression.this) for expression in node.expressions]
        case exp.Between():
            return int(node.args["low"].this) <= value <= int(node.args["high"].this)
        case exp.EQ():
            return value == int(node.right.this)
    raise AssertionError(node)
