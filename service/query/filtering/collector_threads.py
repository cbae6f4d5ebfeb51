"""The threads that collect keys, and how many of them are in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from service.model.operations.usage import PoolUse

P = ParamSpec("P")
T = TypeVar("T")


class CollectorThreads(ThreadPoolExecutor):
    """A thread pool that can say how many of its calls run, and how many wait for a thread."""

    def __init__(self, size: int) -> None:
        super().__init__(size, thread_name_prefix="collector")
        self._size = size
        self._counting = threading.Lock()
        self._busy = self._waiting = 0

    @property
    def use(self) -> PoolUse:
        """The current use."""
        with self._counting:
            return PoolUse(self._busy, self._size, self._waiting)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See `Executor`."""
        self._count(waiting=1)

        def counted() -> T:
            self._count(waiting=-1, busy=1)
            try:
                return fn(*args, **kwargs)
            finally:
                self._count(busy=-1)

        try:
            future = super().submit(counted)
        except RuntimeError:
            self._count(waiting=-1)
            raise
        # A call that is canceled has not begun, so it is still counted as waiting.
        future.add_done_callback(lambda ended: self._count(waiting=-1) if ended.cancelled() else None)
        return future

    def _count(self, *, waiting: int = 0, busy: int = 0) -> None:
        with self._counting:
            self._waiting += waiting
            self._busy += busy
