"""Records sent over HTTP into tables, read back by Spark and PyIceberg, with a look at the files."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, DecimalType, DoubleType, LongType, NestedField, StringType

from tests.integration.asking import rows
from tests.polling import until

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    NestedField(3, "note", StringType()),
    NestedField(4, "price", DecimalType(9, 2)),
    *(NestedField(number, f"c{number}", DoubleType()) for number in range(10, 60)),
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
FIRST, SECOND = "2026-01-01", "2026-01-02"


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[Table]:
    """A wide table, partitioned by day."""
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.events_{uuid4().hex[:8]}"
    yield lake.create_table(name, SCHEMA, partition_spec=BY_DAY, properties={"format-version": "2"})
    lake.drop_table(name)


def named(table: Table) -> str:
    return ".".join(("lake", *table.name()))


def send(gateway: httpx.Client, table: Table, *records: dict[str, Any], **body: Any) -> httpx.Response:
    return gateway.post("/ingest", json={"table": named(table), "records": records} | body)


def test_a_projected_ingest_is_one_snapshot_with_files_of_its_columns(
    gateway: httpx.Client, events: Table
) -> None:
    records: list[dict[str, Any]] = [
        {"day": FIRST, "note": "a", "id": 1},
        {"day": SECOND, "id": 2},
        {"day": None, "id": 3, "note": "c"},
    ]
    response = send(gateway, events, *records, writeSchema=["day", "note", "id"])
    assert response.status_code == 200, response.text
    answer = response.json()
    [commit] = answer["commits"]
    assert (answer["state"], commit["addedRecords"], commit["addedDataFiles"]) == ("COMMITTED", 3, 3)
    [target] = commit["writeTargets"]
    assert target == {
        "writeSchemaColumnIds": [2, 3, 1],
        "sortOrderId": None,
        "dataFiles": 3,
        "records": 3,
        "deletedKeys": 0,
        "lateRecords": 0,
        "upsert": None,
    }
    assert gateway.get(answer["links"]["self"]).json() == answer

    sql = f"SELECT id, day, note, price, c42 FROM {named(events)} ORDER BY id"
    assert rows(gateway, sql) == [
        [1, FIRST, "a", None, None],
        [2, SECOND, None, None, None],
        [3, None, "c", None, None],
    ]
    events.refresh()
    assert [snapshot.snapshot_id for snapshot in events.snapshots()] == [commit["snapshotId"]]
    assert sorted(events.scan(selected_fields=("id", "c42")).to_arrow().to_pylist(), key=str) == [
        {"id": number, "c42": None} for number in (1, 2, 3)
    ]
    for task in events.scan().plan_files():
        file = task.file
        written = pq.read_schema(file.file_path.removeprefix("file://"))
        assert written.names == ["day", "note", "id"]
        assert file.null_value_counts[42] == file.value_counts[42] == file.record_count


def test_what_is_skipped_is_pruned_by_its_column(gateway: httpx.Client, events: Table) -> None:
    assert send(gateway, events, {"id": 1, "day": FIRST}, writeSchema=["id", "day"]).status_code == 200
    assert send(gateway, events, {"id": 2, "day": FIRST, "c42": 0.5}).status_code == 200
    answer = gateway.post(
        "/query", json={"sql": f"SELECT id FROM {named(events)} WHERE c42 > 0", "waitTimeout": "50s"}
    ).json()
    assert answer["result"]["rows"] == [[2]]
    assert answer["pruning"]["dataFiles"] == {"total": 2, "selected": 1}


def test_many_write_schemas_of_one_request_are_one_snapshot(gateway: httpx.Client, events: Table) -> None:
    writes = [
        {
            "table": named(events),
            "writeSchema": ["id", "day", f"c{number}"],
            "records": [{"id": number, "day": FIRST, f"c{number}": 1.0}],
        }
        for number in range(10, 30)
    ]
    response = gateway.post("/ingest", json={"writes": writes})
    assert response.status_code == 200, response.text
    assert len(response.json()["commits"][0]["writeTargets"]) == 20
    events.refresh()
    assert len(events.snapshots()) == 1
    assert rows(gateway, f"SELECT count(*), sum(c17), sum(c40) FROM {named(events)}") == [[20, 1.0, None]]


def test_records_that_do_not_fit_leave_nothing_behind(gateway: httpx.Client, events: Table) -> None:
    bad = send(gateway, events, {"id": 1, "day": FIRST}, {"id": "2"}, {"price": 1.234})
    assert (bad.status_code, bad.json()["code"]) == (422, "RECORDS_INVALID")
    assert [error["pointer"] for error in bad.json()["errors"]] == ["/records/1", "/records/2"]
    refused = send(gateway, events, {"note": "a"}, writeSchema=["note", "nope"])
    assert (refused.status_code, refused.json()["code"]) == (422, "WRITE_SCHEMA_INVALID")
    assert [(error["field"], error["rule"]) for error in refused.json()["errors"]] == [
        ("nope", "UNKNOWN_COLUMN"),
        ("id", "REQUIRED_SKIPPED"),
        ("day", "PARTITION_SOURCE_SKIPPED"),
    ]
    events.refresh()
    assert events.current_snapshot() is None
    missing = gateway.post("/ingest", json={"table": "lake.logs.nothing", "records": [{"id": 1}]})
    assert (missing.status_code, missing.json()["code"]) == (404, "TABLE_NOT_FOUND")


def test_a_request_that_is_sent_again_is_written_once(gateway: httpx.Client, events: Table) -> None:
    request_id = str(uuid4())

    def sent(_: int) -> httpx.Response:
        return send(gateway, events, {"id": 1, "day": FIRST}, requestId=request_id)

    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(sent, range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["ingestId"] for answer in answers}) == 1
    assert rows(gateway, f"SELECT count(*) FROM {named(events)}") == [[1]]
    other = send(gateway, events, {"id": 2, "day": FIRST}, requestId=request_id)
    assert (other.status_code, other.json()["code"]) == (409, "REQUEST_ID_REUSED")


def test_ingests_at_once_share_snapshots_and_lose_nothing(gateway: httpx.Client, events: Table) -> None:
    def sent(number: int) -> httpx.Response:
        return send(gateway, events, {"id": number, "day": FIRST}, writeSchema=["id", "day"])

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(sent, range(40)))
    assert {answer.status_code for answer in answers} == {200}
    events.refresh()
    snapshots = {answer.json()["commits"][0]["snapshotId"] for answer in answers}
    assert snapshots == {snapshot.snapshot_id for snapshot in events.snapshots()}
    assert len(snapshots) < 40
    assert rows(gateway, f"SELECT count(DISTINCT id), count(*) FROM {named(events)}") == [[40, 40]]


def test_a_tag_is_refused_as_a_branch_before_anything_is_written(
    gateway: httpx.Client, events: Table, inbox: Path
) -> None:
    [commit] = send(gateway, events, {"id": 1, "day": FIRST}).json()["commits"]
    events.refresh().manage_snapshots().create_tag(commit["snapshotId"], "release").commit()
    asked = {"table": named(events), "branch": "release"}
    stream = asked | {"name": "clicks", "source": {"directory": inbox.as_uri()}}
    for path, body in (("/ingest", asked | {"records": [{"id": 2}]}), ("/streams", stream)):
        refused = gateway.post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "INGEST_INVALID"), refused.text
        [fault] = refused.json()["errors"]
        assert (fault["pointer"], "release is a tag" in fault["detail"]) == ("/branch", True)
    data_files = Path(events.location().removeprefix("file://"), "data").rglob("*.parquet")
    assert len(list(data_files)) == 1


def test_what_is_accepted_is_committed_without_anybody_waiting(gateway: httpx.Client, events: Table) -> None:
    accepted = send(gateway, events, {"id": 1, "day": FIRST}, wait="ACCEPTED", branch="audit")
    assert accepted.status_code in (200, 202)
    link = accepted.json()["links"]["self"]
    until(lambda: gateway.get(link).json()["state"] == "COMMITTED")
    assert rows(gateway, f"SELECT id FROM {named(events)} VERSION AS OF 'audit'") == [[1]]
    assert rows(gateway, f"SELECT id FROM {named(events)}") == []
