from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.problems.http_errors import STATUS
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import TooManyQueries
from service.errors.statement_errors import SqlTooLarge
from service.errors.unavailable import EngineNotReady
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

DOCUMENT = Path(__file__).parents[4] / "docs" / "reference" / "errors.md"


def classes(base: type[GatewayError] = GatewayError) -> Iterator[type[GatewayError]]:
    yield base
    for subclass in base.__subclasses__():
        if subclass.__module__.startswith(("service.errors", "api.http.problems.http_errors")):
            yield from classes(subclass)


def test_every_error_has_a_status() -> None:
    assert set(classes()) == set(STATUS)


def test_classes_of_one_code_have_one_status() -> None:
    by_code: dict[str, set[int]] = {}
    for error_type, status in STATUS.items():
        by_code.setdefault(error_type.code, set()).add(status)
    assert {code for code, statuses in by_code.items() if len(statuses) > 1} == set()


def test_the_documentation_lists_every_code_with_its_status() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\d{3}) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    # A caller that cancels a query gets its status, and not a problem.
    answered = {error_type.code: str(int(status)) for error_type, status in STATUS.items()} | {
        "QUERY_CANCELED": "200"
    }
    assert dict(rows) == answered
    assert len(rows) == len(dict(rows))


def filtering(**said: Any) -> dict[str, Any]:
    return {"sql": "select 1", "dynamicFiltering": said}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({}, "/sql", "Field required"),
        ({"sql": 5}, "/sql", "Input should be a valid string"),
        ({"sql": "select 1", "rowLimit": "5"}, "/rowLimit", "Input should be a valid integer"),
        ({"sql": "select 1", "rowLimit": 0}, "/rowLimit", "Input should be greater than or equal to 1"),
        ({"sql": "select 1", "rowLimit": 1_000_001}, "/rowLimit", "1000000 rows at most"),
        ({"sql": "select 1", "row_limit": 5}, "/row_limit", "There is no field of this name"),
        ({"sql": "select 1", "reuse": True}, "/reuse", "There is no field of this name"),
        ({"sql": "select 1", "waitTimeout": 10}, "/waitTimeout", "a duration is a string"),
        ({"sql": "select 1", "waitTimeout": "51s"}, "/waitTimeout", "50s at most"),
        ({"sql": "select 1", "timeout": "1h"}, "/timeout", "a duration is a string"),
        ({"sql": "select 1", "timeout": "0s"}, "/timeout", "at least 1ms"),
        ({"sql": "select 1", "timeout": "3601s"}, "/timeout", "at most"),
        ({"sql": "select 1", "format": "XML"}, "/format", "Input should be 'JSON', 'CSV' or 'ARROW_STREAM'"),
        ({"sql": "select 1", "requestId": "x"}, "/requestId", "Input should be a valid UUID"),
        ({"sql": "select 1", "parameters": 5}, "/parameters", "Input should be a valid dictionary or"),
        ({"sql": "select 1", "parameters": {"a": {"value": 1}}}, "/parameters/a/type", "Field required"),
        (
            {"sql": "select 1", "parameters": [{"value": 1, "type": "D; DROP"}]},
            "/parameters/0/type",
            "such as DATE",
        ),
        ({"sql": "select 1", "parameters": [1] * 1001}, "/parameters", "1000 parameters at most"),
        ({"sql": "select 1", "tags": {"a": 1}}, "/tags/a", "Input should be a valid string"),
        ({"sql": "select 1", "tags": {str(number): "" for number in range(33)}}, "/tags", "at most 32"),
        (filtering(maxInList=201), "/dynamicFiltering/maxInList", "200 keys at most"),
        (filtering(maxRanges=33), "/dynamicFiltering/maxRanges", "32 ranges at most"),
        (filtering(maxRanges=0), "/dynamicFiltering/maxRanges", "greater than or equal to 1"),
        (filtering(maxFilterBytes=2**25 + 1), "/dynamicFiltering/maxFilterBytes", "33554432 bytes at most"),
        (filtering(collectTimeout="11s"), "/dynamicFiltering/collectTimeout", "10000ms at most"),
        (filtering(rewrites=["ALL"]), "/dynamicFiltering/rewrites/0", "Input should be 'READ_OPTIONS'"),
        ({"sql": "select 1", "a/b~c": 1}, "/a~1b~0c", "There is no field of this name"),
    ],
)
async def test_a_wrong_field_is_named_by_a_pointer(
    client: httpx.AsyncClient, gateway: FakeGateway, body: dict[str, Any], pointer: str, detail: str
) -> None:
    response = await client.post("/query", json=body)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "INVALID_REQUEST")
    assert response.headers["content-type"] == "application/problem+json"
    found = [error["detail"] for error in problem["errors"] if error["pointer"] == pointer]
    assert len(found) == 1
    assert detail in found[0]
    assert not gateway.queries.by_id


@pytest.mark.anyio
@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"[" * 10_000])
async def test_what_is_not_json_is_a_400(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post("/query", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "NOT_JSON")


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/query", "/explain", "/ingest", "/streams"])
@pytest.mark.parametrize("body", [b"[]", b"[{}]", b"5", b'"text"', b"null"])
async def test_json_that_is_no_object_is_reported_in_a_sentence(
    client: httpx.AsyncClient, path: str, body: bytes
) -> None:
    response = await client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    reported = "The body is JSON, but not an object. Send one JSON object."
    assert response.json()["detail"] == reported
    assert response.json()["errors"] == [{"detail": reported, "pointer": ""}]


@pytest.mark.anyio
async def test_half_of_a_surrogate_pair_is_refused_in_names_and_values(client: httpx.AsyncClient) -> None:
    body = rb'{"sql": "select \ud800", "\udc00": 1}'
    response = await client.post("/query", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")


@pytest.mark.anyio
@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
async def test_another_content_type_is_a_415(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    response = await client.post("/query", content=b'{"sql": "select 1"}', headers=headers)
    assert (response.status_code, response.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.anyio
async def test_a_415_lists_what_is_taken_there(client: httpx.AsyncClient) -> None:
    xml = {"Content-Type": "text/xml"}
    ingest = await client.post("/ingest", content=b"<a/>", headers=xml)
    query = await client.post("/query", content=b"<a/>", headers=xml)
    assert (ingest.status_code, query.status_code) == (415, 415)
    taken = ("application/json", "application/x-ndjson", "text/csv", "arrow.stream", "parquet")
    assert [media_type for media_type in taken if media_type not in ingest.json()["detail"]] == []
    assert "Send application/json." in query.json()["detail"]


@pytest.mark.anyio
async def test_unknown_addresses_and_methods_are_problems(client: httpx.AsyncClient) -> None:
    nowhere = await client.get("/nowhere")
    wrong = await client.put("/query")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "ROUTE_NOT_FOUND")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert wrong.headers["allow"] == "POST"
    assert nowhere.json()["instance"] == "/nowhere"


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/tables?catalogue=lake", "/tables/a.b.c?x=1", "/explain/x"])
async def test_a_wrong_address_or_query_string_is_a_422(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")


@pytest.mark.anyio
async def test_an_sql_text_that_is_too_large_is_a_413(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    sql = "x" * (1024 * 1024 + 1)
    gateway.queries.failures[sql] = SqlTooLarge("It has 1048577 bytes.")
    problem = (await client.post("/query", json={"sql": sql})).json()
    assert (problem["status"], problem["code"], problem["detail"]) == (
        413,
        "SQL_TOO_LARGE",
        "It has 1048577 bytes.",
    )


@pytest.mark.anyio
async def test_a_body_that_is_too_large_is_a_413_before_it_is_read(
    running: Running, gateway: FakeGateway
) -> None:
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 1
            yield b" " * 1024

    json_type = {"Content-Type": "application/json"}
    async with running(Settings(max_body_bytes=4096)) as client:
        announced = await client.post("/query", content=b" " * 5000, headers=json_type)
        chunked = await client.post("/query", content=pieces(), headers=json_type)
    assert (announced.status_code, announced.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert (chunked.status_code, chunked.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert sent < 10
    assert not gateway.queries.by_id


@pytest.mark.anyio
async def test_a_defect_is_a_500_that_tells_nothing(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.refusal = RuntimeError("jdbc:postgresql://me:secret@db")
    response = await client.post("/query", json={"sql": "select 1"})
    assert (response.status_code, response.json()["code"]) == (500, "INTERNAL")
    assert "secret" not in response.text
    assert response.headers["x-request-id"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("refusal", "status", "seconds"),
    [(TooManyQueries(retry_after_s=3), 429, "3"), (EngineNotReady(), 503, "5")],
)
async def test_what_passes_says_when_to_come_back(
    client: httpx.AsyncClient, gateway: FakeGateway, refusal: GatewayError, status: int, seconds: str
) -> None:
    gateway.queries.refusal = refusal
    response = await client.post("/query", json={"sql": "select 1"})
    assert (response.status_code, response.headers["retry-after"]) == (status, seconds)
