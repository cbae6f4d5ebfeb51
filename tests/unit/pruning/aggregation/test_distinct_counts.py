from __future__ import annotations

import pytest

from service.model.query.refresh import AggregateCall, NotRefreshable, RefreshOutcome
from service.pruning.aggregation.distinct_counts import distinct_count

ENOUGH = 16 << 10


def call(argument: str, condition: str = "") -> AggregateCall:
    return AggregateCall("approx_count_distinct", argument, condition)


@pytest.mark.parametrize(
    ("argument", "deviation"),
    [
        ("x", ""),
        ("f(x, 0.01)", ""),
        ("(x, y)", ""),
        ("transform(x, y -> y), 0.05", ", 0.05"),
        ("x, .02", ", .02"),
        ("x, 0.02D", ", 0.02D"),
        ("x, 1e-2", ", 1e-2"),
        ("/* a */ x, 0.3BD -- b\n", ", 0.3BD"),
    ],
)
def test_registers_are_kept_for_the_deviation_that_is_asked_for(argument: str, deviation: str) -> None:
    partial = distinct_count(call(argument, "FILTER (WHERE y)"), 3, ENOUGH)
    assert partial.columns == (("__a3", f"__sluice_read_registers({argument}) FILTER (WHERE y)"),)
    assert partial.merged == f"__sluice_estimate_distinct(__a3{deviation})"
    assert partial.renewed == (("__a3", f"__sluice_merge_registers(__a3{deviation})"),)


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("x, :deviation", RefreshOutcome.AGGREGATE),
        ("x, 1/20", RefreshOutcome.AGGREGATE),
        ("x, -0.05", RefreshOutcome.AGGREGATE),
        ("x, 0", RefreshOutcome.AGGREGATE),
        ("x, 1e999", RefreshOutcome.AGGREGATE),
        ("x, 0.05, 0.05", RefreshOutcome.AGGREGATE),
        ("relativeSD => 0.05, expr => x", RefreshOutcome.AGGREGATE),
        ("x, 0.005", RefreshOutcome.STATE_TOO_LARGE),
        ("x, 1e-300", RefreshOutcome.STATE_TOO_LARGE),
    ],
)
def test_what_is_not_understood_or_too_large_is_refused(argument: str, reason: RefreshOutcome) -> None:
    with pytest.raises(NotRefreshable) as failure:
        distinct_count(call(argument), 0, ENOUGH)
    assert failure.value.reason == reason


def test_the_bound_is_that_of_one_group() -> None:
    distinct_count(call("x, 0.05"), 0, 416)
    with pytest.raises(NotRefreshable):
        distinct_count(call("x, 0.05"), 0, 415)
