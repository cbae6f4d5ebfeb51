"""`make test` runs in three processes; tests that share servers and a Spark session run in one of them."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.class_archive import ARCHIVE, make_archive
from tests.java_options import HAS_OPTIONS, SHORT_LIVED, VARIABLE, with_archive
from tests.scopes import OF_THEIR_OWN, ON_ONE_ENGINE, TOGETHER
from tests.soak import SOAK

if not HAS_OPTIONS:
    os.environ[VARIABLE] = with_archive(SHORT_LIVED)

# Another process may be using the core, so no test checks durations.
settings.register_profile("sluice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sluice")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the class archive before a full run starts its processes, which inherit the options."""
    # Collected tests live until the end, so looking for garbage among them more than doubles the time.
    gc.disable()
    if HAS_OPTIONS or config.args_source is not pytest.Config.ArgsSource.TESTPATHS or ARCHIVE.exists():
        return
    make_archive(SHORT_LIVED)
    os.environ[VARIABLE] = with_archive(SHORT_LIVED)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Takes interrupts back: PySpark handles them for its context, also after the context has ended."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ByServers(LoadScopeScheduling):
    """Gives all tests that need the same servers to one process."""

    def _split_scope(self, nodeid: str) -> str:
        if SOAK:
            return nodeid
        _, folder, *below = nodeid.partition("::")[0].split("/")
        if folder == "integration" and (len(below) > 1 or below[0] in OF_THEIR_OWN):
            return f"{folder}/{below[0]}"
        if folder == "integration" and below[0] in ON_ONE_ENGINE:
            return "engine"
        return TOGETHER.get(folder, "quick")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServers:
    """Replaces the scheduler of pytest-xdist."""
    return ByServers(config, log)
