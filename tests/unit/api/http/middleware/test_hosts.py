"""A web page cannot reach a gateway without tokens through a host name of its own (DNS rebinding)."""

from __future__ import annotations

import httpx
import pytest

from api.bootstrap.settings import Settings
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

FOREIGN = [
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:localhost",
    "localhost@evil.example",
    "[::2]:8080",
    "0.0.0.0:8080",
    "",
]


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/tables", "/healthz", "/docs", "/openapi.json"])
async def test_a_foreign_name_is_refused(client: httpx.AsyncClient, host: str, path: str) -> None:
    response = await client.get(path, headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "HOST_NOT_ALLOWED")
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-request-id"]


async def test_a_query_for_a_foreign_name_does_not_run(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    response = await client.post("/query", json={"sql": "select 1"}, headers={"Host": "evil.example"})
    assert response.status_code == 421
    assert not gateway.queries.by_id


async def test_two_names_are_refused(client: httpx.AsyncClient) -> None:
    headers = [("Host", "localhost"), ("Host", "evil.example")]
    assert (await client.get("/tables", headers=headers)).status_code == 421


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9", "[::1]", "[::1]:8080"]
)
async def test_loopback_is_known_by_its_names(client: httpx.AsyncClient, host: str) -> None:
    assert (await client.get("/tables", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(("listens_on", "host"), [("127.0.0.2", "127.0.0.2:80"), ("::1", "[::1]:8080")])
async def test_the_configured_host_is_known(running: Running, listens_on: str, host: str) -> None:
    async with running(Settings(host=listens_on)) as client:
        assert (await client.get("/tables", headers={"Host": host})).status_code == 200


async def test_with_tokens_the_token_counts_and_not_the_name(running: Running) -> None:
    async with running(Settings(api_tokens={"ada": "a" * 64})) as client:
        assert (await client.get("/healthz", headers={"Host": "gateway.example"})).status_code == 200
        assert (await client.get("/tables", headers={"Host": "gateway.example"})).status_code == 401


async def test_an_operator_who_takes_everyone_takes_every_name(running: Running) -> None:
    async with running(Settings(host="0.0.0.0", allow_unauthenticated=True)) as client:
        assert (await client.get("/tables", headers={"Host": "gateway.example"})).status_code == 200
