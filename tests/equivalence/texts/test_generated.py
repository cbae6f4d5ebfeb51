"""Generated queries return the same rows pruned and as written, from no more files."""

from __future__ import annotations

import pytest

from tests.equivalence.generated_checks import COUNT, TIMEOUT_S, check_generated, seed_of_run
from tests.equivalence.harness import Harness
from tests.equivalence.texts.test_odd_texts import fixture_texts
from tests.soak import SOAK


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(SOAK is not None, reason="a soak compares files for all of its queries")
def test_generated_queries_have_the_same_rows_pruned(harness: Harness) -> None:
    check_generated(harness, COUNT, seed_of_run(), compares_files=False)


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(SOAK is not None, reason="a soak compares files for all of its queries")
def test_generated_queries_select_no_more_files_pruned(harness: Harness) -> None:
    check_generated(harness, COUNT // 2, first=1, compares_files=True)


@pytest.mark.parametrize("sql", fixture_texts("pruned_by_both.sql"))
def test_what_a_soak_has_found_is_fixed(sql: str, harness: Harness) -> None:
    harness.check(sql)


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(SOAK is None, reason="make soak")
@pytest.mark.parametrize("process", range(SOAK.processes if SOAK else 1))
def test_soak(harness: Harness, process: int) -> None:
    check_generated(harness, COUNT, seed_of_run() + process, compares_files=True)
