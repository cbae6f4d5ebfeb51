"""The parts that every call works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from api.bootstrap.settings import Settings
from api.hive_server.calls.operations import Operations
from api.hive_server.hive_metrics import HiveMetrics
from api.hive_server.rows.kept_chunks import KeptChunks
from api.http.gateway_access import GatewayAccess
from api.http.protocol_servers import ProtocolEdge
from api.http.waiting import Waiting
from api.sql_protocols.shared_parts import SharedParts

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CallContext:
    """The shared parts, the open operations, and the way to the gateway's threads."""

    settings: Settings
    access: GatewayAccess
    waiting: Waiting
    parts: SharedParts
    operations: Operations
    kept_chunks: KeptChunks
    metrics: HiveMetrics

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a call that may block, in turns by caller.

        Raises:
            GatewayBusy: no thread was free in time.
        """
        return await self.access.call(partial(function, *args, **kwargs))


def call_context(edge: ProtocolEdge, parts: SharedParts, metrics: HiveMetrics) -> CallContext:
    """Returns the context of all calls of one server."""
    settings = edge.settings
    operations = Operations(
        edge.clock, settings.hive_max_operations_per_session, settings.hive_max_operations
    )
    kept_chunks = KeptChunks(settings.hive_kept_chunks_max_bytes)
    metrics.watch_operations(operations.__len__)
    metrics.watch_kept_chunks(lambda: kept_chunks.byte_count)
    return CallContext(settings, edge.access, edge.waiting, parts, operations, kept_chunks, metrics)
