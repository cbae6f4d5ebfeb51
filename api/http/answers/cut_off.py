"""Ends an answer that cannot be completed, so that its client sees that something is missing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

import structlog

from api.http.waiting import AnswerCutOff
from service.errors.gateway_error import GatewayError

T = TypeVar("T")
log = structlog.get_logger(__name__)


async def cut_off_at_failure(parts: AsyncIterator[T]) -> AsyncIterator[T]:
    """Passes the parts of an answer on.

    Raises:
        AnswerCutOff: the next part is not available. It is too late for a problem, and a clean end would look
            like a complete answer.
    """
    try:
        async for part in parts:
            yield part
    except GatewayError as failure:
        log.warning("answer_cut_off", code=failure.code, detail=failure.detail)
        raise AnswerCutOff from failure
