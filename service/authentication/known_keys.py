"""Caches keys and sessions that were looked up a moment ago, so that not every request asks the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import LRUCache

from service.errors.credential_errors import AuthenticationDown
from service.model.authentication.api_keys import StoredCredential
from service.ports.clock import Clock

Stored = TypeVar("Stored", bound=StoredCredential)
MAX_KEYS = 10_000
ASKED_TOGETHER = 1_000
"""How many keys one query may confirm, beside those that callers wait for."""


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """How long a cached answer counts.

    Args:
        fresh_s: without a new query. A revocation takes effect within this time.
        outage_s: while the store is down, counted from the last time that the store confirmed the key.
        rest_s: how long the store is not asked after it failed to answer.
    """

    fresh_s: float = 5.0
    outage_s: float = 900.0
    rest_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Known(Generic[Stored]):
    """The store's answer for an id: a key, or that there is none."""

    key: Stored | None
    confirmed_ms: int
    asked_ms: int


class KnownKeys(Generic[Stored]):
    """The store's recent answers by key id. Never blocks.

    Its methods must be called on the event loop's thread. Ids without a key are cached separately, so that
    made-up ids do not evict keys.
    """

    def __init__(self, clock: Clock, times: KeyTimes, max_keys: int = MAX_KEYS) -> None:
        self._clock = clock
        self._times = times
        self._keys: LRUCache[str, Known[Stored]] = LRUCache(max_keys)
        self._none: LRUCache[str, Known[Stored]] = LRUCache(max_keys)
        self._failed_ms: int | None = None
        # Changed here while the store was asked: its answer may be older than the change.
        self._changed: set[str] = set()

    def find(self, key_id: str) -> Known[Stored] | None:
        """Returns the answer that still counts. None: the store has to be asked."""
        known = self._latest(key_id)
        if known is None:
            return None
        is_outlasting = self._failed_ms is not None and known.key is not None
        seconds = self._times.outage_s if is_outlasting else self._times.fresh_s
        return known if self._now_ms() - known.confirmed_ms < seconds * 1000 else None

    def is_probe_due(self) -> bool:
        """Whether it is time to ask the store again after an outage, while requests use cached keys."""
        return self._failed_ms is not None and not self._is_resting()

    def find_after_asking(self, key_id: str) -> Known[Stored]:
        """Returns the same after the store was asked, whether it answered or not.

        Raises:
            AuthenticationDown: it did not answer, and no earlier answer still counts.
        """
        known = self.find(key_id)
        if known is None:
            raise AuthenticationDown
        return known

    def to_ask(self, key_ids: Collection[str]) -> frozenset[str]:
        """Returns these ids and those of used keys that are due; none for a moment after the store failed."""
        self._changed.clear()
        if self._is_resting():
            return frozenset()
        now_ms = self._now_ms()
        in_use_ms, due_ms = 2 * self._times.fresh_s * 1000, self._times.fresh_s * 500
        due = [
            key_id
            for key_id, known in self._keys.items()
            if now_ms - known.asked_ms < in_use_ms and now_ms - known.confirmed_ms >= due_ms
        ]
        return frozenset(key_ids) | frozenset(due[:ASKED_TOGETHER])

    def confirm(self, asked: Collection[str], found: Mapping[str, Stored]) -> None:
        """Caches the store's answer for these ids, except those that were changed here since it was asked."""
        self._failed_ms = None
        now_ms = self._now_ms()
        for key_id in asked:
            before = self._keys.pop(key_id, None)
            self._none.pop(key_id, None)
            key = found.get(key_id)
            if key_id in self._changed or (key is not None and key.key_id in self._changed):
                continue
            room = self._none if key is None else self._keys
            room[key_id] = Known(key, now_ms, now_ms if before is None else before.asked_ms)

    def fail(self) -> None:
        """Notes that the store did not answer."""
        self._failed_ms = self._now_ms()

    def forget(self, key_id: str) -> None:
        """Notes that the key was changed here: its next use asks the store, also that of its sessions."""
        own = [name for name, known in self._keys.items() if known.key and known.key.key_id == key_id]
        for name in (key_id, *own):
            self._keys.pop(name, None)
            self._none.pop(name, None)
        self._changed.add(key_id)

    def _latest(self, key_id: str) -> Known[Stored] | None:
        room = self._keys if key_id in self._keys else self._none
        known = room.get(key_id)
        if known is not None:
            known = room[key_id] = Known(known.key, known.confirmed_ms, self._now_ms())
        return known

    def _is_resting(self) -> bool:
        return self._failed_ms is not None and self._now_ms() - self._failed_ms < self._times.rest_s * 1000

    def _now_ms(self) -> int:
        return self._clock.elapsed_ms()
