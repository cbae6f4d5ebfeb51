"""So many calls at once in threads, and a bounded wait for those that find no place."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from anyio import CapacityLimiter, WouldBlock, to_thread

from api.waiting import ClientGone
from service.errors import GatewayError

T = TypeVar("T")
Gone = Callable[[], Coroutine[Any, Any, None]]
"""Makes what ends when the client hangs up."""


async def stays() -> None:
    """For calls that go on whether or not anybody waits for them."""
    await asyncio.Event().wait()


class Lane:
    """Belongs to the event loop's thread.

    Args:
        places: how many calls run at once.
        wait_s: how long the others wait for a place.
        busy: makes what is raised then.
    """

    def __init__(self, places: int, wait_s: float, busy: Callable[[], GatewayError]) -> None:
        self._free = CapacityLimiter(places)
        # A call that has its place needs no other one.
        self._threads = CapacityLimiter(math.inf)
        self._wait_s = wait_s
        self._busy = busy

    async def run(self, call: Callable[[], T], gone: Gone = stays) -> T:
        """What the call gives; it goes on to its end in its thread, also if the client hangs up.

        Raises:
            ClientGone: the client hung up before there was a place.
            GatewayError: there was none in time.
        """
        async with self._place(gone):
            return await to_thread.run_sync(call, limiter=self._threads)

    @asynccontextmanager
    async def _place(self, gone: Gone) -> AsyncIterator[None]:
        borrower = object()
        try:
            self._free.acquire_on_behalf_of_nowait(borrower)
        except WouldBlock:
            await self._wait(borrower, gone)
        try:
            yield
        finally:
            self._free.release_on_behalf_of(borrower)

    async def _wait(self, borrower: object, gone: Gone) -> None:
        taking = asyncio.create_task(self._free.acquire_on_behalf_of(borrower))
        left = asyncio.create_task(gone())
        has_place = False
        try:
            await asyncio.wait({taking, left}, timeout=self._wait_s, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                raise ClientGone
            if not taking.done():
                raise self._busy()
            has_place = True
        finally:
            left.cancel()
            if not has_place:
                await self._give_back(taking, borrower)

    async def _give_back(self, taking: asyncio.Task[None], borrower: object) -> None:
        """A place may have come free between the last look at it and now."""
        taking.cancel()
        await asyncio.wait({taking})
        if not taking.cancelled():
            self._free.release_on_behalf_of(borrower)
