"""Lets any number of clients wait for queries without a thread for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class ClientGone(Exception):
    """The client hung up while it waited, so there is nothing to answer."""


class AnswerCutOff(Exception):
    """The answer has begun and cannot be completed. The server closes its connection."""


class Waiting:
    """One event per unfinished query, shared by all clients that wait for it.

    It does not use `asyncio.wrap_future`: a waiter that gives up would cancel the shared Future, and each
    waiter would leave a callback in it. All methods must be called on the event loop's thread.
    """

    def __init__(self) -> None:
        self._events: dict[Future[None], asyncio.Event] = {}

    @property
    def pending(self) -> Collection[Future[None]]:
        """The unfinished queries that clients have waited for."""
        return self._events.keys()

    async def until_finished(
        self, finished: Future[None], seconds: float, gone: Callable[[], Coroutine[Any, Any, None]]
    ) -> bool:
        """Waits for the query, and returns whether it finished within this time.

        Args:
            finished: done when the query is final. It is not changed.
            seconds: how long to wait at most.
            gone: makes a coroutine that ends when the client hangs up.

        Raises:
            ClientGone: the client hung up; the query goes on.
            HTTPException: while it waited, its credentials were refused.
        """
        if finished.done() or seconds <= 0:
            return finished.done()
        ended = asyncio.create_task(self._event(finished).wait())
        left = asyncio.create_task(gone())
        try:
            await asyncio.wait({ended, left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if left.done() and not finished.done():
                left.result()
                raise ClientGone
            return finished.done()
        finally:
            ended.cancel()
            left.cancel()

    def _event(self, finished: Future[None]) -> asyncio.Event:
        if finished not in self._events:
            self._events[finished] = asyncio.Event()
            loop = asyncio.get_running_loop()
            finished.add_done_callback(lambda future: _report(loop, self, future))
        return self._events[finished]

    def wake(self, finished: Future[None]) -> None:
        """Wakes all clients that wait for this query."""
        event = self._events.pop(finished, None)
        if event is not None:
            event.set()


def _report(loop: asyncio.AbstractEventLoop, waiting: Waiting, finished: Future[None]) -> None:
    # A query may end after the server has stopped. Then no client waits.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(waiting.wake, finished)
