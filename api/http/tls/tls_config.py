"""Configures uvicorn for HTTPS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

import uvicorn

Listen = Callable[[Callable[[], asyncio.Protocol], socket.socket, int], object]
"""Takes a protocol factory, a socket and its backlog, and returns a server that accepts connections."""


class TlsConfig(uvicorn.Config):
    """uvicorn's configuration with the gateway's TLS context and the gateway's own server.

    Args:
        app: see uvicorn's.
        context: the context for TLS. None: the server speaks plain HTTP.
        listen: called in place of the event loop's `create_server` if there is a context.
        options: see uvicorn's.
    """

    def __init__(self, app: Any, *, context: ssl.SSLContext | None, listen: Listen, **options: Any) -> None:
        if context is not None:
            options["ssl_context_factory"] = lambda _config, _default: context
        super().__init__(app, **options)
        self._listen = listen

    def get_loop_factory(self) -> Callable[[], asyncio.AbstractEventLoop] | None:
        """See uvicorn's. Sets the server on the loop, because uvicorn has no option for it."""
        make = super().get_loop_factory() or asyncio.new_event_loop
        if not self.is_ssl:
            return make

        def made() -> asyncio.AbstractEventLoop:
            loop = make()
            loop.create_server = self._create_server  # type: ignore[method-assign, assignment]
            return loop

        return made

    async def _create_server(
        self, protocol_factory: Callable[[], asyncio.Protocol], *, sock: socket.socket, backlog: int, **_: Any
    ) -> object:
        return self._listen(protocol_factory, sock, backlog)
