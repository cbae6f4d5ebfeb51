"""The server of HiveServer2's protocol: starts and stops with the app."""

from __future__ import annotations

import asyncio

import structlog
from fastapi import APIRouter

from api.hive_server.calls.context import call_context
from api.hive_server.calls.statement_ends import end_operation
from api.hive_server.hive_metrics import HiveMetrics
from api.hive_server.transport.http_route import http_router
from api.hive_server.transport.listener import Listener
from api.http.http_server import bind, tls_context
from api.http.protocol_servers import ProtocolEdge
from api.sql_protocols.shared_parts import shared_parts
from service.model.operations.health import PartHealth, PartState

PART = "hiveServer"
_SWEEP_S = 10.0
_log = structlog.stdlib.get_logger("api.hive_server")


class HiveServer:
    """Implements `ProtocolServer`: a port of its own, and routes in the app, as the settings say."""

    def __init__(self, edge: ProtocolEdge) -> None:
        self._settings = edge.settings
        self._context = call_context(edge, shared_parts(edge), HiveMetrics(edge.registry))
        self._router = http_router(self._context) if edge.settings.hive_http else None
        self._sweeping: asyncio.Task[None] | None = None
        self.listener: Listener | None = None

    @property
    def router(self) -> APIRouter | None:
        """See `ProtocolServer`."""
        return self._router

    async def start(self) -> None:
        """See `ProtocolServer`."""
        if not self._settings.speaks_hive:
            return
        self._sweeping = asyncio.create_task(self._sweep())
        if self._settings.hive_port is None:
            return
        host = self._settings.hive_host or self._settings.host
        listening = bind(host, self._settings.hive_port, is_listening=False, setting="SLUICE_HIVE_PORT")
        self.listener = Listener(self._context, listening, tls_context(self._settings))
        await self.listener.start()
        _log.info("hive_server_listens", host=host, port=self.listener.port)

    async def stop(self) -> None:
        """See `ProtocolServer`."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self.listener is not None:
            await self.listener.stop()
        # The gateway ends the statements of clients over HTTP together with all other queries.
        self._context.operations.take_all()

    def health(self) -> PartHealth | None:
        """See `ProtocolServer`."""
        if self._settings.hive_port is None:
            return None
        is_up = self.listener is not None and self.listener.is_listening
        detail = "" if is_up else "The port of HiveServer2's protocol is closed."
        return PartHealth(PART, PartState.UP if is_up else PartState.DOWN, detail, is_required=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            for operation in self._context.operations.take_unused(self._settings.hive_operation_idle_s):
                await end_operation(self._context, operation)
