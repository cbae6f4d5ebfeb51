"""Bodies of all routes share one byte limit, over a gateway that would accept them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import AsyncIterator

import anyio
import httpx
import pytest

from api.bootstrap.settings import Settings
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}
QUERY = json.dumps({"sql": "select 1"}).encode()
SETTINGS = Settings(max_body_bytes=4096, max_held_body_bytes=8192)


class Body:
    """A body that stops after its first part; `is_sent` is set once that part was read."""

    def __init__(self, part: bytes) -> None:
        self._part = part
        self.is_sent, self.may_end = anyio.Event(), anyio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._part
        self.is_sent.set()
        await self.may_end.wait()
        yield QUERY


async def send_beside(
    client: httpx.AsyncClient, path: str, byte_count: int, headers: dict[str, str], other: dict[str, str]
) -> httpx.Response:
    """Sends a small query while bodies of another caller hold `byte_count` bytes, and returns its answer."""
    bodies = [Body(b" " * 4000) for _ in range(byte_count // 4000)]
    async with anyio.create_task_group() as group:
        for body in bodies:
            group.start_soon(lambda content: client.post(path, content=content, headers=JSON | headers), body)
            await body.is_sent.wait()
        response = await client.post("/query", content=QUERY + b" " * 1000, headers=JSON | other)
        for body in bodies:
            body.may_end.set()
    return response


@pytest.mark.parametrize("path", ["/query", "/explain", "/ingest", "/tables/a.b.c/maintenance", "/streams"])
async def test_unfinished_bodies_of_every_route_take_room(running: Running, path: str) -> None:
    async with running(SETTINGS) as client:
        refused = await send_beside(client, path, 8000, {}, {})
        assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_BODIES")
        assert refused.headers["Retry-After"]
        assert (await client.post("/query", content=QUERY, headers=JSON)).status_code == 200


@pytest.mark.parametrize("path", ["/query", "/ingest"])
async def test_what_is_only_announced_takes_no_room(running: Running, path: str) -> None:
    async with running(SETTINGS) as client:
        announced = {"Content-Length": "4096"}
        assert (await send_beside(client, path, 4000, announced, {})).status_code == 200


async def test_one_caller_leaves_room_for_others(running: Running) -> None:
    tokens = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("greedy", "modest")}
    settings = SETTINGS.model_copy(update={"api_tokens": tokens, "max_held_body_bytes": 10_000})
    greedy, modest = ({"Authorization": f"Bearer {name}"} for name in ("greedy", "modest"))
    async with running(settings) as client:
        assert (await send_beside(client, "/query", 4000, greedy, greedy)).status_code == 429
        assert (await send_beside(client, "/query", 4000, greedy, modest)).status_code == 200


async def test_what_a_body_unfolds_to_takes_room_too(running: Running) -> None:
    body = gzip.compress(QUERY + b" " * 4060)
    headers = JSON | {"Content-Encoding": "gzip"}
    async with running(SETTINGS) as client:
        assert (await client.post("/query", content=body, headers=headers)).status_code == 200
    async with running(SETTINGS.model_copy(update={"max_held_body_bytes": 4096})) as client:
        assert (await client.post("/query", content=body, headers=headers)).status_code == 429
