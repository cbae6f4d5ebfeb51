"""The right to collect certain keys, which one replica holds at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from redis.exceptions import LockError
from redis.lock import Lock

from service.errors.unavailable import FilterCacheDown

# If its holder dies, the others wait for the rest of this time.
LEASE_S = 3.0
RENEWAL_S = 1.0


class Lease:
    """Renewed while it is held. Losing it is harmless: the same keys are then collected twice."""

    def __init__(self, lock: Lock, asking: Callable[[], AbstractContextManager[None]]) -> None:
        self._lock = lock
        self._asking = asking

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Holds the lease during the block, and releases it at the end."""
        done = threading.Event()
        threading.Thread(target=self._renew, args=(done,), name="filter-lease", daemon=True).start()
        try:
            yield
        finally:
            done.set()
            self.release()

    def release(self) -> None:
        """Releases the lease if this replica still holds it. Never raises."""
        with suppress(FilterCacheDown, LockError), self._asking():
            self._lock.release()

    def _renew(self, done: threading.Event) -> None:
        with suppress(LockError):
            while not done.wait(RENEWAL_S):
                # The server may be back before the lease has expired.
                with suppress(FilterCacheDown), self._asking():
                    self._lock.reacquire()
