from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Scope

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.waiting import ClientGone, Waiting
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def forever() -> None:
    await asyncio.Event().wait()


async def hung_up() -> None:
    return None


async def refused() -> None:
    raise HTTPException(401)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0)


async def test_a_wait_that_ends_leaves_the_query_and_the_other_waiters_alone() -> None:
    waiting, finished = Waiting(), Future[None]()
    other = asyncio.create_task(waiting.until_finished(finished, 60, forever))
    assert await waiting.until_finished(finished, 0.001, forever) is False
    assert not finished.cancelled()
    threading.Thread(target=finished.set_result, args=(None,)).start()
    assert await other is True


async def test_a_client_that_hangs_up_stops_waiting_and_the_query_goes_on() -> None:
    waiting, finished = Waiting(), Future[None]()
    with pytest.raises(ClientGone):
        await waiting.until_finished(finished, 60, hung_up)
    assert not finished.done()
    finished.set_result(None)


async def test_a_client_that_is_refused_while_it_waits_is_answered() -> None:
    with pytest.raises(HTTPException):
        await Waiting().until_finished(Future[None](), 60, refused)


async def test_a_canceled_waiter_does_not_cancel_the_query() -> None:
    waiting, finished = Waiting(), Future[None]()
    waiter = asyncio.create_task(waiting.until_finished(finished, 60, forever))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert finished.set_running_or_notify_cancel()
    finished.set_result(None)


async def test_a_thousand_waiters_share_one_callback_and_no_thread() -> None:
    waiting, finished = Waiting(), Future[None]()
    threads = threading.active_count()
    waiters = [asyncio.create_task(waiting.until_finished(finished, 60, forever)) for _ in range(1000)]
    await asyncio.sleep(0)
    assert len(waiting.pending) == 1
    assert threading.active_count() <= threads
    finished.set_result(None)
    assert all(await asyncio.gather(*waiters))
    assert len(waiting.pending) == 0


async def test_a_query_that_ends_after_the_server_stopped_disturbs_nobody() -> None:
    waiting, finished = Waiting(), Future[None]()

    def serve() -> None:
        asyncio.run(waiting.until_finished(finished, 0.001, forever))

    await asyncio.to_thread(serve)
    finished.set_result(None)


async def test_a_client_that_hangs_up_during_a_long_poll_gets_nothing(
    gateway: FakeGateway,
) -> None:
    gateway.queries.unfinished.add("select slow")
    app = create_app(Settings(), lambda: gateway)
    sent: list[Message] = []
    hang_up = asyncio.Event()
    body = json.dumps({"sql": "select slow", "waitTimeout": "50s"}).encode()
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
        "path": "/query",
        "raw_path": b"/query",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("sluice", 80),
    }
    async with app.router.lifespan_context(app):
        await app.state.app_context.access.opened()
        request = asyncio.ensure_future(app(scope, receive, send))
        await until(lambda: gateway.queries.waits_asked_for > 0)
        hang_up.set()
        await request
        [query] = gateway.queries.by_id.values()
        assert sent == []
        assert not query.record.state.is_final


async def test_healthz_answers_while_every_thread_is_busy(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    query_id = (await client.post("/query", json={"sql": "select 1"})).json()["queryId"]
    gateway.queries.may_answer.clear()
    asked = [asyncio.create_task(client.get(f"/query/{query_id}")) for _ in range(40)]
    assert (await client.get("/healthz")).json() == {"status": "UP"}
    assert (await client.get("/readyz")).status_code == 200
    gateway.queries.may_answer.set()
    assert {(await task).status_code for task in asked} == {200}
