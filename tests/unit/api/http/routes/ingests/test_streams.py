"""The HTTP interface of sources and streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.stream_standing import StreamLag
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

FOLDER = {"directory": "file:///in"}
JSON = {"Content-Type": "application/json"}
STREAM = {"name": "clicks", "table": "lake.logs.events", "source": FOLDER}


async def sent_source(client: httpx.AsyncClient, gateway: FakeGateway, **source: Any) -> SourceRecords:
    body = {"table": "lake.logs.events", "source": {"uri": "s3://b/*", "format": "ndjson"} | source}
    answer = await client.post("/ingest", json=body)
    assert answer.status_code == 200, answer.text
    executed = gateway.ingests.requests[-1].executed
    assert isinstance(executed, SourceRecords)
    return executed


async def test_a_source_is_files_in_a_format(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    assert await sent_source(client, gateway) == SourceRecords("s3://b/*", RecordFormat.NDJSON)
    found = await sent_source(client, gateway, format="csv", compression="zstd")
    assert found == SourceRecords("s3://b/*", RecordFormat.CSV, Compression.ZSTD)
    assert (await sent_source(client, gateway, format="json")).record_format is RecordFormat.NDJSON


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "lake.logs.events", "source": {"uri": "s3://b/*"}},
        {"table": "lake.logs.events", "source": {"uri": "", "format": "csv"}},
        {"table": "lake.logs.events", "source": {"uri": "s3://b/*", "format": "xml"}},
        {"table": "lake.logs.events", "source": {"uri": "s3://b/*", "format": "csv"}, "records": [{}]},
        {"source": {"uri": "s3://b/*", "format": "csv"}},
    ],
)
async def test_a_source_that_is_none_is_refused(client: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    answer = await client.post("/ingest", json=wrong)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")


async def test_a_stream_is_made_found_listed_stopped_and_resumed(client: httpx.AsyncClient) -> None:
    made = await client.post("/streams", json=STREAM)
    assert made.status_code == 201, made.text
    answer = made.json()
    assert (answer["name"], answer["state"], answer["error"]) == ("clicks", "RUNNING", None)
    assert answer["definition"]["source"]["directory"] == "file:///in"
    assert answer["definition"]["interval"] == "60s"
    link = answer["links"]["self"]
    assert (await client.get(link)).json() == answer
    assert (await client.get("/streams")).json() == {"streams": [answer]}
    assert (await client.delete(link)).json()["state"] == "STOPPED"
    assert (await client.post(answer["links"]["resume"])).json() == answer


async def test_a_stream_may_be_sent_again_under_its_request_id(client: httpx.AsyncClient) -> None:
    sent = STREAM | {"requestId": str(uuid4())}
    first = await client.post("/streams", json=sent)
    again = await client.post("/streams", json=sent)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "requestId" not in first.json()["definition"]
    assert len((await client.get("/streams")).json()["streams"]) == 1
    wrong = await client.post("/streams", json=STREAM | {"requestId": "1"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "INVALID_REQUEST")


async def test_the_lag_of_a_stream_that_runs_here_is_shown(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    made = (await client.post("/streams", json=STREAM)).json()
    assert made["lag"] is None
    gateway.streams.lags[UUID(made["streamId"])] = StreamLag(5_300, 12)
    for found in (
        (await client.get(made["links"]["self"])).json(),
        (await client.get("/streams")).json()["streams"][0],
    ):
        assert found["lag"] == {"lagMs": 5_300, "messages": 12}


async def test_a_route_and_a_topic_are_taken(client: httpx.AsyncClient) -> None:
    body = {
        "source": {"kafka": {"bootstrapServers": "kafka:9092", "topic": "clicks"}},
        "route": {"field": "kind", "to": {"*": {"table": "lake.logs.events", "writeSchema": ["id"]}}},
        "interval": "500ms",
    }
    made = await client.post("/streams", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["definition"]["route"]["to"]["*"]["writeSchema"] == ["id"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"interval": "99ms"},
        {"interval": "10 minutes"},
        {"source": {"directory": "file:///in", "format": "xml"}},
        {"source": {"kafka": {"bootstrapServers": "kafka:9092", "topic": "a"}, "format": "csv"}},
        {"source": {"kafka": {"bootstrapServers": "kafka:9092", "topic": "a b"}}},
        {"source": {"kafka": {"bootstrapServers": "k:1", "topic": "a", "kafka.sasl.jaas.config": "x"}}},
        {"mode": "merge"},
        {"table": "events"},
        {"records": [{}]},
    ],
)
async def test_a_stream_that_is_none_is_refused(client: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    answer = await client.post("/streams", json=STREAM | wrong)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")


@pytest.mark.parametrize("text", ["a\ud800", "a\0"])
@pytest.mark.parametrize(
    ("more", "place"),
    [
        (lambda text: {"writeSchema": [text]}, "/writeSchema/0"),
        (lambda text: {"schema": {"fields": [], "more": {"x": [text]}}}, "/schema/more/x/0"),
    ],
)
async def test_texts_that_no_store_could_keep_are_reported_with_their_places(
    client: httpx.AsyncClient, more: Callable[[str], dict[str, Any]], place: str, text: str
) -> None:
    answer = await client.post("/streams", content=json.dumps(STREAM | more(text)), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert place in [error["pointer"] for error in answer.json()["errors"]]


BY_ROUTE = {"route": {"field": "k", "to": {"*": {"table": "lake.logs.events"}}}, "source": FOLDER}


@pytest.mark.parametrize("form", [STREAM, BY_ROUTE], ids=["one table", "routed"])
@pytest.mark.parametrize(
    ("wrong", "places"),
    [
        ({"bogus": 1}, ["/bogus"]),
        ({"interval": "99ms"}, ["/interval"]),
        ({"source": FOLDER | {"format": "xml"}}, ["/source/format"]),
        ({"source": {"kafka": {}}}, ["/source/kafka/bootstrapServers", "/source/kafka/topic"]),
    ],
)
async def test_a_mistake_in_one_form_of_a_stream_is_not_reported_as_those_of_all(
    client: httpx.AsyncClient, form: dict[str, Any], wrong: dict[str, Any], places: list[str]
) -> None:
    answer = await client.post("/streams", json=form | wrong)
    assert [error["pointer"] for error in answer.json()["errors"]] == places
    assert "Value error" not in answer.text


async def test_streams_that_are_not_there_are_reported(client: httpx.AsyncClient) -> None:
    for answer in (
        await client.get(f"/streams/{uuid4()}"),
        await client.delete(f"/streams/{uuid4()}"),
        await client.post(f"/streams/{uuid4()}/resume"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "STREAM_NOT_FOUND")
