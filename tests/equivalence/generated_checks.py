"""Generated queries against a harness; how many and which is for whoever runs the tests to say.

`SLUICE_SOAK_QUERIES` says how many, `SLUICE_SOAK_SEED` which; the seed is printed when one fails. A soak
holds each against the files that the engine itself would select, too; `make test` does so for the same ones
each time, because about one of 1,900 selects more (docs/adr/0034).
"""

from __future__ import annotations

import os
import random

from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings

from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness

IS_SOAK = "SLUICE_SOAK_QUERIES" in os.environ
COUNT = int(os.environ.get("SLUICE_SOAK_QUERIES", "200"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", random.randrange(2**32)))
SECONDS_PER_QUERY = 5
TOLD_EVERY = 500
TIMEOUT_S = 300 + COUNT * SECONDS_PER_QUERY


def check_generated(
    harness: Harness, count: int, first: int = SEED, *, compares_files: bool = IS_SOAK
) -> None:
    """Each returns the same rows narrowed and as written, and enough of them are narrowed to prove it.

    `first` is the seed of the queries. With `compares_files`, none selects more files than as written.
    """
    print(f"SLUICE_SOAK_SEED={first}")  # noqa: T201 - pytest shows it with a failure
    checked = narrowed = 0

    @seed(first)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(queries())
    def check(sql: str) -> None:
        nonlocal checked, narrowed
        note(sql)
        try:
            narrowed += bool(harness.check(sql, compares_files=compares_files).applied)
        except EngineGaveUp:
            reject()
        checked += 1
        if checked % TOLD_EVERY == 0:
            print(f"{checked:,} of {count:,} queries, {narrowed:,} of them narrowed", flush=True)  # noqa: T201

    check()
    assert narrowed > count / 10, "too few of the queries were narrowed to prove anything"
