"""Streams of upserts over a folder: each key once, with its values in the last file, whatever is killed."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from pyiceberg.table import Table

from tests.integration.asking import rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2, lines, named, put
from tests.integration.running import RunningGateway
from tests.integration.streams.test_streams import stream
from tests.polling import until

pytestmark = pytest.mark.integration

FILES, KEYS = 12, 10
UPSERT = {"mode": "upsert", "equalityFields": ["id"]}


def test_of_a_key_in_several_files_of_a_micro_batch_the_newest_file_counts(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number, name in enumerate("dcba"):
        content = lines(
            {"id": number, "kind": name, "amount": line} for line in range(2) for number in range(3)
        )
        put(inbox, f"{name}.json", content, age=timedelta(minutes=9 - number))
    put(inbox, "older.json", lines([{"id": 1, "kind": "older"}, {"id": 7}]), age=timedelta(hours=1))
    source = {"directory": inbox.as_uri(), "filesPerBatch": 100}
    body = stream(log_table, inbox, source=source, onError="DEAD_LETTER", **UPSERT)
    created = gateway.post("/streams", json=body)
    assert created.status_code == 201, created.text
    link = created.json()["links"]["self"]
    until(lambda: gateway.get(link).json()["progress"]["batches"] == 1, 60)
    sql = f"SELECT id, kind, amount FROM {named(log_table)} ORDER BY id"
    expected = [[0, "a", 1], [1, "a", 1], [2, "a", 1], [7, None, None]]
    assert rows(gateway, sql) == expected
    put(inbox, "next.json", lines([{"id": 2, "kind": "next"}]) + b'{"id": "x"}\n')
    until(lambda: gateway.get(link).json()["progress"]["batches"] == 2, 60)
    assert rows(gateway, sql) == [*expected[:2], [2, "next", None], expected[3]]
    assert rows(gateway, f"SELECT payload FROM {named(log_table)}__dead_letter") == [['{"id": "x"}']]
    log_table.refresh()
    checkpoint = gateway.get(link).json()["checkpointId"]
    batches = [
        snapshot.summary and snapshot.summary["sluice.stream-batches"] for snapshot in log_table.snapshots()
    ]
    assert batches == [f"{checkpoint}/0", f"{checkpoint}/1"]
    assert gateway.delete(link).json()["error"] is None


def test_a_gateway_that_is_killed_amid_upserts_has_each_key_once(folder: Path) -> None:
    data_dir, inbox = folder / "upserting", folder / "upserting-inbox"
    inbox.mkdir()
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_INGEST_SOURCE_PREFIXES": inbox.as_uri(),
    }
    for number in range(FILES):
        # The newest files have the names that sort first.
        content = lines({"id": key + number // 6, "amount": number} for key in range(KEYS))
        put(inbox, f"{FILES - number:03}.json", content, age=timedelta(minutes=FILES - number))
    link = ""
    for batches_before_kill in (1, 3, None):
        running = RunningGateway.start(data_dir, settings)
        client = running.client
        with closing(embedded_catalog(data_dir)) as lake:
            lake.create_namespace_if_not_exists("logs")
            made = lake.create_table_if_not_exists("logs.upserted", LOG_SCHEMA, properties=VERSION_2)
            table = named(made)
            if not link:
                link = client.post("/streams", json=stream(made, inbox, **UPSERT)).json()["links"]["self"]
        if batches_before_kill is not None:
            until(lambda: client.get(link).json()["progress"]["batches"] >= batches_before_kill, 120)  # noqa: B023
            running.kill()
            continue
        sql = f"SELECT id, amount FROM {table} ORDER BY id"
        # A batch after a kill may have more than two files, so neither batches nor records are counted.
        until(lambda: rows(client, f"SELECT max(amount) FROM {table}") == [[FILES - 1]], 120)  # noqa: B023
        expected = [[0, 5], *([number, FILES - 1] for number in range(1, KEYS + 1))]
        assert rows(client, sql) == expected
        running.stop()
