"""Generated queries return the same rows narrowed and as they are written, from no more files."""

from __future__ import annotations

import pytest

from tests.equivalence.generated_checks import COUNT, IS_SOAK, TIMEOUT_S, check_generated
from tests.equivalence.harness import Harness


@pytest.mark.timeout(TIMEOUT_S)
def test_generated_queries_have_the_same_rows_narrowed(harness: Harness) -> None:
    check_generated(harness, COUNT)


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(IS_SOAK, reason="a soak compares files for all of its queries")
def test_generated_queries_select_no_more_files_narrowed(harness: Harness) -> None:
    check_generated(harness, COUNT // 2, first=1, compares_files=True)
