"""`make test` runs in two processes; what shares servers and a Spark session stays in one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
TOGETHER = {"contract": "sessions", "equivalence": "sessions", "integration": "gateways"}
"""By folder; all others need nothing that takes long to start."""

# The other process may have the core just then: no test says anything about time.
settings.register_profile("sluice", deadline=None)
settings.load_profile("sluice")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for each in items:
        folder = each.path.relative_to(HERE).parts[0] if HERE in each.path.parents else ""
        each.add_marker(pytest.mark.xdist_group(TOGETHER.get(folder, "quick")))
