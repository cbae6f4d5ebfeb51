"""The events of one query, until it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson

from api.http.answers.query_answer import status_only
from api.http.events.event_text import HEARTBEAT, event_text, retry_text
from api.http.schemas.queries.query_answer import QueryAnswer
from api.http.waiting import ClientGone
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryNotFound
from service.errors.unavailable import ShuttingDown
from service.model.query.query import QueryState
from service.query.registry.query_status import QueryStatus

END = "end"
"""The id of the last event, which has no number: after it, there is nothing to come back for."""
RETRY_MS = 1_000
ELSEWHERE = 5
"""How many times as rarely a query of another replica is read: the metrics store is asked for it."""
_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPace:
    """How often a query is read, after which silence a comment is sent, and how long a stream lives."""

    interval_s: float
    heartbeat_s: float
    max_s: float


def first_number(last_event_id: str | None) -> int:
    """Returns the number of the first event after this one; 1 if it is not one of ours.

    >>> first_number("41"), first_number(None), first_number("end"), first_number("9" * 99)
    (42, 1, 1, 1)
    """
    known = last_event_id or ""
    is_number = known.isascii() and known.isdigit() and len(known) <= _MAX_DIGITS
    return int(known) + 1 if is_number else 1


class QueryEvents:
    """Writes the events of a query that its client follows.

    Args:
        read: returns the current status.
        wait: waits this long at most, or until the query has ended. Raises ClientGone.
        pace: the times.
        number: the number of the first event.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[QueryStatus]],
        wait: Callable[[float], Awaitable[None]],
        pace: EventPace,
        number: int = 1,
    ) -> None:
        self._read = read
        self._wait = wait
        self._pace = pace
        self._number = number
        self._state: dict[str, Any] | None = None
        self._progress: dict[str, Any] | None = None

    async def parts(self, first: QueryStatus) -> AsyncIterator[bytes]:
        """Yields the text of the events, beginning with the status that is known already.

        It ends after the event `done`, when the client is gone, when the gateway stops, or when its time is
        over: a client that connects again gets the state of that moment.
        """
        now_s = asyncio.get_running_loop().time
        over_s, sent_s = now_s() + self._pace.max_s, now_s()
        yield retry_text(RETRY_MS)
        status: QueryStatus | None = first
        try:
            while True:
                for event in self._events(status):
                    sent_s = now_s()
                    yield event
                if now_s() >= over_s or (status is not None and status.record.state.is_final):
                    return
                if now_s() - sent_s >= self._pace.heartbeat_s:
                    sent_s = now_s()
                    yield HEARTBEAT
                await self._wait(min(self._interval_s(status), max(0.0, over_s - now_s())))
                status = await self._next()
        except (ClientGone, QueryNotFound, ShuttingDown):
            return

    async def _next(self) -> QueryStatus | None:
        try:
            return await self._read()
        except (QueryNotFound, ShuttingDown):
            raise
        except GatewayError:
            # A part that is down, or busy, may answer the next time.
            return None

    def _interval_s(self, status: QueryStatus | None) -> float:
        is_rare = status is None or (status.record.state is QueryState.RUNNING and status.is_elsewhere)
        return min(self._pace.interval_s * (ELSEWHERE if is_rare else 1), self._pace.heartbeat_s)

    def _events(self, status: QueryStatus | None) -> list[bytes]:
        if status is None:
            return []
        answer = status_only(status)
        events = [*self._of_state(answer), *self._of_progress(answer)]
        if status.record.state.is_final:
            events.append(event_text("done", END, orjson.dumps(_wire(answer))))
        return events

    def _of_state(self, answer: QueryAnswer) -> list[bytes]:
        data = _wire(answer.status)
        # It has events of its own.
        data.pop("progress")
        # Times change all the while.
        state = data | {"queuedMs": 0, "elapsedMs": 0}
        if state == self._state:
            return []
        self._state = state
        return [self._numbered("state", data)]

    def _of_progress(self, answer: QueryAnswer) -> list[bytes]:
        progress = answer.status.progress
        if progress is None or (data := _wire(progress)) == self._progress:
            return []
        self._progress = data
        return [self._numbered("progress", data | {"elapsedMs": answer.status.elapsed_ms})]

    def _numbered(self, name: str, data: dict[str, Any]) -> bytes:
        number, self._number = self._number, self._number + 1
        return event_text(name, str(number), orjson.dumps(data))


def _wire(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True)
    return found
