"""Requests share a call, and none of them ends it for the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from api.http.lane import Lane
from api.http.shared_calls import SharedCalls
from service.errors.query_errors import ResultExpired
from service.errors.unavailable import GatewayBusy, ShuttingDown

pytestmark = pytest.mark.anyio


class Call:
    """Ends when it may."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.count = 0
        self._failure = failure

    def __call__(self) -> int:
        self.count += 1
        self.began.set()
        self.may_end.wait(60)
        if self._failure is not None:
            raise self._failure
        return self.count


def shared(wait_s: float = 60, places: int = 1, spare_places: int = 1) -> SharedCalls[str, int]:
    lane = Lane(places, 60, ShuttingDown, spare_places)
    return SharedCalls(lane, wait_s, GatewayBusy)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.001)


async def test_requests_that_come_during_a_call_share_its_result() -> None:
    calls, call = shared(), Call()
    waiting = [asyncio.create_task(calls.run("a", call, caller)) for caller in ("eve", "bob", "eve")]
    await until(call.began.is_set)
    call.may_end.set()
    assert await asyncio.gather(*waiting) == [1, 1, 1]
    # Nothing is cached.
    assert await calls.run("a", call, "bob") == 2


async def test_the_call_goes_on_when_its_first_request_leaves() -> None:
    calls, call = shared(), Call()
    first = asyncio.create_task(calls.run("a", call, "eve"))
    await until(call.began.is_set)
    second = asyncio.create_task(calls.run("a", call, "bob"))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    call.may_end.set()
    assert (await second, call.count) == (1, 1)


async def test_a_failure_is_that_of_all_who_wait_and_of_no_later_one() -> None:
    calls, call = shared(), Call(ResultExpired())
    waiting = [asyncio.create_task(calls.run("a", call, "eve")) for _ in range(2)]
    await until(call.began.is_set)
    call.may_end.set()
    for each in waiting:
        with pytest.raises(ResultExpired):
            await each
    assert await calls.run("a", lambda: 7, "eve") == 7


async def test_who_waits_for_too_long_leaves_the_call_to_the_next_one() -> None:
    calls, call = shared(wait_s=0.01), Call()
    for _ in range(2):
        with pytest.raises(GatewayBusy):
            await calls.run("a", call, "eve")
    assert call.count == 1
    call.may_end.set()
    await until(lambda: not calls)
    assert await shared().run("a", call, "eve") == 2


async def test_a_caller_with_many_calls_leaves_a_place_for_others() -> None:
    calls, slow = shared(), Call()
    held = [asyncio.create_task(calls.run(f"{number}", slow, "eve")) for number in range(5)]
    await until(slow.began.is_set)
    assert await calls.run("b", lambda: 7, "bob") == 7
    assert slow.count == 1
    slow.may_end.set()
    await asyncio.gather(*held)
    assert slow.count == 5
