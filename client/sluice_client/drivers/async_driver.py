"""Runs flows on asyncio's event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeVar

import httpx

from sluice_client.calls import Answer, Body, Command, Flow, JsonBody, Pause, Request
from sluice_client.drivers.collected_answer import CollectedAnswer, headers_of, translated_errors
from sluice_client.drivers.http_settings import HttpSettings
from sluice_client.errors import ConnectionClosed

T = TypeVar("T")


class AsyncDriver:
    """Sends the requests of flows with an `httpx.AsyncClient`."""

    def __init__(
        self,
        settings: HttpSettings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._client = httpx.AsyncClient(**settings.client_arguments(), transport=transport)
        self._now = now
        self._sleep = sleep

    async def run(self, flow: Flow[T]) -> T:
        """Returns the flow's result.

        Raises:
            ConnectionClosed: the connection was closed before.
            SluiceError: that of the flow.
        """
        if self._client.is_closed:
            flow.close()
            raise ConnectionClosed("the connection is closed")
        try:
            command = next(flow)
            while True:
                try:
                    answer = await self._do(command)
                except BaseException as error:  # noqa: BLE001 - the flow raises it
                    # The flow decides about errors, also about a canceled task: it may cancel its query.
                    command = flow.throw(error)
                else:
                    command = flow.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            flow.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    async def _do(self, command: Command) -> Answer | None:
        if isinstance(command, Pause):
            await self._sleep(command.seconds)
            return None
        with translated_errors(self._settings.base_url):
            return await self._send(command)

    async def _send(self, request: Request) -> Answer:
        async with self._client.stream(
            request.method,
            request.path,
            params=dict(request.parameters) or None,
            headers=headers_of(request),
            content=_content(request.body),
            timeout=self._settings.timeout(request),
        ) as response:
            request_s = self._settings.timeouts.request_s
            collected = CollectedAnswer(request, response, now=self._now, request_s=request_s)
            async for piece in response.aiter_raw():
                collected.add(piece)
            return collected.answer()


def _content(body: Body | None) -> bytes | AsyncIterator[bytes] | None:
    if body is None:
        return None
    return body.data if isinstance(body, JsonBody) else _in_threads(body.open())


async def _in_threads(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Reads files and encodes records beside the event loop."""
    while True:
        piece = await asyncio.to_thread(next, pieces, None)
        if piece is None:
            return
        yield piece
