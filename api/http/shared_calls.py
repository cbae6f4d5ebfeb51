"""Calls that many requests may wait for: one at a time for each key, and none ends with its first request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from api.http.lane import Lane
from service.errors.gateway_error import GatewayError

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class SharedCalls(Generic[K, T]):
    """Runs calls in a lane. Its methods must be called on the event loop's thread.

    Requests that come while a call of their key runs, or waits for its place, share its outcome. The call
    goes on if they hang up or give up: the next one may find what it has made.

    Args:
        lane: where calls run, in turns by caller.
        wait_s: how long a request waits.
        late: makes the error that is raised after `wait_s`.
    """

    def __init__(self, lane: Lane, wait_s: float, late: Callable[[], GatewayError]) -> None:
        self._lane = lane
        self._wait_s = wait_s
        self._late = late
        self._running: dict[K, asyncio.Task[T]] = {}

    def __len__(self) -> int:
        """Returns how many calls run, or wait for their place."""
        return len(self._running)

    async def run(self, key: K, call: Callable[[], T], caller: str) -> T:
        """Returns the result of the call.

        Raises:
            GatewayError: it did not end in time; or what the call raised.
        """
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(self._lane.run(call, caller=caller))
            task.add_done_callback(lambda done: self._end(key, done))
        await asyncio.wait({task}, timeout=self._wait_s)
        if not task.done():
            raise self._late()
        return task.result()

    def _end(self, key: K, task: asyncio.Task[T]) -> None:
        del self._running[key]
        if not task.cancelled():
            # All who waited may be gone, and a failure that nobody has seen would be logged as a defect.
            task.exception()
