"""Files of refused ingests are removed as orphans, and those of a waiting ingest never are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType
from sqlalchemy import URL

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import TableKey, WriteTarget
from service.model.tables.tables import TableName
from tests.fakes.ingests import ingest_of
from tests.integration.asking import JsonObject, rows
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "note", StringType()))
THREE_DAYS = timedelta(days=3)


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.orphans_{uuid4().hex[:8]}"
    yield lake.create_table(name, SCHEMA, properties={"format-version": "2"})
    lake.drop_table(name)


@pytest.fixture
def log(running: RunningGateway) -> Iterator[PostgresIngestLog]:
    """The gateway's own log, opened as another replica would."""
    server = running.data_dir / "postgres"
    port, password = int((server / "port").read_text()), (server / "password").read_text()
    url = URL.create("postgresql+psycopg", "postgres", password, "127.0.0.1", port, "sluice")
    with closing(PostgresIngestLog(url.render_as_string(hide_password=False))) as opened:
        yield opened


def accepted(lake: SqlCatalog, log: PostgresIngestLog, key: TableKey) -> IngestRecord:
    """Accepts an ingest of one row, written by another replica three days ago."""
    with closing(PyIcebergCatalogs({"lake": {"type": "sql", **lake.properties}}, SystemClock())) as catalogs:
        table = PyIcebergWritableTables(catalogs).writable(key.table, key.branch)
        target = WriteTarget(key, table.schema.schema_id, table.spec_id, write_schema_column_ids=(1, 2))
        batch = pa.record_batch({"id": pa.array([2], pa.int64()), "note": ["waits"]})
        result = ParquetDataFiles(WriteBounds()).write(table, target, [batch])
    record = replace(ingest_of([result], caller="anonymous"), accepted_at=datetime.now(UTC) - THREE_DAYS)
    return log.accept(record, [result])


def files_of(table: Table) -> set[Path]:
    return set((Path(table.location().removeprefix("file://")) / "data").rglob("*.parquet"))


def removed_orphans(gateway: httpx.Client, name: str) -> JsonObject:
    body = {"operations": ["removeOrphans"], "orphansOlderThanHours": 24}
    link = gateway.post(f"/tables/{name}/maintenance", json=body).json()["links"]["self"]
    until(lambda: gateway.get(link).status_code == 200, 120)
    done: JsonObject = gateway.get(link).json()
    return done


def test_files_stay_while_their_ingest_waits_and_go_when_it_was_refused(
    gateway: httpx.Client, lake: SqlCatalog, events: Table, log: PostgresIngestLog
) -> None:
    key = TableKey(TableName("lake", *events.name()))
    name = str(key.table)
    sent = gateway.post("/ingest", json={"table": name, "records": [{"id": 1}], "writeSchema": ["id"]})
    assert sent.status_code == 200, sent.text
    committed = files_of(events)
    with ExitStack() as rounds:
        # The gateway cannot take the round, so the ingest keeps waiting.
        rounds.enter_context(log.round(key, 1))
        record = accepted(lake, log, key)
        [waiting] = files_of(events) - committed
        for path in (*committed, waiting):
            os.utime(path, (time.time() - THREE_DAYS.total_seconds(),) * 2)
        refused = removed_orphans(gateway, name)
        assert (refused["state"], refused["error"]["code"]) == ("FAILED", "MAINTENANCE_NOT_SAFE")
        assert files_of(events) == committed | {waiting}
        with events.refresh().update_schema() as schema:
            schema.delete_column("note")
    until(lambda: gateway.get(f"/ingest/{record.ingest_id}").status_code == 200)
    answer = gateway.get(f"/ingest/{record.ingest_id}").json()
    assert answer["commits"][0]["error"]["code"] == "TABLE_CHANGED"
    assert files_of(events) == committed | {waiting}
    done = removed_orphans(gateway, name)
    assert (done["state"], done["results"][0]["counts"]) == ("SUCCEEDED", {"removedFiles": 1}), done
    assert files_of(events) == committed
    assert rows(gateway, f"SELECT id FROM {name}") == [[1]]
