"""Generated queries return the same rows narrowed and as they are written.

`SLUICE_SOAK_QUERIES` says how many, `SLUICE_SOAK_SEED` which; the seed is printed when one fails.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings

from tests.equivalence.generator import queries
from tests.equivalence.harness import Harness

COUNT = int(os.environ.get("SLUICE_SOAK_QUERIES", "200"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", random.randrange(2**32)))
SECONDS_PER_QUERY = 5


@pytest.mark.timeout(300 + COUNT * SECONDS_PER_QUERY)
def test_generated_queries_have_the_same_rows_narrowed(harness: Harness) -> None:
    print(f"SLUICE_SOAK_SEED={SEED}")  # noqa: T201 - pytest shows it with a failure
    narrowed = 0

    @seed(SEED)
    @settings(
        max_examples=COUNT,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(queries())
    def check(sql: str) -> None:
        nonlocal narrowed
        note(sql)
        checked = harness.check(sql)
        assert not checked.is_rejected, checked.pruned.filters
        narrowed += bool(checked.applied)

    check()
    assert narrowed > COUNT / 10, "too few of the queries were narrowed to prove anything"
