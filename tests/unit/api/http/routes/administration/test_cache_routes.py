from __future__ import annotations

import httpx
import pytest

from service.errors.unavailable import EngineNotReady
from service.model.operations.usage import CacheUse
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def test_caches_are_listed_with_their_use(client: httpx.AsyncClient) -> None:
    response = await client.get("/caches")
    assert response.status_code == 200
    tables, results = response.json()["caches"]
    assert tables == {
        "name": "tables",
        "entries": 2,
        "bytes": 300,
        "maxBytes": 1_000,
        "hits": 9,
        "misses": 4,
        "evictions": None,
        "canBeEmptied": True,
    }
    assert (results["name"], results["hits"], results["canBeEmptied"]) == ("results", None, False)


async def test_a_cache_is_emptied(client: httpx.AsyncClient) -> None:
    response = await client.delete("/caches/tables")
    assert (response.status_code, response.json()) == (200, {"deleted": 2})


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("results", 409, "CACHE_NOT_EMPTIABLE"),
        ("plans", 404, "CACHE_NOT_FOUND"),
        ("Tables", 422, "INVALID_REQUEST"),
        ("a" * 65, 422, "INVALID_REQUEST"),
    ],
)
async def test_what_cannot_be_emptied_is_refused(
    client: httpx.AsyncClient, name: str, status: int, code: str
) -> None:
    response = await client.delete(f"/caches/{name}")
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_an_engine_that_is_down_is_a_503(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    def down() -> int:
        raise EngineNotReady("The engine does not answer.")

    gateway.caches.add("kept_rows", lambda: CacheUse(0, 0, 0), down)
    response = await client.delete("/caches/kept_rows")
    assert (response.status_code, response.json()["code"]) == (503, "ENGINE_NOT_READY")
