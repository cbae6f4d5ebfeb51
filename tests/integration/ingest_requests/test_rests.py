"""The rest of records over HTTP: fields without a column become one value, which queries look into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from tests.integration.asking import rows
from tests.integration.log_tables import lines, put
from tests.integration.readers import assert_read_alike, named
from tests.polling import until

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", StringType()),
    NestedField(3, "payload", StringType()),
)
UPSERT = {"mode": "upsert", "equalityFields": ["id"]}


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[Table]:
    """A table whose last column takes the rest."""
    lake.create_namespace_if_not_exists("rests")
    table = lake.create_table(f"rests.t_{uuid4().hex}", SCHEMA, properties={"format-version": "2"})
    yield table
    lake.drop_table(table.name())


def send(gateway: httpx.Client, table: Table, *records: Any, **more: Any) -> httpx.Response:
    body = {"table": named(table), "rest": "payload", "records": records} | more
    return gateway.post("/ingest", json=body)


def found(gateway: httpx.Client, table: Table) -> list[list[Any]]:
    return rows(gateway, f"SELECT id, kind, payload FROM {named(table)} ORDER BY id")


def test_fields_without_a_column_are_one_value(gateway: httpx.Client, events: Table) -> None:
    first = {"id": 1, "kind": "a", "user": {"name": "Zoë", "tags": ["x", None]}, "n": 12345678901234567890}
    answer = send(gateway, events, first, {"id": 2, "kind": "b"})
    assert answer.status_code == 200, answer.text
    text = '{"user":{"name":"Zoë","tags":["x",null]},"n":12345678901234567890}'
    expected = [{"id": 1, "kind": "a", "payload": text}, {"id": 2, "kind": "b", "payload": None}]
    assert_read_alike(gateway, events, expected)
    name, number = (
        "variant_get(parse_json(payload), '$.user.name', 'string')",
        "get_json_object(payload, '$.n')",
    )
    asked = f"SELECT {name}, {number} FROM {named(events)} WHERE id = 1"
    assert rows(gateway, asked) == [["Zoë", "12345678901234567890"]]


def test_a_record_with_the_column_itself_does_not_fit(gateway: httpx.Client, events: Table) -> None:
    refused = send(gateway, events, {"id": 1, "x": 1}, {"id": 2, "payload": None})
    assert (refused.status_code, refused.json()["code"]) == (422, "RECORDS_INVALID"), refused.text
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/records/1"]
    assert events.refresh().current_snapshot() is None


def test_records_replace_and_delete_with_their_rest(gateway: httpx.Client, events: Table) -> None:
    when = {"deleteWhen": {"field": "op", "values": ["D"]}}
    send(gateway, events, {"id": 1, "x": 1}, {"id": 2, "x": 2}, {"id": 3, "x": 3})
    changes = {"op": "U", "id": 1, "y": True}, {"op": "D", "id": 2, "y": 1}, {"id": 3, "kind": "c"}
    assert send(gateway, events, *changes, **UPSERT, **when).status_code == 200
    assert found(gateway, events) == [[1, None, '{"op":"U","y":true}'], [3, "c", None]]


def test_a_late_record_loses_with_its_rest(gateway: httpx.Client, events: Table) -> None:
    by_kind = UPSERT | {"orderBy": "kind"}
    for kind in ("b", "a"):
        assert send(gateway, events, {"id": 1, "kind": kind, "x": kind}, **by_kind).status_code == 200
    assert found(gateway, events) == [[1, "b", '{"x":"b"}']]


def test_events_of_debezium_have_the_rest_of_their_rows(gateway: httpx.Client, events: Table) -> None:
    event = {"op": "c", "before": None, "after": {"id": 1, "kind": "a", "x": 1.5}, "ts_ms": 7}
    assert send(gateway, events, event, envelope="debezium", **UPSERT).status_code == 200
    assert found(gateway, events) == [[1, "a", '{"x":1.5}']]


def test_each_format_has_a_rest(gateway: httpx.Client, events: Table) -> None:
    batch = pa.RecordBatch.from_pylist([{"id": 3, "x": 1, "y": None}])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    bodies = {
        "application/x-ndjson": b'{"id": 1, "x": 1, "y": null}\n',
        "text/csv": b"id,x,y\n2,1,\n",
        "application/vnd.apache.arrow.stream": sink.getvalue().to_pybytes(),
    }
    for kind, body in bodies.items():
        query = {"table": named(events), "rest": "payload", "writeSchema": "infer"}
        sent = gateway.post("/ingest", params=query, content=body, headers={"Content-Type": kind})
        assert sent.status_code == 200, sent.text
    assert found(gateway, events) == [
        [1, None, '{"x":1,"y":null}'],
        [2, None, '{"x":"1"}'],
        [3, None, '{"x":1}'],
    ]


def test_a_route_has_its_field_in_the_rest(gateway: httpx.Client, events: Table) -> None:
    target = {"table": named(events), "writeSchema": ["id", "payload"], "rest": "payload"}
    body = {"route": {"field": "kind", "to": {"*": target}}, "records": [{"id": 1, "kind": "a", "x": 1}]}
    assert gateway.post("/ingest", json=body).status_code == 200
    assert found(gateway, events) == [[1, None, '{"kind":"a","x":1}']]


def test_a_body_that_executors_read_has_a_rest(gateway: httpx.Client, events: Table) -> None:
    count, text = 20_000, "x" * 80
    records = [json.dumps({"id": number, "kind": "a", "text": text, "n": number}) for number in range(count)]
    query = {"table": named(events), "rest": "payload"}
    body, kind = "\n".join(records).encode(), {"Content-Type": "application/x-ndjson"}
    assert gateway.post("/ingest", params=query, content=body, headers=kind).status_code == 200
    sql = (
        "SELECT count(*), count_if(payload = concat('{\"text\":\"', repeat('x', 80), '\",\"n\":', id, '}')) "
        f"FROM {named(events)}"
    )
    assert rows(gateway, sql) == [[count, count]]


def test_a_stream_goes_on_when_its_records_get_fields(
    gateway: httpx.Client, lake: SqlCatalog, events: Table, inbox: Path
) -> None:
    body = {
        "table": named(events),
        "rest": "payload",
        "onError": "DEAD_LETTER",
        "interval": "100ms",
        "source": {"directory": inbox.as_uri()},
    }
    created = gateway.post("/streams", json=body)
    assert created.status_code == 201, created.text
    assert created.json()["definition"]["rest"] == "payload"
    link = created.json()["links"]["self"]
    put(inbox, "a.json", lines([{"id": 1}, {"id": 2, "x": {"y": 2}}, {"id": "z", "x": 3}, {"payload": "x"}]))
    until(lambda: gateway.get(link).json()["progress"]["rejected"] == 2, 60)
    gateway.delete(link)
    assert found(gateway, events) == [[1, None, None], [2, None, '{"x":{"y":2}}']]
    dead_letters = lake.load_table((events.name()[0], f"{events.name()[1]}__dead_letter"))
    reasons = dead_letters.scan(selected_fields=("reason",)).to_arrow()["reason"].to_pylist()
    assert sorted(reason.partition("a.json: ")[2] for reason in reasons) == [
        "id: 'z' is not of type long",
        "payload takes the rest of the record, and cannot be sent itself",
    ]


def test_a_request_with_another_rest_is_another_request(gateway: httpx.Client, events: Table) -> None:
    request_id = str(uuid4())
    assert send(gateway, events, {"id": 1}, requestId=request_id).status_code == 200
    again = send(gateway, events, {"id": 1}, requestId=request_id)
    assert (again.status_code, len(events.refresh().snapshots())) == (200, 1)
    other = send(gateway, events, {"id": 1}, requestId=request_id, rest="kind")
    assert (other.status_code, other.json()["code"]) == (409, "REQUEST_ID_REUSED")
