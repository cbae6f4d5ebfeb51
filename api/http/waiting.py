"""Lets any number of clients wait for a query, without a thread for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class ClientGone(Exception):
    """The client hung up while it waited; nobody is left to answer."""


class Waiting:
    """One event per unfinished query, shared by all who wait for it.

    `asyncio.wrap_future` is not used: when one waiter gives up, it would cancel the shared Future, and each
    waiter would leave a callback behind in it. All methods belong to the event loop's thread.
    """

    def __init__(self) -> None:
        self._events: dict[Future[None], asyncio.Event] = {}

    @property
    def pending(self) -> Collection[Future[None]]:
        """The unfinished queries that somebody has waited for."""
        return self._events.keys()

    async def until_finished(
        self, finished: Future[None], seconds: float, gone: Callable[[], Coroutine[Any, Any, None]]
    ) -> bool:
        """Whether the query finished within this time.

        Args:
            finished: done when the query is final; left as it is.
            seconds: how long to wait at most.
            gone: makes what ends when the client hangs up.

        Raises:
            ClientGone: it did; the query goes on.
        """
        if finished.done() or seconds <= 0:
            return finished.done()
        ended = asyncio.create_task(self._event(finished).wait())
        left = asyncio.create_task(gone())
        try:
            await asyncio.wait({ended, left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if left.done() and not finished.done():
                raise ClientGone
            return finished.done()
        finally:
            ended.cancel()
            left.cancel()

    def _event(self, finished: Future[None]) -> asyncio.Event:
        if finished not in self._events:
            self._events[finished] = asyncio.Event()
            loop = asyncio.get_running_loop()
            finished.add_done_callback(lambda future: _tell(loop, self, future))
        return self._events[finished]

    def wake(self, finished: Future[None]) -> None:
        """Wakes all who wait for this query."""
        event = self._events.pop(finished, None)
        if event is not None:
            event.set()


def _tell(loop: asyncio.AbstractEventLoop, waiting: Waiting, finished: Future[None]) -> None:
    # A query may end after the server has stopped: then nobody waits.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(waiting.wake, finished)
