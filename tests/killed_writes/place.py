"""A gateway over a PostgreSQL, a Valkey and a catalog that outlive it, and the ways in which it is killed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from tests.integration.replicas import killed, settings_over
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import postgres, valkey
from tests.killed_writes.changes import GROUPS, KEYS
from tests.polling import until

READY_WITHIN_S = 500.0
ORPHAN_ENDS_WITHIN_S = 60.0


@dataclass
class KillPlace:
    """The catalog as another process opens it, and the gateway that runs now."""

    folder: Path
    settings: dict[str, str]
    lake: SqlCatalog
    gateway: RunningGateway | None = None
    left: list[psutil.Process] = field(default_factory=list)

    @property
    def running(self) -> RunningGateway:
        assert self.gateway is not None
        return self.gateway

    def ready(self) -> None:
        """Returns when a gateway is ready: a new one, if it was killed."""
        if self.gateway is None:
            self.gateway = RunningGateway.start(self.folder / "data", self.settings, within_s=READY_WITHIN_S)
        client = self.gateway.client
        until(lambda: client.get("/readyz").status_code == 200, READY_WITHIN_S)

    def kill_engine(self) -> None:
        """Kills the JVM alone: the gateway starts another."""
        jvm = self.running.jvm()
        if jvm is not None:
            jvm.kill()
            psutil.wait_procs([jvm], timeout=10)

    def kill_gateway(self) -> None:
        """Kills the gateway alone: its JVM goes on until it notices, maybe to the end of a commit."""
        children = self.running.children()
        self.running.kill()
        self.gateway = None
        _, alive = psutil.wait_procs(children, timeout=ORPHAN_ENDS_WITHIN_S)
        assert not alive, "processes of a killed gateway run on"

    def kill_all(self) -> None:
        """Kills the gateway and its JVM, as if their machine failed."""
        killed(self.running)
        self.gateway = None

    def rows(self, table: str) -> list[tuple[int, int]] | None:
        """Returns the rows in their order, as PyIceberg reads them; None: there is no such table."""
        try:
            found = self.lake.load_table(table.removeprefix("lake.")).scan().to_arrow()
        except NoSuchTableError:
            return None
        return sorted(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


@contextmanager
def a_kill_place() -> Iterator[KillPlace]:
    """Runs the servers, and stops all that runs at the end."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-killed-writes-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        settings = settings_over(database, cache.url, folder) | {
            "SLUICE_SQL_WRITES": "true",
            "SLUICE_SQL_WRITE_PRUNING": "true",
            "SLUICE_SQL_WRITE_SETTLE_S": "5",
            "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0",
            "SLUICE_MAINTENANCE_INTERVAL_S": "0",
        }
        warehouse = (folder / "warehouse").as_uri()
        lake = stack.enter_context(closing(SqlCatalog("lake", uri=database.url("lake"), warehouse=warehouse)))
        lake.create_namespace("kw")
        lake.create_namespace(settings["SLUICE_DEFAULT_SCHEMA"])
        keys = pa.table({"id": range(KEYS), "k": [id_ % GROUPS for id_ in range(KEYS)]})
        lake.create_table("kw.keys", keys.schema).append(keys)
        migrated = run_sluice("migrate", folder / "data", settings)
        assert migrated.returncode == 0, migrated.stderr
        place = KillPlace(folder, settings, lake)
        try:
            yield place
        finally:
            if place.gateway is not None:
                place.kill_all()
