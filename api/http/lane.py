"""Runs a bounded number of calls in threads, in turns by caller; other calls wait for a bounded time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from api.http.waiting import ClientGone
from service.errors.gateway_error import GatewayError
from service.query.workers.fair_turns import FairTurns, Turn
from service.tracing import step

T = TypeVar("T")
Gone = Callable[[], Coroutine[Any, Any, None]]
"""Makes a coroutine that ends when the client hangs up."""
_Ready = asyncio.Future["_Turn"]
_Turn = Turn["_Ready"]


@dataclass(frozen=True, slots=True)
class LaneUse:
    """How many calls run, how many may run, and how many wait."""

    busy: int
    size: int
    waiting: int


async def stays() -> None:
    """Never ends: for calls that go on whether or not a client waits for them."""
    await asyncio.Event().wait()


class Lane:
    """A bounded number of places for calls. Its methods must be called on the event loop's thread.

    Callers take turns for the places. Each caller has at most `places_per_caller`, so that places are left
    for others.

    Args:
        places_per_caller: how many calls of one caller run at once.
        spare_places: how many more calls run when there are several callers.
        wait_s: how long a call waits for a place.
        busy: makes the error that is raised after `wait_s`.
    """

    def __init__(
        self,
        places_per_caller: int,
        wait_s: float,
        busy: Callable[[], GatewayError],
        spare_places: int = 0,
    ) -> None:
        self._size = self._free = places_per_caller + spare_places
        self._waiting = 0
        self._turns: FairTurns[_Ready] = FairTurns(places_per_caller)
        # The places bound the calls, so the threads need no bound.
        self._threads = CapacityLimiter(math.inf)
        self._wait_s = wait_s
        self._busy = busy

    @property
    def use(self) -> LaneUse:
        """Returns the current numbers."""
        return LaneUse(self._size - self._free, self._size, self._waiting)

    async def run(self, call: Callable[[], T], gone: Gone = stays, caller: str = "") -> T:
        """Returns the call's result. The call runs to its end in its thread, even if the client hangs up.

        Raises:
            ClientGone: the client hung up before a place was free.
            GatewayError: no place was free in time; `busy` made it.
        """
        async with self._place(gone, caller):
            return await to_thread.run_sync(call, limiter=self._threads)

    @asynccontextmanager
    async def _place(self, gone: Gone, caller: str) -> AsyncIterator[None]:
        ready: _Ready = asyncio.get_running_loop().create_future()
        self._turns.put(caller, ready)
        self._give_places()
        try:
            if not ready.done():
                await self._wait(ready, gone)
            yield
        finally:
            self._give_back(ready, caller)

    async def _wait(self, ready: _Ready, gone: Gone) -> None:
        with step("sluice.admission"):
            await self._wait_in_turn(ready, gone)

    async def _wait_in_turn(self, ready: _Ready, gone: Gone) -> None:
        left = asyncio.create_task(gone())
        self._waiting += 1
        try:
            awaited: set[asyncio.Future[Any]] = {ready, left}
            await asyncio.wait(awaited, timeout=self._wait_s, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                raise ClientGone
            if not ready.done():
                raise self._busy()
        finally:
            self._waiting -= 1
            left.cancel()

    def _give_places(self) -> None:
        while self._free and (turn := self._turns.take()) is not None:
            self._free -= 1
            turn.item.set_result(turn)

    def _give_back(self, ready: _Ready, caller: str) -> None:
        if not ready.done():
            self._turns.remove(caller, ready)
            return
        self._turns.done(ready.result())
        self._free += 1
        self._give_places()
