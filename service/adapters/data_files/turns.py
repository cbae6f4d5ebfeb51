"""Threads that compute take turns; those that wait for a storage do not count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Semaphore

_held: ContextVar[Semaphore | None] = ContextVar("_held", default=None)


class Turns:
    """Lets so many threads compute at once; the others wait in line.

    Python runs one thread at a time. With a dozen that want to, each call of Arrow that lets go of the
    interpreter costs the caller a place at the end of the line: eight small ingests at once were fewer in a
    second than two.
    """

    def __init__(self, count: int) -> None:
        self._free = Semaphore(count)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Returns when it is the thread's turn."""
        with self._free:
            before = _held.set(self._free)
            try:
                yield
            finally:
                _held.reset(before)


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Lets another thread compute meanwhile; for threads that have no turn it does nothing."""
    held = _held.get()
    if held is None:
        yield
        return
    held.release()
    try:
        yield
    finally:
        held.acquire()
