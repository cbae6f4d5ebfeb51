"""No connection outlives the credentials that it began with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import MadeKey
from tests.fakes.api_keys import FakeApiKeyStore, fake_api_keys
from tests.fakes.clock import FakeClock
from tests.unit.api.hive_server.conftest import HiveClient, Running, operation_of, running

pytestmark = pytest.mark.anyio
LATER = timedelta(seconds=11)


class House:
    """A server whose clients have API keys."""

    def __init__(self, server: Running, clock: FakeClock) -> None:
        self.server = server
        self.clock = clock
        self.store = FakeApiKeyStore(clock)
        self.keys = server.gateway._api_keys = fake_api_keys(clock, self.store)

    def key(self, name: str = "kim") -> MadeKey:
        return self.keys.create(KeyRequest(name, lifetime=timedelta(days=1)), by="test")

    async def client(self, made: MadeKey) -> HiveClient:
        client = await self.server.connect()
        assert await client.sasl("kim", made.text) == (5, b"")
        assert (await client.open())[1][1] == 0
        return client


@pytest.fixture
async def house() -> AsyncIterator[House]:
    clock = FakeClock()
    async with running(clock=clock, api_keys=True) as server:
        yield House(server, clock)


CALLS: dict[str, dict[str, Any]] = {
    "ExecuteStatement": {"statement": "SELECT 1"},
    "GetInfo": {"infoType": 17},
    "GetCatalogs": {},
    "GetSchemas": {},
    "GetTables": {},
    "GetColumns": {},
    "GetTypeInfo": {},
    "CloseSession": {},
}
"""Calls of a session. Those of an operation follow below."""
OF_OPERATION = ("FetchResults", "GetOperationStatus", "GetResultSetMetadata", "CloseOperation")


@pytest.mark.parametrize("method", [*CALLS, *OF_OPERATION])
async def test_no_call_is_served_after_the_key_was_revoked(house: House, method: str) -> None:
    made = house.key()
    client = await house.client(made)
    operation = operation_of(await client.execute("SELECT 1"))
    house.store.revoke(made.key.key_id, "ops")
    house.clock.advance(LATER)
    request = client.session | CALLS[method] if method in CALLS else operation | {"maxRows": 5}
    if method in ("GetOperationStatus", "GetResultSetMetadata", "CloseOperation"):
        request = operation
    answer = await client.call(method, request)
    assert (answer[1][1], answer[1][5].partition(b":")[0]) == (3, b"API_KEY_REVOKED")
    assert await client.is_closed()


async def test_a_connection_whose_key_is_as_it_was_goes_on(house: House) -> None:
    client = await house.client(house.key())
    for _ in range(3):
        house.clock.advance(LATER)
        assert (await client.execute("SELECT 1"))[1][1] == 0


async def test_a_connection_ends_when_its_key_expires(house: House) -> None:
    client = await house.client(house.key())
    house.clock.advance(timedelta(days=2))
    assert (await client.execute("SELECT 1"))[1][5].startswith(b"API_KEY_EXPIRED")
    assert await client.is_closed()


async def test_its_sessions_end_with_it(house: House) -> None:
    made, other = house.key(), house.key()
    client, second = [await house.client(key) for key in (made, other)]
    house.store.revoke(made.key.key_id, "ops")
    house.clock.advance(LATER)
    await client.execute("SELECT 1")
    assert await client.is_closed()
    second.session = client.session
    assert b"SESSION_NOT_FOUND" in (await second.execute("SELECT 1"))[1][5]
