"""Tables that ingests create and evolve, over HTTP, read back by Spark and PyIceberg."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import rows
from tests.integration.readers import assert_read_alike, by_spark

pytestmark = pytest.mark.integration


@pytest.fixture
def name() -> str:
    """The name of a missing table in a missing schema."""
    return f"lake.made_{uuid4().hex[:8]}.events"


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind} | more


def schema(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def send(gateway: httpx.Client, table: str, *records: dict[str, Any], **body: Any) -> httpx.Response:
    return gateway.post("/ingest", json={"table": table, "records": records} | body)


def test_a_table_is_made_and_evolves_with_what_is_sent_to_it(
    gateway: httpx.Client, lake: SqlCatalog, name: str
) -> None:
    place = {"type": "struct", "fields": [field("city", "string", required=True)]}
    first = send(
        gateway,
        name,
        {"id": 1, "shard": 7, "place": {"city": "Rome"}, "price": "1.50"},
        schema=schema(
            field("id", "int", required=True),
            field("shard", "int"),
            field("place", place),
            field("price", "decimal(5, 2)"),
        ),
        create={
            "partitionSpec": [{"source": "shard"}, {"source": "place.city", "transform": "truncate[1]"}],
            "sortOrder": [{"source": "id", "direction": "desc"}],
            "properties": {"comment": "made by what is sent"},
        },
    )
    assert first.status_code == 200, first.text
    unchanged: dict[str, Any] = {"table": name, "added": [], "widened": [], "madeOptional": []}
    assert first.json()["evolutions"] == [unchanged | {"created": True}]
    wider = {"type": "struct", "fields": [field("city", "string"), field("zip", "long")]}
    body: dict[str, Any] = {
        "schema": schema(
            field("shard", "long"),
            field("place", wider),
            field("price", "decimal(9, 2)"),
            field("tags", {"type": "list", "element": "string", "element-required": True}, required=True),
        ),
        "evolve": True,
        "dropRequired": True,
        "writeSchema": ["tags", "shard", "place", "price"],
        "requestId": str(uuid4()),
    }
    record = {"shard": 2**40, "place": {"zip": 123}, "price": "12345.25", "tags": ["a"]}
    second = send(gateway, name, record, **body)
    assert second.status_code == 200, second.text
    [reported] = second.json()["evolutions"]
    assert reported["created"] is False
    assert reported["added"] == [
        {"column": "place.zip", "type": "long"},
        {"column": "tags", "type": "list<string>"},
    ]
    assert reported["widened"] == [
        {"column": "shard", "from": "int", "to": "long"},
        {"column": "price", "from": "decimal(5, 2)", "to": "decimal(9, 2)"},
    ]
    assert reported["madeOptional"] == ["id", "place.city"]
    assert send(gateway, name, record, **body).json() == second.json()
    table = lake.load_table(name.removeprefix("lake."))
    assert table.properties["comment"] == "made by what is sent"
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "truncate[1]"]
    assert len(table.sort_order().fields) == 1
    assert [(field.name, str(field.field_type), field.required) for field in table.schema().fields[:2]] == [
        ("id", "int", False),
        ("shard", "long", False),
    ]
    expected = [
        [None, 2**40, None, 123, "12345.25", ["a"]],
        [1, 7, "Rome", None, "1.50", None],
    ]
    sql = f"SELECT id, shard, place.city, place.zip, price, tags FROM {name} ORDER BY shard DESC"
    assert rows(gateway, sql) == expected
    assert rows(gateway, f"SELECT count(*) FROM {name} WHERE shard = 7 AND place.city = 'Rome'") == [[1]]
    read = sorted(table.scan().to_arrow().to_pylist(), key=lambda row: -row["shard"])
    assert [[row["id"], row["shard"], row["place"], str(row["price"]), row["tags"]] for row in read] == [
        [None, 2**40, {"city": None, "zip": 123}, "12345.25", ["a"]],
        [1, 7, {"city": "Rome", "zip": None}, "1.50", None],
    ]
    assert table.scan(row_filter="shard = 7").to_arrow().num_rows == 1


def test_what_differs_is_reported_and_nothing_is_changed(
    gateway: httpx.Client, lake: SqlCatalog, name: str
) -> None:
    made = send(gateway, name, {"id": 1}, schema=schema(field("id", "int")), create={})
    assert made.status_code == 200, made.text
    sent = schema(field("id", "long"), field("new", "string"))
    unasked = send(gateway, name, {"id": 2, "new": "a"}, schema=sent)
    assert (unasked.status_code, unasked.json()["code"]) == (422, "SCHEMA_MISMATCH")
    assert [(error["pointer"], error["field"], error["rule"]) for error in unasked.json()["errors"]] == [
        ("/schema", "id", "TYPE_NARROWER"),
        ("/schema", "new", "FIELD_MISSING"),
    ]
    impossible = send(
        gateway,
        name,
        {"id": "2"},
        schema=schema(field("id", "string"), field("new", "string")),
        evolve=True,
    )
    assert [error["rule"] for error in impossible.json()["errors"]] == ["TYPE_DIFFERS"]
    refused = send(
        gateway,
        f"{name}_2",
        {"id": 1},
        schema=sent,
        create={"properties": {"write.data.path": "file:///etc", "py-io-impl": "os.system"}},
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "CREATION_INVALID")
    assert [error["pointer"] for error in refused.json()["errors"]] == [
        "/create/properties/write.data.path",
        "/create/properties/py-io-impl",
    ]
    table = lake.load_table(name.removeprefix("lake."))
    assert [field.name for field in table.schema().fields] == ["id"]
    assert len(table.metadata.schemas) == 1
    assert not lake.table_exists(f"{name}_2".removeprefix("lake."))
    missing = send(gateway, f"{name}_2", {"id": 1}, schema=sent, evolve=True)
    assert (missing.status_code, missing.json()["code"]) == (404, "TABLE_NOT_FOUND")


def test_a_write_schema_that_is_refused_leaves_no_table_and_no_column_behind(
    gateway: httpx.Client, lake: SqlCatalog, name: str
) -> None:
    made = send(gateway, name, {"id": 1}, schema=schema(field("id", "int")), create={})
    assert made.status_code == 200, made.text
    required = schema(field("id", "int", required=True), field("note", "string"))
    evolving = {
        "table": name,
        "schema": schema(field("id", "long"), field("new", "string")),
        "evolve": True,
        "writeSchema": ["new", "nope"],
        "records": [{"new": "a"}],
    }
    creating = {
        "table": f"{name}_2",
        "schema": required,
        "create": {},
        "writeSchema": ["note"],
        "records": [{"note": "a"}],
    }
    refused = gateway.post("/ingest", json={"writes": [evolving, creating]})
    assert (refused.status_code, refused.json()["code"]) == (422, "WRITE_SCHEMA_INVALID")
    assert [(error["pointer"], error["field"], error["rule"]) for error in refused.json()["errors"]] == [
        ("/writes/0/writeSchema", "nope", "UNKNOWN_COLUMN"),
        ("/writes/1/writeSchema", "id", "REQUIRED_SKIPPED"),
    ]
    differing = evolving | {"schema": schema(field("id", "string"))}
    upsert = creating | {"writeSchema": None, "equalityFields": ["id"]}
    mixed = gateway.post("/ingest", json={"writes": [differing, creating, upsert]})
    assert (mixed.status_code, mixed.json()["code"]) == (422, "INGEST_INVALID")
    assert [error["pointer"] for error in mixed.json()["errors"]] == [
        "/writes/0/schema",
        "/writes/1/writeSchema",
        "/writes/2/equalityFields",
    ]
    table = lake.load_table(name.removeprefix("lake."))
    assert [(field.name, str(field.field_type)) for field in table.schema().fields] == [("id", "int")]
    assert len(table.metadata.schemas) == 1
    assert not lake.table_exists(f"{name}_2".removeprefix("lake."))
    good = gateway.post(
        "/ingest", json={"writes": [evolving | {"writeSchema": ["new"]}, creating | {"writeSchema": None}]}
    )
    # The record lacks a column that the new table requires, which shows only when records are read.
    assert good.json()["code"] == "RECORDS_INVALID"
    assert [(evolution["table"], evolution["created"]) for evolution in good.json()["evolutions"]] == [
        (f"{name}_2", True),
        (name, False),
    ]
    fitting = {"writeSchema": None, "records": [{"id": 1, "note": "a"}]}
    done = gateway.post("/ingest", json={"writes": [evolving | {"writeSchema": ["new"]}, creating | fitting]})
    assert done.status_code == 200, done.text
    assert lake.load_table(f"{name}_2".removeprefix("lake.")).scan().to_arrow().num_rows == 1


def test_narrower_values_become_those_of_the_table(
    gateway: httpx.Client, lake: SqlCatalog, name: str
) -> None:
    wide = {"at": "timestamp", "id": "long", "ratio": "double", "price": "decimal(20, 2)"}
    narrow = {"at": "date", "id": "int", "ratio": "float", "price": "decimal(5, 2)"}
    table_schema = schema(*(field(*column) for column in wide.items()))
    layout = {"partitionSpec": [{"source": "at", "transform": "day"}]}
    first = {"at": "2026-01-30T12:00:00", "id": 2**40, "ratio": 0.1, "price": "12345678901.25"}
    made = send(gateway, name, first, schema=table_schema, create=layout)
    assert made.status_code == 200, made.text
    sent = schema(*(field(*column) for column in narrow.items()))
    record = {"at": "2026-01-31", "id": 7, "ratio": 0.5, "price": "1.25"}
    assert send(gateway, name, record, schema=sent).status_code == 200
    arrow = pa.table(
        {
            "at": pa.array([date(2026, 2, 1)]),
            "id": pa.array([8], pa.int32()),
            "ratio": pa.array([0.25], pa.float32()),
            "price": pa.array([Decimal("2.50")], pa.decimal128(5, 2)),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    answer = gateway.post(
        "/ingest",
        params={"table": name, "schema": json.dumps(sent)},
        content=sink.getvalue().to_pybytes(),
        headers={"Content-Type": "application/vnd.apache.arrow.stream"},
    )
    assert answer.status_code == 200, answer.text
    assert send(gateway, name, record).json()["code"] == "RECORDS_INVALID"
    expected = [
        {"at": datetime(2026, 1, 30, 12), "id": 2**40, "ratio": 0.1, "price": Decimal("12345678901.25")},
        {"at": datetime(2026, 1, 31), "id": 7, "ratio": 0.5, "price": Decimal("1.25")},
        {"at": datetime(2026, 2, 1), "id": 8, "ratio": 0.25, "price": Decimal("2.50")},
    ]
    table = lake.load_table(name.removeprefix("lake."))
    assert_read_alike(gateway, table, expected)
    assert by_spark(gateway, f"SELECT id FROM {name} WHERE at = TIMESTAMP_NTZ '2026-01-31 00:00:00'") == [
        {"id": 7}
    ]
    assert table.scan(row_filter="at = '2026-01-31T00:00:00'").to_arrow()["id"].to_pylist() == [7]


def test_clients_that_evolve_a_table_at_once_lose_nothing(
    gateway: httpx.Client, lake: SqlCatalog, name: str
) -> None:
    def client(number: int) -> list[httpx.Response]:
        own = f"c{number}"
        return [
            send(
                gateway,
                name,
                {"id": number, own: value, f"s{value}": "x"},
                schema=schema(field("id", "long"), field(own, "int"), field(f"s{value}", "string")),
                evolve=True,
                create={},
                writeSchema="infer",
            )
            for value in range(3)
        ]

    with ThreadPoolExecutor(8) as clients:
        answers = [answer for answers_of_one in clients.map(client, range(8)) for answer in answers_of_one]
    assert {(answer.status_code, answer.text if answer.is_error else "") for answer in answers} == {(200, "")}
    names = [field.name for field in lake.load_table(name.removeprefix("lake.")).schema().fields]
    assert sorted(names) == sorted(["id", "s0", "s1", "s2", *(f"c{number}" for number in range(8))])
    counts = ", ".join(f"count({column})" for column in sorted(names))
    # Sorted: one client wrote each of c0 to c7, and all clients wrote id and s0 to s2.
    assert rows(gateway, f"SELECT {counts} FROM {name}") == [[*[3] * 8, 24, 8, 8, 8]]
