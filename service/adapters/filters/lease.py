"""The right to collect certain keys, held by one replica at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from redis.exceptions import LockError
from redis.lock import Lock

from service.errors import FilterCacheDown

# A holder that dies leaves the others waiting for what is left of this.
LEASE_S = 3.0
RENEWAL_S = 1.0


class Lease:
    """Renewed while it is held. Losing it is no harm: the same keys are collected twice."""

    def __init__(self, lock: Lock, asking: Callable[[], AbstractContextManager[None]]) -> None:
        self._lock = lock
        self._asking = asking

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps the lease for the length of the block, and lets it go."""
        done = threading.Event()
        threading.Thread(target=self._renew, args=(done,), name="filter-lease", daemon=True).start()
        try:
            yield
        finally:
            done.set()
            self.release()

    def release(self) -> None:
        """Lets it go, if it is still ours. Never raises."""
        with suppress(FilterCacheDown, LockError), self._asking():
            self._lock.release()

    def _renew(self, done: threading.Event) -> None:
        with suppress(LockError):
            while not done.wait(RENEWAL_S):
                # A server that is down now may be back before the lease has run out.
                with suppress(FilterCacheDown), self._asking():
                    self._lock.reacquire()
