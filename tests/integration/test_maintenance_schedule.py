"""Scheduled maintenance of tables that are only appended to, as the operator has set it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from tests.integration.asking import rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.readers import data_files
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration
FILES = 8


@pytest.fixture
def scheduled(folder: Path) -> Iterator[RunningGateway]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_MAINTENANCE_INTERVAL_S": "1",
        "SLUICE_MAINTENANCE_OPERATIONS": '["compact", "expire", "removeOrphans"]',
        "SLUICE_MAINTENANCE_APPENDED_FILES": str(FILES),
        "SLUICE_MAINTENANCE_IDLE_S": "20",
        "SLUICE_MAINTENANCE_SNAPSHOT_AGE_H": "0",
        "SLUICE_MAINTENANCE_MIN_SNAPSHOT_AGE_H": "0",
    }
    gateway = RunningGateway.start(folder / f"scheduled-{uuid4().hex[:8]}", settings)
    yield gateway
    gateway.stop()


def test_a_table_that_is_only_appended_to_is_maintained(scheduled: RunningGateway) -> None:
    name, short = "lake.kept.events", "kept.events"
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long"}]}
    client = scheduled.client
    with closing(embedded_catalog(scheduled.data_dir)) as lake:
        for number in range(FILES):
            body = {"table": name, "schema": schema, "create": {}, "records": [{"id": number}]}
            answer = client.post("/ingest", json=body)
            assert answer.status_code == 200, answer.text
        table = lake.load_table(short)
        orphan = Path(table.location().removeprefix("file://")) / "data" / "old.parquet"
        orphan.write_bytes(b"nobody's")
        four_days_ago = time.time() - 4 * 86_400
        os.utime(orphan, (four_days_ago, four_days_ago))
        until(lambda: len(data_files(table)) == 1, 90)
        until(lambda: len(table.refresh().snapshots()) == 1 and not orphan.exists(), 120)
        assert rows(client, f"SELECT id FROM {name} ORDER BY id") == [[number] for number in range(FILES)]
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(FILES))
        listed = client.get(f"/tables/{name}/maintenance").json()
    assert listed["schedule"]["appendedFiles"] == FILES
    done = [
        (maintenance["operations"], maintenance["state"], maintenance["requestedBy"])
        for maintenance in listed["maintenances"]
    ]
    everything = ["compact", "expire", "removeOrphans"]
    assert (everything, "SUCCEEDED", "schedule") in done
    assert (["compact"], "SUCCEEDED", "schedule") in done
