"""An accepted ingest is answered as accepted, whatever happens before its commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio.to_thread
import httpx
import pytest
from fastapi import FastAPI

from api.bootstrap.settings import Settings
from api.http.app import create_app
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio

TABLE = "lake.logs.events"
LINES = b'{"id":1}\n{"id":2}\n'
NDJSON = {"Content-Type": "application/x-ndjson"}
# Records that span several lines must be parsed one by one.
SPREAD = b'{"table": "lake.logs.events", "records": [{"id":\n1}, {"id": 2}]}'

Send = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
IN_ANY_WAY: list[Send] = [
    lambda client: client.post("/ingest", json={"table": TABLE, "records": [{"id": 1}, {"id": 2}]}),
    lambda client: client.post("/ingest", content=SPREAD, headers={"Content-Type": "application/json"}),
    lambda client: client.post("/ingest", content=LINES, headers=NDJSON, params={"table": TABLE}),
]


@pytest.fixture
def app(gateway: FakeGateway) -> FastAPI:
    return create_app(Settings(), lambda: gateway)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client


async def sent(client: httpx.AsyncClient, gateway: FakeGateway, send: Send) -> asyncio.Future[httpx.Response]:
    """Returns the pending answer to an ingest that was accepted and waits for its commit."""
    gateway.ingests.delays_commits = True
    answer = asyncio.ensure_future(send(client))
    assert await anyio.to_thread.run_sync(gateway.ingests.has_delayed.wait, 20)
    return answer


@pytest.mark.parametrize("send", IN_ANY_WAY)
async def test_a_stop_that_commits_what_was_accepted_answers_with_its_snapshot(
    app: FastAPI, client: httpx.AsyncClient, gateway: FakeGateway, send: Send
) -> None:
    answer = await sent(client, gateway, send)
    app.state.app_context.access.begin_close()
    response = await answer
    assert (response.status_code, response.json()["state"]) == (200, "COMMITTED")
    assert response.json()["commits"][0]["snapshotId"] == 77


@pytest.mark.parametrize("send", IN_ANY_WAY)
async def test_a_stop_that_comes_while_the_files_are_written_answers_with_what_was_accepted(
    app: FastAPI, client: httpx.AsyncClient, gateway: FakeGateway, send: Send
) -> None:
    gateway.ingests.may_go_on.clear()
    answer = asyncio.ensure_future(send(client))
    assert await anyio.to_thread.run_sync(gateway.ingests.has_begun.wait, 20)
    app.state.app_context.access.begin_close()
    gateway.ingests.may_go_on.set()
    response = await answer
    assert (response.status_code, response.json()["state"]) == (200, "COMMITTED")


@pytest.mark.parametrize("send", IN_ANY_WAY)
async def test_where_the_log_is_gone_after_the_acceptance_the_answer_is_that_it_was_accepted(
    client: httpx.AsyncClient, gateway: FakeGateway, send: Send
) -> None:
    answer = await sent(client, gateway, send)
    gateway.ingests.is_down = True
    gateway.ingests.commit_delayed()
    response = await answer
    assert (response.status_code, response.json()["state"]) == (202, "ACCEPTED")
    gateway.ingests.is_down = False
    found = await client.get(response.json()["links"]["self"])
    assert (found.status_code, found.json()["state"]) == (200, "COMMITTED")


async def test_a_stop_that_leaves_the_commit_to_the_next_start_answers_that_it_was_accepted(
    app: FastAPI, client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    answer = await sent(client, gateway, IN_ANY_WAY[0])
    gateway.ingests.is_down = True
    app.state.app_context.access.begin_close()
    response = await answer
    assert (response.status_code, response.json()["state"]) == (202, "ACCEPTED")
    assert response.json()["ingestId"] in map(str, gateway.ingests.records)
