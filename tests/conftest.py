"""`make test` runs in three processes, as many wait; what shares servers and a Spark session stays in one."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.class_archive import ARCHIVE, java_options, make_archive
from tests.soak import SOAK

TOGETHER = {
    "chart": "chart",
    "contract": "sessions",
    "equivalence": "sessions",
    "integration": "gateways",
    "drill": "drill",
    "failover": "failover",
}
"""By folder; all others need nothing that takes long to start."""
OF_THEIR_OWN = frozenset(
    f"test_{each}.py"
    for each in (
        "data_files",
        "demo",
        "demo_data",
        "embedded_servers",
        "engine",
        "executor_pods",
        "kafka_streams",
        "key_collector",
        "large_bodies",
        "lifecycle",
        "maintenance_schedule",
        "object_stores",
        "replicas",
        "session_catalog",
        "traces",
        "writer_on_executors",
    )
)
"""Files of integration tests that start servers of their own; so do the folders below."""

# JVMs of tests live for a minute: to compile their code well, and to collect garbage with all cores, takes
# two fifths of all the CPU that they take. The setting is Java's own.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A soak runs for hours.
HAS_OPTIONS = "JDK_JAVA_OPTIONS" in os.environ or SOAK is not None
if not HAS_OPTIONS:
    os.environ["JDK_JAVA_OPTIONS"] = java_options(JAVA_OPTIONS)

# The other process may have the core just then: no test says anything about time.
settings.register_profile("sluice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sluice")


def pytest_configure(config: pytest.Config) -> None:
    """Before the processes of a full run start, which inherit the options."""
    if HAS_OPTIONS or config.args_source is not pytest.Config.ArgsSource.TESTPATHS or ARCHIVE.exists():
        return
    make_archive(JAVA_OPTIONS)
    os.environ["JDK_JAVA_OPTIONS"] = java_options(JAVA_OPTIONS)


class ByServers(LoadScopeScheduling):
    """Gives a process all tests that need the same servers."""

    def _split_scope(self, nodeid: str) -> str:
        if SOAK:
            return nodeid
        _, folder, *below = nodeid.partition("::")[0].split("/")
        if folder == "integration" and (len(below) > 1 or below[0] in OF_THEIR_OWN):
            return f"{folder}/{below[0]}"
        return TOGETHER.get(folder, "quick")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServers:
    """xdist's own hook."""
    return ByServers(config, log)
