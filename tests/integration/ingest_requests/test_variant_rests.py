"""The rest of records in a column of the type `variant`, which tables of format version 3 have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.caching_sql_catalog import CachingSqlCatalog
from service.adapters.catalogs.variant_type import VariantType
from tests.integration.asking import ask, problem, rows
from tests.integration.maintenance_calls import compact
from tests.integration.readers import named

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", StringType()),
    NestedField(3, "payload", StringType()),
)
UPSERT = {"mode": "upsert", "equalityFields": ["id"]}


@pytest.fixture
def newer(lake: SqlCatalog) -> Iterator[CachingSqlCatalog]:
    """The embedded catalog, for tables with variants."""
    with closing(CachingSqlCatalog("lake", **lake.properties)) as catalog:
        yield catalog


@pytest.fixture
def events(newer: CachingSqlCatalog) -> Iterator[Table]:
    """A table of format version 3 whose last column is a variant."""
    yield from made(newer, SCHEMA)


def made(newer: CachingSqlCatalog, schema: Schema) -> Iterator[Table]:
    """Makes a table whose column `payload` is a variant, and drops it."""
    newer.create_namespace_if_not_exists("rests")
    name = f"rests.v_{uuid4().hex}"
    path = Path(newer.create_table(name, schema).metadata_location.removeprefix("file://"))
    newer.drop_table(name)
    metadata = json.loads(path.read_text("utf-8")) | {"format-version": 3, "next-row-id": 0}
    for field in metadata["schemas"][0]["fields"]:
        field["type"] = "variant" if field["name"] == "payload" else field["type"]
    # PyIceberg writes neither this version nor this type.
    other = path.with_name(f"00001-{uuid4()}.metadata.json")
    other.write_text(json.dumps(metadata), "utf-8")
    yield newer.register_table(name, other.as_uri())
    newer.drop_table(name)


def send(gateway: httpx.Client, table: Table, *records: Any, **more: Any) -> httpx.Response:
    body = {"table": named(table), "rest": "payload", "records": records} | more
    return gateway.post("/ingest", json=body)


def sent(gateway: httpx.Client, table: Table, *records: Any, **more: Any) -> None:
    answer = send(gateway, table, *records, **more)
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "COMMITTED"


def found(gateway: httpx.Client, table: Table) -> list[list[Any]]:
    return rows(gateway, f"SELECT id, kind, to_json(payload) FROM {named(table)} ORDER BY id")


def files_of(table: Table) -> list[str]:
    head = table.refresh().current_snapshot()
    assert head is not None
    return [
        entry.data_file.file_path.removeprefix("file://")
        for manifest in head.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.file_path.endswith(".parquet")
    ]


def test_the_rest_is_a_variant_that_every_reader_looks_into(gateway: httpx.Client, events: Table) -> None:
    first = {"id": 1, "kind": "a", "user": {"name": "Zoë", "tags": ["x", None]}, "n": 12345678901234567890}
    sent(gateway, events, first, {"id": 2, "kind": "b"})
    text = '{"n":12345678901234567890,"user":{"name":"Zoë","tags":["x",null]}}'
    assert found(gateway, events) == [[1, "a", text], [2, "b", None]]
    name = "variant_get(payload, '$.user.name', 'string')"
    asked = (
        f"SELECT {name}, variant_get(payload, '$.n', 'decimal(20)') FROM {named(events)} WHERE {name} = 'Zoë'"
    )
    assert rows(gateway, asked) == [["Zoë", "12345678901234567890"]]
    assert rows(gateway, f"SELECT id FROM {named(events)} WHERE payload IS NULL") == [[2]]
    columns = gateway.get(f"/tables/{named(events)}").json()["columns"]
    assert [column["type"] for column in columns] == ["long", "string", "variant"]
    [path] = files_of(events)
    with duckdb.connect() as connection:
        kinds = connection.from_parquet(path).types
        read = "SELECT payload.user.name::VARCHAR FROM read_parquet(?) ORDER BY id"
        [one, two] = connection.execute(read, [path]).fetchall()
    assert (str(kinds[2]), one, two) == ("VARIANT", ("Zoë",), (None,))
    assert "payload (Variant(1))" in str(pq.ParquetFile(path).schema)


def test_the_commits_keep_the_type(gateway: httpx.Client, events: Table) -> None:
    before = events.metadata.schemas
    for number in range(2):
        sent(gateway, events, {"id": number, "x": number})
    assert events.refresh().metadata.schemas == before
    assert events.schema().find_type("payload") == VariantType()
    written = json.loads(Path(events.metadata_location.removeprefix("file://")).read_text("utf-8"))
    assert written["schemas"][0]["fields"][2] == {
        "id": 3,
        "name": "payload",
        "type": "variant",
        "required": False,
    }


def test_records_replace_and_delete_with_their_rest(gateway: httpx.Client, events: Table) -> None:
    when = {"deleteWhen": {"field": "op", "values": ["D"]}}
    sent(gateway, events, {"id": 1, "x": 1}, {"id": 2, "x": 2}, {"id": 3, "x": 3})
    changes = {"op": "U", "id": 1, "y": True}, {"op": "D", "id": 2, "y": 1}, {"id": 3, "kind": "c"}
    sent(gateway, events, *changes, **UPSERT, **when)
    assert found(gateway, events) == [[1, None, '{"op":"U","y":true}'], [3, "c", None]]


def test_a_late_record_loses_with_its_rest(gateway: httpx.Client, events: Table) -> None:
    by_kind = UPSERT | {"orderBy": "kind"}
    sent(gateway, events, {"id": 1, "kind": "b", "x": "b"}, {"id": 2, "kind": "a", "x": 1}, **by_kind)
    # One of the two is late, so its file is written again without it.
    sent(gateway, events, {"id": 1, "kind": "a", "x": "a"}, {"id": 2, "kind": "b", "x": 2}, **by_kind)
    assert found(gateway, events) == [[1, "b", '{"x":"b"}'], [2, "b", '{"x":2}']]


def test_writes_without_the_column_leave_it_out(gateway: httpx.Client, events: Table) -> None:
    for more in ({"writeSchema": ["id"]}, {"writeSchema": "infer"}, {}):
        sent(gateway, events, {"id": 1}, rest=None, **more)
    sent(gateway, events, {"id": 1, "payload": None}, rest=None)
    assert rows(gateway, f"SELECT count(*), count(payload) FROM {named(events)}") == [[4, 0]]
    refused = send(gateway, events, {"id": 1, "payload": {"x": 1}}, {"id": 2}, rest=None)
    assert [error["pointer"] for error in problem(refused, 422, "RECORDS_INVALID")["errors"]] == [
        "/records/0"
    ]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"x": int("9" * 39)}, "a number of more than 38 digits"),
        ({"payload": 1}, "takes the rest of the record"),
        ({"x": "\ud800"}, "not Unicode"),
    ],
    ids=["digits", "itself", "surrogate"],
)
def test_a_rest_that_no_variant_holds_does_not_fit(
    gateway: httpx.Client, events: Table, record: dict[str, Any], reason: str
) -> None:
    body = {"table": named(events), "rest": "payload", "records": [{"id": 1, "x": 1}, {"id": 2} | record]}
    kind = {"Content-Type": "application/json"}
    refused = gateway.post("/ingest", content=json.dumps(body).encode(), headers=kind)
    [error] = problem(refused, 422, "RECORDS_INVALID")["errors"]
    assert error["pointer"] == "/records/1"
    assert reason in error["detail"]
    assert events.refresh().current_snapshot() is None


def test_a_variant_identifies_no_row(gateway: httpx.Client, events: Table) -> None:
    refused = send(gateway, events, {"id": 1}, rest=None, mode="upsert", equalityFields=["payload"])
    problem(refused, 422, "WRITE_SCHEMA_INVALID")
    assert "variants cannot be compared" in refused.text


def test_each_format_has_a_rest(gateway: httpx.Client, events: Table) -> None:
    batch = pa.RecordBatch.from_pylist([{"id": 3, "x": 1, "y": None, "z": Decimal("1.50")}])
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
        answer = gateway.post("/ingest", params=query, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 200, answer.text
    assert found(gateway, events) == [
        [1, None, '{"x":1,"y":null}'],
        [2, None, '{"x":"1"}'],
        [3, None, '{"x":1,"z":1.5}'],
    ]


def test_a_body_that_executors_read_has_a_rest(gateway: httpx.Client, events: Table) -> None:
    count, text = 15_000, "x" * 80
    records = [json.dumps({"id": number, "kind": "a", "text": text, "n": number}) for number in range(count)]
    query = {"table": named(events), "rest": "payload"}
    body, kind = "\n".join(records).encode(), {"Content-Type": "application/x-ndjson"}
    assert gateway.post("/ingest", params=query, content=body, headers=kind).status_code == 200
    n = "variant_get(payload, '$.n', 'long')"
    sql = f"SELECT count(*), count_if({n} = id), max({n}) FROM {named(events)}"
    assert rows(gateway, sql) == [[count, count, count - 1]]


def test_compaction_keeps_rests(gateway: httpx.Client, events: Table) -> None:
    for number in range(3):
        sent(gateway, events, {"id": number, "x": [number]})
    sent(gateway, events, {"id": 9}, rest=None, writeSchema=["id"])
    before = found(gateway, events)
    compact(gateway, events)
    assert found(gateway, events) == before
    sent(gateway, events, {"id": 10, "x": 1})
    assert found(gateway, events) == sorted([*before, [10, None, '{"x":1}']])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.text(st.characters(codec="utf-8"), max_size=80)
    | st.integers(-(10**38) + 1, 10**38 - 1)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=12,
)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rests=st.lists(st.dictionaries(st.text(min_size=1), VALUES, min_size=1), min_size=40, max_size=60))
def test_whatever_the_rest_is_it_is_read_as_it_was(
    gateway: httpx.Client, newer: CachingSqlCatalog, rests: list[dict[str, Any]]
) -> None:
    for table in made(newer, SCHEMA):
        taken = ("id", "kind", "payload")
        expected = [{name: value for name, value in rest.items() if name not in taken} for rest in rests]
        sent(gateway, table, *({"id": number, **rest} for number, rest in enumerate(expected)))
        read = {number: text for number, _, text in found(gateway, table)}
        assert len(read) == len(expected)
        for number, rest in enumerate(expected):
            assert (json.loads(read[number]) if read[number] else {}) == rest


def test_a_table_with_variants_is_pruned_and_prunes(gateway: httpx.Client, events: Table) -> None:
    sent(gateway, events, *({"id": number, "kind": "ab"[number % 2], "x": number} for number in range(6)))
    name = named(events)
    condition = "d.kind = 'a' AND variant_get(d.payload, '$.x', 'int') < 4"
    join = f"FROM {name} f JOIN {name} d ON f.id = d.id WHERE {condition}"
    answer = ask(gateway, f"SELECT f.id, to_json(f.payload) {join} ORDER BY f.id")
    assert answer["result"]["rows"] == [[number, f'{{"x":{number}}}'] for number in (0, 2)]
