"""Looks API keys up in the store, and combines the lookups of requests that wait."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Generic

import structlog
from anyio import CapacityLimiter, to_thread

from service.authentication.known_keys import Known, KnownKeys, Stored
from service.errors.unavailable import MetricsStoreDown

Find = Callable[[Collection[str]], Mapping[str, Stored]]
ASKED_AT_ONCE = 1_000
_log = structlog.stdlib.get_logger("api.authentication")


class _Round:
    def __init__(self) -> None:
        self.key_ids: set[str] = set()
        self.done = asyncio.Event()


class KeyLookups(Generic[Stored]):
    """Sends the store one query at a time. Ids that arrive during a query are part of the next one.

    So made-up ids cost the store at most one query at a time, and keys in use do not wait behind them.

    Its methods must be called on the event loop's thread.

    Args:
        known: keeps the results.
        store: returns the store's `find`, or raises PartDown while there is no store.
    """

    def __init__(self, known: KnownKeys[Stored], store: Callable[[], Find[Stored]]) -> None:
        self._known = known
        self._store = store
        # More than one only if more ids wait than one query may have.
        self._waiting: deque[_Round] = deque()
        self._asking: asyncio.Task[None] | None = None
        # A thread of its own: all threads of requests may wait for other things.
        self._threads = CapacityLimiter(1)

    async def find(self, key_id: str) -> Known[Stored]:
        """Returns the store's answer for an id: a recent one, or a new one.

        Raises:
            PartDown: the store does not answer, or has not been opened yet.
        """
        known = self._known.find(key_id)
        if known is None:
            await self._ask(key_id)
            return self._known.find_after_asking(key_id)
        if self._known.is_probe_due():
            self._begin(self._store())
        return known

    def forget(self, key_id: str) -> None:
        """Notes that the key was changed here: its next use asks the store."""
        self._known.forget(key_id)

    async def _ask(self, key_id: str) -> None:
        find = self._store()
        if not self._waiting or len(self._waiting[-1].key_ids) >= ASKED_AT_ONCE:
            self._waiting.append(_Round())
        own = self._waiting[-1]
        own.key_ids.add(key_id)
        self._begin(find)
        await own.done.wait()

    def _begin(self, find: Find[Stored]) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._run(find))

    async def _run(self, find: Find[Stored]) -> None:
        is_first = True
        while is_first or self._waiting:
            is_first = False
            current = self._waiting.popleft() if self._waiting else _Round()
            try:
                await self._ask_store(find, current.key_ids)
            finally:
                current.done.set()

    async def _ask_store(self, find: Find[Stored], key_ids: Collection[str]) -> None:
        asked = self._known.to_ask(key_ids)
        if not asked:
            return
        try:
            found = await to_thread.run_sync(find, asked, limiter=self._threads)
        except MetricsStoreDown:
            self._known.fail()
        except Exception:  # noqa: BLE001 — waiting requests need an answer, and the next query must be possible
            _log.exception("api_keys_not_asked")
            self._known.fail()
        else:
            self._known.confirm(asked, found)
