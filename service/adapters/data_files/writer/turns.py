"""Threads that compute take turns; threads that wait for a storage do not count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Semaphore

from service.errors.ingest_errors import TooManyIngests

LONGEST_WAIT_S = 60.0


class _Turn:
    """One thread's turn, which it may or may not have now."""

    def __init__(self, free: Semaphore, wait_s: float) -> None:
        self._free = free
        self._wait_s = wait_s
        self._has = False

    def take(self) -> bool:
        self._has = self._free.acquire(timeout=self._wait_s)
        return self._has

    def give(self) -> None:
        if self._has:
            self._has = False
            self._free.release()


_current: ContextVar[_Turn | None] = ContextVar("_current", default=None)


class Turns:
    """Lets `count` threads compute at once; the others queue, for at most `wait_s`.

    Python runs one thread at a time. If a dozen threads want to run, each Arrow call that releases the
    interpreter lock sends its thread to the end of the queue: eight concurrent small ingests had a lower
    throughput than two.
    """

    def __init__(self, count: int, wait_s: float = LONGEST_WAIT_S) -> None:
        self._free = Semaphore(count)
        self._wait_s = wait_s

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Returns when it is the thread's turn.

        Raises:
            TooManyIngests: it did not get its turn in time.
        """
        turn = _Turn(self._free, self._wait_s)
        if not turn.take():
            raise TooManyIngests
        before = _current.set(turn)
        try:
            yield
        finally:
            _current.reset(before)
            turn.give()


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Lets another thread compute during the block; without effect for threads that have no turn.

    A thread that does not get its turn back in time continues without one: its files are half written.
    """
    current = _current.get()
    if current is None:
        yield
        return
    current.give()
    try:
        yield
    finally:
        current.take()
