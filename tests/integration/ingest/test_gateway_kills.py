"""The whole gateway, with its JVM and its PostgreSQL, is killed at moments that nobody chose, while clients
send. What they were told, and what they had to send again, is in the tables once.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, LongType, NestedField, StringType

from tests.integration.asking import rows
from tests.integration.conftest import embedded_catalog
from tests.integration.ingest.deliveries import DAYS, IDS_AT_MOST, TYPES, Address, Deliveries, Delivery
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

INGESTS = int(os.environ.get("SLUICE_SOAK_INGESTS", "30"))
INGESTS_OF_A_LIFE = 10
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "5"))
CLIENTS = 6
LONGEST_PAUSE_S = 0.3
SETTINGS = {"SLUICE_SPARK_MASTER": "local[1]", "SLUICE_SPARK_DRIVER_MEMORY": "1g"}
TABLES = ("events", "copies")
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    *(NestedField(10 + number, f"c{number}", StringType()) for number in range(TYPES)),
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))


@pytest.mark.timeout(300 + 6 * INGESTS)
def test_a_gateway_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(folder: Path) -> None:
    chance, address = random.Random(SEED), Address()
    data_dir = folder / "killed"
    deliveries = [delivery(number, chance) for number in range(INGESTS)]
    with life(data_dir, address) as gateway:
        make_tables(gateway)
        clients = Deliveries(address, deliveries, CLIENTS)
        kill_somewhere(gateway, address, clients, chance)
    while len(clients.answers) < INGESTS - CLIENTS:
        with life(data_dir, address) as gateway:
            kill_somewhere(gateway, address, clients, chance)
    with life(data_dir, address) as gateway:
        clients.wait_for(INGESTS)
        assert clients.retries > 0, "nobody was in the middle of anything"
        check(gateway, deliveries, clients.answers, f"seed {SEED}")
        gateway.stop()


def delivery(number: int, chance: random.Random) -> Delivery:
    """Ids of its own; every third is for both tables."""
    ids = range(number * IDS_AT_MOST, number * IDS_AT_MOST + chance.randint(1, IDS_AT_MOST))
    return Delivery(ids, [f"lake.logs.{each}" for each in TABLES[: 2 if number % 3 == 0 else 1]])


@contextmanager
def life(data_dir: Path, address: Address) -> Iterator[RunningGateway]:
    """A gateway that clients can find. Whatever it has started is gone afterwards."""
    gateway = RunningGateway.start(data_dir, SETTINGS)
    address.move(gateway.url)
    try:
        yield gateway
    finally:
        address.move(None)
        kill_all(gateway)


def kill_somewhere(
    gateway: RunningGateway, address: Address, clients: Deliveries, chance: random.Random
) -> None:
    """After some answers, and then at any moment of what goes on."""
    wanted = len(clients.answers) + chance.randint(1, 2 * INGESTS_OF_A_LIFE - 1)
    clients.wait_for(min(wanted, INGESTS - CLIENTS))
    threading.Event().wait(chance.uniform(0, LONGEST_PAUSE_S))
    kill_all(gateway)
    address.move(None)


def kill_all(gateway: RunningGateway) -> None:
    """SIGKILL for the gateway, its JVM, PostgreSQL and Valkey, as when the machine loses its power."""
    own = {each.pid: each for each in (*gateway.children(), *gateway.own_processes())}
    if gateway.process.poll() is None:
        gateway.kill()
    for each in own.values():
        if each.is_running():
            each.kill()
    psutil.wait_procs(list(own.values()), timeout=10)


def make_tables(gateway: RunningGateway) -> None:
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        lake.create_namespace("logs")
        for each in TABLES:
            lake.create_table(
                f"logs.{each}", SCHEMA, partition_spec=BY_DAY, properties={"format-version": "2"}
            )


def check(gateway: RunningGateway, deliveries: list[Delivery], answers: dict[str, Any], message: str) -> None:
    assert {each["state"] for each in answers.values()} == {"COMMITTED"}, message
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        for name in TABLES:
            table = lake.load_table(f"logs.{name}")
            ids = [number for each in deliveries if f"lake.logs.{name}" in each.tables for number in each.ids]
            commits = [
                commit
                for each in answers.values()
                for commit in each["commits"]
                if commit["table"] == f"lake.logs.{name}"
            ]
            check_rows(gateway, table, ids, message)
            check_files(table, sum(each["addedDataFiles"] for each in commits), message)
            snapshots = {each.snapshot_id for each in table.metadata.snapshots}
            assert snapshots == {each["snapshotId"] for each in commits}, message
            [summary] = gateway.client.get("/ingest/summary", params={"table": f"lake.logs.{name}"}).json()[
                "tables"
            ]
            assert (summary["rounds"]["total"], summary["waiting"]) == (len(snapshots), 0), message
            assert (summary["ingests"], summary["records"]) == (len(commits), len(ids)), message
    check_log(gateway, answers, message)


def check_rows(gateway: RunningGateway, table: Table, ids: list[int], message: str) -> None:
    """Each id once with its own values, as PyIceberg reads them, and as many as Spark counts."""
    found = table.scan().to_arrow().to_pylist()
    expected = {each: row(each) for each in ids}
    assert len(found) == len(expected), message
    assert {each["id"]: each for each in found} == expected, message
    counted = rows(gateway.client, f"SELECT count(*), count(DISTINCT id) FROM lake.{'.'.join(table.name())}")
    assert counted == [[len(ids), len(ids)]], message


def row(number: int) -> dict[str, Any]:
    """What was sent under this id. All records of a delivery have the column of its first."""
    column = f"c{number // IDS_AT_MOST % TYPES}"
    values = {f"c{each}": None for each in range(TYPES)} | {column: str(number)}
    return {"id": number, "day": date.fromisoformat(DAYS[number % len(DAYS)]), **values}


def check_files(table: Table, added: int, message: str) -> None:
    """Every file that the table has is there, is in it once, and was told to somebody."""
    files = [task.file.file_path for task in table.scan().plan_files()]
    assert len(files) == len(set(files)) == added, message
    assert all(Path(each.removeprefix("file://")).is_file() for each in files), message


def check_log(gateway: RunningGateway, answers: dict[str, Any], message: str) -> None:
    """It has every ingest that was answered, no other one, and nothing that waits or failed."""
    listed = gateway.client.get("/ingest", params={"limit": 1000}).json()["ingests"]
    assert {each["state"] for each in listed} == {"COMMITTED"}, message
    assert {each["requestId"]: each["ingestId"] for each in listed} == {
        request_id: each["ingestId"] for request_id, each in answers.items()
    }, message
