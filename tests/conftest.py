"""`make test` runs in four processes; tests that share servers and a Spark session run in one of them."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.class_archive import ARCHIVE, make_archive
from tests.java_options import HAS_OPTIONS, SHORT_LIVED, VARIABLE, with_archive
from tests.scopes import group_of, turn_of
from tests.soak import SOAK
from tests.timeline import Timeline

if not HAS_OPTIONS:
    os.environ[VARIABLE] = with_archive(SHORT_LIVED)

collect_ignore = ["dialect_suite"]
"""`make dialect-test` runs it, with hooks of SQLAlchemy's that are for no other test."""

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts tests by their groups. Processes run groups in this order."""
    groups = Counter(group_of(item.nodeid) for item in items)
    items.sort(key=lambda item: _turn(group_of(item.nodeid), groups))


def _turn(group: str, sizes: Counter[str]) -> tuple[int, int, str]:
    return turn_of(group), -sizes[group], group


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Takes interrupts back: PySpark handles them for its context, also after the context has ended."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """Undoes what a test does to the logs of its process, as a command or a gateway in it sets them up."""
    root = logging.getLogger()
    handlers, level, configured = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**configured)


TIMELINE = Timeline(group_of)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes the time of a test that another process has run."""
    if (node := getattr(report, "node", None)) is not None:
        TIMELINE.add(report, node.gateway.id)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows where the time of a run in several processes has gone."""
    if lines := TIMELINE.lines():
        terminalreporter.section("time by group")
        terminalreporter.write_line("\n".join(lines))


class ByServers(LoadScopeScheduling):
    """Gives all tests that need the same servers to one process, and starts what takes long first."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if SOAK else group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServers:
    """Replaces the scheduler of pytest-xdist."""
    # It would start with the groups of most tests, which are those of the quickest tests.
    config.option.loadscopereorder = False
    return ByServers(config, log)
