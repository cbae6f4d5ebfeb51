"""A gateway over a PostgreSQL, a Valkey and a catalog that outlive it, and the ways in which it is killed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psutil
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import LongType, NestedField

from tests.integration.replicas import killed, settings_over
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, postgres, valkey
from tests.killed_writes.changes import COLUMNS, GROUPS, KEYS, Content, Listed, Shape
from tests.polling import until
from tests.tcp_proxy import TcpProxy

READY_WITHIN_S = 500.0
ORPHANS_END_WITHIN_S = 180.0


@dataclass
class KillPlace:
    """The catalog as another process opens it, and the gateway that runs now."""

    folder: Path
    settings: dict[str, str]
    lake: SqlCatalog
    database: Postgres
    to_catalog: TcpProxy
    gateway: RunningGateway | None = None
    orphans: list[psutil.Process] = field(default_factory=list)

    @property
    def running(self) -> RunningGateway:
        assert self.gateway is not None
        return self.gateway

    def make(self, table: str, shape: Shape) -> Content:
        """Makes an empty table."""
        schema = Schema(*(NestedField(at, name, LongType()) for at, name in enumerate(COLUMNS, 1)))
        bucket = PartitionField(1, 1000, BucketTransform(3), "id_bucket")
        made = self.lake.create_table(
            table.removeprefix("lake."),
            schema,
            partition_spec=PartitionSpec(bucket) if shape.is_partitioned else UNPARTITIONED_PARTITION_SPEC,
            properties={"format-version": "2", **shape.properties},
        )
        if shape.version == 3:
            self._upgrade(made)
        return Content(shape, {})

    def _upgrade(self, table: Table) -> None:
        """Makes an empty table one of version 3, which PyIceberg itself does not write."""
        path = Path(table.metadata_location.removeprefix("file://"))
        newer = path.with_name(f"00001-{uuid4()}.metadata.json")
        found = json.loads(path.read_text("utf-8"))
        newer.write_text(json.dumps(found | {"format-version": 3, "next-row-id": 0}), "utf-8")
        self.lake.drop_table(table.name())
        self.lake.register_table(table.name(), newer.as_uri())

    def ready(self) -> None:
        """Returns when a gateway is ready: a new one, if it was killed."""
        _, alive = psutil.wait_procs(self.orphans, timeout=ORPHANS_END_WITHIN_S)
        assert not alive, "processes of a killed gateway run on"
        self.orphans = []
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
        self.orphans = self.running.children()
        self.running.kill()
        self.gateway = None

    def kill_all(self) -> None:
        """Kills the gateway and its JVM, as if their machine failed."""
        killed(self.running)
        self.gateway = None

    def cut_catalog(self) -> None:
        """Breaks all connections to the catalog, whose server goes on with what it was sent."""
        self.to_catalog.cut()

    def found(self, table: str) -> Listed | None:
        """Returns the table's rows and columns, as PyIceberg reads them; None: there is no such table."""
        try:
            found = self.lake.load_table(table.removeprefix("lake.")).scan().to_arrow()
        except NoSuchTableError:
            return None
        rows = zip(*(found[name].to_pylist() for name in COLUMNS), strict=True)
        return sorted(rows), found.column_names


@contextmanager
def a_kill_place() -> Iterator[KillPlace]:
    """Runs the servers, and stops all that runs at the end."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-killed-writes-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        to_catalog = stack.enter_context(TcpProxy(lambda _: [database.port]))
        settings = settings_over(database, cache.url, folder)
        catalogs = settings["SLUICE_CATALOGS"].replace(f":{database.port}/", f":{to_catalog.port}/")
        settings |= {
            "SLUICE_CATALOGS": catalogs,
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
        place = KillPlace(folder, settings, lake, database, to_catalog)
        try:
            yield place
        finally:
            if place.gateway is not None:
                place.kill_all()
