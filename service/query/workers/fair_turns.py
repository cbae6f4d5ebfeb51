"""A fair queue: callers take turns, however many items each has waiting."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn(Generic[T]):
    """An item whose turn has come, and the caller who sent it."""

    caller: str
    item: T


class FairTurns(Generic[T]):
    """A queue for several workers in which no caller can block the others.

    The caller with the fewest running items goes first; among equals, the one whose last turn is longest ago.
    Items of one caller keep their order. A caller never has more than `running_per_caller` items running, so
    a pool with more workers than that always has one for another caller.
    """

    def __init__(self, running_per_caller: int) -> None:
        self._running_per_caller = running_per_caller
        self._lock = threading.Condition()
        self._waiting: dict[str, deque[T]] = {}
        self._running: Counter[str] = Counter()
        # Only of callers with waiting or running items: any other has waited long enough.
        self._last_turns: dict[str, int] = {}
        self._turn_count = 0
        self._is_closed = False

    @property
    def waiting_count(self) -> int:
        """Returns how many items wait for their turn."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def put(self, caller: str, item: T) -> None:
        """Adds the item to the queue."""
        with self._lock:
            self._waiting.setdefault(caller, deque()).append(item)

    def take(self) -> Turn[T] | None:
        """Returns the item whose turn it is; None if nothing may run now. Call `done` at its end."""
        with self._lock:
            callers = () if self._is_closed else self._waiting
            caller = min(callers, key=self._rank, default=None)
            if caller is None or self._running[caller] >= self._running_per_caller:
                return None
            items = self._waiting[caller]
            turn = Turn(caller, items.popleft())
            if not items:
                del self._waiting[caller]
            self._running[caller] += 1
            self._turn_count += 1
            self._last_turns[caller] = self._turn_count
            return turn

    def remove(self, caller: str, item: T) -> None:
        """Removes a waiting item; does nothing if its turn has come."""
        with self._lock:
            items = self._waiting.get(caller, deque())
            if item in items:
                items.remove(item)
            if not items:
                self._waiting.pop(caller, None)
            if caller not in self._waiting and not self._running[caller]:
                self._running.pop(caller, None)
                self._last_turns.pop(caller, None)

    def done(self, turn: Turn[T]) -> None:
        """Ends the item's turn. `take` again after it: another item may run now."""
        caller = turn.caller
        with self._lock:
            self._running[caller] -= 1
            if not self._running[caller]:
                del self._running[caller]
                if caller not in self._waiting:
                    del self._last_turns[caller]
                self._lock.notify_all()

    def close(self) -> None:
        """Gives no more turns."""
        with self._lock:
            self._is_closed = True

    def is_idle_within(self, seconds: float) -> bool:
        """Whether nothing runs any more, waiting at most this long."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._running, max(0.0, seconds))

    def _rank(self, caller: str) -> tuple[int, int]:
        return self._running[caller], self._last_turns.get(caller, 0)
