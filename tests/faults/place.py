"""A gateway whose PostgreSQL and Valkey are behind lines that can be slow, held or cut."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, Valkey, postgres, valkey
from tests.tcp_proxy import TcpProxy

TABLE = "drill.returns"
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[2]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    # These are an operator's values. Other tests have longer ones, for busy machines.
    "SLUICE_ENGINE_PROBE_TIMEOUT_S": "3",
    "SLUICE_ENGINE_UNRESPONSIVE_S": "15",
}


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """The gateway, its servers, and the lines between them. `lake` is opened without the lines."""

    gateway: RunningGateway
    database: Postgres
    cache: Valkey
    to_database: TcpProxy
    to_cache: TcpProxy
    lake: SqlCatalog

    def of_database(self) -> list[psutil.Process]:
        """Returns PostgreSQL's processes, the first one before its children."""
        found = [process for process in psutil.process_iter() if _listens(process, self.database.port)]
        assert len(found) == 1
        return [found[0], *found[0].children(recursive=True)]

    def readers(self) -> list[psutil.Process]:
        """Returns the gateway's processes that parse queries."""
        jvm = self.gateway.jvm()
        of_jvm = [] if jvm is None else [jvm, *jvm.children(recursive=True)]
        return [child for child in self.gateway.children() if child not in of_jvm]

    def stored(self) -> list[int]:
        """Returns the numbers of all records in the table, read from its files."""
        found: list[int] = self.lake.load_table(TABLE).scan().to_arrow()["return_id"].to_pylist()
        return found


@contextmanager
def a_fault_place(data: Path | None = None, more: Mapping[str, str] | None = None) -> Iterator[FaultPlace]:
    """Runs a gateway with a table; `data` is the folder for its data and the tables."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-faults-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        home = data or folder
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        to_database = stack.enter_context(TcpProxy(lambda _: [database.port]))
        to_cache = stack.enter_context(TcpProxy(lambda _: [cache.port]))
        warehouse = (home / "warehouse").as_uri()
        lake = SqlCatalog("lake", uri=database.url("lake"), warehouse=warehouse)
        stack.enter_context(closing(lake))
        lake.create_namespace("drill")
        make(lake, TABLE, RETURNS).append(returns_row(0))
        catalog = {"type": "sql", "uri": through(database.url("lake"), to_database), "warehouse": warehouse}
        settings = {
            **SETTINGS,
            "SLUICE_METRICS_STORE_URL": through(database.url("metrics"), to_database),
            "SLUICE_FILTER_CACHE_URL": through(cache.url, to_cache),
            "SLUICE_CATALOGS": json.dumps({"lake": catalog}),
            **(more or {}),
        }
        migrated = run_sluice("migrate", home / "data", settings)
        assert migrated.returncode == 0, migrated.stderr
        gateway = RunningGateway.start(home / "data", settings)
        stack.callback(_stop, gateway)
        yield FaultPlace(gateway, database, cache, to_database, to_cache, lake)


def through(url: str, line: TcpProxy) -> str:
    """Returns the same server's URL, through this line."""
    before, _, name = url.rpartition("/")
    return f"{before.rpartition(':')[0]}:{line.port}/{name}"


@contextmanager
def stopped(processes: list[psutil.Process]) -> Iterator[None]:
    """Suspends the processes until the block ends."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.suspend()
    try:
        yield
    finally:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.resume()


def _stop(gateway: RunningGateway) -> None:
    if gateway.process.poll() is None:
        gateway.stop()


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        words = process.cmdline()
        return "postgres" in process.name() and "-p" in words and words[words.index("-p") + 1] == str(port)
    except (psutil.Error, IndexError):
        return False
