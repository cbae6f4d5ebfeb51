"""Bodies that arrive too slowly, over a gateway that would accept them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.bodies.body_pace import BodyPace
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio
NDJSON = {"Content-Type": "application/x-ndjson", "Content-Length": "4096"}
JSON = {"Content-Type": "application/json"}
TABLE = {"table": "lake.logs.events"}


@pytest.fixture
async def app(gateway: FakeGateway) -> AsyncIterator[FastAPI]:
    """An app with room for one body of the announced length."""
    settings = Settings(ingest_max_body_bytes=4096, ingest_max_spooled_bytes=4096)
    made = create_app(settings, lambda: gateway)
    async with made.router.lifespan_context(made):
        await made.state.app_context.access.opened()
        yield made


def client_of(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def stopped(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    await anyio.Event().wait()


async def parts(size: int, number: int) -> AsyncIterator[bytes]:
    for _ in range(number):
        yield b" " * size


@pytest.mark.parametrize(("headers", "query"), [(NDJSON, TABLE), (JSON, {})])
async def test_a_body_that_stops_is_rejected_and_gives_its_room_back(
    app: FastAPI, gateway: FakeGateway, headers: dict[str, str], query: dict[str, str]
) -> None:
    slow = client_of(BodyPace(app, idle_s=0.01, min_bytes_per_s=0))
    response = await slow.post("/ingest", content=stopped(b'{"id": 1}'), headers=headers, params=query)
    assert (response.status_code, response.json()["code"]) == (408, "BODY_TOO_SLOW")
    assert response.headers["Connection"] == "close"
    assert not gateway.ingests.spools.open_ones
    next_one = await client_of(app).post("/ingest", content=b" " * 4096, headers=NDJSON, params=TABLE)
    assert next_one.status_code == 200


@pytest.mark.parametrize(("size", "status"), [(10, 408), (1000, 200)])
async def test_a_body_that_crawls_is_not_waited_for(
    app: FastAPI, gateway: FakeGateway, size: int, status: int
) -> None:
    # Each part takes a second.
    paced = BodyPace(app, idle_s=2, min_bytes_per_s=100, now_s=count().__next__)
    response = await client_of(paced).post("/ingest", content=parts(size, 4), headers=NDJSON, params=TABLE)
    assert response.status_code == status
    assert len(gateway.ingests.requests) == (status == 200)


async def test_an_answer_may_take_longer_than_a_body(app: FastAPI, gateway: FakeGateway) -> None:
    gateway.ingests.delays_commits = True
    paced = BodyPace(app, idle_s=0.01, min_bytes_per_s=0)
    body = json.dumps(TABLE | {"records": [{"id": 1}]}).encode()
    with anyio.move_on_after(0.1) as waited:
        await client_of(paced).post("/ingest", content=body, headers=JSON)
    assert waited.cancelled_caught
