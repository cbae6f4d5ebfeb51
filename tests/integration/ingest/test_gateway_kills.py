"""Kills the whole gateway, with its JVM and its PostgreSQL, at random moments of ingests of every kind.

Every ingest that was answered, or had to be sent again, must be in the tables once.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.ingest.deliveries import (
    DEAD_LETTER_TABLE,
    IDS_AT_MOST,
    STATES,
    TABLES,
    TYPES,
    Address,
    Deliveries,
    Delivery,
    Kind,
)
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

INGESTS = int(os.environ.get("SLUICE_SOAK_INGESTS", "30"))
INGESTS_OF_A_LIFE = 10
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "5"))
CLIENTS = 6
LONGEST_PAUSE_S = 0.3
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[1]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    # Without maintenance, every file stays, and every snapshot is that of an ingest.
    "SLUICE_MAINTENANCE_INTERVAL_S": "0",
}
KEYS = 150
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
    """Returns a delivery with new ids, or with some of the keys; the kinds take turns."""
    kind = list(Kind)[number % len(Kind)]
    first = chance.randrange(KEYS - IDS_AT_MOST) if kind is Kind.UPSERT else number * IDS_AT_MOST
    return Delivery(number, kind, range(first, first + chance.randint(1, IDS_AT_MOST)))


@contextmanager
def life(data_dir: Path, address: Address) -> Iterator[RunningGateway]:
    """Runs a gateway that clients can find, and kills all of its processes at the end."""
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
    """Waits for some answers and a random time, and then kills the gateway."""
    wanted = len(clients.answers) + chance.randint(1, 2 * INGESTS_OF_A_LIFE - 1)
    clients.wait_for(min(wanted, INGESTS - CLIENTS))
    threading.Event().wait(chance.uniform(0, LONGEST_PAUSE_S))
    kill_all(gateway)
    address.move(None)


def kill_all(gateway: RunningGateway) -> None:
    """Sends SIGKILL to the gateway, its JVM, PostgreSQL and Valkey, as if the machine lost its power."""
    own = {child.pid: child for child in (*gateway.children(), *gateway.own_processes())}
    if gateway.process.poll() is None:
        gateway.kill()
    for process in own.values():
        if process.is_running():
            process.kill()
    psutil.wait_procs(list(own.values()), timeout=10)


def make_tables(gateway: RunningGateway) -> None:
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        lake.create_namespace("logs")
        for table in TABLES:
            name = table.removeprefix("lake.")
            lake.create_table(name, SCHEMA, partition_spec=BY_DAY, properties={"format-version": "2"})


def check(gateway: RunningGateway, deliveries: list[Delivery], answers: dict[str, Any], message: str) -> None:
    assert {answer["state"] for answer in answers.values()} == {"COMMITTED"}, message
    with closing(embedded_catalog(gateway.data_dir)) as lake:
        for name in TABLES:
            table = lake.load_table(name.removeprefix("lake."))
            # If no record fits, nothing is committed.
            sent = [delivery for delivery in deliveries if name in delivery.tables and delivery.good_ids]
            snapshots = check_commits(table, name, answers, message)
            if name == STATES:
                check_states(gateway, table, sent, answers, message)
            else:
                check_rows(gateway, table, sent, message)
            [summary] = gateway.client.get("/ingest/summary", params={"table": name}).json()["tables"]
            assert (summary["rounds"]["total"], summary["waiting"]) == (len(snapshots), 0), message
            records = sum(len(delivery.good_ids) for delivery in sent)
            assert (summary["ingests"], summary["records"]) == (len(sent), records), message
        dead_letters = lake.load_table(DEAD_LETTER_TABLE.removeprefix("lake."))
        check_commits(dead_letters, DEAD_LETTER_TABLE, answers, message)
        check_dead_letters(dead_letters, deliveries, answers, message)
    check_log(gateway, answers, message)


def check_commits(table: Table, name: str, answers: dict[str, Any], message: str) -> set[int]:
    """Checks that every snapshot and every file of the table exists and was reported in an answer."""
    commits = [
        commit for answer in answers.values() for commit in answer["commits"] if commit["table"] == name
    ]
    files = table.inspect.files().select(["content", "file_path"]).to_pylist()
    paths = [file["file_path"] for file in files]
    data = [file for file in files if file["content"] == 0]
    assert len(paths) == len(set(paths)), message
    assert len(data) == sum(commit["addedDataFiles"] for commit in commits), message
    assert all(Path(path.removeprefix("file://")).is_file() for path in paths), message
    snapshots = {snapshot.snapshot_id for snapshot in table.metadata.snapshots}
    assert snapshots == {commit["snapshotId"] for commit in commits}, message
    return snapshots


def check_rows(gateway: RunningGateway, table: Table, sent: list[Delivery], message: str) -> None:
    """Checks each id with its values, as PyIceberg reads them, and the counts of Spark."""
    found = table.scan().to_arrow().to_pylist()
    expected = {number: delivery.row(number) for delivery in sent for number in delivery.good_ids}
    assert len(found) == len(expected), message
    assert {row["id"]: row for row in found} == expected, message
    counted = rows(gateway.client, f"SELECT count(*), count(DISTINCT id) FROM lake.{'.'.join(table.name())}")
    assert counted == [[len(expected), len(expected)]], message


def check_states(
    gateway: RunningGateway, table: Table, sent: list[Delivery], answers: dict[str, Any], message: str
) -> None:
    """Checks that each key has the row of the upsert committed last, or none if that one deletes it."""
    numbers = {snapshot.snapshot_id: snapshot.sequence_number or 0 for snapshot in table.metadata.snapshots}

    def committed(delivery: Delivery) -> int:
        [commit] = answers[delivery.request_id]["commits"]
        return numbers[commit["snapshotId"]]

    in_order = sorted(sent, key=committed)
    expected: dict[int, dict[str, Any]] = {}
    for delivery in in_order:
        expected |= {number: delivery.row(number) for number in delivery.ids}
        expected = {number: row for number, row in expected.items() if not _is_deleted(delivery, number)}
    columns = ", ".join(field.name for field in SCHEMA.fields)
    found = rows(gateway.client, f"SELECT {columns} FROM {STATES} ORDER BY id")
    reported = [
        [str(value) if name == "day" else value for name, value in expected[key].items()]
        for key in sorted(expected)
    ]
    assert found == reported, message


def _is_deleted(delivery: Delivery, number: int) -> bool:
    return number in delivery.ids and delivery.deletes(number)


def check_dead_letters(
    dead_letters: Table, deliveries: list[Delivery], answers: dict[str, Any], message: str
) -> None:
    """Checks that each bad record is stored once, with the ingest that it was sent in."""
    found = dead_letters.scan(selected_fields=("request_id", "ingest_id", "payload")).to_arrow().to_pylist()
    bad = [(delivery.request_id, line) for delivery in deliveries for line in delivery.bad_lines]
    assert sorted((letter["request_id"], letter["payload"]) for letter in found) == sorted(bad), message
    for letter in found:
        assert letter["ingest_id"] == answers[letter["request_id"]]["ingestId"], message
    for delivery in deliveries:
        assert answers[delivery.request_id]["rejected"]["count"] == len(delivery.bad_lines), message


def check_log(gateway: RunningGateway, answers: dict[str, Any], message: str) -> None:
    """Checks that the log has exactly the answered ingests, and none that waits or failed."""
    listed = gateway.client.get("/ingest", params={"limit": 1000}).json()["ingests"]
    assert {ingest["state"] for ingest in listed} == {"COMMITTED"}, message
    assert {ingest["requestId"]: ingest["ingestId"] for ingest in listed} == {
        request_id: answer["ingestId"] for request_id, answer in answers.items()
    }, message
