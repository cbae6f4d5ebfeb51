from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from sluice_client import AsyncConnection, Connection, connect, connect_async
from tests.client.gateways import Served, furnished, serving
from tests.fakes.gateway import FakeGateway


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_TOKEN", raising=False)


@pytest.fixture(scope="session")
def address() -> Iterator[tuple[str, FakeGateway]]:
    """One server for all tests; each has queries and ingests of its own behind it."""
    with serving() as running:
        yield running


@pytest.fixture
def gateway(address: tuple[str, FakeGateway]) -> Iterator[Served]:
    with furnished(*address) as running:
        yield running


@pytest.fixture
def connection(gateway: Served) -> Iterator[Connection]:
    with connect(gateway.url) as made:
        yield made


@pytest.fixture
async def async_connection(gateway: Served) -> AsyncIterator[AsyncConnection]:
    async with connect_async(gateway.url) as made:
        yield made
