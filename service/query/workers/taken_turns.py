"""Workers that serve callers in turn, and that may hang."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from service.errors.unavailable import ShuttingDown
from service.model.operations.usage import PoolUse
from service.query.workers.fair_turns import FairTurns, Turn
from service.query.workers.worker_pool import WorkerPool

T = TypeVar("T")


class TakenTurns(Generic[T]):
    """Gives each item to a worker when its caller's turn has come.

    Giving up an item ends its caller's turn, and another worker takes its place at once. The hanging worker
    counts as given up until it returns.
    """

    def __init__(self, running_per_caller: int, name: str, work: Callable[[T], None]) -> None:
        # The context carries the ids that every log line of an item has.
        self._turns: FairTurns[tuple[contextvars.Context, T]] = FairTurns(running_per_caller)
        self._work = work
        # One more worker than one caller may use, so that no caller takes the last one.
        self._size = running_per_caller + 1
        self._pool = WorkerPool(self._size, name)
        self._lock = threading.Lock()
        self._taken: dict[int, Turn[tuple[contextvars.Context, T]]] = {}
        # Looks for a turn that no worker has begun yet.
        self._looks = 0
        self._is_closed = False

    @property
    def given_up(self) -> int:
        """How many workers were given up and have not returned."""
        return self._pool.given_up

    @property
    def is_exhausted(self) -> bool:
        """Whether no worker is left."""
        return self._pool.is_exhausted

    @property
    def use(self) -> PoolUse:
        """How many workers are busy, without given up ones, and how many items wait."""
        return PoolUse(len(self._taken), self._size, self._turns.waiting_count)

    def put(self, caller: str, item: T) -> None:
        """Queues the item for its turn.

        Raises:
            ShuttingDown: no more turns are given.
        """
        self._turns.put(caller, (contextvars.copy_context(), item))
        self._look()

    def give_up(self, item: T) -> None:
        """Ends the turn of an item whose worker hangs; does nothing if the item has ended by now."""
        with self._lock:
            turn = self._taken.pop(id(item), None)
            if turn is None:
                return
            self._pool.give_up()
        self._turns.done(turn)
        with suppress(ShuttingDown):
            self._look()

    def close(self) -> None:
        """Gives no more turns."""
        with self._lock:
            self._is_closed = True
        self._turns.close()
        self._pool.close()

    def is_idle_within(self, seconds: float) -> bool:
        """Whether nothing runs any more, waiting at most this long; given up items do not count."""
        return self._turns.is_idle_within(seconds)

    def _look(self) -> None:
        """Lets one more worker look for a turn. While all are busy, looks do not pile up."""
        with self._lock:
            if self._is_closed:
                raise ShuttingDown
            if self._looks >= self._size:
                return
            self._looks += 1
        self._pool.submit(self._take_turns)

    def _take_turns(self) -> None:
        with self._lock:
            self._looks -= 1
        # An ended item makes room for another one of its caller, so look again.
        while (turn := self._turns.take()) is not None:
            context, item = turn.item
            with self._lock:
                self._taken[id(item)] = turn
            try:
                context.run(self._work, item)
            finally:
                self._end(item)

    def _end(self, item: T) -> None:
        with self._lock:
            turn = self._taken.pop(id(item), None)
            if turn is None:
                self._pool.take_back()
                return
        self._turns.done(turn)
