"""Records that delete over HTTP: by the mode, by a field, and as events of Debezium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table

from tests.integration.ingest_requests.test_upserts import (
    BY_DAY,
    committed,
    found,
    made,
    named,
    paused_committer,
    row,
    send,
    send_accepted,
    upsert,
)
from tests.integration.maintenance_calls import compact
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

BY_ID = {"mode": "upsert", "equalityFields": ["id"]}
GONE = {"mode": "delete", "equalityFields": ["id"]}
WHEN = {"deleteWhen": {"field": "op", "values": ["D"]}}


@pytest.fixture
def items(lake: SqlCatalog) -> Iterator[Table]:
    """A table with the key fields `id` and `day_key`, partitioned by day."""
    yield from made(lake, BY_DAY)


@pytest.fixture
def flat(lake: SqlCatalog) -> Iterator[Table]:
    """The same table without partitions."""
    yield from made(lake, PartitionSpec())


def test_all_rows_with_a_key_are_deleted_and_keys_are_counted(gateway: httpx.Client, flat: Table) -> None:
    send(gateway, flat, row(1, 1, note="a"), row(1, 2, note="b"), row(2, note="stays"), row(3, note="c"))
    # One key comes twice, and one has no row.
    answer = send(gateway, flat, {"id": 1}, {"id": 7}, {"id": 3}, {"id": 1}, **GONE)
    [commit] = answer["commits"]
    assert (commit["addedRecords"], commit["addedDataFiles"], commit["deletedKeys"]) == (0, 0, 3)
    [target] = commit["writeTargets"]
    assert (target["writeSchemaColumnIds"], target["records"], target["deletedKeys"]) == ([1], 0, 3)
    assert target["upsert"]["equalityFieldIds"] == [1]
    assert gateway.get(answer["links"]["self"]).json() == answer
    assert found(gateway, flat) == [[2, 1, "stays", None]]
    # PyIceberg reads the table once it is compacted.
    compact(gateway, flat)
    assert flat.refresh().scan(selected_fields=("id",)).to_arrow().to_pylist() == [{"id": 2}]


def test_a_table_without_rows_takes_deletes_too(gateway: httpx.Client, items: Table) -> None:
    answer = send(gateway, items, row(1), mode="delete")
    assert answer["commits"][0]["deletedKeys"] == 1
    assert len(items.refresh().metadata.snapshots) == 1
    upsert(gateway, items, row(1, note="after"))
    assert found(gateway, items) == [[1, 1, "after", None]]
    send(gateway, items, row(1), mode="delete")
    assert found(gateway, items) == []


def test_one_round_of_rows_and_deletes_is_one_snapshot(
    running: RunningGateway, gateway: httpx.Client, flat: Table
) -> None:
    send(gateway, flat, row(1, note="old"), row(2, note="old"), row(3, note="old"))
    requests: list[dict[str, Any]] = [
        {"records": [row(4, note="appended"), row(1, note="appended")]},
        {"records": [{"id": 1}, {"id": 4}], **GONE},
        {"records": [row(1, note="again"), {"id": 2, "op": "D"}, row(5, note="x"), {"id": 5, "op": "D"}]}
        | BY_ID
        | WHEN,
        {"records": [row(5, note="appended")]},
        {"records": [row(2, note="last")], **BY_ID},
    ]
    with paused_committer(running, flat):
        accepted = [send_accepted(gateway, flat, **request) for request in requests]
    answers = [committed(gateway, answer) for answer in accepted]
    assert len({answer["commits"][0]["snapshotId"] for answer in answers}) == 1
    assert [answer["commits"][0]["deletedKeys"] for answer in answers] == [0, 2, 2, 0, 0]
    assert found(gateway, flat, "id, day_key, note") == [
        [1, 1, "again"],
        [2, 1, "last"],
        [3, 1, "old"],
        [5, 1, "appended"],
    ]


def test_deletes_are_written_again_for_a_table_that_has_changed(
    running: RunningGateway, gateway: httpx.Client, items: Table
) -> None:
    send(gateway, items, row(1, note="old"), row(2, note="old"))
    with paused_committer(running, items):
        accepted = [
            send_accepted(gateway, items, records=[row(1)], mode="delete"),
            send_accepted(
                gateway, items, records=[{**row(2), "op": "D"}, row(3, note="new")], mode="upsert", **WHEN
            ),
        ]
        with items.refresh().update_spec() as spec:
            spec.remove_field("day_key")
            spec.add_field("id", "bucket[4]", "part")
    counts = [committed(gateway, answer)["commits"][0]["deletedKeys"] for answer in accepted]
    assert counts == [1, 1]
    assert found(gateway, items) == [[3, 1, "new", None]]


def test_events_of_debezium_are_applied(gateway: httpx.Client, items: Table) -> None:
    send(gateway, items, row(1, note="old"), row(2, note="old"), row(3, note="old"))
    events: list[Any] = [
        {"op": "c", "before": None, "after": row(4, note="created"), "source": {"table": "items"}},
        {"schema": {}, "payload": {"op": "u", "before": row(1), "after": row(1, note="updated")}},
        # Its day, and so its partition, is another one.
        {"op": "u", "before": row(2), "after": row(2, 2, note="moved")},
        {"op": "d", "before": row(3, note="old"), "after": None},
        None,
        {"op": "t"},
    ]
    body = "\n".join(json.dumps(event) for event in events)
    parameters = {"table": named(items), "mode": "upsert", "envelope": "debezium", "onError": "DEAD_LETTER"}
    sent = gateway.post(
        "/ingest", params=parameters, content=body, headers={"Content-Type": "application/x-ndjson"}
    )
    assert sent.status_code == 200, sent.text
    answer = sent.json()
    assert (answer["rejected"]["count"], answer["rejected"]["samples"][0]["line"]) == (1, 6)
    expected = [[1, 1, "updated", None], [2, 2, "moved", None], [4, 1, "created", None]]
    assert found(gateway, items) == expected
    [answer] = [send(gateway, items, {"op": "d", "before": row(4)}, mode="upsert", envelope="debezium")]
    assert answer["commits"][0]["deletedKeys"] == 1
    assert found(gateway, items) == expected[:2]


BY_PRICE = {**BY_ID, "orderBy": "price"}


def test_late_records_lose_against_stored_rows_and_within_a_commit(
    running: RunningGateway, gateway: httpx.Client, flat: Table
) -> None:
    first = send(gateway, flat, row(1, note="new", price=9), row(1, note="older", price=2), **BY_PRICE)
    [commit] = first["commits"]
    assert (commit["addedRecords"], commit["lateRecords"]) == (1, 0)
    assert commit["writeTargets"][0]["upsert"]["orderFieldId"] == 4
    requests: list[list[dict[str, Any]]] = [
        [row(1, note="late", price=8), row(2, note="two", price=5), row(3, price=1, op="D")],
        [row(2, note="late", price=4), row(4, note="four", price=None), row(1, price=7, op="D")],
        [row(2, note="equal", price=5)],
    ]
    with paused_committer(running, flat):
        accepted = [send_accepted(gateway, flat, records=records, **BY_PRICE, **WHEN) for records in requests]
    answers = [committed(gateway, answer) for answer in accepted]
    assert len({answer["commits"][0]["snapshotId"] for answer in answers}) == 1
    assert [answer["commits"][0]["lateRecords"] for answer in answers] == [1, 2, 0]
    expected = [[1, 1, "new", 9], [2, 1, "equal", 5], [4, 1, "four", None]]
    assert found(gateway, flat) == expected
    body = "\n".join(json.dumps(record) for record in [row(1, price=8, op="D"), row(4, price=0, op="D")])
    parameters = {"table": named(flat), "mode": "upsert", "equalityFields": "id", "orderBy": "price"}
    parameters["deleteWhen"] = json.dumps(WHEN["deleteWhen"])
    sent = gateway.post(
        "/ingest", params=parameters, content=body, headers={"Content-Type": "application/x-ndjson"}
    )
    assert sent.status_code == 200, sent.text
    [commit] = sent.json()["commits"]
    assert (commit["deletedKeys"], commit["lateRecords"]) == (2, 1)
    assert gateway.get(sent.json()["links"]["self"]).json() == sent.json()
    assert found(gateway, flat) == expected[:2]


def test_late_records_are_compared_for_a_table_that_has_changed(
    running: RunningGateway, gateway: httpx.Client, items: Table
) -> None:
    send(gateway, items, row(1, note="old", price=5), row(2, note="old", price=5))
    order = {"mode": "upsert", "orderBy": "price"}
    with paused_committer(running, items):
        accepted = [
            send_accepted(gateway, items, records=[row(1, note="late", price=4), row(3, price=4)], **order),
            send_accepted(gateway, items, records=[row(2, price=6, op="D")], **order, **WHEN),
        ]
        with items.refresh().update_spec() as spec:
            spec.remove_field("day_key")
            spec.add_field("id", "bucket[4]", "part")
    late = [committed(gateway, answer)["commits"][0]["lateRecords"] for answer in accepted]
    assert late == [1, 0]
    assert found(gateway, items) == [[1, 1, "old", 5], [3, 1, None, 4]]


@pytest.mark.parametrize(
    ("more", "code", "rule"),
    [
        ({"mode": "append", "orderBy": "price"}, "INGEST_INVALID", None),
        ({"mode": "delete", "orderBy": "price"}, "INGEST_INVALID", None),
        ({**BY_ID, "orderBy": "gone"}, "WRITE_SCHEMA_INVALID", "UNKNOWN_COLUMN"),
        ({**BY_ID, "orderBy": "id"}, "WRITE_SCHEMA_INVALID", "NOT_AN_ORDER_COLUMN"),
        (
            {**BY_PRICE, "writeSchema": ["id", "day_key"]},
            "WRITE_SCHEMA_INVALID",
            "ORDER_COLUMN_SKIPPED",
        ),
    ],
)
def test_what_cannot_order_records_is_refused(
    gateway: httpx.Client, flat: Table, more: dict[str, Any], code: str, rule: str | None
) -> None:
    response = gateway.post("/ingest", json={"table": named(flat), "records": [row(1)], **more})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, code)
    [error] = [error for error in problem["errors"] if error["pointer"] == "/orderBy"]
    assert error.get("rule") == rule


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"mode": "delete", "writeSchema": ["id"]}, "/writeSchema"),
        (WHEN, "/deleteWhen"),
        ({"mode": "upsert", "envelope": "debezium", "writeSchema": "infer"}, "/writeSchema"),
    ],
)
def test_contradictions_are_refused_with_their_place(
    gateway: httpx.Client, items: Table, more: dict[str, Any], pointer: str
) -> None:
    response = gateway.post("/ingest", json={"table": named(items), "records": [row(1)], **more})
    assert (response.status_code, response.json()["code"]) == (422, "INGEST_INVALID")
    assert pointer in [error["pointer"] for error in response.json()["errors"]]
    extra = gateway.post(
        "/ingest", json={"table": named(items), "records": [row(1, note="x")], "mode": "delete"}
    )
    assert (extra.status_code, extra.json()["code"]) == (422, "RECORDS_INVALID")
