"""A request waits for its turn for a bounded time, and not longer than its client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial

import httpx
import pytest
from starlette.types import Message, Scope

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.lane import Lane
from api.http.waiting import ClientGone
from service.errors.ingest_errors import TooManyIngests
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

SOURCE = {"table": "lake.logs.events", "source": {"uri": "s3://b/*", "format": "ndjson"}}


async def hung_up() -> None:
    return None


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.001)


async def test_who_finds_no_place_in_time_is_rejected_and_the_place_is_free_again_afterwards() -> None:
    lane, may_end = Lane(1, 0.01, TooManyIngests), threading.Event()
    first = asyncio.create_task(lane.run(lambda: may_end.wait(20)))
    await asyncio.sleep(0)
    for _ in range(3):
        with pytest.raises(TooManyIngests):
            await lane.run(lambda: None)
    may_end.set()
    assert await first
    assert await lane.run(lambda: 7) == 7


async def test_a_client_that_hangs_up_in_line_leaves_it() -> None:
    lane, may_end, ran = Lane(1, 60, TooManyIngests), threading.Event(), threading.Event()
    first = asyncio.create_task(lane.run(lambda: may_end.wait(20)))
    await asyncio.sleep(0)
    with pytest.raises(ClientGone):
        await lane.run(ran.set, hung_up)
    may_end.set()
    assert await first
    assert not ran.is_set()


async def test_who_waits_gets_the_place_that_comes_free() -> None:
    lane, may_end = Lane(1, 60, TooManyIngests), threading.Event()
    first = asyncio.create_task(lane.run(lambda: may_end.wait(20)))
    await asyncio.sleep(0)
    second = asyncio.create_task(lane.run(lambda: 7))
    third = asyncio.create_task(lane.run(lambda: 8))
    await asyncio.sleep(0)
    third.cancel()
    may_end.set()
    assert (await first, await second) == (True, 7)
    assert await lane.run(lambda: 9) == 9


async def test_no_caller_has_the_places_that_are_for_others() -> None:
    lane, may_end = Lane(2, 60, TooManyIngests, spare_places=1), threading.Event()
    many = [asyncio.create_task(lane.run(lambda: may_end.wait(20), caller="many")) for _ in range(5)]
    await asyncio.sleep(0)
    assert await lane.run(lambda: 7, caller="other") == 7
    may_end.set()
    assert all(await asyncio.gather(*many))


async def test_callers_take_turns_for_the_places() -> None:
    lane, may_end, order = Lane(1, 60, TooManyIngests), threading.Event(), list[str]()
    first = asyncio.create_task(lane.run(lambda: may_end.wait(20), caller="many"))
    await asyncio.sleep(0)
    callers = ["many", "many", "many", "other", "another"]
    rest = [asyncio.create_task(lane.run(partial(order.append, caller), caller=caller)) for caller in callers]
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(first, *rest)
    assert order == ["other", "another", "many", "many", "many"]


async def test_who_left_the_line_takes_no_turn() -> None:
    lane, may_end = Lane(1, 60, TooManyIngests), threading.Event()
    first = asyncio.create_task(lane.run(lambda: may_end.wait(20)))
    await asyncio.sleep(0)
    gone = [asyncio.create_task(lane.run(lambda: 7)) for _ in range(50)]
    last = asyncio.create_task(lane.run(lambda: 8))
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    may_end.set()
    assert (await first, await last) == (True, 8)


async def test_a_large_ingest_that_finds_no_place_is_a_429_that_says_when_to_come_again(
    gateway: FakeGateway,
) -> None:
    settings = Settings(ingest_parallel_bodies=1, ingest_max_wait_s=1)
    app = create_app(settings, lambda: gateway)
    gateway.ingests.may_go_on.clear()
    async with app.router.lifespan_context(app):
        await app.state.app_context.access.opened()
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            first = asyncio.create_task(client.post("/ingest", json=SOURCE))
            await until(gateway.ingests.has_begun.is_set)
            refused = await client.post("/ingest", json=SOURCE)
            gateway.ingests.may_go_on.set()
            assert (await first).status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_INGESTS")
    assert int(refused.headers["Retry-After"]) > 0


async def test_a_large_ingest_whose_client_hangs_up_is_canceled(gateway: FakeGateway) -> None:
    app = create_app(Settings(ingest_parallel_bodies=1), lambda: gateway)
    gateway.ingests.may_go_on.clear()
    hang_up, sent = asyncio.Event(), list[Message]()
    body = json.dumps(SOURCE).encode()
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await hang_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/ingest",
        "raw_path": b"/ingest",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("sluice", 80),
    }
    async with app.router.lifespan_context(app):
        await app.state.app_context.access.opened()
        request = asyncio.ensure_future(app(scope, receive, send))
        await until(gateway.ingests.has_begun.is_set)
        hang_up.set()
        await request
    assert gateway.ingests.was_canceled.is_set()
    assert sent == []
