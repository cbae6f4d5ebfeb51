"""uvicorn's HTTP/1.1 protocol, with bounds on everything in a request except its body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from api.http.connections.bounds import ConnectionBounds
from api.http.connections.head_check import check_head
from api.http.connections.plain_head import plain_head
from api.http.connections.request_count import RequestCount
from api.http.problems.http_errors import NotHttp
from service.errors.gateway_error import GatewayError

P = ParamSpec("P")


class _Stop(Exception):
    """Stops the reading of a connection. The protocol's `_refusal` has the reason."""


class CountedProtocol(HttpToolsProtocol):
    """Reads requests until one breaks a bound; then `_is_stopped` is true, and `_refusal` has the reason.

    Everything that is not overridden here is uvicorn's.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: ConnectionBounds,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = bounds
        self._count = RequestCount(bounds)
        self._heads = 0
        self._in_head = True
        self._is_upgrade = False
        self._is_stopped = False
        self._refusal: GatewayError | None = None

    def data_received(self, data: bytes) -> None:
        """Reads a packet, unless reading has stopped."""
        self._unset_keepalive_if_required()
        try:
            self._read(data)
        except _Stop:
            self._is_stopped = True
        except httptools.HttpParserError as error:
            if not self._is_stopped:
                self._refusal = NotHttp(f"This gateway does not accept the request as HTTP/1.1: {error}.")
            self._is_stopped = True

    def on_message_begin(self) -> None:
        """Begins a request."""
        super().on_message_begin()
        self._count.restart()
        self._is_upgrade = False

    def on_url(self, url: bytes) -> None:
        """Takes a part of the URL."""
        self._check(self._count.add_url, len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header, or a trailer, which has no meaning here and must not be taken for a header."""
        self._check(self._count.add_header, name, value)
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Ends a request's head. The body may arrive while the request is served."""
        self._heads += 1
        if self.parser.should_upgrade():
            self._is_upgrade = True
            return
        self._check(check_head, self.parser.get_http_version(), self.headers)
        if len(self.pipeline) >= self._bounds.max_pipelined_requests and self._is_behind_another():
            # Its client sends it again on another connection, as RFC 9112 (9.3.2) requires.
            self._is_stopped = True
            raise _Stop
        super().on_headers_complete()
        self._in_head = False

    def on_chunk_header(self) -> None:
        """Counts a new chunk of the body."""
        self._count.add_chunk()

    def on_body(self, body: bytes) -> None:
        """Takes a part of the body."""
        self._count.add_body(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Ends a request."""
        if self._is_upgrade:
            return
        super().on_message_complete()
        self._in_head = True

    def _read(self, data: bytes) -> None:
        heads, in_head = self._heads, self._in_head
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._read_plainly(data[offer.args[0] :])
            return
        if heads != self._heads or in_head != self._in_head:
            return
        self._check(self._count.add_head_packet if in_head else self._count.add_body_packet, len(data))

    def _read_plainly(self, rest: bytes) -> None:
        method, version = self.parser.get_method(), self.parser.get_http_version()
        if method == b"CONNECT":
            self._refusal = NotHttp("CONNECT is not supported.")
            raise _Stop
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._read(plain_head(method, self.url, version, self.headers) + rest)

    def _check(self, function: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except GatewayError as error:
            self._is_stopped, self._refusal = True, error
            raise _Stop from None

    def _is_behind_another(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete
