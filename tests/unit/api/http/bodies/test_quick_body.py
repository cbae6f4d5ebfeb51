"""The fast parser of bodies makes the same request as the general one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from pydantic import TypeAdapter

from api.http.bodies.json_request import body_json
from api.http.bodies.quick_body import AT_MOST_BYTES, QuickBody, quick_body, quick_request
from api.http.problems.http_errors import NotJson
from api.http.requests.ingest_request import ingest_request
from api.http.schemas.ingests.ingest_request import IngestBody
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.errors.gateway_error import GatewayError
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.json_records import JsonRecords
from tests.fakes.gateway import FakeGateway

TABLE = "lake.logs.events"
ONE: dict[str, Any] = {"table": TABLE, "records": [{"id": 1}, {"id": 2, "note": "naïve"}]}
ROUTED: dict[str, Any] = {
    "route": {"field": "kind", "to": {"http": {"table": TABLE}, "*": {"table": TABLE, "branch": "rest"}}},
    "records": [{"kind": "http"}, {"kind": 1}],
}
MANY: dict[str, Any] = {"writes": [ONE, {"table": "lake.logs.others", "records": [{"id": 3}]}]}
BODIES: Any = TypeAdapter(IngestBody)


def usually(data: bytes) -> IngestRequest:
    return ingest_request(BODIES.validate_python(body_json(data)), schema_from_json)


def plain(request: IngestRequest) -> IngestRequest:
    """Returns the request with all records decoded."""
    writes = tuple(replace(write, records=list(write.records)) for write in request.writes)
    shared = list(request.shared) if isinstance(request.shared, JsonRecords | list) else None
    return replace(request, writes=writes, shared=shared)


def quickly(data: bytes) -> IngestRequest | None:
    quick = quick_body(data)
    return None if quick is None else plain(quick_request(quick, schema_from_json))


@pytest.mark.parametrize(
    "body",
    [
        ONE,
        ROUTED,
        MANY,
        {**ONE, "writeSchema": ["id"], "branch": "audit", "wait": "ACCEPTED", "onError": "DEAD_LETTER"},
        {
            **ONE,
            "writeSchema": "infer",
            "schema": {"fields": [{"name": "id", "type": "long"}]},
            "evolve": True,
        },
        {**ONE, "mode": "upsert", "equalityFields": ["id"]},
        {**ONE, "requestId": str(uuid4())},
        {**ROUTED, "requestId": str(uuid4())},
        {**MANY, "requestId": str(uuid4())},
    ],
)
def test_a_body_that_is_understood_at_once_is_the_same_request(body: Mapping[str, Any]) -> None:
    data = json.dumps(body).encode()
    assert quickly(data) == plain(usually(data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"table": "lake.logs.events"}',
        json.dumps({**ONE, "records": []}).encode(),
        json.dumps({**ONE, "records": [1]}).encode(),
        json.dumps({**ONE, "extra": 1}).encode(),
        json.dumps({**ONE, **ROUTED}).encode(),
        json.dumps({**ONE, "writes": [ONE]}).encode(),
        json.dumps({**ONE, "table": ""}).encode(),
        json.dumps({"table": TABLE, "source": {"uri": "s3://a/b", "format": "json"}}).encode(),
        json.dumps(ONE, indent=1).encode(),
        json.dumps(ONE).encode()[:-1],
        json.dumps(ONE).encode() + b"x",
        json.dumps(ONE).encode("utf-16"),
        b"\xef\xbb\xbf" + json.dumps(ONE).encode(),
        b'{"table": "lake.logs.events", "records": [{"id": NaN}]}',
        b'{"table": "a.b.c", "table": "lake.logs.events", "records": [{"id": 1}]}',
        b'{"writes": [{"table": "a.b.c", "records": [{"id": 1}], "records": [{"id": 2}]}]}',
        b'{"table": "lake.logs.events", "records": [{"id": "\xff"}]}',
        json.dumps({**ONE, "records": [{"id": "x" * AT_MOST_BYTES}]}).encode(),
    ],
)
def test_what_is_not_understood_at_once_goes_the_usual_way(data: bytes) -> None:
    assert quick_body(data) is None


VALUES = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(), some.floats(allow_nan=False), some.text()),
    lambda inner: some.one_of(
        some.lists(inner, max_size=3), some.dictionaries(some.text(), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = some.lists(some.dictionaries(some.text(), VALUES, max_size=4), min_size=0, max_size=4)
HEADS = some.fixed_dictionaries(
    {},
    optional={
        "table": some.sampled_from([TABLE, "a.b", "", 1]),
        "branch": some.sampled_from(["main", "b", "", None]),
        "wait": some.sampled_from(["ACCEPTED", "COMMITTED", "SOMETIME"]),
        "requestId": some.sampled_from([str(uuid4()), "1", None]),
        "onError": some.sampled_from(["DEAD_LETTER", "IGNORE"]),
        "writeSchema": some.sampled_from(["infer", "all", ["id"], [], [1], None]),
        "mode": some.sampled_from(["append", "upsert", "merge"]),
        "evolve": some.sampled_from([True, False, 1]),
        "route": some.sampled_from([ROUTED["route"], {}, None]),
        "records": RECORDS,
        "writes": some.lists(
            some.fixed_dictionaries({"table": some.just(TABLE), "records": RECORDS}), max_size=2
        ),
        "extra": VALUES,
    },
)


@settings(max_examples=300, deadline=None)
@given(HEADS, some.booleans(), some.data())
def test_whatever_is_understood_at_once_is_what_the_usual_way_makes_of_it(
    head: dict[str, Any], is_ascii: bool, data: some.DataObject
) -> None:
    body = json.dumps(head, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    if data.draw(some.booleans()):
        # This simulates a body that was edited by hand.
        at = data.draw(some.integers(0, len(body)))
        body = (
            body[:at]
            + data.draw(some.sampled_from([b"", b" ", b"}", b",", b"\x00", b"\n", b"\\"]))
            + body[at + 1 :]
        )
    quick = quick_body(body)
    if quick is not None:
        same(quick, body)


def same(quick: QuickBody, body: bytes) -> None:
    """Asserts that both parsers return the same request, or both reject the body."""
    try:
        parsed = body_json(body)
    except NotJson:
        # The fast parser does not decode records, so their faults appear when they are read.
        with pytest.raises(NotJson):
            [list(record) for record in quick.records]
        return
    model = BODIES.validate_python(parsed)
    try:
        expected = plain(ingest_request(model, schema_from_json))
    except GatewayError as refusal:
        with pytest.raises(type(refusal)):
            quick_request(quick, schema_from_json)
        return
    assert plain(quick_request(quick, schema_from_json)) == expected


@pytest.mark.anyio
async def test_compact_and_indented_bodies_are_answered_alike(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    headers = {"Content-Type": "application/json"}
    for indent in (None, 2):
        answer = await client.post("/ingest", content=json.dumps(ONE, indent=indent), headers=headers)
        assert (answer.status_code, answer.json()["commits"][0]["addedRecords"]) == (200, 2)
    quick, usual = gateway.ingests.requests
    assert isinstance(quick.writes[0].records, JsonRecords)
    assert not isinstance(usual.writes[0].records, JsonRecords)
    assert plain(quick) == plain(usual)


@pytest.mark.anyio
@pytest.mark.parametrize("indent", [b"", b"\n"])
@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (b'[{"d": NaN}]', "NaN has to stand in quotes"),
        (b'[{"d": [-Infinity]}]', "-Infinity has to stand in quotes"),
        (b'[{"a": 2, "a": 3}]', "the name 'a' stands twice in one object"),
        (b'[{"a": {"b": 1, "b": 1}}]', "the name 'b' stands twice in one object"),
        (b'[{"a": 1}], "records": [{"a": 2}]', "the name 'records' stands twice in one object"),
    ],
)
async def test_a_body_is_json_in_which_every_name_stands_once(
    client: httpx.AsyncClient, gateway: FakeGateway, records: bytes, reason: str, indent: bytes
) -> None:
    body = b'{"table": "lake.logs.events", ' + indent + b'"records": ' + records + b"}"
    headers = {"Content-Type": "application/json"}
    answer = await client.post("/ingest", content=body, headers=headers)
    if gateway.ingests.requests:
        # The fake does not read the records.
        with pytest.raises(NotJson, match=reason):
            list(gateway.ingests.requests[0].writes[0].records)
    else:
        assert (answer.status_code, answer.json()["code"]) == (400, "NOT_JSON")
        assert reason in answer.json()["detail"]


@pytest.mark.parametrize("spaces", ["", "\n"])
def test_other_digits_are_another_request(spaces: str) -> None:
    prints = set()
    for number in ("1.1", "1.10", "1.10000000000000000001", "1e400"):
        body = json.dumps({**ONE, "requestId": str(UUID(int=1)), "records": [{"id": 0}]})
        data = body.replace("[{", f"[{spaces}{{").replace("0}", f"{number}}}").encode()
        quick = quick_body(data)
        request = usually(data) if quick is None else quick_request(quick, schema_from_json)
        prints.add(request.fingerprint)
    assert len(prints) == 3


@pytest.mark.anyio
async def test_only_a_body_that_is_announced_as_json_is_read(client: httpx.AsyncClient) -> None:
    answer = await client.post("/ingest", content=json.dumps(ONE), headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
