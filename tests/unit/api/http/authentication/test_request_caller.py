from __future__ import annotations

import hashlib

import httpx
import pytest

from api.bootstrap.settings import Settings
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

TOKENS = {"ada": hashlib.sha256(b"ada's").hexdigest(), "bob": hashlib.sha256(b"bob's").hexdigest()}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("headers", [{}, bearer("wrong"), bearer(""), {"Authorization": "Basic ada's"}])
async def test_without_a_known_token_nothing_is_answered(
    running: Running, gateway: FakeGateway, headers: dict[str, str]
) -> None:
    async with running(Settings(api_tokens=TOKENS)) as client:
        response = await client.post("/query", json={"sql": "select 1"}, headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert response.headers["x-request-id"]
    assert not gateway.queries.by_id


async def test_a_token_names_its_caller_and_hides_the_queries_of_others(
    running: Running, gateway: FakeGateway
) -> None:
    async with running(Settings(api_tokens=TOKENS)) as client:
        sent = await client.post("/query", json={"sql": "select 1"}, headers=bearer("bob's"))
        link = sent.json()["links"]["self"]
        own = await client.get(link, headers=bearer("bob's"))
        foreign = await client.get(link, headers=bearer("ada's"))
    assert [query.record.caller for query in gateway.queries.by_id.values()] == ["bob"]
    assert (own.status_code, foreign.status_code) == (200, 404)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/docs", "/openapi.json"])
async def test_probes_and_the_documentation_need_no_token(running: Running, path: str) -> None:
    async with running(Settings(api_tokens=TOKENS)) as client:
        assert (await client.get(path)).status_code == 200


async def test_without_tokens_everyone_is_anonymous(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    await client.post("/query", json={"sql": "select 1"}, headers=bearer("whatever"))
    assert [query.record.caller for query in gateway.queries.by_id.values()] == ["anonymous"]
