"""The comparison itself: a text that the engine does not take proves nothing, and nobody overlooks it."""

from __future__ import annotations

import pytest

from service.gateway import Gateway
from service.model.query import Parameters
from service.query.pruned_query import PrunedQuery
from tests.equivalence.harness import Harness

WRITTEN = "SELECT k FROM dim"
REJECTED = "SELECT k FROM dim WHERE no_such_column = 1"


class Rewriting(Harness):
    """Every query becomes one text, without a filter."""

    def __init__(self, gateway: Gateway, text: str) -> None:
        super().__init__(gateway)
        self._text = text

    def prune(self, sql: str, parameters: Parameters = ()) -> PrunedQuery:  # noqa: ARG002
        return PrunedQuery(self._text, rewritten_sql=self._text)


@pytest.fixture
def rejected(harness: Harness) -> Rewriting:
    return Rewriting(harness._gateway, REJECTED)


def test_a_text_that_the_engine_does_not_take_fails(rejected: Rewriting) -> None:
    with pytest.raises(AssertionError, match="no_such_column"):
        rejected.check(WRITTEN)


def test_where_that_is_expected_the_rows_are_those_as_written(rejected: Rewriting) -> None:
    checked = rejected.check(WRITTEN, is_rejected=True)
    assert checked.is_rejected
    assert checked.narrowed is checked.written


def test_an_expected_rejection_must_come(harness: Harness) -> None:
    with pytest.raises(AssertionError, match="the engine took it"):
        Rewriting(harness._gateway, WRITTEN).check(WRITTEN, is_rejected=True)


def test_other_rows_fail(harness: Harness) -> None:
    with pytest.raises(AssertionError, match="other rows"):
        Rewriting(harness._gateway, f"{WRITTEN} WHERE k = 1").check(WRITTEN)
