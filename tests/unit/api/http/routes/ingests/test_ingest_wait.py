"""Tests how a client waits for an ingest that was accepted before."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio
EVENTS = {"table": "lake.logs.events", "records": [{"id": 1}], "wait": "ACCEPTED"}


async def accepted(client: httpx.AsyncClient, gateway: FakeGateway) -> str:
    gateway.ingests.delays_commits = True
    answer = await client.post("/ingest", json=EVENTS)
    assert answer.status_code == 202
    return f"/ingest/{answer.json()['ingestId']}"


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["here", "at another replica"])
async def test_the_answer_comes_with_the_commit(
    client: httpx.AsyncClient, gateway: FakeGateway, is_elsewhere: bool
) -> None:
    gateway.ingests.is_elsewhere = is_elsewhere
    path = await accepted(client, gateway)
    waiting = asyncio.create_task(client.get(path, params={"waitTimeout": "50s"}))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    threading.Thread(target=gateway.ingests.commit_delayed).start()
    answer = await waiting
    assert (answer.status_code, answer.json()["state"]) == (200, "COMMITTED")


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["here", "at another replica"])
@pytest.mark.parametrize("wait", ["0s", "20ms"])
async def test_the_answer_comes_when_the_wait_ends(
    client: httpx.AsyncClient, gateway: FakeGateway, is_elsewhere: bool, wait: str
) -> None:
    gateway.ingests.is_elsewhere = is_elsewhere
    path = await accepted(client, gateway)
    answer = await client.get(path, params={"waitTimeout": wait})
    assert (answer.status_code, answer.json()["state"]) == (202, "ACCEPTED")


async def test_a_failed_commit_ends_the_wait(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.ingests.commit_error = ("TABLE_CHANGED", "a column is gone")
    path = await accepted(client, gateway)
    waiting = asyncio.create_task(client.get(path, params={"waitTimeout": "50s"}))
    gateway.ingests.commit_delayed()
    answer = await waiting
    assert (answer.status_code, answer.json()["state"]) == (200, "FAILED")


@pytest.mark.parametrize("wait", ["51s", "1", "x"])
async def test_a_wait_has_a_bound(client: httpx.AsyncClient, gateway: FakeGateway, wait: str) -> None:
    path = await accepted(client, gateway)
    assert (await client.get(path, params={"waitTimeout": wait})).status_code == 422
