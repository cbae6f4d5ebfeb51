"""All parts as processes on free loopback ports, started and stopped in order."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from pyiceberg.catalog.sql import SqlCatalog
from rich.console import Console

from api.bootstrap.parts.find_jars import TPCDS_PACKAGES
from service.adapters.demo_data.tpcds.loader import Progress, load_tpcds
from spark_session.jars.jars import check_java, resolve
from tests.cluster.balancer import Balancer, balancer, free_port
from tests.integration.running import REPOSITORY, RunningGateway, run_sluice
from tests.integration.servers import Postgres, postgres, valkey
from tests.integration.spark_cluster import SparkCluster, spark_cluster
from tests.polling import until

SCALE = float(os.environ.get("SLUICE_CLUSTER_SCALE", "0.1"))
SCHEMA = "tpcds"
TABLES = (
    "date_dim",
    "item",
    "store",
    "customer",
    "customer_address",
    "customer_demographics",
    "household_demographics",
    "promotion",
    "store_returns",
    "store_sales",
)
CALLERS = 8
GATEWAYS = 2
CORES_OF_A_GATEWAY = 2
# All gateways share these settings, which would otherwise differ by master, or depend on the machine's load.
ALIKE: Mapping[str, Any] = {
    "default_schema": SCHEMA,
    "spark_driver_memory": "1g",
    "dynamic_filtering_min_table_bytes": 0,
    "dynamic_filtering_collect_timeout_s": 60,
    "dynamic_filtering_detection_timeout_s": 60,
    "dynamic_filtering_manifest_timeout_s": 60,
    "catalog_facts_timeout_s": 60,
    # Otherwise, a table that was requested twice would not be scanned a third time.
    "local_relation_max_rows": 0,
    # With these, small files are large enough for executors.
    "ingest_executed_body_bytes": 1024 * 1024,
    "ingest_split_bytes": 1024 * 1024,
}
LIKE_LOCAL = {
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.iceberg.read.adaptive-split-size.enabled": "false",
}
EXECUTORS = {
    "spark.cores.max": str(CORES_OF_A_GATEWAY),
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
}


@dataclass(frozen=True, slots=True)
class Place:
    """All running parts. `alone` has a metrics store and a filter cache of its own."""

    folder: Path
    spark: SparkCluster
    gateways: tuple[RunningGateway, RunningGateway]
    alone: RunningGateway
    balancer: Balancer
    database: Postgres
    lake: SqlCatalog
    tokens: Mapping[str, str]
    inbox: Path

    def processes(self) -> list[psutil.Process]:
        """Returns the processes of all parts in the folder."""
        return processes_of(self.folder)


@contextmanager
def a_place(console: Console) -> Iterator[Place]:
    """Starts everything, and loads the tables; at the end, nothing is left, whatever happened."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-cluster-"))
    try:
        with ExitStack() as stack:
            yield _started(stack, folder, console)
    finally:
        left = _left(folder)
        shutil.rmtree(folder, ignore_errors=True)
        if left:
            raise AssertionError(f"still running at the end, and killed: {left}")


def processes_of(folder: Path) -> list[psutil.Process]:
    """Returns all processes with the folder in their command line or as their working folder."""
    return [process for process in psutil.process_iter() if _is_in(process, str(folder))]


@contextmanager
def step(console: Console, text: str) -> Iterator[Callable[[str], None]]:
    """Shows a step and how long it took; the block may report its progress."""
    began_s = time.monotonic()
    if not console.is_terminal:
        console.print(f"{text} …", highlight=False)
    with console.status(f"{text} …") as status:
        yield lambda detail: status.update(f"{text}: {detail} …")
    console.print(f"{text}: {time.monotonic() - began_s:.0f} s", highlight=False)


def _started(stack: ExitStack, folder: Path, console: Console) -> Place:
    with step(console, "PostgreSQL and Valkey"):
        database = stack.enter_context(postgres(folder / "postgres", "metrics", "alone", "lake"))
        cache = stack.enter_context(valkey())
    warehouse = (folder / "warehouse").as_uri()
    properties = {"type": "sql", "uri": database.url("lake"), "warehouse": warehouse}
    lake = stack.enter_context(closing(SqlCatalog("lake", **properties)))
    _load(lake, folder, console)
    with step(console, "Spark's master and two workers"):
        spark = stack.enter_context(spark_cluster(folder / "spark", free_port(), cores=GATEWAYS))
    tokens = {f"caller-{number}": secrets.token_urlsafe(16) for number in range(CALLERS)}
    inbox = folder / "inbox"
    inbox.mkdir()
    common: dict[str, Any] = {
        **ALIKE,
        "catalogs": {"lake": properties},
        "api_tokens": {name: hashlib.sha256(token.encode()).hexdigest() for name, token in tokens.items()},
        "ingest_source_prefixes": [inbox.as_uri()],
    }
    both = common | {
        "metrics_store_url": database.url("metrics"),
        "filter_cache_url": cache.url,
        "spark_master": spark.url,
        "spark_conf": spark.properties | EXECUTORS | LIKE_LOCAL,
    }
    one = common | {
        "metrics_store_url": database.url("alone"),
        "filter_cache_url": cache.url.removesuffix("/0") + "/1",
        "spark_master": f"local[{CORES_OF_A_GATEWAY}]",
    }
    first, second = (_gateway(stack, folder / name, both, console) for name in ("gateway-1", "gateway-2"))
    alone = _gateway(stack, folder / "alone", one, console)
    ports = [int(gateway.url.rpartition(":")[2]) for gateway in (first, second)]
    front = stack.enter_context(balancer(folder / "nginx", ports))
    return Place(folder, spark, (first, second), alone, front, database, lake, tokens, inbox)


def _gateway(stack: ExitStack, folder: Path, settings: Mapping[str, Any], console: Console) -> RunningGateway:
    folder.mkdir()
    file = folder / "sluice.yaml"
    # JSON is YAML. The file holds passwords and the cluster's secret.
    file.touch(0o600)
    file.write_text(json.dumps(settings))
    environment = {"SLUICE_CONFIG_FILE": str(file)}
    with step(console, f"{folder.name}, on {settings['spark_master']}"):
        migrated = run_sluice("migrate", folder, environment)
        assert migrated.returncode == 0, migrated.stderr
        gateway = RunningGateway.start(folder, environment)
    stack.callback(_stop, gateway)
    return gateway


def _stop(gateway: RunningGateway) -> None:
    if gateway.process.poll() is None:
        gateway.stop(120)
    else:
        gateway.ended()


def _load(lake: SqlCatalog, folder: Path, console: Console) -> None:
    jars = resolve(TPCDS_PACKAGES, REPOSITORY / ".sluice" / "jars")
    with step(console, f"TPC-DS at scale {SCALE:g}") as say:

        def report(progress: Progress) -> None:
            say(f"{progress.table} {progress.step.lower()}, {progress.rows_done:,} rows so far")

        load_tpcds(lake, SCHEMA, SCALE, TABLES, jars, check_java(), folder / "tpcds", report)


def _left(folder: Path) -> list[str]:
    with contextlib.suppress(AssertionError):
        until(lambda: not processes_of(folder), 15)
    found = processes_of(folder)
    lines = [f"{process.pid} {process.name()}" for process in found if process.is_running()]
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return lines


def _is_in(process: psutil.Process, folder: str) -> bool:
    try:
        words = [*process.cmdline(), process.cwd()]
        return process.status() != psutil.STATUS_ZOMBIE and any(folder in word for word in words)
    except psutil.Error:
        return False
