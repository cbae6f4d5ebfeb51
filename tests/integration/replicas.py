"""Two gateways behind one address, with one catalog, one metrics store and one filter cache."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis
from pyiceberg.catalog.sql import SqlCatalog

from service.adapters.filters.cache_server import LEASES
from tests.integration.asking import start
from tests.integration.lakehouse import make_star
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway, run_sluice
from tests.integration.servers import Postgres, Valkey, postgres, valkey
from tests.polling import until

# The engine collects the keys of two joined tables. While its JVM is paused, that takes as long as a test
# wants.
SLOW_TO_COLLECT = (
    "SELECT count(*) AS sales FROM sales AS f JOIN calendar AS c ON f.day_key = c.day_key "
    "JOIN calendar AS same ON c.day_name = same.day_name WHERE same.month = {month}"
)


@dataclass(frozen=True, slots=True)
class Replicas:
    """Two gateways, and what they share."""

    here: RunningGateway
    there: RunningGateway
    cache: Valkey
    lake: SqlCatalog

    @contextmanager
    def client(self) -> Iterator[redis.Redis]:
        """Opens a client of the filter cache itself."""
        with redis.Redis.from_url(self.cache.url) as client:
            yield client

    @contextmanager
    def collecting(self, gateway: RunningGateway, sql: str) -> Iterator[str]:
        """Yields the id of a query whose keys are being collected until the block ends."""
        jvm = gateway.jvm()
        assert jvm is not None
        jvm.suspend()
        try:
            query_id = start(gateway.client, sql, dynamicFiltering={"minTableBytes": 0})
            with self.client() as client:
                until(lambda: client.keys(f"{LEASES}*"))
            yield query_id
        finally:
            if jvm.is_running():
                jvm.resume()


@contextmanager
def replicas(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Replicas]:
    """Runs both gateways over a small star schema with these settings, and stops everything at the end."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        settings = settings_over(database, cache.url, folder) | dict(settings or {})
        lake = stack.enter_context(
            closing(SqlCatalog("lake", **json.loads(settings["SLUICE_CATALOGS"])["lake"]))
        )
        make_star(lake)
        migrated = run_sluice("migrate", folder / "here", settings)
        assert migrated.returncode == 0, migrated.stderr
        here = RunningGateway.start(folder / "here", settings)
        stack.callback(_stop, here)
        there = RunningGateway.start(folder / "there", settings)
        stack.callback(_stop, there)
        yield Replicas(here, there, cache, lake)


def killed(gateway: RunningGateway) -> None:
    """Kills the gateway and all of its child processes at once, as if their machine failed."""
    children = gateway.children()
    gateway.kill()
    for child in children:
        child.kill()
    psutil.wait_procs(children, timeout=10)


def _stop(gateway: RunningGateway) -> None:
    if gateway.process.poll() is None:
        gateway.stop()


def settings_over(database: Postgres, cache_url: str, folder: Path) -> dict[str, str]:
    """Returns settings with catalog and metrics store in this database, and tables in this folder."""
    warehouse = (folder / "warehouse").as_uri()
    lake = {"type": "sql", "uri": database.url("lake"), "warehouse": warehouse}
    return {
        "SLUICE_METRICS_STORE_URL": database.url("metrics"),
        "SLUICE_FILTER_CACHE_URL": cache_url,
        "SLUICE_CATALOGS": json.dumps({"lake": lake}),
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        **PRUNES_THOUGH_BUSY,
        "SLUICE_DYNAMIC_FILTERING_COLLECT_TIMEOUT_S": "60",
    }
