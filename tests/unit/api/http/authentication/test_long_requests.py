"""No request outlives the credentials that it came with: what waits, what streams, what is being sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import MadeKey
from tests.fakes.api_keys import FakeApiKeyStore, fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio
SLOW = "select slow"
LATER = timedelta(seconds=11)
"""Longer than a key is known, and than a request goes unchecked."""

Sent = Callable[["House"], Coroutine[Any, Any, httpx.Response]]


@dataclass
class House:
    """A gateway with one key, whose requests last until `end`."""

    client: httpx.AsyncClient
    gateway: FakeGateway
    clock: FakeClock
    keys: FakeApiKeyStore
    made: MadeKey
    query_id: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.made.text}"}

    async def submit(self) -> None:
        answer = await self.client.post(
            "/query", json={"sql": SLOW, "waitTimeout": "0s"}, headers=self.headers
        )
        self.query_id = answer.json()["queryId"]
        self.gateway.queries.is_waited_for.clear()

    async def begin(self, sent: Sent) -> asyncio.Task[httpx.Response]:
        """Sends a request, and returns once the gateway waits for its query."""
        await self.submit()
        reading = asyncio.create_task(sent(self))
        await self.is_waited_for()
        return reading

    async def is_waited_for(self) -> None:
        while not self.gateway.queries.is_waited_for.is_set():
            await asyncio.sleep(0.001)

    def end(self) -> None:
        for query_id in self.gateway.queries.by_id:
            self.gateway.queries.finish(UUID(str(query_id)))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    clock, gateway = FakeClock(), FakeGateway()
    store = FakeApiKeyStore(clock)
    keys = gateway._api_keys = fake_api_keys(clock, store)
    made = keys.create(KeyRequest("kim", lifetime=timedelta(days=1)), by="test")
    gateway.queries.unfinished.add(SLOW)
    settings = Settings(api_keys=True, event_interval_s=0.1)
    async with client_of(create_app(settings, lambda: gateway, clock=clock)) as client:
        yield House(client, gateway, clock, store, made)


async def waiting_query(house: House) -> httpx.Response:
    return await house.client.post(
        "/query", json={"sql": SLOW, "waitTimeout": "50s"}, headers=house.headers, timeout=60
    )


async def waiting_status(house: House) -> httpx.Response:
    return await house.client.get(f"/query/{house.query_id}?waitTimeout=50s", headers=house.headers)


async def followed_events(house: House) -> httpx.Response:
    return await house.client.get(f"/query/{house.query_id}/events", headers=house.headers)


LASTING: dict[str, Sent] = {
    "a query that is waited for": waiting_query,
    "a status that is waited for": waiting_status,
    "events": followed_events,
}


async def is_cut_off(reading: asyncio.Task[httpx.Response]) -> None:
    """Waits for the end of an answer that had begun. The transport asserts that its end was sent."""
    with pytest.raises(AssertionError):
        await asyncio.wait_for(reading, 20)


@pytest.mark.parametrize("kind", sorted(LASTING))
async def test_a_request_that_lasts_ends_with_its_key(house: House, kind: str) -> None:
    reading = await house.begin(LASTING[kind])
    house.keys.revoke(house.made.key.key_id, "ops")
    house.clock.advance(LATER)
    await asyncio.sleep(0.3)
    house.end()
    if kind == "events":
        await is_cut_off(reading)
    else:
        answer = await asyncio.wait_for(reading, 20)
        assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_REVOKED")
        assert "rows" not in answer.text


@pytest.mark.parametrize("kind", sorted(LASTING))
async def test_a_request_whose_key_is_as_it_was_goes_on(house: House, kind: str) -> None:
    reading = await house.begin(LASTING[kind])
    house.clock.advance(LATER)
    await asyncio.sleep(0.2)
    house.end()
    answer = await asyncio.wait_for(reading, 20)
    assert answer.status_code == 200
    assert "SUCCEEDED" in answer.text


async def test_an_answer_comes_though_its_key_has_expired_while_it_was_made(house: House) -> None:
    reading = await house.begin(waiting_query)
    house.clock.advance(timedelta(days=2))
    house.end()
    assert (await asyncio.wait_for(reading, 20)).status_code == 200


async def test_events_end_when_their_key_expires(house: House) -> None:
    reading = await house.begin(followed_events)
    await asyncio.sleep(0.2)
    house.clock.advance(timedelta(days=2))
    await asyncio.sleep(0.3)
    house.end()
    await is_cut_off(reading)


async def test_records_that_are_still_being_sent_are_not_written(house: House) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield json.dumps({"table": "lake.tpcds.store_returns"}).encode()[:-1]
        house.keys.revoke(house.made.key.key_id, "ops")
        house.clock.advance(LATER)
        yield b', "records": [{"a": 1}]}'

    headers = house.headers | {"Content-Type": "application/json"}
    answer = await house.client.post("/ingest", content=body(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_REVOKED")


async def test_records_alone_that_are_still_being_sent_are_not_written(house: House) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'{"sr_item_sk": 1}\n'
        house.keys.revoke(house.made.key.key_id, "ops")
        house.clock.advance(LATER)
        yield b'{"sr_item_sk": 2}\n'

    headers = house.headers | {"Content-Type": "application/x-ndjson"}
    answer = await house.client.post(
        "/ingest?table=lake.tpcds.store_returns", content=body(), headers=headers
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_REVOKED")
