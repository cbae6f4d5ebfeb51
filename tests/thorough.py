"""Cases of which `make test` runs a part, and `make soak` all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

IS_THOROUGH = os.environ.get("SLUICE_TEST_THOROUGH") == "1"
PLANS_FROM_MEMORY = os.environ.get("SLUICE_TEST_PLANS_FROM_MEMORY") == "1"
"""Whether all pruned queries of the equivalence tests choose their files from kept entries of manifests."""
WITH_COMET = os.environ.get("SLUICE_TEST_COMET") == "1"
"""Whether Comet runs the queries of the equivalence tests, and is compared with Spark alone."""


def pairs_of(first: Sequence[T], second: Sequence[U]) -> list[tuple[T, U]]:
    """Returns pairs with two different partners for each value; all pairs in a thorough run.

    Use it where either value alone decides what code runs.
    """
    if IS_THOROUGH:
        return [(one, other) for one in first for other in second]
    if len(first) < len(second):
        return [(one, other) for other, one in _partners(second, first)]
    return _partners(first, second)


def _partners(longer: Sequence[T], shorter: Sequence[U]) -> list[tuple[T, U]]:
    return [
        (value, shorter[(at + shift) % len(shorter)])
        for shift in range(min(2, len(shorter)))
        for at, value in enumerate(longer)
    ]


def turns_of(first: Sequence[T], second: Sequence[U]) -> list[tuple[T, U]]:
    """Returns each value of the first with one of the second, which take turns; all pairs in a thorough run.

    Use it where the second is another way to the same code. The second should be the shorter one.
    """
    if IS_THOROUGH:
        return [(one, other) for one in first for other in second]
    return [(value, second[at % len(second)]) for at, value in enumerate(first)]


def part_of(cases: Sequence[T], one_in: int) -> Sequence[T]:
    """Returns one case in so many, evenly spread; all cases in a thorough run."""
    return cases if IS_THOROUGH else cases[::one_in]
