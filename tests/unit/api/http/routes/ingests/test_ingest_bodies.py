"""Bodies that contain only records, over a gateway that accepts all of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import anyio
import anyio.to_thread
import httpx
import pytest
import zstandard

from api.bootstrap.settings import Settings
from service.errors.ingest_errors import RecordsInvalid
from service.model.ingest.ingest import BadRecord, OnError
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    IngestRequest,
    Route,
    StreamedRecords,
)
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.tables.table_creation import TableLayout
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

TABLE = "lake.logs.events"
LINES = b'{"id":1}\n{"id":2}\n'
NDJSON = "application/x-ndjson"


async def send(
    client: httpx.AsyncClient,
    body: bytes = LINES,
    content_type: str = NDJSON,
    encoding: str | None = None,
    **query: str,
) -> httpx.Response:
    headers = {"Content-Type": content_type} | ({"Content-Encoding": encoding} if encoding else {})
    return await client.post("/ingest", content=body, headers=headers, params={"table": TABLE} | query)


def streamed(gateway: FakeGateway) -> tuple[IngestRequest, StreamedRecords]:
    [request] = gateway.ingests.requests
    assert isinstance(request.shared, StreamedRecords)
    return request, request.shared


@pytest.mark.parametrize(
    ("content_type", "record_format"),
    [
        (NDJSON, RecordFormat.NDJSON),
        ("application/jsonl", RecordFormat.NDJSON),
        ("text/csv; charset=utf-8; header=present", RecordFormat.CSV),
        ("Application/vnd.apache.arrow.stream", RecordFormat.ARROW_STREAM),
        ("application/vnd.apache.parquet", RecordFormat.PARQUET),
    ],
)
async def test_the_content_type_says_what_the_records_are(
    client: httpx.AsyncClient, gateway: FakeGateway, content_type: str, record_format: RecordFormat
) -> None:
    response = await send(client, b"any", content_type)
    assert (response.status_code, response.json()["state"]) == (200, "COMMITTED")
    assert streamed(gateway)[1].record_format is record_format
    assert gateway.ingests.bodies == [b"any"]
    assert not gateway.ingests.spools.open_ones


@pytest.mark.parametrize(
    ("encoding", "compression"),
    [
        (None, Compression.NONE),
        ("identity", Compression.NONE),
        ("gzip", Compression.GZIP),
        ("zstd", Compression.ZSTD),
    ],
)
async def test_compressed_bodies_are_stored_as_they_are(
    client: httpx.AsyncClient, gateway: FakeGateway, encoding: str | None, compression: Compression
) -> None:
    assert (await send(client, b"any", encoding=encoding)).status_code == 200
    assert streamed(gateway)[1].compression is compression


async def test_text_is_utf_8_alone(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    assert (await send(client, content_type=f"{NDJSON}; charset=UTF-8")).status_code == 200
    response = await send(client, content_type=f"{NDJSON}; charset=latin-1")
    assert (response.status_code, response.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert len(gateway.ingests.requests) == 1


async def test_other_encodings_are_refused(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    for content_type in (NDJSON, "application/json"):
        response = await send(client, content_type=content_type, encoding="br")
        assert (response.status_code, response.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert not gateway.ingests.requests


@pytest.mark.parametrize(
    ("write_schema", "expected"),
    [
        ("infer", InferredColumns.INFER),
        ("id,place.city", ColumnNames(("id", "place.city"))),
        ('["a,b"]', ColumnNames(("a,b",))),
    ],
)
async def test_the_query_string_has_what_else_a_request_says(
    client: httpx.AsyncClient, gateway: FakeGateway, write_schema: str, expected: object
) -> None:
    request_id = str(uuid4())
    await send(client, writeSchema=write_schema, branch="audit", requestId=request_id, onError="DEAD_LETTER")
    request, _ = streamed(gateway)
    [write] = request.writes
    assert (write.write_schema, write.key.branch, str(write.key.table)) == (expected, "audit", TABLE)
    assert (str(request.request_id), request.on_error) == (request_id, OnError.DEAD_LETTER)


async def test_an_upsert_of_a_body_names_its_equality_fields(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    for fields, expected in (("id,day", ("id", "day")), ("infer", ("infer",)), ('["a,b"]', ("a,b",))):
        await send(client, mode="upsert", equalityFields=fields)
        [write] = gateway.ingests.requests[-1].writes
        assert (write.is_upsert, write.equality_fields) == (True, expected)


async def test_a_write_schema_may_be_icebergs_json(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    await send(client, writeSchema=json.dumps({"fields": [{"id": 1, "name": "id"}]}))
    assert isinstance(streamed(gateway)[0].writes[0].write_schema, ColumnFields)


async def test_a_schema_and_what_comes_with_it_are_json(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    schema = json.dumps({"fields": [{"name": "id"}]})
    response = await send(client, schema=schema, evolve="true", create='{"properties": {"comment": "a"}}')
    assert response.status_code == 200, response.text
    requested = streamed(gateway)[0].writes[0].schema
    assert requested is not None
    assert requested.schema is not None
    assert [column.name for column in requested.schema.columns] == ["id"]
    assert (requested.evolves, requested.create) == (True, TableLayout(properties={"comment": "a"}))


async def test_a_route_is_json(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    to = {"http": {"table": "lake.logs.http"}, "*": {"table": TABLE, "writeSchema": ["id"]}}
    route = json.dumps({"field": "kind", "to": to})
    response = await client.post(
        "/ingest", content=LINES, headers={"Content-Type": NDJSON}, params={"route": route}
    )
    assert response.status_code == 200
    request, _ = streamed(gateway)
    assert request.route == Route("kind", {"http": 0}, 1)
    assert [str(write.key.table) for write in request.writes] == ["lake.logs.http", TABLE]
    assert request.writes[0].place == "/query/route/to/http"


async def test_records_of_json_are_routed_too(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    route = {"field": "kind", "to": {"a/b": {"table": TABLE}}}
    records = [{"id": 1, "kind": "a/b"}]
    assert (await client.post("/ingest", json={"route": route, "records": records})).status_code == 200
    [request] = gateway.ingests.requests
    assert isinstance(request.shared, JsonRecords)
    assert (list(request.shared), request.route) == (records, Route("kind", {"a/b": 0}))
    assert request.writes[0].place == "/route/to/a~1b"


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"table": "events"}, "/query/table"),
        ({"wait": "SOMETIME"}, "/query/wait"),
        ({"extra": "1"}, "/query/extra"),
        ({"requestId": "7"}, "/query/requestId"),
        ({"writeSchema": "[1"}, "/query/writeSchema"),
        ({"route": "{"}, "/query/route"),
        ({"schema": "{"}, "/query/schema"),
        ({"evolve": "yes"}, "/query/evolve"),
        ({"evolve": "1"}, "/query/evolve"),
        ({"evolve": "true"}, "/query/evolve"),
        ({"create": "[]"}, "/query/create"),
        ({"onError": "IGNORE"}, "/query/onError"),
    ],
)
async def test_a_query_string_that_is_not_understood_is_rejected_with_the_place(
    client: httpx.AsyncClient, gateway: FakeGateway, query: dict[str, Any], pointer: str
) -> None:
    response = await send(client, **query)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    assert pointer in [error["pointer"] for error in response.json()["errors"]]
    assert not gateway.ingests.requests


async def test_a_parameter_that_stands_there_twice_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.post(
        f"/ingest?table={TABLE}&table={TABLE}", content=LINES, headers={"Content-Type": NDJSON}
    )
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/query/table")


async def test_bad_records_are_reported_by_their_lines(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    bad = [BadRecord("", "no JSON", line=2, column=7), BadRecord("", "id is required", row=3)]
    gateway.ingests.refusal = RecordsInvalid("2 of 3 records do not fit.", bad)
    response = await send(client)
    assert (response.status_code, response.json()["code"]) == (422, "RECORDS_INVALID")
    assert response.json()["errors"] == [
        {"detail": "no JSON", "line": 2, "column": 7},
        {"detail": "id is required", "row": 3},
    ]
    assert not gateway.ingests.spools.open_ones


async def test_the_same_body_has_the_same_fingerprint(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    sent: list[tuple[bytes, dict[str, Any]]] = [
        (LINES, {}),
        (LINES, {"wait": "ACCEPTED"}),
        (b'{"id":3}', {}),
        (LINES, {"branch": "b"}),
        (LINES, {"content_type": "text/csv"}),
    ]
    for body, asked in sent:
        await send(client, body, requestId=str(uuid4()), **asked)
    first, second, *others = (request.fingerprint for request in gateway.ingests.requests)
    assert first == second
    assert len({first, *others}) == 4


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_a_body_without_a_length_is_taken_in_parts(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    part = b"x" * 700_000
    headers = {"Content-Type": NDJSON}
    response = await client.post(
        "/ingest", content=chunks(part, part, b"", part), headers=headers, params={"table": TABLE}
    )
    assert response.status_code == 200
    assert gateway.ingests.bodies == [part * 3]


async def test_records_may_be_larger_than_other_bodies(running: Running, gateway: FakeGateway) -> None:
    settings = Settings(max_body_bytes=1024, ingest_max_body_bytes=4096)
    async with running(settings) as client:
        assert (await send(client, b"x" * 4096)).status_code == 200
        assert (await send(client, b"x" * 4097)).json()["code"] == "BODY_TOO_LARGE"
        unannounced = await client.post(
            "/ingest", content=chunks(b"x" * 5000), headers={"Content-Type": NDJSON}, params={"table": TABLE}
        )
        assert (unannounced.status_code, unannounced.json()["code"]) == (413, "BODY_TOO_LARGE")
        assert (await send(client, b"x" * 2000, "application/json")).status_code == 413
    assert not gateway.ingests.spools.open_ones


async def test_more_bytes_at_once_than_there_is_room_for_are_refused_for_now(
    running: Running, gateway: FakeGateway
) -> None:
    settings = Settings(ingest_max_body_bytes=4096, ingest_max_spooled_bytes=4096)
    gateway.ingests.may_go_on.clear()
    async with running(settings) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(send, client, b"x" * 3000)
            await anyio.to_thread.run_sync(gateway.ingests.has_begun.wait, 20)
            refused = await send(client, b"x" * 1097)
            assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_INGESTS")
            assert refused.headers["Retry-After"] == "1"
            assert (await send(client, b"{}", "application/json")).status_code == 422
            gateway.ingests.may_go_on.set()
        assert (await send(client, b"x" * 4096)).status_code == 200


async def test_a_full_disk_is_reported_and_nothing_is_stored(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.spools.is_full = True
    response = await send(client)
    assert (response.status_code, response.json()["code"]) == (503, "STORAGE_DOWN")
    assert not gateway.ingests.spools.open_ones


def packed(encoding: str, body: bytes) -> bytes:
    return gzip.compress(body) if encoding == "gzip" else zstandard.compress(body)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_bodies_of_json_may_be_compressed(
    client: httpx.AsyncClient, gateway: FakeGateway, encoding: str
) -> None:
    body: dict[str, Any] = {"table": TABLE, "records": [{"id": 1}]}
    sent = await send(client, packed(encoding, json.dumps(body).encode()), "application/json", encoding)
    # The query string applies only to bodies that contain nothing but records.
    assert sent.status_code == 200
    assert list(gateway.ingests.requests[0].writes[0].records) == [{"id": 1}]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_compression_hides_neither_size_nor_damage(running: Running, encoding: str) -> None:
    async with running(Settings(max_body_bytes=10_000)) as client:
        bomb = await send(client, packed(encoding, b" " * 10_001), "application/json", encoding)
        assert (bomb.status_code, bomb.json()["code"]) == (413, "BODY_TOO_LARGE")
        whole = packed(encoding, json.dumps([str(uuid4()) for _ in range(100)]).encode())
        for damaged in (whole[:-6], b"rubbish", whole[:-20] + b"x" * 20):
            response = await send(client, damaged, "application/json", encoding)
            assert (response.status_code, response.json()["code"]) == (400, "NOT_JSON")
            assert response.json()["detail"].startswith(f"The body cannot be read as {encoding}")
