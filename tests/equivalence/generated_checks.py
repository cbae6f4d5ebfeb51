"""Runs generated queries against a harness.

A soak also compares the files of each query with those that the engine itself would select; `make test` does
so for the same queries each time.
"""

from __future__ import annotations

import sys
import time
from random import randrange

from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings

from service.errors.gateway_error import PartDown
from service.errors.query_errors import QueryFailed
from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness
from tests.soak import SOAK

COUNT = SOAK.share if SOAK else 60
SECONDS_PER_QUERY = 5
TIMEOUT_S = 300 + COUNT * SECONDS_PER_QUERY
REPORT_EVERY = 100
FEW = 20
"""With fewer queries than this, less than a tenth may be pruned by chance."""
ENGINE_PATIENCE_S = 300


class Findings:
    """The results of a soak so far. It reports each fault at once, and continues."""

    def __init__(self, count: int) -> None:
        self.checked = self.filtered = self.without_engine = 0
        self.faults: list[str] = []
        self._count = count

    def add(self, is_pruned: bool) -> None:
        """Counts one more query whose rows and files were right."""
        self.filtered += is_pruned
        self._advance()

    def add_fault(self, sql: str, fault: AssertionError | QueryFailed) -> None:
        """Counts and reports one more query that was wrong, or that the engine could not run."""
        self.faults.append(f"{sql}\n{fault}")
        _report(f"fault {len(self.faults)}: {fault}\n{sql}")
        self._advance()

    def _advance(self) -> None:
        self.checked += 1
        if self.checked % REPORT_EVERY == 0:
            _report(f"{self.checked:,} of {self._count:,} queries, {self.filtered:,} of them pruned")


def check_generated(harness: Harness, count: int, first: int, *, compares_files: bool) -> None:
    """Checks that each query returns the same rows pruned and as written, and that enough are pruned.

    The queries are generated from the seed `first`. With `compares_files`, none may select more files than as
    written. A soak checks all queries before it fails, and waits for an engine that is being replaced.
    Outside a soak, the first query that fails is shrunk.
    """
    print(f"seed {first}")  # noqa: T201 - pytest shows it with a failure
    findings = Findings(count)

    @seed(first)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,) if SOAK else (Phase.generate, Phase.shrink),
    )
    @given(queries())
    def check(sql: str) -> None:
        note(sql)
        try:
            findings.add(bool(harness.check(sql, compares_files=compares_files).applied))
        except EngineGaveUp:
            reject()
        except (AssertionError, QueryFailed) as fault:
            if not SOAK:
                raise
            findings.add_fault(sql, fault)
        except PartDown:
            if not SOAK:
                raise
            findings.without_engine += 1
            _wait_for_engine(harness)
            reject()

    check()
    if SOAK:
        _report(f"seed {first}: {findings.checked:,} queries, {findings.filtered:,} of them pruned,")
        _report(f"{len(findings.faults)} faults; {findings.without_engine} left out, as the engine was lost")
    assert not findings.faults, "\n\n".join(findings.faults)
    is_enough = findings.filtered > count / 10 or count < FEW
    assert is_enough, "too few of the queries were pruned to prove anything"


def seed_of_run() -> int:
    """Returns the seed of `make soak`, or a random one."""
    return SOAK.seed if SOAK else randrange(2**32)


def _wait_for_engine(harness: Harness) -> None:
    given_up_at = time.monotonic() + ENGINE_PATIENCE_S
    while not harness.has_engine():
        assert time.monotonic() < given_up_at, "the engine does not come back"
        time.sleep(1)


def _report(line: str) -> None:
    """Prints at once, from any of several processes."""
    print(line, file=sys.__stderr__, flush=True)
