"""Generated queries return the same rows narrowed and as they are written."""

from __future__ import annotations

import pytest

from tests.equivalence.generated_checks import COUNT, TIMEOUT_S, check_generated
from tests.equivalence.harness import Harness


@pytest.mark.timeout(TIMEOUT_S)
def test_generated_queries_have_the_same_rows_narrowed(harness: Harness) -> None:
    check_generated(harness, COUNT)
