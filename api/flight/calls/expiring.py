"""Values by key, of a bounded number for each owner and together, which expire when nobody uses them."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from service.errors.gateway_error import GatewayError
from service.ports.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryBounds:
    """How many values there may be, how many of one owner, and how long one is kept without a use."""

    size: int
    size_per_owner: int
    idle_ms: int


@dataclass(slots=True)
class _Kept(Generic[V]):
    owner: str
    value: V
    used_ms: int


class Expiring(Generic[K, V]):
    """The values. Any thread may call any method, and none waits.

    Args:
        bounds: how many, and for how long.
        clock: the time.
        full: makes the error for a value that has no place.
        drops_oldest: whether an owner's oldest value makes room for a new one of the same owner.
    """

    def __init__(
        self,
        bounds: ExpiryBounds,
        clock: Clock,
        full: Callable[[], GatewayError],
        *,
        drops_oldest: bool = False,
    ) -> None:
        self.bounds = bounds
        self._clock = clock
        self._full = full
        self._drops_oldest = drops_oldest
        # In order of use: the first has been idle for the longest time.
        self._kept: OrderedDict[K, _Kept[V]] = OrderedDict()
        self._by_owner: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many values there are, also those that have expired and are not removed yet."""
        return len(self._kept)

    def add(self, key: K, owner: str, value: V) -> None:
        """Keeps a value under a new key.

        Raises:
            GatewayError: there is no place; `full` made it.
        """
        with self._lock:
            self._expire()
            if self._by_owner[owner] >= self.bounds.size_per_owner and self._drops_oldest:
                self._drop(next(key for key, kept in self._kept.items() if kept.owner == owner))
            is_full = len(self._kept) >= self.bounds.size
            if is_full or self._by_owner[owner] >= self.bounds.size_per_owner:
                raise self._full()
            self._kept[key] = _Kept(owner, value, self._clock.elapsed_ms())
            self._by_owner[owner] += 1

    def find(self, key: K, owner: str | None = None) -> V | None:
        """Returns the value, which is used by this. None: there is none, or not of this owner."""
        with self._lock:
            self._expire()
            kept = self._kept.get(key)
            if kept is None or owner not in (None, kept.owner):
                return None
            kept.used_ms = self._clock.elapsed_ms()
            self._kept.move_to_end(key)
            return kept.value

    def remove(self, key: K, owner: str | None = None) -> V | None:
        """Removes the value, and returns it. None: there is none, or not of this owner."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or owner not in (None, kept.owner):
                return None
            self._drop(key)
            return kept.value

    def _expire(self) -> None:
        until_ms = self._clock.elapsed_ms() - self.bounds.idle_ms
        while self._kept:
            key, kept = next(iter(self._kept.items()))
            if kept.used_ms > until_ms:
                return
            self._drop(key)

    def _drop(self, key: K) -> None:
        kept = self._kept.pop(key)
        self._by_owner[kept.owner] -= 1
        if not self._by_owner[kept.owner]:
            del self._by_owner[kept.owner]
