"""`make test` runs in two processes; what shares servers and a Spark session stays in one of them."""

from __future__ import annotations

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

TOGETHER = {"contract": "sessions", "equivalence": "sessions", "integration": "gateways"}
"""By folder; all others need nothing that takes long to start."""

# The other process may have the core just then: no test says anything about time.
settings.register_profile("sluice", deadline=None)
settings.load_profile("sluice")


class ByServers(LoadScopeScheduling):
    """Gives a process all tests that need the same servers."""

    def _split_scope(self, nodeid: str) -> str:
        folders = nodeid.split("/")
        return TOGETHER.get(folders[1] if len(folders) > 1 else "", "quick")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServers:
    """xdist's own hook."""
    return ByServers(config, log)
