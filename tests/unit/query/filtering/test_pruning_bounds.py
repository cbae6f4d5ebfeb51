from __future__ import annotations

import pytest

from service.model.query.query import PruningRequest
from service.model.query.rewrites import RewriteKind
from service.pruning.predicates.composite_predicate import TupleBounds
from service.pruning.predicates.form import FormBounds
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.rewrite import RewriteBounds
from tests.fakes.filters import keys_of

OPERATORS = PruningBounds(
    is_enabled=True,
    min_table_bytes=1000,
    form=FormBounds(max_in_list=200, max_ranges=32, max_listed=2000),
    rewrites=RewriteBounds(kinds=frozenset({RewriteKind.READ_OPTIONS, RewriteKind.JOIN_ELIMINATED}), slots=2),
    tuples=TupleBounds(max_parts=100, max_values=1000, are_compared=True),
)


def test_who_says_nothing_has_the_operators_bounds() -> None:
    assert OPERATORS.within(PruningRequest()) == OPERATORS


def test_each_bound_may_be_a_querys_own() -> None:
    asked = PruningRequest(min_table_bytes=0, max_filter_bytes=9, max_in_list=10, max_ranges=3)
    bounds = OPERATORS.within(asked)
    assert (bounds.min_table_bytes, bounds.max_filter_bytes) == (0, 9)
    assert bounds.form == FormBounds(max_in_list=10, max_ranges=3, max_listed=10)
    assert bounds.tuples == TupleBounds(max_parts=3, max_values=10, are_compared=True)


def test_a_query_that_is_verified_reads_every_table_at_one_snapshot() -> None:
    assert not OPERATORS.within(PruningRequest()).rewrites.is_verified
    assert OPERATORS.within(PruningRequest(is_verified=True)).rewrites.is_verified


def test_what_the_operator_switched_off_no_query_switches_on() -> None:
    asked = PruningRequest(rewrites=frozenset({RewriteKind.JOIN_ELIMINATED, RewriteKind.LOCAL_RELATION}))
    assert OPERATORS.within(asked).rewrites.kinds == {RewriteKind.JOIN_ELIMINATED}


@pytest.mark.parametrize(("max_bytes", "max_in_list"), [(None, 200), (16, 200), (15, 0), (0, 0)])
def test_a_set_that_is_too_large_for_the_caller_becomes_ranges(
    max_bytes: int | None, max_in_list: int
) -> None:
    bounds = OPERATORS.within(PruningRequest(max_filter_bytes=max_bytes))
    form, is_too_large = bounds.form_of(keys_of((1,), (2,)))
    assert (form.max_in_list, is_too_large) == (max_in_list, max_in_list == 0)
