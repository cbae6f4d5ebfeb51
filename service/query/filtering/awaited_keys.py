"""The keys that queries wait for now."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class AwaitedKeys:
    """Counts who waits, by the fingerprint of the keys. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()

    def submit(self, fingerprint: str, submit: Callable[[], Future[T]]) -> Future[T]:
        """Returns what `submit` returns. A query waits for the keys from before that until it is done.

        Raises:
            RuntimeError: `submit` raised it, as an executor does that was shut down.
        """
        with self._lock:
            self._waiting[fingerprint] += 1
        try:
            future = submit()
        except RuntimeError:
            self._end(fingerprint)
            raise
        future.add_done_callback(lambda _: self._end(fingerprint))
        return future

    def __contains__(self, fingerprint: str) -> bool:
        """Whether any query waits for these keys."""
        return fingerprint in self._waiting

    def _end(self, fingerprint: str) -> None:
        with self._lock:
            self._waiting[fingerprint] -= 1
            if not self._waiting[fingerprint]:
                del self._waiting[fingerprint]
