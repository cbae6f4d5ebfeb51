from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Mapping

import pytest

from api.http.authentication.key_lookups import ASKED_AT_ONCE, KeyLookups
from service.authentication.known_keys import KeyTimes, KnownKeys
from service.model.authentication.api_keys import ApiKey
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio


class SlowStore:
    """Answers its first query when `may_answer` is set, and the others at once."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.is_asked = threading.Event()
        self.asked: list[Collection[str]] = []

    def find(self, key_ids: Collection[str]) -> Mapping[str, ApiKey]:
        self.asked.append(key_ids)
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return {}


async def test_each_of_many_ids_that_wait_for_one_answer_is_answered() -> None:
    store = SlowStore()
    lookups = KeyLookups(KnownKeys(FakeClock(), KeyTimes()), lambda: store.find)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(lookups.find("first"))
        while not store.is_asked.is_set():
            await asyncio.sleep(0)
        for number in range(2 * ASKED_AT_ONCE + 1):
            tasks.create_task(lookups.find(f"{number:016x}"))
        await asyncio.sleep(0)
        store.may_answer.set()
    assert [len(key_ids) for key_ids in store.asked] == [1, ASKED_AT_ONCE, ASKED_AT_ONCE, 1]
