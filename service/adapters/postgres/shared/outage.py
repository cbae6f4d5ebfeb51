"""Waits out a short outage of PostgreSQL, for example while a standby takes over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random

from service.errors.unavailable import MetricsStoreDown
from service.ports.clock import Clock

T = TypeVar("T")
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 0.4
# Shutting down, crashed, starting, and read-only because it is a standby: a successor may be near.
_ON_THE_MOVE = frozenset(("57P01", "57P02", "57P03", "25006"))

log = structlog.get_logger(__name__)


class Outage:
    """Repeats calls while the server is away, for `wait_s` from its start; then every call fails at once.

    Use it only for calls that may be done twice: if an answer was lost, nothing says whether the call was
    done. It is not a `Circuit`: every call is made at least once, because it may not be given up unasked.
    """

    def __init__(self, wait_s: float, clock: Clock, sleep: Callable[[float], None] = time.sleep) -> None:
        self._wait_ms = wait_s * 1000
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._began_ms: int | None = None
        self._last_ms = 0

    def outlast(self, question: Callable[[], T]) -> T:
        """Returns the answer to the question, from this attempt or a later one.

        Raises:
            MetricsStoreDown: there was no answer in time, or an error that repeating would not change.
        """
        retrying = Retrying(
            retry=retry_if_exception(is_away),
            wait=wait_random(SHORTEST_PAUSE_S, LONGEST_PAUSE_S),
            stop=self._is_over,
            sleep=self._sleep,
            reraise=True,
        )
        answer: T = retrying(question)
        if self._began_ms is not None:
            self._end()
        return answer

    def _is_over(self, _: RetryCallState) -> bool:
        now_ms = self._clock.elapsed_ms()
        with self._lock:
            # Without a call for a while, the earlier outage is over, and this is another one.
            if self._began_ms is None or now_ms - self._last_ms > self._wait_ms:
                self._began_ms = now_ms
            self._last_ms = now_ms
            return now_ms - self._began_ms >= self._wait_ms

    def _end(self) -> None:
        with self._lock:
            began_ms, self._began_ms = self._began_ms, None
        if began_ms is not None:
            log.info("metrics_store_back", away_ms=self._clock.elapsed_ms() - began_ms)


def is_away(failure: BaseException) -> bool:
    """Whether the server went away, cannot be reached, or does not accept writes."""
    cause = failure.__cause__
    if not isinstance(failure, MetricsStoreDown) or not isinstance(cause, DBAPIError):
        return False
    if cause.connection_invalidated:
        return True
    state = getattr(cause.orig, "sqlstate", None)
    return state in _ON_THE_MOVE or (state is None and isinstance(cause.orig, psycopg.OperationalError))
