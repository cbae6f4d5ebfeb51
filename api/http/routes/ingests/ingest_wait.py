"""Waits until an accepted ingest is settled, wherever it is committed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from api.http.app_context import AppContext
from api.http.waiting import ClientGone
from service.errors.unavailable import ShuttingDown
from service.ingest.ingest_service import IngestService
from service.model.ingest.ingest import IngestRecord, IngestState

_FIRST_LOOK_S, _LAST_LOOK_S = 0.1, 1.0
"""Between two looks into the log, for an ingest that another replica may commit."""
Gone = Callable[[], Coroutine[Any, Any, None]]


async def settled_within(
    app_context: AppContext, record: IngestRecord, caller: str, wait_s: float, gone: Gone
) -> IngestRecord:
    """Returns the ingest as soon as it is settled, or as it is when the wait ends.

    Raises:
        ClientGone: the client hung up before.
        MetricsStoreDown: the log does not answer.
    """
    until = time.monotonic() + wait_s
    pause_s = _FIRST_LOOK_S
    while record.state is IngestState.ACCEPTED and (left_s := until - time.monotonic()) > 0:
        try:
            ingests = app_context.access.gateway.ingests
        except ShuttingDown:
            # The ingest is durable: another replica commits it, and answers for it.
            return record
        if not await _settled_here(app_context, ingests, record.ingest_id, left_s, gone):
            await _pause(min(pause_s, left_s), gone)
            pause_s = min(pause_s * 2, _LAST_LOOK_S)
        record = await app_context.access.call(ingests.find, record.ingest_id, caller)
    return record


async def _settled_here(
    app_context: AppContext, ingests: IngestService, ingest_id: UUID, wait_s: float, gone: Gone
) -> bool:
    """Waits for the end of an ingest that this process follows; returns False at once for any other."""
    settled = ingests.settling(ingest_id)
    if settled is None:
        return False
    await app_context.waiting.until_finished(settled, wait_s, gone)
    return True


async def _pause(seconds: float, gone: Gone) -> None:
    left = asyncio.create_task(gone())
    try:
        await asyncio.wait({left}, timeout=seconds)
        if left.done():
            raise ClientGone
    finally:
        left.cancel()
