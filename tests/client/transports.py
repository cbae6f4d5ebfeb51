"""HTTP over a network that loses what a test chooses."""

from __future__ import annotations

from collections.abc import Callable

import httpx

Loses = Callable[[httpx.Request, int], bool]


class LossyTransport(httpx.BaseTransport):
    """Sends each request, and loses the answers that `loses` chooses by request and number, from 0."""

    def __init__(self, loses: Loses) -> None:
        self._loses = loses
        self._inner = httpx.HTTPTransport()
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        number = len(self.requests)
        request.read()
        self.requests.append(request)
        response = self._inner.handle_request(request)
        content = response.read()
        if self._loses(request, number):
            raise httpx.ReadError("the connection is gone", request=request)
        return httpx.Response(
            response.status_code, headers=response.headers, stream=httpx.ByteStream(content)
        )

    def close(self) -> None:
        self._inner.close()
