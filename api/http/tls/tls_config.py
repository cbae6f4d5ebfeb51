"""Configures uvicorn for HTTPS."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable
from typing import Any

import uvicorn


class TlsConfig(uvicorn.Config):
    """uvicorn's configuration with the gateway's TLS context and a bound on handshakes.

    Args:
        app: see uvicorn's.
        context: the context for TLS. None: the server speaks plain HTTP.
        handshake_timeout_s: how long a handshake may take. Python's own bound is a minute.
        options: see uvicorn's.
    """

    def __init__(
        self, app: Any, *, context: ssl.SSLContext | None, handshake_timeout_s: float, **options: Any
    ) -> None:
        if context is not None:
            options["ssl_context_factory"] = lambda _config, _default: context
        super().__init__(app, **options)
        self._handshake_timeout_s = handshake_timeout_s

    def get_loop_factory(self) -> Callable[[], asyncio.AbstractEventLoop] | None:
        """See uvicorn's. Sets the bound on the loop, because uvicorn has no option for it."""
        make = super().get_loop_factory() or asyncio.new_event_loop
        if not self.is_ssl:
            return make

        def made() -> asyncio.AbstractEventLoop:
            loop = make()
            bounded = functools.partial(loop.create_server, ssl_handshake_timeout=self._handshake_timeout_s)
            loop.create_server = bounded  # type: ignore[method-assign]
            return loop

        return made
