"""A request whose client has disconnected is not started, unless it sends records."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.http.connections.still_there import IfStillThere


@pytest.mark.parametrize(
    ("path", "leaves", "is_begun"),
    [("/query", True, False), ("/query", False, True), ("/explain/1", True, False), ("/ingest", True, True)],
)
def test_a_request_is_begun_if_its_client_waits_or_left_records(
    path: str, leaves: bool, is_begun: bool
) -> None:
    begun: list[str] = []
    gone: list[bool] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.append(scope["path"])

    async def receive() -> Message:
        raise AssertionError

    async def send(_message: Message) -> None:
        raise AssertionError

    async def serve() -> None:
        serving = asyncio.create_task(IfStillThere(app, lambda: bool(gone))({"path": path}, receive, send))
        if leaves:
            # The disconnect is reported once the request has been passed on, as by a real protocol.
            asyncio.get_running_loop().call_soon(gone.append, True)
        await serving

    asyncio.run(serve())
    assert begun == [path] * is_begun
