"""Runs flows in blocking code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import httpx

from sluice_client.calls import Answer, Body, Command, Flow, JsonBody, Pause, Request
from sluice_client.drivers.collected_answer import CollectedAnswer, headers_of, translated_errors
from sluice_client.drivers.http_settings import HttpSettings
from sluice_client.errors import ConnectionClosed

T = TypeVar("T")


class SyncDriver:
    """Sends the requests of flows with an `httpx.Client`. Threads may share it."""

    def __init__(
        self,
        settings: HttpSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._client = httpx.Client(**settings.client_arguments(), transport=transport)
        self._now = now
        self._sleep = sleep

    def run(self, flow: Flow[T]) -> T:
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
                    answer = self._do(command)
                except BaseException as error:  # noqa: BLE001 - the flow raises it
                    # The flow decides about errors, also about Ctrl-C: it may cancel its query.
                    command = flow.throw(error)
                else:
                    command = flow.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            flow.close()

    def close(self) -> None:
        """Closes all connections."""
        self._client.close()

    def _do(self, command: Command) -> Answer | None:
        if isinstance(command, Pause):
            self._sleep(command.seconds)
            return None
        with translated_errors(self._settings.base_url):
            return self._send(command)

    def _send(self, request: Request) -> Answer:
        with self._client.stream(
            request.method,
            request.path,
            params=dict(request.parameters) or None,
            headers=headers_of(request),
            content=_content(request.body),
            timeout=self._settings.timeout(request),
        ) as response:
            request_s = self._settings.timeouts.request_s
            collected = CollectedAnswer(request, response, now=self._now, request_s=request_s)
            for piece in response.iter_raw():
                collected.add(piece)
            return collected.answer()


def _content(body: Body | None) -> bytes | Iterator[bytes] | None:
    if body is None:
        return None
    return body.data if isinstance(body, JsonBody) else body.open()
